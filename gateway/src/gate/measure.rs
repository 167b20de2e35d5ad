//! One stored run against what it has to reach.

use std::collections::{BTreeMap, BTreeSet};

use aggregation::Decision;
use aggregation::gate::BaselineIdentity;

use super::decide::{Evidence, ScoreFault, decide};
use super::gather::Gathered;
use super::held::Held;
use super::labels::{LabelFault, Labels};
use super::report::{CriterionReport, JudgeReport, LabelReport, Measure, Obstacle, RunGate, all};
use super::terms::{BadTerms, GateTerms, Requirement};
use crate::clock::rfc3339;
use crate::engine::{Engine, EngineError};
use crate::panel::Panel;
use crate::run::RunSettings;
use crate::store::StoreError;
use crate::store::rows::{AnsweredCalls, RunStatus, RunSummary};
use crate::summary::RunSummary as Totals;

/// Verdicts read from the store at once.
const PAGE: u32 = 200;
/// How votes of freshly calibrated judges are marked.
const FRESH: &str = "fresh";

/// Why a run cannot be held against anything.
#[derive(Debug, thiserror::Error)]
pub enum GateFault {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Terms(#[from] BadTerms),
    #[error(transparent)]
    Labels(#[from] LabelFault),
    #[error(
        "run {run} was judged under panel version {of_run}, and panel.yaml now gives {now}; hint: restore the file, or judge the cases again"
    )]
    OtherVersion { run: String, of_run: String, now: String },
    #[error("run {run} was judged by panel `{panel}`; hint: name it with -p")]
    OtherPanel { run: String, panel: String },
    #[error("run {run} was compared with run {baseline}, which is not there")]
    NoBaselineRun { run: String, baseline: String },
    #[error("run {run} mixes panel versions: case `{case}` was judged under {version}")]
    MixedVersions { run: String, case: String, version: String },
    #[error(
        "run {run} is of pairs whose `b` is pinned nowhere; hint: `tribunal gate FILE --baseline b` judges and pins them"
    )]
    NotPinned { run: String },
    #[error("the scores of run {run} make no gate")]
    Scores {
        run: String,
        #[source]
        source: ScoreFault,
    },
}

/// What a run is measured with beside its own verdicts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    pub labels: Option<&'a Labels>,
    /// The run in which the baseline's outputs were judged by themselves.
    pub baseline: Option<&'a RunSummary>,
}

/// Reads the run's verdicts at constant memory but for some numbers a case and requirement.
pub async fn measure(
    engine: &Engine,
    run: &RunSummary,
    panel: &Panel,
    terms: &GateTerms,
    beside: Beside<'_>,
) -> Result<RunGate, GateFault> {
    let gathered = gather(engine, run, panel, &terms.requirements, beside.labels).await?;
    terms.check_modes(gathered.scores.keys().map(|(_, mode)| *mode))?;
    let pinned = match beside.baseline {
        Some(other) => Some(gather(engine, other, panel, &terms.requirements, None).await?),
        None => None,
    };
    let calls = engine.answered_calls(&run.run.project, &run.run.id).await?;
    report(run, panel, terms, beside, Gathering { gathered, pinned }, &calls)
}

/// A run's verdicts and those of its baseline.
struct Gathering<'a> {
    gathered: Gathered<'a>,
    pinned: Option<Gathered<'a>>,
}

async fn gather<'a>(
    engine: &Engine,
    run: &RunSummary,
    panel: &'a Panel,
    requirements: &'a [Requirement],
    labels: Option<&'a Labels>,
) -> Result<Gathered<'a>, GateFault> {
    let (project, id) = (run.run.project.as_str(), run.run.id.as_str());
    if run.run.panel_version != panel.version {
        return Err(GateFault::OtherVersion {
            run: id.to_owned(),
            of_run: run.run.panel_version.clone(),
            now: panel.version.clone(),
        });
    }
    let mut gathered = Gathered::new(panel, requirements, labels);
    let mut after: Option<String> = None;
    loop {
        let page = engine.verdicts_of_run(project, id, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.case.clone());
        for verdict in &page {
            if verdict.panel_version != run.run.panel_version {
                return Err(GateFault::MixedVersions {
                    run: id.to_owned(),
                    case: verdict.case.clone(),
                    version: verdict.panel_version.clone(),
                });
            }
            gathered.add(verdict)?;
        }
    }
    let finished = gathered.summary.cases;
    gathered.add_unfinished(cases_of(run).unwrap_or(finished).saturating_sub(finished));
    Ok(gathered)
}

/// Cases of the input, where that is known.
fn cases_of(run: &RunSummary) -> Option<u64> {
    run.run.case_total.and_then(|total| u64::try_from(total).ok())
}

