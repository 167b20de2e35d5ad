//! Rubrics.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::CheckEntry;
use crate::rubric::{Ask, EmptyCandidate, Evidence, Example, FailedCheck};

/// A named set of criteria with the text that annotators and judges share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RubricEntry {
    /// A text file, relative to this file, shown to annotators and judges.
    pub guidelines: Option<String>,
    /// One call for each criterion, or one for all. Default `per_criterion`.
    pub ask: Option<Ask>,
    /// What an empty candidate means. Default `exclude`: no judge is asked.
    pub empty: Option<EmptyCandidate>,
    /// What is judged. At least one.
    pub criteria: Vec<CriterionEntry>,
    /// What code decides about an answer, free and before any judge is asked. Each is reported as a criterion.
    pub checks: Vec<CheckEntry>,
    /// What a failed `required` check means for the criteria. Default `exclude`: no judge is asked.
    pub failed_check: Option<FailedCheck>,
}

/// One question about a case, with the values that its answer may have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CriterionEntry {
    /// Letters, digits, `_`, `-` and `.`; unique in the rubric.
    pub name: Option<String>,
    /// The kind of scale.
    #[serde(rename = "type")]
    pub kind: Option<CriterionType>,
    /// `ordinal`: all labels, rising. `nominal`: all labels. `continuous`: the least and the greatest value.
    #[schemars(schema_with = "super::word_list")]
    pub scale: Vec<String>,
    /// For a value of the scale, what can be observed when it is right.
    pub levels: BTreeMap<String, String>,
    /// The least value that passes (numeric scales). Pass rates and `near_threshold` need it.
    pub pass: Option<f64>,
    /// Whether the judge must cite the case. Default `none`.
    pub evidence: Option<Evidence>,
    /// Whether judges of pairs may answer "tie". Default `true`.
    pub tie: Option<bool>,
    /// What to look at, in the words for the judge.
    pub instructions: Option<String>,
    /// Worked examples, best from the grey zone.
    pub examples: Vec<Example>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionType {
    /// Ordered numbers, such as 1 to 5.
    Ordinal,
    /// Labels without an order.
    Nominal,
    /// Any number between two bounds.
    Continuous,
    /// `pass` or `fail`.
    PassFail,
}
