//! One run under a lease, from the look at its panel to its end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::desk::LEASE;
use super::judging::{RunProgress, Tally, judge_cases};
use super::options::RunOptions;
use crate::access::KeyError;
use crate::app::App;
use crate::engine::run::{RunSpec, usual_concurrency};
use crate::engine::{Budget, EngineError, Purse};
use crate::in_force::InForce;
use crate::panel::Panel;
use crate::store::StoreError;
use crate::store::rows::{RunEnd, RunRow, RunStatus, TakenRun};

const RENEWED_EVERY: Duration = Duration::from_secs(3);

/// Why a run cannot be gone on with as things are.
#[derive(Debug, thiserror::Error)]
pub enum RunFault {
    #[error(
        "panel `{panel}` was version {begun} when the run was begun and is {now}; hint: restore panel.yaml, or begin a new run (its unchanged judgments come from the cache)"
    )]
    PanelChanged { panel: String, begun: String, now: String },
    #[error("{0}")]
    MissingKey(String),
    #[error("the options of the run cannot be read")]
    Options(#[source] serde_json::Error),
    #[error("the key that the run was begun with: {0}")]
    Key(KeyError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RunFault {
    /// The panel that the run was begun under, if it is still in force and can be asked.
    pub fn check(in_force: &InForce, run: &RunRow) -> Result<Arc<Panel>, Self> {
        let panel = in_force.config.panels.get(&run.panel);
        let Some(panel) = panel.filter(|panel| panel.version == run.panel_version) else {
            let now = panel.map_or_else(|| String::from("not there any more"), |panel| panel.version.clone());
            return Err(Self::PanelChanged {
                panel: run.panel.clone(),
                begun: run.panel_version.clone(),
                now,
            });
        };
        match in_force.config.missing_keys(&panel.name).first() {
            Some(missing) => Err(Self::MissingKey(missing.to_string())),
            None => Ok(Arc::clone(panel)),
        }
    }
}

/// A taken run and what its judging is told by and tells.
pub(super) struct Session {
    pub taken: TakenRun,
    pub progress: watch::Sender<Option<RunProgress>>,
    /// Somebody wants it to end.
    pub end: CancellationToken,
    /// No further case is begun.
    pub stop: CancellationToken,
}

/// How a session ended.
enum Outcome {
    Ended(RunEnd, Option<String>),
    /// Not done: whoever takes the run next goes on with it.
    LetGo,
    /// Another gateway has it, or may have.
    Lost,
}

/// Judges the run and keeps how it ended, unless its lease was lost.
pub(super) async fn judge(app: &App, session: &Session) {
    let (run, store) = (session.taken.run.as_str(), &app.engine().store);
    let outcome = match begin(app, session).await {
        Ok(begun) => Box::pin(judge_leased(app, session, begun)).await,
        Err(RunFault::Store(error)) => {
            tracing::warn!(run.id = run, error = &error as &dyn std::error::Error, "a run was not begun");
            Outcome::Lost
        }
        Err(fault) => stopped(app, fault.to_string()),
    };
    let written = match outcome {
        Outcome::Ended(end, reason) => {
            tracing::info!(run.id = run, status = end.status.name(), "run ended");
            store.end_taken_run(&session.taken, &end, reason.as_deref()).await
        }
        Outcome::LetGo => store.renew_run(&session.taken, Duration::ZERO).await.map(|lease| lease.is_some()),
        Outcome::Lost => Ok(false),
    };
    match written {
        Ok(true) => {}
        Ok(false) => tracing::warn!(run.id = run, "the run is another gateway's, or will be"),
        Err(error) => {
            tracing::warn!(
                run.id = run,
                error = &error as &dyn std::error::Error,
                "the run's end was not kept"
            );
        }
    }
}

fn stopped(app: &App, reason: String) -> Outcome {
    let end = RunEnd { status: RunStatus::Stopped, finished_us: app.engine().now_us(), outcome: None };
    Outcome::Ended(end, Some(reason))
}

struct Begun {
    run: RunRow,
    spec: RunSpec,
}

async fn begin(app: &App, session: &Session) -> Result<Begun, RunFault> {
    let TakenRun { project, run, options, fencing_token, .. } = &session.taken;
    let engine = app.engine();
    let stored = engine.find_run(project, run).await?;
    let run = stored.ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })?.run;
    let options: RunOptions = serde_json::from_str(options).map_err(RunFault::Options)?;
    let in_force = app.in_force();
    let panel = RunFault::check(&in_force, &run)?;
    let cap = match options.max_cost_usd {
        Some(cap) => Some(Arc::new(Budget::of_usd(cap, engine.run_cost_microusd(project, &run.id).await?))),
        None => None,
    };
    let purse = Purse { cap, ..purse_of(app, options.key.as_deref()).await? };
    let spec = RunSpec {
        id: Arc::from(run.id.as_str()),
        project: Arc::from(project.as_str()),
        askers: Arc::clone(&in_force.askers),
        concurrency: options.concurrency.map_or_else(|| usual_concurrency(&panel), usize::from),
        panel,
        use_cache: options.use_cache,
        cache_since_us: 0,
        resumed: *fencing_token > 1,
        retry_errors: options.retry_errors,
        seed: options.seed,
        allow_kin: options.allow_kin,
        purse,
        stop: session.stop.clone(),
        cancel: CancellationToken::new(),
    };
    Ok(Begun { run, spec })
}

