//! `POST /v1/runs` and what is done to a run that was begun by it. The judging itself is the desk's.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::caller::Caller;
use super::error::{ApiError, ProblemBody, ProblemDetail};
use super::runs::find;
use super::{body, idempotency};
use crate::app::App;
use crate::case::{Case, Sensitivity};
use crate::engine::{IdempotentRun, NewRun, unpriced};
use crate::in_force::InForce;
use crate::intake::{IntakeOptions, of_values};
use crate::panel::Panel;
use crate::run::checks::{self, MOST_REPEATS, Unaskable};
use crate::run::desk::MOST_WAITING;
use crate::run::{RunFault, RunOptions, RunReport};
use crate::store::rows::{RunKind, RunRow, WorkStatus};

/// Most cases in flight that a request may ask for.
const MOST_CONCURRENCY: u16 = 1024;

/// Cases for one panel, judged in the background.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// A panel's name; the only one, or `default`, when left out.
    #[serde(default)]
    pub panel: Option<String>,
    /// Cases as in a file, each with an `id` of its own or none.
    #[schema(value_type = Vec<Object>)]
    pub cases: Vec<serde_json::Value>,
    /// Seed of the draw for random reviews.
    #[serde(default)]
    pub seed: u64,
    /// Whether earlier judgments of the same cases may be used.
    #[serde(default = "yes")]
    pub use_cache: bool,
    /// How often each case is judged, 1 to 100; more than once is always afresh.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Let judges vote on answers of their own model or family.
    #[serde(default)]
    pub allow_kin: bool,
    /// Allow cases with and without a reference in one run.
    #[serde(default)]
    pub by_mode: bool,
    /// Stop before more is spent, in US dollars; refused when a price is unknown.
    #[serde(default)]
    pub max_cost_usd: Option<f64>,
    /// Cases in flight at once, 1 to 1024; as many as the panel's servers take, when left out.
    #[serde(default)]
    pub concurrency: Option<u16>,
}

fn yes() -> bool {
    true
}

fn once() -> u32 {
    1
}

/// How a run is gone on with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// Ask again for votes that are missing through failures (unavailable, timed out, rate limited) or whose reply could not be read.
    #[serde(default)]
    pub retry_errors: bool,
    /// Another cap, over all sessions of the run; as before when left out.
    #[serde(default)]
    pub max_cost_usd: Option<f64>,
}

/// Judge many cases in the background. The answer comes once the cases are kept: a restart goes on with them.
#[utoipa::path(
    post,
    path = "/v1/runs",
    tag = "runs",
    params(
        ("idempotency-key" = Option<String>, Header, description = "1 to 255 visible ASCII characters: the run is begun once, however often it is sent within 24 hours; the same key with another body is refused"),
        ("x-tribunal-sensitivity" = Option<String>, Header, description = "public, internal or confidential; raises each case's own, never lowers it"),
    ),
    request_body = RunRequest,
    responses(
        (status = 202, body = RunReport, description = "The run waits or is judged; `location` names it"),
        (status = 400, body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, body = ProblemBody, content_type = "application/problem+json", description = "Every problem of the cases, or a key that was used for another body"),
        (status = 429, body = ProblemBody, content_type = "application/problem+json", description = "Too many runs wait"),
    )
)]
pub async fn begin(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let body = body::bytes(&app, body)?;
    let keyed = idempotency::keyed(&headers, &body)?;
    let request: RunRequest =
        serde_json::from_slice(&body).map_err(|error| ApiError::BadJson(error.to_string()))?;
    let sensitivity = body::sensitivity(&headers)?;
    // Before anything that may have changed since: what was begun once is not begun again.
    if let Some(keyed) = &keyed
        && let Some(known) = app.engine().kept_run(&caller.project, keyed).await?
    {
        return replayed(&app, &caller, known).await;
    }
    let in_force = app.in_force();
    let panel = caller.panel(&in_force, request.panel.as_deref())?;
    let options = options(&caller, &request);
    let mut cases = check(&in_force, &panel, request)?;
    let least = sensitivity.unwrap_or(Sensitivity::Public).max(caller.least_sensitivity());
    for case in &mut cases {
        case.sensitivity = case.sensitivity.max(least);
    }
    caller.purse_for(&app, &panel).await?;
    if app.engine().waiting_runs().await? >= MOST_WAITING {
        return Err(ApiError::TooManyRuns { most: MOST_WAITING });
    }
    let run = RunRow {
        id: app.draw_id(),
        project: caller.project.to_string(),
        kind: RunKind::Judge,
        panel: panel.name.clone(),
        panel_version: panel.version.clone(),
        input_hash: None,
        case_total: i64::try_from(cases.len()).ok(),
        settings: options.settings(),
        created_us: app.engine().now_us(),
    };
    let new = NewRun { row: run, panel, seed: options.seed, options: options.to_json(), cases };
    match app.engine().begin_run_once(keyed, new).await? {
        IdempotentRun::Begun(run) => {
            app.desk().look();
            accepted(&app, &caller, run).await
        }
        known @ (IdempotentRun::Known(_) | IdempotentRun::OtherBody) => replayed(&app, &caller, known).await,
    }
}

