//! Judges with the policy that folds their votes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aggregation::verdict::EscalationPolicy;
use serde::{Deserialize, Serialize};

use crate::judge::{Deadline, Judge};
use crate::rubric::Rubric;

#[derive(Debug, Clone)]
pub struct Panel {
    pub name: String,
    /// Hash of all that can change an answer, `b3:` and 32 hex digits.
    pub version: String,
    pub judges: Vec<Arc<Judge>>,
    /// Asked in this order when a member abstains or a tie needs one more voice.
    pub replacements: Vec<Arc<Judge>>,
    pub rubric: Arc<Rubric>,
    /// `None`: by scale (median for numbers, majority for the others).
    pub method: Option<MethodName>,
    pub orders: Orders,
    pub quorum: usize,
    pub deadline: Deadline,
    pub escalate: EscalationPolicy,
    /// Share of cases drawn by hash for a person's review, 0 to 1.
    pub random_review_share: f64,
    /// `Inside`: no case of this panel reaches an outside judge.
    pub inside_only: bool,
    pub retain_texts: Option<Duration>,
    pub gate: GateThresholds,
    /// Standing warnings (`single_family`, panel size, …), on every verdict.
    pub warnings: Vec<String>,
}

/// What a run of this panel has to reach, by criterion, each from 0 to 1. Empty: nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct GateThresholds {
    /// Least mean score01.
    pub min: BTreeMap<String, f64>,
    /// Least share of cases that pass.
    pub pass_rate: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    Median,
    Majority,
    Mean,
    KappaWeighted,
    LogOdds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Orders {
    #[default]
    Both,
    AsGiven,
}

/// Kinship of a candidate model, from the `models` map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelKin {
    /// A model name, `*` standing for any run of characters.
    pub pattern: String,
    pub base: Option<String>,
    pub family: Option<String>,
}
