//! Many cases under one panel version.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use super::{Askers, Engine, EngineError, JudgeRequest, Purse, Retry, plan};
use crate::case::{Case, CaseId};
use crate::panel::{Orders, Panel};
use crate::rubric::Ask;
use crate::verdict::CaseVerdict;

/// How a run is judged.
#[derive(Debug, Clone)]
pub struct RunSpec {
    pub id: Arc<str>,
    pub project: Arc<str>,
    /// Pinned: the whole run uses this version.
    pub panel: Arc<Panel>,
    /// Of the same version of the settings as the panel.
    pub askers: Arc<Askers>,
    /// Cases in flight at once.
    pub concurrency: usize,
    pub use_cache: bool,
    /// Earlier judgments from before this time, in microseconds, are not used.
    pub cache_since_us: i64,
    /// Whether the run was begun before: its stored judgments and verdicts are taken, not asked again.
    pub resumed: bool,
    /// Whether a resumed run asks again for votes that are missing through failures.
    pub retry_errors: bool,
    pub seed: u64,
    pub allow_kin: bool,
    pub purse: Purse,
    /// No further case is begun once this is cancelled; cases in flight finish.
    pub stop: CancellationToken,
    /// Calls that were not sent yet are dropped once this is cancelled.
    pub cancel: CancellationToken,
}

/// Cases in flight when nobody says otherwise and no server is limited.
const USUAL_CONCURRENCY: usize = 16;

/// How many cases keep every limited server of the panel busy, with one more in hand. More would only wait for a slot
/// and run into their deadline there.
pub fn usual_concurrency(panel: &Panel) -> usize {
    let orders = match panel.orders {
        Orders::Both => 2,
        Orders::AsGiven => 1,
    };
    let questions = match panel.rubric.ask {
        Ask::PerCriterion => panel.rubric.criteria.len(),
        Ask::Together => 1,
    };
    let mut calls: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for judge in &panel.judges {
        if let Some(limit) = judge.server.limits.concurrency {
            let per_judge = questions * orders * plan::samples(judge) as usize;
            calls.entry(&judge.server.name).or_insert((limit, 0)).1 += per_judge;
        }
    }
    let fewest = calls.values().map(|(limit, calls)| limit.div_ceil(*calls) + 1).min();
    fewest.unwrap_or(USUAL_CONCURRENCY).min(USUAL_CONCURRENCY)
}

/// What became of one case.
#[derive(Debug)]
pub struct CaseOutcome {
    pub case: CaseId,
    /// Taken from the store: it was finished before an interruption.
    pub was_stored: bool,
    pub result: Result<CaseVerdict, EngineError>,
}

impl Engine {
    /// Judges a stream of cases; outcomes come in the order of the cases, at most `concurrency` in flight.
    pub fn judge_run(
        self: &Arc<Self>,
        spec: RunSpec,
        cases: impl Stream<Item = Case> + Send,
    ) -> impl Stream<Item = CaseOutcome> + Send {
        let engine = Arc::clone(self);
        let concurrency = spec.concurrency.max(1);
        let stop = spec.stop.clone();
        cases
            .take_until(stop.cancelled_owned())
            .enumerate()
            .map(move |(position, case)| judge_or_load(Arc::clone(&engine), spec.clone(), position, case))
            .buffered(concurrency)
    }
}

async fn judge_or_load(engine: Arc<Engine>, spec: RunSpec, position: usize, case: Case) -> CaseOutcome {
    let id = case.id.clone();
    let retry = match stored(&engine, &spec, &case).await {
        Ok(Stored::Finished(verdict)) => {
            return CaseOutcome { case: id, was_stored: true, result: Ok(*verdict) };
        }
        Ok(Stored::Failed(retry)) => Some(Arc::new(retry)),
        Ok(Stored::Nothing) => None,
        Err(error) => return CaseOutcome { case: id, was_stored: false, result: Err(error) },
    };
    let request = JudgeRequest {
        case: Arc::new(case),
        panel: spec.panel,
        askers: spec.askers,
        project: spec.project,
        run: Some(spec.id),
        position: i64::try_from(position).unwrap_or(i64::MAX),
        use_cache: spec.use_cache,
        cache_since_us: spec.cache_since_us,
        resumed: spec.resumed,
        retry,
        seed: spec.seed,
        allow_kin: spec.allow_kin,
        purse: spec.purse,
        cancel: spec.cancel,
    };
    CaseOutcome { case: id, was_stored: false, result: engine.judge(request).await }
}

/// What an earlier session of the run left of a case.
enum Stored {
    Nothing,
    Finished(Box<CaseVerdict>),
    /// Votes are missing through failures, and they are to be asked again.
    Failed(Retry),
}

async fn stored(engine: &Engine, spec: &RunSpec, case: &Case) -> Result<Stored, EngineError> {
    if !spec.resumed {
        return Ok(Stored::Nothing);
    }
    let Some(verdict) = engine.verdict_before_interruption(&spec.project, &spec.id, case).await? else {
        return Ok(Stored::Nothing);
    };
    let retry =
        if spec.retry_errors { engine.retry_of(&spec.project, &spec.id, &verdict).await? } else { None };
    Ok(retry.map_or_else(|| Stored::Finished(Box::new(verdict)), Stored::Failed))
}