/// Go on with a run that was begun over HTTP and has ended: nothing stored is asked again.
#[utoipa::path(
    post,
    path = "/v1/runs/{id}/resume",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `last`")),
    request_body = ResumeRequest,
    responses(
        (status = 202, body = RunReport),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "It is being judged, it was begun on the command line, or its panel has changed"),
        (status = 422, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn resume(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let body = body::bytes(&app, body)?;
    let request: ResumeRequest = if body.is_empty() {
        ResumeRequest::default()
    } else {
        serde_json::from_slice(&body).map_err(|error| ApiError::BadJson(error.to_string()))?
    };
    let stored = find(&app, &caller, id).await?;
    let id = stored.run.id.clone();
    let Some(work) = &stored.work else {
        return Err(ApiError::RunConflict(format!(
            "run `{id}` was begun on the command line; hint: `tribunal judge FILE --resume {id}`"
        )));
    };
    let under_way = || ApiError::RunConflict(format!("run `{id}` has not ended"));
    if work.status == WorkStatus::Waiting {
        return Err(under_way());
    }
    let panel = RunFault::check(&app.in_force(), &stored.run)
        .map_err(|fault| ApiError::RunConflict(fault.to_string()))?;
    caller.check_panel(&panel)?;
    caller.purse_for(&app, &panel).await?;
    let mut problems = Vec::new();
    check_cap(&panel, request.max_cost_usd, &mut problems);
    if !problems.is_empty() {
        return Err(ApiError::InvalidRun(problems));
    }
    let options: RunOptions =
        serde_json::from_str(&work.options).map_err(|error| ApiError::Internal(error.to_string()))?;
    let options = RunOptions {
        retry_errors: request.retry_errors,
        max_cost_usd: request.max_cost_usd.or(options.max_cost_usd),
        key: caller.key_id(),
        ..options
    };
    if !app.engine().queue_run_again(&caller.project, &id, &options.to_json()).await? {
        return Err(under_way());
    }
    app.desk().look();
    accepted(&app, &caller, id).await
}

/// End a run that was begun over HTTP: cases in flight finish, and it can be resumed.
#[utoipa::path(
    post,
    path = "/v1/runs/{id}/stop",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `last`")),
    responses(
        (status = 202, body = RunReport, description = "It ends once its cases in flight are done"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, body = ProblemBody, content_type = "application/problem+json", description = "It has ended, or it was begun on the command line"),
    )
)]
pub async fn stop(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let id = find(&app, &caller, id).await?.run.id;
    if !app.engine().ask_run_to_stop(&caller.project, &id).await? {
        return Err(ApiError::RunConflict(format!("no gateway judges run `{id}`")));
    }
    app.desk().end(&id);
    app.desk().look();
    accepted(&app, &caller, id).await
}

fn options(caller: &Caller, request: &RunRequest) -> RunOptions {
    RunOptions {
        seed: request.seed,
        use_cache: request.use_cache && request.repeat == 1,
        repeat: request.repeat,
        allow_kin: request.allow_kin,
        concurrency: request.concurrency,
        max_cost_usd: request.max_cost_usd,
        retry_errors: false,
        key: caller.key_id(),
    }
}

