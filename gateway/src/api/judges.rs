//! `GET /v1/judges`.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::in_force::InForce;
use crate::judge::{Judge, Perimeter, Price, ProviderKind, ScoringMode};

#[derive(Debug, Serialize, ToSchema)]
pub struct JudgeList {
    pub judges: Vec<JudgeReport>,
}

/// A judge as it is in force. Addresses and keys are not shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct JudgeReport {
    pub id: String,
    pub model: String,
    pub family: String,
    pub server: String,
    #[schema(value_type = String)]
    pub provider: ProviderKind,
    #[schema(value_type = String)]
    pub perimeter: Perimeter,
    pub template: String,
    #[schema(value_type = String)]
    pub scoring: ScoringMode,
    /// USD per million tokens; null: unknown, so costs are null.
    #[schema(value_type = Option<Object>)]
    pub price: Option<Price>,
    /// Whether a call can be made: its key is there and its provider is built into this version.
    pub is_wired: bool,
    /// `closed` (healthy), `open` (failing, calls are refused at once), `half_open`, or null for recorded judges.
    pub breaker: Option<String>,
    /// Parameters that the server refused and that are left out since, such as `logprobs`. Forgotten when another model
    /// answers, and after a week.
    pub refused: Vec<String>,
    /// The name under which the server wants the answer's token cap, when it is not its provider's usual one.
    pub answer_cap: Option<String>,
    /// The most alternatives per token that the server gives, when it is fewer than its provider's usual number.
    pub most_alternatives: Option<u8>,
    /// The model that last said it answered; null until one did.
    pub model_replied: Option<String>,
    /// Per criterion in later versions; `missing` until labels exist.
    pub calibration: String,
}

impl JudgeReport {
    pub(super) fn of(in_force: &InForce, judge: &Judge) -> Self {
        let learned = in_force.askers.learned(&judge.id).unwrap_or_default();
        Self {
            id: judge.id.to_string(),
            model: judge.model.clone(),
            family: judge.family.clone(),
            server: judge.server.name.clone(),
            provider: judge.server.provider,
            perimeter: judge.server.perimeter,
            template: judge.template.name.clone(),
            scoring: judge.scoring,
            price: judge.price,
            is_wired: in_force.is_wired(judge),
            breaker: in_force.breaker(judge).map(str::to_owned),
            refused: learned.refused,
            answer_cap: learned.answer_cap,
            most_alternatives: learned.most_alternatives,
            model_replied: in_force.askers.model_replied(&judge.id),
            calibration: String::from("missing"),
        }
    }
}

/// The judges in force.
#[utoipa::path(get, path = "/v1/judges", tag = "panels", responses((status = 200, body = JudgeList)))]
pub async fn list(State(app): State<App>) -> Json<JudgeList> {
    let in_force = app.in_force();
    let judges = in_force.config.judges.values().map(|judge| JudgeReport::of(&in_force, judge)).collect();
    Json(JudgeList { judges })
}