fn report(
    run: &RunSummary,
    panel: &Panel,
    terms: &GateTerms,
    beside: Beside<'_>,
    gathering: Gathering<'_>,
    calls: &[AnsweredCalls],
) -> Result<RunGate, GateFault> {
    let Gathering { gathered, pinned } = gathering;
    let settings = RunSettings::of(run);
    let identity =
        settings.baseline.as_ref().and_then(|own| BaselineIdentity::new(&own.name, &own.hash).ok());
    let mut requirements = Vec::new();
    let mut regressions = Vec::new();
    for ((index, mode), scores) in &gathered.scores {
        let Some(requirement) = terms.requirements.get(*index) else { continue };
        if requirement.measure == Measure::WinRate && identity.is_none() {
            return Err(GateFault::NotPinned { run: run.run.id.clone() });
        }
        let baseline = pinned.as_ref().and_then(|own| own.scores.get(&(*index, *mode)));
        let is_check = Held::named(&panel.rubric, &requirement.criterion).is_some_and(Held::is_check);
        let evidence = Evidence { scores, baseline, identity: identity.as_ref(), is_check };
        let decided = decide(requirement, *mode, terms, &evidence)
            .map_err(|source| GateFault::Scores { run: run.run.id.clone(), source })?;
        requirements.push(decided.report);
        regressions.extend(decided.regressions);
    }
    let summary = gathered.summary.clone();
    let replaced = gathered.scores.values().map(|scores| scores.replaced).sum();
    let mut obstacles = changed_models(calls);
    if run.status != RunStatus::Finished {
        let cases = cases_of(run).unwrap_or(summary.cases);
        obstacles.push(Obstacle::Unfinished { finished: summary.cases, cases });
    }
    let lists = gathered.into_lists();
    if terms.require_calibration {
        obstacles.extend(uncalibrated(panel, &lists.criteria));
    }
    let decided = all(requirements.iter().map(|own| own.decision));
    Ok(RunGate {
        run: run.run.id.clone(),
        begun: rfc3339(run.run.created_us),
        panel: panel.name.clone(),
        panel_version: panel.version.clone(),
        decision: if obstacles.is_empty() { decided } else { Decision::Inconclusive },
        obstacles,
        requirements,
        cases: cases_of(run),
        finished: summary.cases,
        escalated: summary.escalated,
        undecided: summary.undecided,
        criteria: lists.criteria,
        judges: judges(&summary, calls),
        baseline: settings.baseline,
        labels: beside.labels.map(|own| LabelReport {
            name: own.name.clone(),
            hash: own.hash.clone(),
            labels: own.len(),
            replaced,
        }),
        regressions,
        worst: lists.worst,
        failed_checks: lists.failed_checks,
        disputed: lists.disputed,
        slices: lists.slices,
        cost_usd: summary.cost_usd,
        warnings: summary.warnings,
    })
}

fn changed_models(calls: &[AnsweredCalls]) -> Vec<Obstacle> {
    let models = models(calls).into_iter();
    models
        .filter(|(_, models)| models.len() > 1)
        .map(|(judge, models)| Obstacle::ModelChanged { judge: judge.to_owned(), models })
        .collect()
}

fn uncalibrated(panel: &Panel, criteria: &[CriterionReport]) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    for own in criteria {
        let votes =
            own.calibration.iter().filter(|(status, _)| *status != FRESH).map(|(_, votes)| votes).sum();
        if votes > 0 {
            obstacles.push(Obstacle::Uncalibrated { criterion: own.criterion.clone(), votes });
        }
    }
    let families: BTreeSet<_> = panel.judges.iter().map(|judge| &judge.family).collect();
    if families.len() < 2 {
        obstacles.push(Obstacle::SingleFamily);
    }
    obstacles
}

/// The models that answered for each judge.
fn models(calls: &[AnsweredCalls]) -> BTreeMap<&str, Vec<String>> {
    let mut models: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for call in calls {
        let known = models.entry(&call.judge).or_default();
        if let Some(model) = call.model_replied.as_ref().filter(|model| !known.contains(model)) {
            known.push(model.clone());
        }
    }
    models
}

fn judges(summary: &Totals, calls: &[AnsweredCalls]) -> Vec<JudgeReport> {
    let mut models = models(calls);
    let of_judge = |(name, own): (&String, &crate::summary::JudgeSummary)| {
        let asked = || calls.iter().filter(|call| call.judge == *name && call.is_asked);
        let count: i64 = asked().map(|call| call.calls).sum();
        let is_priced = asked().all(|call| call.priced_calls == call.calls);
        let cost: i64 = asked().map(|call| call.cost_microusd).sum();
        let latency: i64 = asked().map(|call| call.latency_us).sum();
        let slowest = asked().map(|call| call.max_latency_us).max();
        JudgeReport {
            judge: name.clone(),
            models: models.remove(name.as_str()).unwrap_or_default(),
            votes: own.votes,
            abstentions: own.abstentions.clone(),
            order_inconsistent: own.order_inconsistent,
            order_measured: own.order_measured,
            calls: u64::try_from(count).unwrap_or_default(),
            cost_usd: is_priced.then(|| as_f64(cost) / 1e6),
            mean_latency_ms: (count > 0).then(|| as_f64(latency) / as_f64(count) / 1000.0),
            max_latency_ms: slowest.map(|us| as_f64(us) / 1000.0),
        }
    };
    summary.judges.iter().map(of_judge).collect()
}

#[expect(clippy::cast_precision_loss, reason = "sums of a run, far below 2^53")]
fn as_f64(number: i64) -> f64 {
    number as f64
}
