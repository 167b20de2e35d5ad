//! `contains`: texts that have to be in the answer, or must not be.

use serde::Serialize;

use super::{Finding, folded};

/// Every list that is not empty has to hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contains {
    pub all_of: Vec<String>,
    pub any_of: Vec<String>,
    pub none_of: Vec<String>,
    pub case_sensitive: bool,
}

impl Contains {
    pub(super) fn run(&self, output: &str) -> Finding {
        let output = folded(output, self.case_sensitive);
        let has = |text: &String| output.contains(&*folded(text, self.case_sensitive));
        let missing = self.all_of.iter().filter(|text| !has(text)).count();
        let forbidden = self.none_of.iter().filter(|text| has(text)).count();
        let mut reasons = Vec::new();
        if missing > 0 {
            reasons.push(format!("{missing} of {} wanted texts are missing", self.all_of.len()));
        }
        if !self.any_of.is_empty() && !self.any_of.iter().any(has) {
            reasons.push(format!("none of {} texts is there", self.any_of.len()));
        }
        if forbidden > 0 {
            reasons.push(format!("{forbidden} of {} unwanted texts are there", self.none_of.len()));
        }
        Finding::pass_or(reasons.is_empty(), || reasons.join("; "))
    }
}
