//! `exact`: the answer is this text, or the case's reference.

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use super::{Finding, folded, no_reference};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exact {
    /// `None`: the case's reference.
    pub text: Option<String>,
    pub case_sensitive: bool,
    /// One form for letters with accents, one blank for any run of white space, none at the ends.
    pub normalise: bool,
}

impl Exact {
    pub(super) fn run(&self, output: &str, reference: Option<&str>) -> Finding {
        let Some(wanted) = self.text.as_deref().or(reference) else { return no_reference() };
        let other = if self.text.is_some() { "the text" } else { "the reference" };
        Finding::pass_or(self.form(output) == self.form(wanted), || format!("the answer is not {other}"))
    }

    fn form(&self, text: &str) -> String {
        let text = folded(text, self.case_sensitive);
        if !self.normalise {
            return text.into_owned();
        }
        let composed: String = text.nfc().collect();
        composed.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