/// The cases, or everything that is wrong with the request.
fn check(in_force: &InForce, panel: &Arc<Panel>, request: RunRequest) -> Result<Vec<Case>, ApiError> {
    if let Some(missing) = in_force.config.missing_keys(&panel.name).first() {
        return Err(ApiError::MissingKey {
            judge: missing.judge.to_string(),
            source_name: missing.gap.to_string(),
        });
    }
    let mut problems = Vec::new();
    if request.concurrency.is_some_and(|n| !(1..=MOST_CONCURRENCY).contains(&n)) {
        problems.push(problem("concurrency", &format!("must be 1 to {MOST_CONCURRENCY}")));
    }
    if !(1..=MOST_REPEATS).contains(&request.repeat) {
        problems.push(problem("repeat", &format!("must be 1 to {MOST_REPEATS}")));
    } else if let Some(fixed) = checks::unrepeatable(panel, request.repeat) {
        problems.push(problem("repeat", &format!("{fixed}; hint: leave it out")));
    }
    check_cap(panel, request.max_cost_usd, &mut problems);
    let (allow_kin, by_mode) = (request.allow_kin, request.by_mode);
    let intake = IntakeOptions {
        candidate_texts: checks::candidate_texts(panel),
        repeat: request.repeat.min(MOST_REPEATS),
        ..IntakeOptions::default()
    };
    let (cases, report) = of_values(request.cases, &intake);
    for case in &report.problems {
        let at = place(case.line);
        problems.extend(case.problems.iter().map(|found| ProblemDetail::of_field(&at, found)));
    }
    for duplicate in &report.duplicates {
        let text = format!(
            "is `{}`, as in {}; hint: ids are unique within a run; leave `id` out to name cases by content",
            duplicate.id,
            place(duplicate.first_line)
        );
        problems.push(problem(&format!("{}.id", place(duplicate.line)), &text));
    }
    if report.cases == 0 && report.problem_count == 0 {
        problems.push(problem("cases", "no case to judge"));
    }
    if !by_mode && checks::mixes_references(&report) {
        let text = "some cases have a reference and some have none, so their scores are not comparable; hint: `by_mode: true` allows it";
        problems.push(problem("cases", text));
    }
    problems.extend(checks::unaskable(panel, &report).into_iter().map(|found| match found {
        Unaskable::Unchecked(what) => problem("cases", &what),
        Unaskable::NoFile(what) => {
            problem("cases", &format!("{what}; hint: add the file, or use another template"))
        }
        Unaskable::Lacks(at, what) => problem(&place(at.line), &what),
    }));
    let gap = checks::kinship_gap(panel, &report, &in_force.config.models).filter(|_| !allow_kin);
    if let Some(gap) = gap {
        let text = format!(
            "no quorum for answers of `{}`: related judges are left out ({}); hint: `allow_kin: true` lets them vote",
            gap.model,
            gap.judges.join(", ")
        );
        problems.push(problem("cases", &text));
    }
    if problems.is_empty() { Ok(cases) } else { Err(ApiError::InvalidRun(problems)) }
}

fn check_cap(panel: &Panel, max_cost_usd: Option<f64>, problems: &mut Vec<ProblemDetail>) {
    let Some(cap) = max_cost_usd else { return };
    if !(cap > 0.0 && cap <= 1e9) {
        problems.push(problem("max_cost_usd", "must be US dollars, more than 0"));
    }
    let unknown: Vec<String> = unpriced(panel).iter().map(|judge| format!("`{}`", judge.id)).collect();
    if !unknown.is_empty() {
        let text = format!(
            "cannot be kept: the price of {} is unknown; hint: set `judges.NAME.price`",
            unknown.join(", ")
        );
        problems.push(problem("max_cost_usd", &text));
    }
}

/// Where a case stands in the request; `line` counts from 1.
fn place(line: u64) -> String {
    format!("cases[{}]", line.saturating_sub(1))
}

fn problem(field: &str, text: &str) -> ProblemDetail {
    ProblemDetail::of_text(field.to_owned(), text)
}

async fn replayed(app: &App, caller: &Caller, known: IdempotentRun) -> Result<Response, ApiError> {
    match known {
        IdempotentRun::Begun(run) => accepted(app, caller, run).await,
        IdempotentRun::Known(run) => Ok(idempotency::mark_replayed(accepted(app, caller, run).await?)),
        IdempotentRun::OtherBody => Err(ApiError::IdempotencyConflict),
    }
}

async fn accepted(app: &App, caller: &Caller, run: String) -> Result<Response, ApiError> {
    let report = RunReport::of(&find(app, caller, run).await?);
    let location = HeaderValue::from_str(&format!("/v1/runs/{}", report.id));
    let mut response = (StatusCode::ACCEPTED, Json(report)).into_response();
    if let Ok(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}
