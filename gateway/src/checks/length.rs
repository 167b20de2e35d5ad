//! `length`: how long the answer is.

use serde::{Deserialize, Serialize};

use super::Finding;

/// At least one of the two bounds is there; both count as allowed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Length {
    pub unit: LengthUnit,
    pub min: Option<u64>,
    pub max: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LengthUnit {
    /// Unicode characters (code points).
    #[default]
    Characters,
    /// Runs of anything but white space.
    Words,
}

impl Length {
    pub(super) fn run(&self, output: &str) -> Finding {
        let (length, unit) = match self.unit {
            LengthUnit::Characters => (output.chars().count(), "characters"),
            LengthUnit::Words => (output.split_whitespace().count(), "words"),
        };
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        match (self.min.filter(|min| length < *min), self.max.filter(|max| length > *max)) {
            (Some(min), _) => Finding::Fail(format!("{length} {unit}, at least {min} are wanted")),
            (None, Some(max)) => Finding::Fail(format!("{length} {unit}, at most {max} are allowed")),
            (None, None) => Finding::Pass,
        }
    }
}
