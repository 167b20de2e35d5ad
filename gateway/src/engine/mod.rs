//! From a case to a verdict: plan, ask, read, fold, decide, record.

mod ask;
mod askers;
mod assemble;
mod budget;
mod by_rule;
mod drop_in;
mod fan_out;
pub mod ids;
mod input;
mod keyed;
mod kin;
mod known;
mod model_facts;
mod pass_on;
pub mod plan;
pub mod probe;
pub mod prompt;
mod purse;
mod queries;
mod reading;
pub mod recorder;
pub mod replay;
pub mod reply;
mod retry;
mod rows;
pub mod run;
mod run_once;
#[cfg(test)]
pub(crate) mod scripted;
mod work;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use aggregation::verdict::EscalationReason;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

pub use self::askers::{Askers, WiringError, dialect};
pub use self::assemble::{kind_of, value_of_json};
pub use self::budget::{Budget, unpriced};
pub use self::drop_in::{PanelQuestion, PanelReply, Reuse};
use self::fan_out::Collected;
use self::ids::Ids;
pub(crate) use self::keyed::Keys;
pub use self::keyed::{BadKey, IdempotencyKey, Keyed, KeyedAnswer};
pub use self::kin::{KinshipGap, kinship_gap, kinship_gap_of};
pub use self::model_facts::ModelFacts;
pub use self::pass_on::{NotPassed, PassOn, Passed};
use self::plan::{Settled, Standing};
pub use self::purse::{KeyPurse, Purse};
use self::recorder::{Recorder, RecorderError};
pub use self::retry::Retry;
#[cfg(test)]
pub(crate) use self::rows::{Place, run_case};
pub use self::run_once::{IdempotentRun, NewRun};
pub use self::work::JudgeRequest;
use self::work::Work;
use crate::checks::Finding;
use crate::clock::Clock;
use crate::judge::Judge;
use crate::store::rows::Endpoint;
use crate::store::{Store, StoreError};
use crate::telemetry::metrics::Metrics;
use crate::verdict::CaseVerdict;

/// Why no verdict could be recorded. Failing judges are a verdict, not an error.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error("the record was not written")]
    Recorder(#[from] RecorderError),
    #[error("read recorded judgments")]
    Replay(#[from] replay::ReplayError),
    #[error("the caller went away before the verdict")]
    Cancelled,
    #[error("the next call may cost more than is left of the cap; hint: go on with a higher --max-cost")]
    OverBudget,
    #[error("shutting down")]
    ShuttingDown,
    #[error("the task that judged the case stopped")]
    TaskStopped,
    #[error(
        "case `{0}` changed since the run began; hint: begin a new run, its other judgments come from the cache"
    )]
    CaseChanged(String),
    #[error("verdict `{id}` was answered and is not in the store")]
    VerdictGone { id: String },
    #[error("the text of case `{case}` was erased before it was judged; hint: begin a new run")]
    TextGone { case: String },
    #[error("stored case `{case}` cannot be read")]
    UnreadableCase {
        case: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("stored verdict `{id}` cannot be read")]
    Unreadable {
        id: String,
        #[source]
        source: serde_json::Error,
    },
}

/// The parts that judging needs. Built once by `App`.
#[derive(Debug)]
pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) tasks: TaskTracker,
    pub(crate) metrics: Metrics,
    pub(crate) keys: Keys,
}

/// A judge's part in one case: who was left out and why, and who was asked.
#[derive(Debug, Default)]
struct Attendance {
    asked: Vec<Arc<Judge>>,
    excluded: Vec<(Arc<Judge>, aggregation::vote::Exclusion)>,
    replacements: Vec<Arc<Judge>>,
    has_unknown_kin: bool,
}

impl Engine {
    /// Judges one case. The work runs in a task of its own, so that what was sent is recorded whatever becomes of the
    /// caller.
    pub async fn judge(self: &Arc<Self>, request: JudgeRequest) -> Result<CaseVerdict, EngineError> {
        self.judge_as(request, None).await
    }

    /// As `judge`, under an id that was drawn before: judgments that were stored under it belong to this verdict.
    async fn judge_as(
        self: &Arc<Self>,
        request: JudgeRequest,
        verdict_id: Option<String>,
    ) -> Result<CaseVerdict, EngineError> {
        if self.tasks.is_closed() {
            return Err(EngineError::ShuttingDown);
        }
        let engine = Arc::clone(self);
        let task = self.tasks.spawn(async move { engine.judge_here(request, verdict_id).await });
        task.await.map_err(|_| EngineError::TaskStopped)?
    }

