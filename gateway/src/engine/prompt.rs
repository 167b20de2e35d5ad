//! From a case and a rubric to the messages of one call.
//!
//! All of it is one user message: the chat templates of several local models refuse a system role, and one message
//! reads the same everywhere. The rubric comes first and the case last, so servers can keep the common prefix cached;
//! `prometheus-2` alone keeps the order in which that model was trained.

use std::sync::Arc;

use aggregation::vote::{Order, UnparseableClass};
use minijinja::ErrorKind;
use providers::chat::{Message, ResponseSchema, Role};

use crate::case::{Case, CaseId, Mode};
use crate::rubric::{Ask, Criterion, Evidence, Rubric};
use crate::templates::{
    AnswerFormat, OptionalField, Template, Variables, choices, form, neutralise, response_schema, sample_case,
};

/// What is asked in one call.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub case: &'a Case,
    pub rubric: &'a Rubric,
    /// One of the rubric's criteria, or all of them when they are asked together.
    pub criteria: &'a [Arc<Criterion>],
    pub template: &'a Template,
    /// Which candidate of a pair is shown first, as A.
    pub order: Order,
}

/// One call, ready to send.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub messages: Arc<[Message]>,
    /// For JSON answers: the object with the declared values.
    pub schema: Option<Arc<ResponseSchema>>,
    /// For bare answers on a scale of labels: the texts that the answer may be.
    pub choices: Option<Arc<[String]>>,
    pub answer: AnswerFormat,
    /// The form of the answer in words, as the prompt states it.
    pub form: String,
    /// Of the messages: `b3:` and 32 hex digits.
    pub hash: String,
}

impl Prompt {
    /// All messages as one text: what is kept.
    pub fn text(&self) -> String {
        let messages: Vec<&str> = self.messages.iter().map(|message| message.content.as_str()).collect();
        messages.join("\n\n")
    }
}

/// Why there is no prompt. All but `Missing` can be found by [`check`] when settings are loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    #[error("template `{template}` has no file for {mode} cases")]
    NoFile { template: String, mode: Mode },
    #[error("template `{template}` cannot ask for several criteria together; hint: `ask: per_criterion`")]
    TogetherNeedsJson { template: String },
    #[error(
        "template `{template}` answers with the bare value, so it cannot give the evidence that `{criterion}` asks for"
    )]
    EvidenceNeedsText { template: String, criterion: String },
    #[error("case `{case}`: `{}` missing, which template `{template}` needs", field.name())]
    Missing { case: CaseId, field: OptionalField, template: String },
    #[error("template `{template}`, {mode}: {message}")]
    Template { template: String, mode: Mode, message: String },
}

/// Writes the prompt. Case text is inserted once, as data between fences, and never rendered.
pub fn render(question: &Question<'_>) -> Result<Prompt, PromptError> {
    let Question { case, rubric, criteria, template, order } = *question;
    let mode = case.mode();
    check_answer(template, criteria)?;
    let form = form(criteria, mode, template.answer);
    let variables = Variables::new(case, rubric, criteria, order, &form);
    let filled = template
        .fill(mode, &variables)
        .ok_or_else(|| PromptError::NoFile { template: template.name.clone(), mode })?;
    let content = filled.map_err(|error| explain(question, &error))?;
    let hash = blake3::hash(content.as_bytes()).to_hex();
    let hash = format!("b3:{}", hash.get(..32).unwrap_or_default());
    let schema = response_schema(criteria, mode, template.answer).map(Arc::new);
    let choices = choices(criteria, mode, template.answer);
    let messages = Arc::from([Message { role: Role::User, content }]);
    Ok(Prompt { messages, schema, choices, answer: template.answer, form, hash })
}

/// Tries a template with a rubric on a sample case of the mode, before anything is spent.
pub fn check(template: &Template, rubric: &Rubric, mode: Mode) -> Result<(), PromptError> {
    let case = sample_case(mode);
    let together: Vec<&[Arc<Criterion>]> = match rubric.ask {
        Ask::Together => vec![&rubric.criteria],
        Ask::PerCriterion => rubric.criteria.chunks(1).collect(),
    };
    for criteria in together {
        render(&Question { case: &case, rubric, criteria, template, order: Order::AsGiven })?;
    }
    Ok(())
}

/// The one repair: what was asked, what came back, and the required form again. It says what was wrong with the reply
/// and never suggests a value.
pub fn repair_messages(prompt: &Prompt, raw_reply: &str, class: UnparseableClass) -> Arc<[Message]> {
    let reply: String = raw_reply.trim().chars().take(MAX_REPLY_CHARS).collect();
    // Why: some servers refuse an empty message.
    let reply = if reply.is_empty() { "(nothing)".to_owned() } else { neutralise(&reply).into_owned() };
    let wrong = match class {
        UnparseableClass::NoVerdict => "No verdict could be read in this reply.",
        UnparseableClass::Ambiguous => "This reply can be read as more than one verdict.",
        UnparseableClass::OutOfRange => "The value in this reply is not one of those asked for.",
        UnparseableClass::Truncated => "This reply was cut off. Be brief.",
    };
    let form = &prompt.form;
    let again = match prompt.answer {
        AnswerFormat::Json => format!("Reply with one JSON object and nothing else, in this form:\n{form}"),
        AnswerFormat::Result => format!("Reply in this form and write nothing after it:\n{form}"),
        AnswerFormat::Bare => format!("Reply with {form} and nothing else."),
    };
    let tail = [
        Message { role: Role::Assistant, content: reply },
        Message { role: Role::User, content: format!("{wrong} Judge the same case again. {again}") },
    ];
    prompt.messages.iter().cloned().chain(tail).collect()
}

/// Longer replies are repeated to the judge up to here.
const MAX_REPLY_CHARS: usize = 2000;

fn check_answer(template: &Template, criteria: &[Arc<Criterion>]) -> Result<(), PromptError> {
    let name = template.name.clone();
    if template.answer != AnswerFormat::Json && criteria.len() > 1 {
        return Err(PromptError::TogetherNeedsJson { template: name });
    }
    let cited = criteria.iter().find(|criterion| criterion.evidence == Evidence::Quote);
    match (template.answer, cited) {
        (AnswerFormat::Bare, Some(criterion)) => {
            Err(PromptError::EvidenceNeedsText { template: name, criterion: criterion.name.clone() })
        }
        (AnswerFormat::Json | AnswerFormat::Result | AnswerFormat::Bare, _) => Ok(()),
    }
}

fn explain(question: &Question<'_>, error: &minijinja::Error) -> PromptError {
    let (case, mode) = (question.case, question.case.mode());
    let template = question.template.name.clone();
    let missing = question.template.needs(mode).iter().find(|field| !field.is_in(case));
    match missing {
        Some(&field) if error.kind() == ErrorKind::UndefinedError => {
            PromptError::Missing { case: case.id.clone(), field, template }
        }
        _ => PromptError::Template { template, mode, message: error.to_string() },
    }
}

#[cfg(test)]
mod tests;
