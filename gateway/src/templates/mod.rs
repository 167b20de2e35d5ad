//! Prompt templates: built-in families, one file per mode, and folders of the user's own.

use std::sync::Arc;

use crate::case::Mode;

/// The texts of one template family, ready to render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// `g-eval`, `prometheus-2`, `direct`, or the folder's name.
    pub name: String,
    /// Minijinja source per mode; `None` where the family has no file for that mode.
    pub pointwise: Option<Arc<str>>,
    pub pairwise: Option<Arc<str>>,
    pub reference: Option<Arc<str>>,
    /// How answers are to be written; one format per template.
    pub answer: AnswerFormat,
}

/// The form in which a template asks for its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerFormat {
    /// A JSON object; servers with structured output are sent the schema.
    Json,
    /// Free text that ends in `[RESULT] v`.
    Result,
    /// The bare value and nothing else.
    Bare,
}

impl Template {
    pub fn source(&self, mode: Mode) -> Option<&str> {
        match mode {
            Mode::Pointwise => self.pointwise.as_deref(),
            Mode::Pairwise => self.pairwise.as_deref(),
            Mode::Reference => self.reference.as_deref(),
        }
    }
}
