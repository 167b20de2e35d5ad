//! What is judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use aggregation::scale::Scale;
use serde::{Deserialize, Serialize};

use crate::checks::Check;

/// A named set of criteria with the text that annotators and judges share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rubric {
    pub name: String,
    /// Shown to annotators and judges; the file's content, not its path.
    pub guidelines: Option<String>,
    pub ask: Ask,
    /// At least one; names are unique.
    pub criteria: Vec<Arc<Criterion>>,
    /// What code decides before any judge is asked. Absent from hashes when there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What a failed required check means for the criteria.
    #[serde(skip_serializing_if = "FailedCheck::is_exclude")]
    pub failed_check: FailedCheck,
    /// What an empty candidate means.
    pub empty: EmptyCandidate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// One call a criterion.
    #[default]
    PerCriterion,
    /// One call for all criteria.
    Together,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmptyCandidate {
    /// The judge is not asked; the vote is missing as `excluded`.
    #[default]
    Exclude,
    /// An empty answer fails without a call: the lowest value of the scale.
    Fail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailedCheck {
    /// No judge is asked; the votes are missing as `excluded`.
    #[default]
    Exclude,
    /// The criteria fail without a call: the lowest value of the scale.
    Fail,
}

impl FailedCheck {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    fn is_exclude(&self) -> bool {
        *self == Self::Exclude
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Criterion {
    pub name: String,
    /// The scale for pointwise and reference cases. Pairs are asked on `Scale::Pairwise`.
    pub scale: Scale,
    /// Whether "tie" is an allowed answer on pairs.
    pub tie: bool,
    /// Observable condition for a value, keyed by the value as written in the file.
    pub levels: BTreeMap<String, String>,
    /// Raw value from which a case passes.
    pub pass: Option<f64>,
    pub evidence: Evidence,
    pub instructions: Option<String>,
    pub examples: Vec<Example>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    #[default]
    None,
    /// The judge must cite; the quote is looked up verbatim in the case.
    Quote,
}

/// A worked example for the prompt, from the grey zone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The question or task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The candidate (pointwise and reference).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The right answer, for cases that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The first of two candidates (pairs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// The second of two candidates (pairs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
    /// The right value, as a judge would write it.
    pub value: serde_json::Value,
    /// Why it is right, as a judge would say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
