//! What code can decide about an answer: free, the same every time, and before any judge is asked. One file a kind.
//!
//! A check knows the case and its own settings. It knows nothing of judges, votes and panels, and what it reports never
//! repeats a text of the case.

mod contains;
mod exact;
mod length;
mod numeric;
mod pattern;
mod schema;

use serde::Serialize;

pub use self::contains::Contains;
pub use self::exact::Exact;
pub use self::length::{Length, LengthUnit};
pub use self::numeric::Numeric;
pub use self::pattern::{BadPattern, Pattern};
pub use self::schema::{BadSchema, Schema};
use crate::case::{Candidates, Case};

/// A question about an answer that needs no judge. It is reported as a criterion of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Unique among the checks and criteria of a rubric.
    pub name: String,
    /// No judge is asked about a case that fails it.
    pub required: bool,
    pub rule: Rule,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rule {
    Exact(Exact),
    Contains(Contains),
    Regex(Pattern),
    JsonSchema(Schema),
    Numeric(Numeric),
    Length(Length),
}

/// What a check found. Words, where there are any, say why, without the texts themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    Pass,
    Fail(String),
    /// The case lacks what the check needs: neither a pass nor a fail.
    Undecidable(String),
}

impl Finding {
    fn pass_or(passed: bool, why: impl FnOnce() -> String) -> Self {
        if passed { Self::Pass } else { Self::Fail(why()) }
    }
}

/// Whether a case comes with the text of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// An empty answer is an answer.
    Given,
    /// Recorded judges need no text, so an empty one may be a missing one.
    MayBeMissing,
}

impl Check {
    pub fn run(&self, case: &Case, texts: Texts) -> Finding {
        let Candidates::One(answer) = &case.candidates else {
            return Finding::Undecidable(String::from("a check reads one answer, and a pair has two"));
        };
        if texts == Texts::MayBeMissing && answer.output.is_empty() {
            return Finding::Undecidable(String::from("the case has no text of its answer"));
        }
        let (output, reference) = (answer.output.as_str(), case.reference.as_deref());
        match &self.rule {
            Rule::Exact(exact) => exact.run(output, reference),
            Rule::Contains(contains) => contains.run(output),
            Rule::Regex(pattern) => pattern.run(output),
            Rule::JsonSchema(schema) => schema.run(output),
            Rule::Numeric(numeric) => numeric.run(output, reference),
            Rule::Length(length) => length.run(output),
        }
    }
}

/// Upper and lower case apart, or alike.
fn folded(text: &str, case_sensitive: bool) -> std::borrow::Cow<'_, str> {
    if case_sensitive { text.into() } else { text.to_lowercase().into() }
}

fn no_reference() -> Finding {
    Finding::Undecidable(String::from("the case has no reference"))
}

#[cfg(test)]
mod tests;
