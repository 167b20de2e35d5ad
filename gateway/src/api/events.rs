//! `GET /v1/runs/{id}/events`: how far a run is, as server-sent events.
//!
//! A reader gets the newest counts, never a backlog: one that is slow misses some in between. A run that is judged here
//! is watched; one that another gateway or a command judges is looked up in the store now and then.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use super::caller::Caller;
use super::error::{ApiError, ProblemBody};
use super::runs::find;
use crate::app::App;
use crate::run::{RunProgress, RunReport};
use crate::store::rows::RunStatus;

/// How often the store is asked about a run that is not judged here.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Least time between two events: a run of cached cases must not flood its readers.
const EVENT_EVERY: Duration = Duration::from_millis(100);

/// A comment is sent after this time without an event, so that proxies keep the connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The last event of a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunEnded {
    /// `finished` or `stopped`.
    pub status: String,
    /// Why it was stopped, where that is known.
    pub reason: Option<String>,
}

/// How far the run is: `progress` events while it is judged, one `end` event, then the stream closes.
#[utoipa::path(
    get,
    path = "/v1/runs/{id}/events",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `last`")),
    responses(
        (status = 200, body = RunProgress, content_type = "text/event-stream", description = "`event: progress` with these counts, the newest only; at last `event: end` with `status` and `reason`. A stream that closes without `end` is opened again: the gateway stopped"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn events(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let run = find(&app, &caller, id).await?.run.id;
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("still there");
    let mut response = Sse::new(stream(app, caller, run)).keep_alive(keep_alive).into_response();
    // Proxies that collect what they pass on would keep events back.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Nothing but the newest counts is held for a reader, however slow it is.
fn stream(app: App, caller: Caller, run: String) -> impl Stream<Item = Result<Event, Infallible>> {
    let stop = app.desk().stopping().clone();
    let changes = app.desk().changes();
    let project = caller.project;
    let watcher =
        Watcher { app, project, run, changes, live: None, shown: None, has_looked: false, is_over: false };
    let events = futures::stream::unfold(watcher, |mut watcher| async move {
        watcher.next().await.map(|event| (Ok(event), watcher))
    });
    futures::StreamExt::take_until(events, stop.cancelled_owned())
}

struct Watcher {
    app: App,
    project: Arc<str>,
    run: String,
    changes: watch::Receiver<()>,
    /// While the run is judged here.
    live: Option<watch::Receiver<Option<RunProgress>>>,
    shown: Option<RunProgress>,
    has_looked: bool,
    is_over: bool,
}

impl Watcher {
    async fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        loop {
            if std::mem::replace(&mut self.has_looked, true) {
                self.pause().await;
            }
            if self.live.is_none() {
                self.live = self.app.desk().progress(&self.run);
            }
            let progress = match &mut self.live {
                Some(live) => *live.borrow_and_update(),
                None => match self.stored().await {
                    Ok(progress) => Some(progress),
                    Err(end) => {
                        self.is_over = true;
                        return end.and_then(|end| Event::default().event("end").json_data(end).ok());
                    }
                },
            };
            if let Some(news) = progress.filter(|_| self.shown != progress) {
                self.shown = progress;
                return Event::default().event("progress").json_data(news).ok();
            }
        }
    }

    /// Until there may be something new.
    async fn pause(&mut self) {
        let Some(live) = &mut self.live else {
            tokio::select! {
                // An error: the gateway is going away, which ends the stream.
                _ = self.changes.changed() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            return;
        };
        if live.changed().await.is_ok() {
            tokio::time::sleep(EVENT_EVERY).await;
        } else {
            // It is not judged here any more, and the store knows how it ended.
            self.live = None;
        }
    }

    /// The counts as they are stored; an error where the run has ended, or nothing can be told any more.
    async fn stored(&self) -> Result<RunProgress, Option<RunEnded>> {
        let found = self.app.engine().find_run(&self.project, &self.run).await;
        let Ok(Some(run)) = found else { return Err(None) };
        match run.status {
            RunStatus::Running => Ok(RunProgress::of_totals(&run.totals, run.run.case_total)),
            RunStatus::Finished | RunStatus::Stopped => {
                let RunReport { status, reason, .. } = RunReport::of(&run);
                Err(Some(RunEnded { status, reason }))
            }
        }
    }
}
