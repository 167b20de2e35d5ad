//! `GET /v1/runs/{id}/gate` and `…/report`: a stored run against what it has to reach, as JSON and as a page.

use aggregation::gate::{Claim, GateRule};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::caller::Caller;
use super::error::{ApiError, ProblemBody};
use super::runs;
use crate::app::App;
use crate::gate::render::html;
use crate::gate::{GateReport, GateTerms, Threshold, USUAL_MARGIN, describe_stored, measure_stored};

/// The page holds its style and pictures, and asks for nothing.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateQuery {
    /// Least mean scores, `CRITERION=SHARE` with commas between; in place of those in panel.yaml.
    min: Option<String>,
    /// Least shares of cases that pass, in the same form.
    pass_rate: Option<String>,
    /// `three_state` (usual) or `point`.
    rule: Option<Rule>,
    /// Scored cases below which the gate is inconclusive; 30 when left out.
    min_cases: Option<usize>,
    /// How much worse than its baseline a run may be, 0 to 1; 0.05 when left out.
    margin: Option<f64>,
    /// Demand that the run is better than its baseline.
    superior: Option<bool>,
    /// Demand fresh calibrations.
    require_calibration: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rule {
    ThreeState,
    Point,
}

/// A run against thresholds, or against the baseline that it was compared with. The answer is 200 whatever the decision.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/gate",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id, or `last`"),
        ("min" = Option<String>, Query, description = "Least mean scores, `CRITERION=SHARE` with commas between; in place of those in panel.yaml"),
        ("pass_rate" = Option<String>, Query, description = "Least shares of cases that pass, in the same form"),
        ("rule" = Option<String>, Query, description = "`three_state` (usual) or `point`"),
        ("min_cases" = Option<usize>, Query, description = "Scored cases below which the gate is inconclusive; 30 when left out"),
        ("margin" = Option<f64>, Query, description = "How much worse than its baseline a run may be, 0 to 1; 0.05 when left out"),
        ("superior" = Option<bool>, Query, description = "Demand that the run is better than its baseline"),
        ("require_calibration" = Option<bool>, Query, description = "Demand fresh calibrations"),
    ),
    responses(
        (status = 200, body = GateReport),
        (status = 400, body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Result<Query<GateQuery>, QueryRejection>,
) -> Result<Json<GateReport>, ApiError> {
    let Query(query) = query.map_err(|rejection| ApiError::BadQuery(rejection.body_text()))?;
    let run = runs::find(&app, &caller, id).await?;
    let panel = app.in_force().panel(Some(&run.run.panel))?;
    let (min, pass_rate) = (thresholds(query.min.as_deref())?, thresholds(query.pass_rate.as_deref())?);
    let terms = GateTerms::of(&panel, &min, &pass_rate).map_err(|error| ApiError::Gate(error.into()))?;
    let margin = query.margin.unwrap_or(USUAL_MARGIN);
    if !(0.0..=1.0).contains(&margin) {
        return Err(ApiError::BadQuery(format!("`margin` is {margin}; hint: a share from 0 to 1")));
    }
    let terms = GateTerms {
        rule: match query.rule {
            Some(Rule::Point) => GateRule::Point,
            Some(Rule::ThreeState) | None => GateRule::ThreeState,
        },
        claim: if query.superior == Some(true) { Claim::Superior } else { Claim::NonInferior { margin } },
        min_cases: query.min_cases.unwrap_or(terms.min_cases),
        require_calibration: query.require_calibration.unwrap_or(false),
        ..terms
    };
    let measured = measure_stored(app.engine(), &run, &panel, &terms, None).await.map_err(ApiError::Gate)?;
    Ok(Json(GateReport::of(vec![measured])))
}

/// A run as a self-contained page, held against its panel's thresholds where it has some.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/report",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `last`")),
    responses(
        (status = 200, body = String, content_type = "text/html"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn report(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let run = runs::find(&app, &caller, id).await?;
    let panel = app.in_force().panel(Some(&run.run.panel))?;
    let described = describe_stored(app.engine(), &run, &panel).await.map_err(ApiError::Gate)?;
    let page = html::render(&GateReport::of(vec![described]))
        .map_err(|error| ApiError::Internal(format!("render the report: {error}")))?;
    let headers =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, PAGE_POLICY)];
    Ok((headers, page).into_response())
}

fn thresholds(list: Option<&str>) -> Result<Vec<Threshold>, ApiError> {
    let parts = list.unwrap_or_default().split(',').filter(|part| !part.trim().is_empty());
    parts
        .map(|part| part.parse().map_err(|error| ApiError::BadQuery(format!("{error}"))))
        .collect::<Result<_, _>>()
}
