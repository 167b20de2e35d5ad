//! A panel's answer to a caller's own request, or to a case in the caller's hand.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use providers::chat::{CallerBody, FinishReason, Forwarding, Usage};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::error::DropInError;
use super::names::Named;
use super::stream::{Answered, Wire, send};
use crate::api::caller::Caller;
use crate::api::error::ApiError;
use crate::api::verdicts::evidence_headers;
use crate::app::App;
use crate::case::{Case, Sensitivity};
use crate::dropin::caller::{CallerRequest, for_judges, labels};
use crate::dropin::exchange::Layout;
use crate::dropin::said::{Called, Envelope, Said, with};
use crate::dropin::{OnTie, Outcome};
use crate::engine::{JudgeRequest, PanelQuestion, PanelReply, Reuse};
use crate::in_force::InForce;
use crate::panel::Panel;
use crate::settings;
use crate::verdict::{AbstentionKind, CaseVerdict};

pub(super) struct Question {
    pub caller: Caller,
    pub in_force: Arc<InForce>,
    pub named: Named,
    pub panel: Arc<Panel>,
    pub request: CallerRequest,
    pub sensitivity: Sensitivity,
}

pub(super) async fn respond(app: App, question: Question, wire: Wire) -> Result<Response, DropInError> {
    let stream = question.request.stream;
    let coming = Box::pin(async move {
        let decided = decide(&app, &question).await?;
        Ok(answered(&app, &question, decided))
    });
    send(coming, wire, stream).await
}

/// What the panel says, and the verdict that it is kept as.
pub(super) struct Decided {
    pub said: Said,
    pub verdict: CaseVerdict,
    usage: Usage,
}

pub(super) async fn decide(app: &App, question: &Question) -> Result<Decided, DropInError> {
    if let Some(missing) = question.in_force.config.missing_keys(&question.panel.name).first() {
        return Err(DropInError::Api(ApiError::MissingKey {
            judge: missing.judge.to_string(),
            source_name: missing.gap.to_string(),
        }));
    }
    let cancel = CancellationToken::new();
    // Dropped with this future when the client hangs up: unsent calls are dropped, sent ones finish and are recorded.
    let hang_up = cancel.clone().drop_guard();
    let decided = match question.request.native_case.clone() {
        Some(case) => judge_case(app, question, case, cancel).await,
        None => ask(app, question, cancel).await,
    };
    hang_up.disarm();
    decided
}

/// The panel's judges answer the caller's own prompt.
async fn ask(app: &App, question: &Question, cancel: CancellationToken) -> Result<Decided, DropInError> {
    let alias = question.named.alias.as_ref();
    let reply = app
        .engine()
        .ask_panel(PanelQuestion {
            panel: Arc::clone(&question.panel),
            askers: Arc::clone(&question.in_force.askers),
            project: Arc::clone(&question.caller.project),
            purse: question.caller.purse_for(app, &question.panel).await?,
            body: Arc::new(CallerBody::new(for_judges(&question.request.body), Forwarding::Adapted)),
            sampling: question.request.sampling.clone(),
            sensitivity: question.sensitivity,
            labels: labels(&question.request.body),
            layout: alias
                .and_then(|alias| alias.reverse.as_ref())
                .and_then(|own| Layout::new(&own.a, &own.b)),
            on_tie: match alias.map(|alias| alias.on_tie).unwrap_or_default() {
                settings::OnTie::Lead => OnTie::Lead,
                settings::OnTie::Refuse => OnTie::Refuse,
            },
            reuse: if alias.is_some_and(|alias| alias.cache) { Reuse::Always } else { Reuse::Unanswered },
            has_rubric: alias.is_some_and(|alias| alias.rubric.is_some()),
            cancel,
        })
        .await?;
    let PanelReply { outcome, verdict, usage, retry_after } = reply;
    let said = match outcome {
        Outcome::Answer(answer) => Said {
            content: answer.content,
            refusal: None,
            tool_calls: answer
                .tool_call
                .map(|(name, arguments)| Called { id: format!("call_{}", verdict.id), name, arguments })
                .into_iter()
                .collect(),
            finish: answer.finish,
            logprobs: answer.logprobs,
        },
        Outcome::Refused { text } => Said { finish: FinishReason::Stop, ..Said::refusal(text) },
        Outcome::Tied { .. } => Said::refusal("The judges are split, and no answer has a majority."),
        Outcome::BelowQuorum { .. } if is_over_budget(&verdict) => {
            return Err(question.caller.over_budget().into());
        }
        Outcome::BelowQuorum { .. } => return Err(below_quorum(&question.named, &verdict, retry_after)),
    };
    Ok(Decided { said, verdict, usage })
}

