//! The verdict as users see it (`POST /v1/verdicts`, JSONL of runs, the store's body column).

use std::collections::BTreeMap;

use aggregation::panel_vote::AppliedMethod;
use aggregation::scale::Preference;
use aggregation::verdict::{EscalationReason, Undecided};
use aggregation::vote::{Exclusion, Scoring, UnparseableClass};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::case::Mode;

/// The panel's result for one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CaseVerdict {
    /// `UUIDv7`.
    pub id: String,
    /// The case's own id.
    pub case: String,
    /// Of a run that judges its cases several times: the case that this is one judging of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeat_of: Option<String>,
    /// The run it belongs to; null for a single verdict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    pub panel: String,
    /// Hash of all that can change an answer.
    pub panel_version: String,
    #[schema(value_type = String, example = "pointwise")]
    pub mode: Mode,
    /// The candidate's model, where the case names one; `a` and `b` joined by ` / ` for pairs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// What judges were asked and what code checked, by name.
    pub criteria: BTreeMap<String, CriterionVerdict>,
    pub escalated: bool,
    #[schema(value_type = Vec<String>)]
    pub escalation_reasons: Vec<EscalationReason>,
    pub quorum: QuorumReport,
    pub warnings: Vec<String>,
    /// US dollars; null when a price or a usage is unknown.
    pub cost_usd: Option<f64>,
    pub calls: CallReport,
    /// From acceptance to the verdict, waits included.
    pub latency_ms: f64,
    /// `latency_ms` less the union of the upstream intervals and the writing.
    pub overhead_ms: f64,
    /// Part of `latency_ms` spent on writing the verdict durably.
    pub record_ms: f64,
}

impl CaseVerdict {
    /// The name of the case in its file, however often it was judged.
    pub fn case_in_file(&self) -> &str {
        self.repeat_of.as_deref().unwrap_or(&self.case)
    }

    /// The criteria that judges are asked about; checks are left out.
    pub fn judged(&self) -> impl Iterator<Item = &CriterionVerdict> {
        self.criteria.values().filter(|criterion| !criterion.is_check())
    }

    /// The checks by name; empty when the rubric has none.
    pub fn checks(&self) -> impl Iterator<Item = (&str, &CriterionVerdict)> {
        self.criteria
            .iter()
            .filter(|(_, criterion)| criterion.is_check())
            .map(|(name, check)| (name.as_str(), check))
    }

    /// The most that judges disagree on any criterion; `None` where nothing has two votes.
    pub fn most_disagreement(&self) -> Option<f64> {
        self.criteria.values().filter_map(|criterion| criterion.disagreement).reduce(f64::max)
    }

    /// Every missing vote, a judge once.
    pub fn missing_votes(&self) -> impl Iterator<Item = &AbstentionReport> {
        let mut seen = Vec::new();
        self.judged().flat_map(|criterion| &criterion.abstentions).filter(move |missing| {
            let is_new = !seen.contains(&missing.judge.as_str());
            seen.push(missing.judge.as_str());
            is_new
        })
    }

    /// Whether every criterion that judges are asked about has a value.
    pub fn is_decided(&self) -> bool {
        self.judged().all(|criterion| criterion.value.is_some())
    }
}

/// The panel's result on one criterion, or what a check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CriterionVerdict {
    /// On the criterion's scale: a number, a label, `pass`/`fail`, or `a`/`b`/`tie`. Null where `undefined` says why.
    pub value: Option<serde_json::Value>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<String>)]
    pub undefined: Option<NoValue>,
    /// 0 to 1; null on nominal scales and without a value. For pairs the mean preference for `a`.
    pub score: Option<f64>,
    pub passed: Option<bool>,
    #[schema(value_type = Option<String>)]
    pub preference: Option<Preference>,
    /// Pairs: whether every judge named the same candidate in both orders.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub order_consistent: Option<bool>,
    #[schema(value_type = String)]
    pub method: CriterionMethod,
    /// 0 to 1; null below two votes.
    pub disagreement: Option<f64>,
    pub votes: Vec<VoteReport>,
    pub abstentions: Vec<AbstentionReport>,
    /// Of checks that did not pass: what was found, without the texts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

impl CriterionVerdict {
    /// Whether code decided, and no judge was asked.
    pub fn is_check(&self) -> bool {
        self.method == CriterionMethod::Check
    }

    /// Whether it has no value because a required check failed.
    pub fn is_unasked(&self) -> bool {
        self.undefined == Some(NoValue::FailedCheck)
    }
}

/// Why a criterion has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoValue {
    NoQuorum,
    NoMajority,
    /// A required check failed, so nobody was asked.
    FailedCheck,
    /// Of a check: the case lacks what it needs.
    Undecidable,
}

impl From<Undecided> for NoValue {
    fn from(why: Undecided) -> Self {
        match why {
            Undecided::NoQuorum => Self::NoQuorum,
            Undecided::NoMajority => Self::NoMajority,
        }
    }
}

/// What gave the value: a rule over votes, or code alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionMethod {
    Median,
    Majority,
    Mean,
    KappaWeighted,
    LogOdds,
    BestSingle,
    DawidSkene,
    Stacked,
    /// A check of the rubric: no judge, no vote.
    Check,
}

impl From<AppliedMethod> for CriterionMethod {
    fn from(method: AppliedMethod) -> Self {
        match method {
            AppliedMethod::Median => Self::Median,
            AppliedMethod::Majority => Self::Majority,
            AppliedMethod::Mean => Self::Mean,
            AppliedMethod::KappaWeighted => Self::KappaWeighted,
            AppliedMethod::LogOdds => Self::LogOdds,
            AppliedMethod::BestSingle => Self::BestSingle,
            AppliedMethod::DawidSkene => Self::DawidSkene,
            AppliedMethod::Stacked => Self::Stacked,
        }
    }
}

/// One judge's vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VoteReport {
    pub judge: String,
    pub value: serde_json::Value,
    pub score: Option<f64>,
    /// `discrete`, `expected` (probability-weighted) or `sampled`.
    #[schema(value_type = String)]
    pub scoring: Scoring,
    /// Logprobs were wanted and could not be used.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub fallback: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label_mass: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub order_consistent: Option<bool>,
    /// `fresh`, `stale`, `expired` or `missing`.
    pub calibration: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rationale: Option<String>,
    /// A quote that was found verbatim in the case.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence: Option<String>,
    /// Asked because a member abstained or a tie needed one more voice.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub replacement: bool,
}

/// A missing vote: exactly one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AbstentionReport {
    pub judge: String,
    pub kind: AbstentionKind,
    /// Of `unparseable`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<String>)]
    pub class: Option<UnparseableClass>,
    /// Of `excluded`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Exclusion>,
    /// What happened, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AbstentionKind {
    Refused,
    Unparseable,
    Unsupported,
    TooLong,
    TimedOut,
    Unavailable,
    RateLimited,
    OverBudget,
    Excluded,
}

/// Over all criteria: the criterion with the fewest votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuorumReport {
    pub asked: usize,
    pub voted: usize,
    pub required: usize,
    pub met: bool,
    /// A vote is missing.
    pub degraded: bool,
}

/// What the verdict took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct CallReport {
    /// Judgments asked of a server now.
    pub asked: u32,
    /// Judgments taken from the cache, from a recording, or from before an interruption.
    pub reused: u32,
    /// Requests on the wire beyond the first one of each call, repairs left out.
    pub retried: u32,
    /// Calls that spent their one repair re-ask.
    pub repaired: u32,
}