    async fn judge_here(
        self: &Arc<Self>,
        request: JudgeRequest,
        verdict_id: Option<String>,
    ) -> Result<CaseVerdict, EngineError> {
        let work = Arc::new(self.work(request, verdict_id).await?);
        let panel = &work.panel;
        let mut attendance = Attendance::default();
        for judge in &panel.judges {
            attend(&work, judge, &mut attendance);
        }
        let mut collected = match work.settled {
            Settled::No => fan_out::ask_all(self, &work, &attendance.asked).await?,
            Settled::Excluded(exclusion) => {
                let asked = std::mem::take(&mut attendance.asked);
                attendance.excluded.extend(asked.into_iter().map(|judge| (judge, exclusion)));
                Collected::default()
            }
            Settled::Fails(side, rule) => self.by_rule(&work, &attendance.asked, (side, rule)).await?,
        };
        // Nobody has to be replaced where the rubric has decided; an excluded member has.
        if work.settled == Settled::No {
            self.ask_replacements(&work, &mut attendance, &mut collected).await?;
        }
        self.conclude(&work, &attendance, collected).await
    }

    async fn work(&self, request: JudgeRequest, verdict_id: Option<String>) -> Result<Work, EngineError> {
        let started = Instant::now();
        let findings = findings(&request).await?;
        let verdict_id = verdict_id.unwrap_or_else(|| self.ids.draw());
        let JudgeRequest {
            case,
            panel,
            askers,
            project,
            run,
            position,
            use_cache,
            cache_since_us,
            resumed,
            retry,
            seed,
            allow_kin,
            purse,
            cancel,
        } = request;
        let is_drawn = plan::is_drawn_for_review(seed, &panel, &case);
        Ok(Work {
            mode: case.mode(),
            case_hash: case.content_hash(),
            settled: plan::settled(&panel, &case, &findings),
            findings,
            deadline: started + panel.deadline.case,
            endpoint: if run.is_some() { Endpoint::Run } else { Endpoint::Verdict },
            run: run.unwrap_or_else(|| Arc::from(verdict_id.as_str())),
            models: askers.models(),
            prints: askers.prints(&panel),
            askers,
            position,
            case,
            panel,
            project,
            verdict_id,
            use_cache,
            cache_since_us,
            resumed,
            retry,
            allow_kin,
            is_drawn,
            started,
            waits_for_budget: AtomicUsize::new(0),
            purse,
            cancel,
        })
    }

    /// One replacement per missing member, then one more when the votes are split without a majority.
    async fn ask_replacements(
        self: &Arc<Self>,
        work: &Arc<Work>,
        attendance: &mut Attendance,
        collected: &mut Collected,
    ) -> Result<(), EngineError> {
        let mut candidates = work.panel.replacements.iter();
        loop {
            let missing = assemble::missing_votes(work, attendance, &collected.judgments);
            if missing == 0 || Instant::now() >= work.deadline {
                return Ok(());
            }
            let mut next = Vec::new();
            for judge in candidates.by_ref() {
                let standing = plan::standing(&work.panel, &work.case, judge, &work.models, work.allow_kin);
                if standing.excluded.is_none() {
                    next.push(Arc::clone(judge));
                }
                if next.len() == missing {
                    break;
                }
            }
            if next.is_empty() {
                return Ok(());
            }
            let more = fan_out::ask_all(self, work, &next).await?;
            attendance.replacements.extend(next);
            collected.judgments.extend(more.judgments);
            collected.acks.extend(more.acks);
        }
    }

    /// Folds, decides, and answers after the verdict is durable.
    async fn conclude(
        &self,
        work: &Work,
        attendance: &Attendance,
        collected: Collected,
    ) -> Result<CaseVerdict, EngineError> {
        for ack in collected.acks {
            ack.committed().await?;
        }
        let mut verdict = assemble::verdict(work, attendance, &collected.judgments);
        if work.is_drawn {
            verdict.escalated = true;
            verdict.escalation_reasons.push(EscalationReason::RandomReview);
            verdict.escalation_reasons.sort_unstable();
        }
        let decided = Instant::now();
        let upstream = assemble::upstream_union(&collected.judgments);
        let before_ms = millis(decided - work.started);
        // The stored body carries the times known before it is written.
        verdict.latency_ms = before_ms;
        verdict.overhead_ms = (before_ms - millis(upstream)).max(0.0);
        self.recorder.record(rows::of_verdict(self, work, &verdict)).await?;
        verdict.record_ms = millis(decided.elapsed());
        verdict.latency_ms = millis(work.started.elapsed());
        self.metrics.observe_verdict(&verdict);
        Ok(verdict)
    }
}

/// What the rubric's checks find. Long texts take a while, and other cases must not wait for it.
async fn findings(request: &JudgeRequest) -> Result<Vec<Finding>, EngineError> {
    if request.panel.rubric.checks.is_empty() {
        return Ok(Vec::new());
    }
    let (panel, case) = (Arc::clone(&request.panel), Arc::clone(&request.case));
    let findings = tokio::task::spawn_blocking(move || plan::findings(&panel, &case));
    findings.await.map_err(|_| EngineError::TaskStopped)
}

fn attend(work: &Work, judge: &Arc<Judge>, attendance: &mut Attendance) {
    let Standing { excluded, kinship_unknown } =
        plan::standing(&work.panel, &work.case, judge, &work.models, work.allow_kin);
    attendance.has_unknown_kin |= kinship_unknown;
    match excluded {
        Some(exclusion) => attendance.excluded.push((Arc::clone(judge), exclusion)),
        None => attendance.asked.push(Arc::clone(judge)),
    }
}

fn millis(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
