//! Panels.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::Perimeter;
use crate::panel::Orders;
use crate::settings::quantity::{Period, Switch};

/// Three to five judges with the policy that folds their votes. Fewer, more, or one family: a warning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PanelEntry {
    /// Names from `judges`, or `provider/model`.
    pub judges: Vec<String>,
    /// A name from `rubrics`, a built-in one (`correctness`, `faithfulness`, `relevance`, `helpfulness`, `safety`), or a
    /// sentence, which becomes one pass/fail criterion.
    pub rubric: Option<String>,
    /// How votes become one value. Default: `median` for numbers, `majority` for labels.
    pub method: Option<MethodEntry>,
    /// Whether pairs are judged in both orders. Default `both`; `as_given` is flagged in every report.
    pub orders: Option<Orders>,
    /// Votes needed for a value. Default: half of the judges, rounded up, at least 2 (1 for a panel of one).
    pub quorum: Option<u32>,
    /// How long to wait.
    pub deadline: DeadlineEntry,
    /// When a case goes to a person.
    pub escalate: EscalateEntry,
    /// Whether to ask some judges only when needed. Default `off`.
    pub adaptive: Option<Switch<AdaptiveEntry>>,
    /// Judges that are asked, in this order, when a member abstains or a tie needs one more voice.
    pub replacements: Vec<String>,
    /// Thresholds that `tribunal gate` uses for this panel.
    pub gate: GateEntry,
    /// How long texts are kept. Default: until they are erased.
    pub retain: RetainEntry,
    /// `inside`: no case of this panel reaches an outside judge.
    pub perimeter: Option<Perimeter>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodEntry {
    /// Numbers: the middle value.
    Median,
    /// Labels: more than half of the votes.
    Majority,
    /// Numbers: the arithmetic mean.
    Mean,
    /// Weights from each judge's agreement with people.
    KappaWeighted,
    /// As `kappa_weighted`, with log-odds weights.
    LogOdds,
    /// Not in this version.
    Stacked,
    /// Not in this version.
    BestSingle,
    /// Not in this version.
    DawidSkene,
}

/// Each is at most the case's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeadlineEntry {
    /// One request on the wire. Default `30s`.
    pub attempt: Option<Period>,
    /// The whole case. Default `90s`.
    pub case: Option<Period>,
    /// After quorum, stragglers get this long, then abstain as timed out. Default `5s`.
    pub grace: Option<Period>,
}

/// Each trigger is a number from 0 to 1, or `off`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EscalateEntry {
    /// Least disagreement that sends a case to a person. Default 0.5.
    pub disagreement: Option<Switch<f64>>,
    /// Distance from `pass`, on 0 to 1, within which a split panel does. Default 0.05.
    pub near_threshold: Option<Switch<f64>>,
    /// Share of all cases that a person sees in any case. Default 0.05.
    pub random_review_share: Option<Switch<f64>>,
}

/// Cheapest judges first; the others only when they can still change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveEntry {
    /// Judges to start with.
    pub start_with: u32,
}

/// Thresholds by criterion, on 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GateEntry {
    /// Least mean score, by criterion.
    pub min: BTreeMap<String, f64>,
    /// Least share of cases that pass, by criterion or check.
    pub pass_rate: BTreeMap<String, f64>,
}

/// How long texts are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetainEntry {
    /// Cases, prompts and raw replies, such as `30d`. Numbers are kept.
    pub texts: Option<Period>,
}
