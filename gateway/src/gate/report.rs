//! What a gate found: the JSON of `tribunal gate --json` and of `GET /v1/runs/{id}/gate`. The same run gives the same
//! bytes.

use std::collections::BTreeMap;

use aggregation::Decision;
use aggregation::gate::GateReason;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::render::{counted, plural};
use crate::case::Mode;
use crate::verdict::AbstentionKind;

/// All that was asked of one input.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GateReport {
    /// `pass`, `fail` or `inconclusive`; inconclusive as long as one of the runs is.
    #[schema(value_type = String)]
    pub decision: Decision,
    /// One a panel.
    pub runs: Vec<RunGate>,
}

/// One run against what it has to reach.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunGate {
    pub run: String,
    /// RFC 3339, UTC.
    pub begun: String,
    pub panel: String,
    pub panel_version: String,
    #[schema(value_type = String)]
    pub decision: Decision,
    /// What leaves the run inconclusive whatever its scores are.
    pub obstacles: Vec<Obstacle>,
    pub requirements: Vec<RequirementReport>,
    /// Cases of the input; null where that is not known.
    pub cases: Option<u64>,
    /// Cases with a verdict.
    pub finished: u64,
    /// Cases that wait for a person.
    pub escalated: u64,
    /// Cases with a missing value on some criterion.
    pub undecided: u64,
    pub criteria: Vec<CriterionReport>,
    pub judges: Vec<JudgeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelReport>,
    /// Against the baseline, largest loss first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regressions: Vec<Regression>,
    /// Lowest scores by judges first.
    pub worst: Vec<CaseLine>,
    /// Checks that cases failed; the first by check and case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_checks: Vec<FailedCheckLine>,
    /// Highest disagreement first.
    pub disputed: Vec<CaseLine>,
    pub slices: Vec<Slice>,
    /// US dollars; null when the cost of any case is unknown.
    pub cost_usd: Option<f64>,
    /// Each warning with how many verdicts carry it.
    pub warnings: BTreeMap<String, u64>,
}

/// What is held against a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The mean of the scores, 0 to 1.
    Mean,
    /// The share of cases that pass.
    PassRate,
    /// Of pairs with a baseline, the mean preference for the candidate: 1 wins, ½ ties, 0 loses.
    WinRate,
    /// The mean difference of the scores to those of a baseline, -1 to 1.
    Difference,
}

impl Measure {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::PassRate => "pass rate",
            Self::WinRate => "win rate",
            Self::Difference => "difference",
        }
    }
}

/// Why a run cannot be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Obstacle {
    /// A judge's server answered with more than one model.
    ModelChanged { judge: String, models: Vec<String> },
    /// The run has not reached its end.
    Unfinished { finished: u64, cases: u64 },
    /// Votes of judges that are not freshly calibrated on this criterion, where that is demanded.
    Uncalibrated { criterion: String, votes: u64 },
    /// All judges are of one family, where calibration is demanded.
    SingleFamily,
}

/// One requirement in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RequirementReport {
    pub criterion: String,
    #[schema(value_type = String)]
    pub mode: Mode,
    pub measure: Measure,
    /// 0 to 1; -1 to 1 for a difference.
    pub threshold: f64,
    #[schema(value_type = String)]
    pub decision: Decision,
    #[schema(value_type = String)]
    pub reason: GateReason,
    /// The decision in one sentence.
    pub explanation: String,
    /// Null with `undefined` where there is none.
    pub estimate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// One-sided bounds, each at `confidence`, cut to the measure's range; null where nothing is known of the variation.
    pub lower: Option<f64>,
    pub upper: Option<f64>,
    pub confidence: f64,
    /// Cases with a score, those that wait for a person included.
    pub n: usize,
    /// Independent sources among them.
    pub clusters: usize,
    pub n_pending: usize,
    pub n_missing: usize,
    /// The estimate with all waiting cases at their lowest and at their highest vote.
    pub pending_range: Option<(f64, f64)>,
    /// How many more cases like these would decide.
    pub needed_more: Option<u64>,
    /// Of a pass rate: the cases that fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// Of a pass rate: the exact one-sided upper bound of the share that fails, about 3/n after none in n.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_failures: Option<f64>,
    /// Of a comparison with a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Where people's labels correct the judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
}

/// A candidate beside its baseline.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    pub claim: Claimed,
    /// Cases that the candidate wins, ties and loses.
    pub wins: u64,
    pub ties: u64,
    pub losses: u64,
    /// Exact two-sided sign test of wins against losses.
    pub p_sign: f64,
    /// The least difference that so many cases find at 80 % power.
    pub detectable: Option<f64>,
}

/// What the candidate has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Claimed {
    /// That it is no worse than the threshold allows.
    NonInferior,
    /// That it is better.
    Superior,
}