/// The panel judges a case by its own prompt, pairs in both orders; the answer holds its values.
async fn judge_case(
    app: &App,
    question: &Question,
    case: Value,
    cancel: CancellationToken,
) -> Result<Decided, DropInError> {
    let mut case = Case::try_from(case).map_err(ApiError::InvalidCase)?;
    case.sensitivity = case.sensitivity.max(question.sensitivity);
    for (name, label) in labels(&question.request.body) {
        case.metadata.entry(name).or_insert(label);
    }
    question.in_force.check_ready(&question.panel, &case, false)?;
    let request = JudgeRequest {
        case: Arc::new(case),
        panel: Arc::clone(&question.panel),
        askers: Arc::clone(&question.in_force.askers),
        project: Arc::clone(&question.caller.project),
        run: None,
        position: 0,
        use_cache: true,
        cache_since_us: 0,
        resumed: false,
        retry: None,
        seed: 0,
        allow_kin: false,
        purse: question.caller.purse_for(app, &question.panel).await?,
        cancel,
    };
    let verdict = app.engine().judge(request).await.map_err(|error| question.caller.failed(error))?;
    if !verdict.quorum.met {
        return Err(below_quorum(&question.named, &verdict, None));
    }
    let values: Map<String, Value> = verdict
        .criteria
        .iter()
        .map(|(name, criterion)| (name.clone(), criterion.value.clone().unwrap_or(Value::Null)))
        .collect();
    let said = Said::text(Value::Object(values).to_string());
    // What its judges spent is in the verdict's cost; their tokens are not summed there.
    Ok(Decided { said, verdict, usage: Usage::default() })
}

pub(super) fn answered(app: &App, question: &Question, decided: Decided) -> Answered {
    let Decided { said, verdict, usage } = decided;
    let name = question.request.model.clone().unwrap_or_else(|| question.panel.name.clone());
    let mut headers = evidence_headers(&verdict);
    headers.extend([
        ("x-litellm-call-id", verdict.id.clone()),
        ("x-litellm-model-group", name.clone()),
        ("x-litellm-overhead-duration-ms", format!("{:.1}", verdict.overhead_ms)),
    ]);
    headers.extend(verdict.cost_usd.map(|cost| ("x-litellm-response-cost", format!("{cost:.6}"))));
    let envelope = Envelope {
        id: verdict.id.clone(),
        created_s: app.engine().now_us() / 1_000_000,
        model: name,
        usage,
        choices: question.request.choices,
        repeated: question.request.repeated.clone(),
        tribunal: evidence(&verdict, said.logprobs.is_some()),
    };
    Answered { said, envelope, headers }
}

/// The verdict beside the answer, as far as a caller of this route reads it.
fn evidence(verdict: &CaseVerdict, has_logprobs: bool) -> Value {
    // Made of votes and of the judges' own, and not measured on the text that goes out.
    let logprobs = has_logprobs.then(|| ("logprobs", json!("synthetic")));
    let evidence = json!({
        "verdict_id": verdict.id,
        "panel": verdict.panel,
        "panel_version": verdict.panel_version,
        "criteria": verdict.criteria,
        "disagreement": verdict.most_disagreement(),
        "escalated": verdict.escalated,
        "escalation_reasons": verdict.escalation_reasons,
        "quorum": verdict.quorum,
        "calls": verdict.calls,
        "cost_usd": verdict.cost_usd,
        "warnings": verdict.warnings,
    });
    with(evidence, logprobs)
}

/// Whether money is what is missing: coming back later would not help.
fn is_over_budget(verdict: &CaseVerdict) -> bool {
    verdict.missing_votes().any(|missing| missing.kind == AbstentionKind::OverBudget)
}

/// Who has no answer and why; judges at their limits are worth waiting for.
fn below_quorum(
    named: &Named,
    verdict: &CaseVerdict,
    retry_after: Option<std::time::Duration>,
) -> DropInError {
    let missing: Vec<_> = verdict.missing_votes().collect();
    let reasons: Vec<String> = missing
        .iter()
        .map(|missing| {
            let kind = serde_json::to_value(missing.kind).ok();
            let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("no vote").replace('_', " ");
            format!("{} ({kind})", missing.judge)
        })
        .collect();
    let are_limited =
        !missing.is_empty() && missing.iter().all(|missing| missing.kind == AbstentionKind::RateLimited);
    let q = verdict.quorum;
    DropInError::BelowQuorum {
        detail: format!(
            "{} of {} judges answered, and {} have to; without an answer: {}; verdict {}",
            q.voted,
            q.asked,
            q.required,
            reasons.join(", "),
            verdict.id
        ),
        status: if are_limited || named.is_below_quorum_429() {
            StatusCode::TOO_MANY_REQUESTS
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        },
        retry_after,
    }
}