/// What the key that pays for a run may still spend.
async fn purse_of(app: &App, key: Option<&str>) -> Result<Purse, RunFault> {
    let Some(id) = key else { return Ok(Purse::default()) };
    let ring = app.key_ring();
    let purse = async { ring.purse(&ring.of_run(id).await?).await };
    purse.await.map_err(|error| match error {
        KeyError::Store(error) => RunFault::Store(error),
        error @ (KeyError::Refused(_) | KeyError::Unreadable(_)) => RunFault::Key(error),
    })
}

/// Judges while the lease holds.
async fn judge_leased(app: &App, session: &Session, begun: Begun) -> Outcome {
    let Begun { run, spec } = begun;
    let purse = spec.purse.clone();
    let total = run.case_total.and_then(|total| u64::try_from(total).ok());
    session.progress.send_replace(Some(Tally::new().progress(total)));
    if session.taken.lease.is_asked_to_stop {
        session.end.cancel();
        // At once: not a single case of it is begun.
        session.stop.cancel();
    }
    let (stop, cancel) = (spec.stop.clone(), spec.cancel.clone());
    let fault = Arc::new(Mutex::new(None));
    let cases = app.engine().input(run, Arc::clone(&fault));
    let judging = judge_cases(app.engine(), spec, cases, |tally, _| {
        // Slow readers miss values, never the newest one.
        session.progress.send_replace(Some(tally.progress(total)));
        Ok::<_, std::convert::Infallible>(())
    });
    tokio::pin!(judging);
    let mut renewal = tokio::time::interval_at(Instant::now() + RENEWED_EVERY, RENEWED_EVERY);
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut held = Instant::now();
    let tally = loop {
        tokio::select! {
            Ok(tally) = &mut judging => break tally,
            () = session.end.cancelled(), if !stop.is_cancelled() => stop.cancel(),
            // Losing the tick is fine: the next one comes.
            _ = renewal.tick() => match app.engine().store.renew_run(&session.taken, LEASE).await {
                Ok(Some(lease)) => {
                    held = Instant::now();
                    if lease.is_asked_to_stop {
                        session.end.cancel();
                    }
                }
                // What was sent is recorded by its own tasks; nothing more is sent.
                Ok(None) => { stop.cancel(); cancel.cancel(); return Outcome::Lost }
                Err(_) if held.elapsed() >= LEASE => { stop.cancel(); cancel.cancel(); return Outcome::Lost }
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "a run's lease was not renewed"),
            },
        }
    };
    let fault = fault.lock().unwrap_or_else(PoisonError::into_inner).take();
    conclude(app, session, tally, total, fault, &purse)
}

fn conclude(
    app: &App,
    session: &Session,
    mut tally: Tally,
    total: Option<u64>,
    fault: Option<EngineError>,
    purse: &Purse,
) -> Outcome {
    let is_whole = total.is_some_and(|total| tally.summary.cases >= total) && !tally.is_stopped();
    // An end that was asked for is an end also while the gateway stops.
    let is_asked = session.end.is_cancelled();
    if !is_whole && !is_asked && app.desk().stopping().is_cancelled() {
        return Outcome::LetGo;
    }
    let mut reason = None;
    if let Some(fault) = fault.or(tally.first_error.take()) {
        tally.is_interrupted = true;
        reason = Some(fault.to_string());
    } else if tally.is_capped {
        reason = purse.explain("max_cost_usd");
    } else if is_asked && !is_whole {
        tally.is_interrupted = true;
        reason = Some(String::from("stopped on request"));
    }
    Outcome::Ended(tally.end(app.engine().now_us()), reason)
}