/// Judges and people on the same measure. The estimate and the bounds beside it are the corrected ones.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Correction {
    /// All cases, judges alone.
    pub judge_only: f64,
    /// The labelled cases, people alone.
    pub human_only: f64,
    /// How far the judges are relied on, 0 to 1.
    pub lambda: f64,
    pub labelled: usize,
    pub unlabelled: usize,
}

/// Pinned outputs that a run was compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineReport {
    pub name: String,
    pub hash: String,
    /// The run in which the outputs were judged by themselves; null where they are the `b` of pairs.
    pub run: Option<String>,
}

/// People's labels that a decision used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LabelReport {
    pub name: String,
    pub hash: String,
    pub labels: usize,
    /// Cases and criteria whose label stands in the place of a waiting case's value.
    pub replaced: u64,
}

/// A case on which the candidate does worse than the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Regression {
    pub case: String,
    pub criterion: String,
    /// Scores 0 to 1; of pairs the preference for either.
    pub candidate: f64,
    pub baseline: f64,
}

/// One criterion in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CriterionReport {
    pub criterion: String,
    #[schema(value_type = String)]
    pub mode: Mode,
    /// Whether code decides it, and no judge.
    pub is_check: bool,
    pub cases: u64,
    /// Share of these with a value.
    pub coverage: Option<f64>,
    pub mean: Option<f64>,
    pub pass_rate: Option<f64>,
    /// Pairs that each candidate won, and ties.
    pub a: u64,
    pub b: u64,
    pub ties: u64,
    pub mean_disagreement: Option<f64>,
    /// Scores from 0 to 1 in ten bins of equal width; 1 counts in the last.
    pub histogram: Vec<u64>,
    /// How far the judges agree with one another.
    pub agreement: Vec<PairAgreement>,
    /// Votes by how their judge is calibrated on this criterion: `fresh`, `stale`, `expired`, `missing`.
    pub calibration: BTreeMap<String, u64>,
}

/// Cohen's kappa of two judges: quadratic on ordered labels, linear on pairs with the tie half-way, else plain.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PairAgreement {
    pub first: String,
    pub second: String,
    /// Cases with a vote of both.
    pub n: u64,
    /// Null with `undefined` where there is none.
    pub kappa: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
}

/// One judge over the run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JudgeReport {
    pub judge: String,
    /// Those that answered, as their servers name them.
    pub models: Vec<String>,
    pub votes: u64,
    pub abstentions: BTreeMap<AbstentionKind, u64>,
    /// Votes whose two orders disagree, of those asked in both.
    pub order_inconsistent: u64,
    pub order_measured: u64,
    /// Answers asked for by this run; the others were known.
    pub calls: u64,
    /// US dollars; null when the cost of any call is unknown.
    pub cost_usd: Option<f64>,
    /// Of the calls of this run; null without one.
    pub mean_latency_ms: Option<f64>,
    pub max_latency_ms: Option<f64>,
}

/// One case on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CaseLine {
    pub case: String,
    pub criterion: String,
    #[schema(value_type = String)]
    pub mode: Mode,
    pub value: Option<serde_json::Value>,
    pub score: Option<f64>,
    pub disagreement: Option<f64>,
    pub votes: BTreeMap<String, serde_json::Value>,
    pub escalated: bool,
}

/// A check that a case failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub struct FailedCheckLine {
    pub check: String,
    pub case: String,
    /// What was found, without the text itself.
    pub detail: Option<String>,
}

/// Cases that share a property.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Slice {
    /// `model` or `source`.
    pub by: String,
    pub name: String,
    pub criterion: String,
    #[schema(value_type = String)]
    pub mode: Mode,
    pub cases: u64,
    /// Of these, with a score.
    pub scored: u64,
    pub mean: Option<f64>,
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ModelChanged { judge, models } => {
                write!(f, "judge `{judge}` was answered by several models: {}", models.join(", "))
            }
            Self::Unfinished { finished, cases } => {
                let are = plural(*cases, "is", "are");
                write!(f, "{finished} of {} {are} judged", counted(*cases, "case"))
            }
            Self::Uncalibrated { criterion, votes } => {
                let come = plural(*votes, "comes from a judge", "come from judges");
                let votes = counted(*votes, "vote");
                write!(f, "{votes} on `{criterion}` {come} without a fresh calibration")
            }
            Self::SingleFamily => f.write_str("all judges are of one family"),
        }
    }
}

impl GateReport {
    pub fn of(runs: Vec<RunGate>) -> Self {
        Self { decision: all(runs.iter().map(|run| run.decision)), runs }
    }
}

/// Inconclusive as long as one is, else failed if one is; nothing at all is inconclusive.
pub(super) fn all(decisions: impl Iterator<Item = Decision>) -> Decision {
    let severity = |decision: &Decision| match decision {
        Decision::Inconclusive => 0,
        Decision::Fail => 1,
        Decision::Pass => 2,
    };
    decisions.min_by_key(severity).unwrap_or(Decision::Inconclusive)
}
