//! Prompt templates: built-in families, one file per mode, and folders of the user's own.
//!
//! Owns the texts, the variables that they see, and the form in which they ask for an answer. Everything that can be
//! wrong with a template is found when it is loaded. Knows nothing of engines, servers or replies.

mod fence;
mod form;
mod load;
mod sample;
mod variables;

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};

use crate::case::{Case, Mode};

pub(crate) use fence::{fence, neutralise};
pub use form::{answer_key, asked_scale, choices, form, response_schema};
pub use load::{BUILT_IN, TemplateError, built_in, load};
pub(crate) use sample::sample_case;
pub(crate) use variables::Variables;

/// The texts of one template family, ready to render.
#[derive(Debug, Clone)]
pub struct Template {
    /// `g-eval`, `prometheus-2`, `direct`, or the folder's name.
    pub name: String,
    /// Minijinja source per mode; `None` where the family has no file for that mode.
    pub pointwise: Option<Arc<str>>,
    pub pairwise: Option<Arc<str>>,
    pub reference: Option<Arc<str>>,
    /// How answers are to be written; one format per template.
    pub answer: AnswerFormat,
    compiled: Arc<Compiled>,
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

/// A field that a case may lack in any mode. The other fields follow from the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptionalField {
    Input,
    /// Of a pair; in reference mode it is always there.
    Reference,
}

/// What loading found out once.
#[derive(Debug)]
struct Compiled {
    environment: Environment<'static>,
    needs: BTreeMap<Mode, Vec<OptionalField>>,
    hash: String,
}

impl Template {
    pub fn source(&self, mode: Mode) -> Option<&str> {
        match mode {
            Mode::Pointwise => self.pointwise.as_deref(),
            Mode::Pairwise => self.pairwise.as_deref(),
            Mode::Reference => self.reference.as_deref(),
        }
    }

    /// Fields without which no case of this mode can be rendered. Check them before the first call.
    pub fn needs(&self, mode: Mode) -> &[OptionalField] {
        self.compiled.needs.get(&mode).map(Vec::as_slice).unwrap_or_default()
    }

    /// Changes with anything that this template and this program put into a prompt: `b3:` and 32 hex digits.
    pub fn hash(&self) -> &str {
        &self.compiled.hash
    }

    /// The text of one prompt. `None`: no file for this mode.
    pub(crate) fn fill(
        &self,
        mode: Mode,
        variables: &Variables<'_>,
    ) -> Option<Result<String, minijinja::Error>> {
        self.source(mode)?;
        Some(fill(&self.compiled.environment, mode, variables))
    }
}

impl PartialEq for Template {
    /// By content: equal templates make equal prompts.
    fn eq(&self, other: &Self) -> bool {
        let texts = |t: &Self| (t.name.clone(), t.pointwise.clone(), t.pairwise.clone(), t.reference.clone());
        self.answer == other.answer && texts(self) == texts(other)
    }
}

impl Eq for Template {}

impl OptionalField {
    pub const ALL: [Self; 2] = [Self::Input, Self::Reference];

    /// The field's name in a case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Reference => "reference",
        }
    }

    pub fn is_in(self, case: &Case) -> bool {
        match self {
            Self::Input => case.input.is_some(),
            Self::Reference => case.reference.is_some(),
        }
    }
}

/// An environment in which nothing undefined is ever printed and no value is escaped or rendered again.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    // Why: `{% if input %}` must be allowed for a field that a case may lack; printing it must not.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    Ok(environment)
}

fn fill(
    environment: &Environment<'_>,
    mode: Mode,
    variables: &Variables<'_>,
) -> Result<String, minijinja::Error> {
    let text = environment.get_template(file_stem(mode))?.render(Serde(variables))?;
    Ok(text.trim().to_owned())
}

fn file_stem(mode: Mode) -> &'static str {
    match mode {
        Mode::Pointwise => "pointwise",
        Mode::Pairwise => "pairwise",
        Mode::Reference => "reference",
    }
}
