//! `GET /v1/runs`: what was judged, read from the store. Verdicts come as a stream of lines, at constant memory.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::caller::Caller;
use super::error::{ApiError, ProblemBody};
use crate::app::App;
use crate::engine::EngineError;
use crate::run::RunReport;
use crate::store::rows::RunSummary;
use crate::verdict::CaseVerdict;

/// Verdicts read from the store at once.
const PAGE: u32 = 100;
const USUAL_RUNS: u16 = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// How many, from the newest on; 20 when left out, at most 1000.
    pub limit: Option<u16>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RunList {
    /// Newest first.
    pub runs: Vec<RunReport>,
}

/// The newest runs.
#[utoipa::path(
    get,
    path = "/v1/runs",
    tag = "runs",
    params(("limit" = Option<u16>, Query, description = "How many, from the newest on; 20 when left out, at most 1000")),
    responses(
        (status = 200, body = RunList),
        (status = 400, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<RunList>, ApiError> {
    let Query(ListQuery { limit }) = query.map_err(|rejection| ApiError::BadQuery(rejection.body_text()))?;
    let limit = limit.unwrap_or(USUAL_RUNS);
    if !(1..=1000).contains(&limit) {
        return Err(ApiError::BadQuery(format!("`limit` is {limit}; hint: 1 to 1000")));
    }
    let runs = app.engine().runs(&caller.project, u32::from(limit)).await?;
    Ok(Json(RunList { runs: runs.iter().map(RunReport::of).collect() }))
}

/// One run; `last` is the newest.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `last`")),
    responses(
        (status = 200, body = RunReport),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RunReport>, ApiError> {
    Ok(Json(RunReport::of(&find(&app, &caller, id).await?)))
}

/// The newest verdict of each case of a run, by case id, one JSON object a line.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/verdicts",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `last`")),
    responses(
        (status = 200, body = CaseVerdict, content_type = "application/jsonl", description = "One verdict a line"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn verdicts(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let run = find(&app, &caller, id).await?.run.id;
    let pages =
        Pages { app, project: caller.project, run, after: None, page: VecDeque::new(), is_last: false };
    let lines = futures::stream::try_unfold(pages, |mut pages| async move {
        let line = pages.next_line().await?;
        Ok::<_, EngineError>(line.map(|line| (line, pages)))
    });
    let kind = HeaderValue::from_static("application/jsonl");
    Ok(([(header::CONTENT_TYPE, kind)], Body::from_stream(lines)).into_response())
}

/// A run of the caller's project.
pub(super) async fn find(app: &App, caller: &Caller, id: String) -> Result<RunSummary, ApiError> {
    app.engine().find_run(&caller.project, &id).await?.ok_or(ApiError::UnknownRun(id))
}

/// A run's verdicts, read page by page.
struct Pages {
    app: App,
    project: Arc<str>,
    run: String,
    after: Option<String>,
    page: VecDeque<CaseVerdict>,
    is_last: bool,
}

impl Pages {
    async fn next_line(&mut self) -> Result<Option<Bytes>, EngineError> {
        if self.page.is_empty() && !self.is_last {
            let engine = self.app.engine();
            let page = engine.verdicts_of_run(&self.project, &self.run, self.after.as_deref(), PAGE).await?;
            self.is_last = page.len() < PAGE as usize;
            self.after = page.last().map(|verdict| verdict.case.clone());
            self.page = page.into();
        }
        let Some(verdict) = self.page.pop_front() else { return Ok(None) };
        let unreadable = |source| EngineError::Unreadable { id: verdict.id.clone(), source };
        let mut line = serde_json::to_vec(&verdict).map_err(unreadable)?;
        line.push(b'\n');
        Ok(Some(line.into()))
    }
}
