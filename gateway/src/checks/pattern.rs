//! `regex`: a pattern that the answer matches somewhere. Matching takes linear time, whatever pattern and text are.

use regex::{Regex, RegexBuilder};
use serde::Serialize;

use super::Finding;

/// Largest compiled pattern.
const LARGEST_BYTES: usize = 10 * 1024 * 1024;

#[derive(Debug, Clone, Serialize)]
pub struct Pattern {
    pub pattern: String,
    pub case_sensitive: bool,
    #[serde(skip)]
    compiled: Regex,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    #[error("this is no pattern: {0}")]
    Syntax(String),
    #[error("the compiled pattern is larger than 10 MiB")]
    TooLarge,
}

impl Pattern {
    pub fn new(pattern: &str, case_sensitive: bool) -> Result<Self, BadPattern> {
        let built = RegexBuilder::new(pattern)
            .case_insensitive(!case_sensitive)
            .size_limit(LARGEST_BYTES)
            .dfa_size_limit(LARGEST_BYTES)
            .build();
        let compiled = built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => BadPattern::TooLarge,
            other => BadPattern::Syntax(fault(&other.to_string())),
        })?;
        Ok(Self { pattern: pattern.to_owned(), case_sensitive, compiled })
    }

    pub(super) fn run(&self, output: &str) -> Finding {
        Finding::pass_or(self.compiled.is_match(output), || {
            String::from("the answer does not match the pattern")
        })
    }
}

/// What is compiled follows from the settings.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (&self.pattern, self.case_sensitive) == (&other.pattern, other.case_sensitive)
    }
}

/// The last line of the library's message, which shows the pattern on several lines first.
fn fault(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}
