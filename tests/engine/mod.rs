//! From a case to a verdict, with judges that answer from a script: who is asked what, what is made of the answers,
//! and what is kept.

mod abstentions;
mod asking;
mod checks;
mod field_faults;
mod keeping;
mod kin;
mod method;
mod orders;
mod perimeter;
mod quorum;
mod reload;
mod repair;
mod replacements;
mod scoring;

use gateway::verdict::{AbstentionReport, CaseVerdict, CriterionVerdict};
use serde_json::{Value, json};

/// The usual case.
fn case() -> Value {
    json!({"id": "q1", "input": "What is the capital of France?", "output": "Paris."})
}

fn pair() -> Value {
    json!({"id": "p1", "input": "Name a colour.", "a": "red", "b": "the sky"})
}

/// The verdict on `quality`.
fn quality(verdict: &CaseVerdict) -> &CriterionVerdict {
    &verdict.criteria["quality"]
}

/// The missing vote of a judge on `quality`.
#[track_caller]
fn abstention<'a>(verdict: &'a CaseVerdict, judge: &str) -> &'a AbstentionReport {
    let missing = quality(verdict).abstentions.iter().find(|missing| missing.judge == judge);
    missing.unwrap_or_else(|| panic!("{judge} voted: {:?}", quality(verdict).votes))
}

/// Names of escalation reasons as users see them.
fn reasons(verdict: &CaseVerdict) -> Vec<String> {
    let reasons = serde_json::to_value(&verdict.escalation_reasons).expect("names");
    serde_json::from_value(reasons).expect("names")
}
