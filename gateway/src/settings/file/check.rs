//! Checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::checks::LengthUnit;

/// A question about one answer that code decides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CheckEntry {
    /// Letters, digits, `_`, `-` and `.`; unique among checks and criteria. Default: the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CheckKind>,
    /// `true`: no judge is asked about a case that fails. Default `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// `exact`: the right answer. Default: the case's reference. `contains`: a text that has to be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// `contains`: texts that all have to be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_of: Option<Vec<String>>,
    /// `contains`: texts of which one has to be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_of: Option<Vec<String>>,
    /// `contains`: texts of which none may be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub none_of: Option<Vec<String>>,
    /// `exact`, `contains`, `regex`: whether `A` and `a` differ. Default `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_sensitive: Option<bool>,
    /// `exact`: whether runs of white space count as one blank, those at the ends as none, and letters with accents in
    /// either of their two forms as the same. Default `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalise: Option<bool>,
    /// `regex`: what the answer matches somewhere; `^` and `$` tie it to the ends. No look-around, no back references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// `json_schema`: the schema. The whole answer has to be JSON of its shape. It may refer to itself only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Json>>,
    /// `json_schema`: a JSON file with the schema, relative to this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_file: Option<String>,
    /// `numeric`: the right number. Default: the one number of the case's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// `numeric`: how far off the answer's number may be. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// `numeric`: the same as a share of the right number; the larger of the two counts. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_tolerance: Option<f64>,
    /// `length`: what is counted. Default `characters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<LengthUnit>,
    /// `length`: the least number. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// `length`: the greatest number. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The answer is a text, or the case's reference.
    Exact,
    /// Texts are in the answer, or not.
    Contains,
    /// The answer matches a pattern, in linear time.
    Regex,
    /// The answer is JSON of a certain shape.
    JsonSchema,
    /// The answer's one number is near the right one.
    Numeric,
    /// The answer is neither too short nor too long.
    Length,
}

impl CheckKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Contains => "contains",
            Self::Regex => "regex",
            Self::JsonSchema => "json_schema",
            Self::Numeric => "numeric",
            Self::Length => "length",
        }
    }

    /// Keys of the entry that mean something for this kind, beside those that every check has.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Exact => &["text", "case_sensitive", "normalise"],
            Self::Contains => &["text", "all_of", "any_of", "none_of", "case_sensitive"],
            Self::Regex => &["pattern", "case_sensitive"],
            Self::JsonSchema => &["schema", "schema_file"],
            Self::Numeric => &["value", "tolerance", "relative_tolerance"],
            Self::Length => &["unit", "min", "max"],
        }
    }
}

impl CheckEntry {
    /// With every default written out.
    #[must_use]
    pub fn completed(&self) -> Self {
        let mut entry = self.clone();
        entry.required.get_or_insert_default();
        let Some(kind) = entry.kind else { return entry };
        entry.name.get_or_insert_with(|| kind.word().to_owned());
        match kind {
            CheckKind::Exact => {
                entry.case_sensitive.get_or_insert(true);
                entry.normalise.get_or_insert_default();
            }
            CheckKind::Contains | CheckKind::Regex => {
                entry.case_sensitive.get_or_insert(true);
            }
            CheckKind::Numeric => {
                entry.tolerance.get_or_insert_default();
                entry.relative_tolerance.get_or_insert_default();
            }
            CheckKind::Length => {
                entry.unit.get_or_insert_default();
            }
            CheckKind::JsonSchema => {}
        }
        entry
    }
}
