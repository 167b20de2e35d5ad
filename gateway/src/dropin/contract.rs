//! What is known of an answer's form before anyone answers.

use jsonschema::Validator;
use serde_json::Value;

use super::asked::Asked;
use super::domain::Domains;
use super::listing;
use super::prompt;
use super::schema;
use super::shape::Shape;

/// Whom to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// No verdict is asked for: one judge answers, nothing is merged.
    Lead,
    Panel,
}

/// The form of the answer, as far as the request tells it.
#[derive(Debug, Clone)]
pub struct Contract {
    pub(super) form: Form,
    pub(super) tools: Vec<Tool>,
    pub(super) domains: Domains,
    /// How many things the prompt lists for a verdict each.
    pub(super) listed: Option<usize>,
    /// `None`: no logprobs. Else how many alternatives at a verdict.
    pub(super) top_logprobs: Option<usize>,
    pub(super) max_tokens: Option<u32>,
    /// An object is asked for, whatever is in it.
    pub(super) asks_json: bool,
    /// One of the tools has to be called.
    pub(super) must_call: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Index into the tools.
    Tool(usize),
    Schema(Structure),
    /// A schema stands in the prompt. It holds where most replies keep to it.
    Prompted {
        structure: Structure,
        /// No judged text can have put it there.
        is_trusted: bool,
    },
    /// Nothing is known, or only that it is an object: replies decide.
    Open,
}

/// Something that the caller offers to be called.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) structure: Structure,
}

/// What a JSON value has to be.
#[derive(Debug, Clone)]
pub(super) struct Structure {
    pub(super) shape: Shape,
    pub(super) validator: Option<Validator>,
}

impl Structure {
    pub(super) fn of(schema: &Value) -> Self {
        Self { shape: schema::shape(schema), validator: schema::validator(schema) }
    }

    /// Without a schema: only what replies have in common.
    pub(super) fn inferred(shape: Shape) -> Self {
        Self { shape, validator: None }
    }

    pub(super) fn accepts(&self, value: &Value) -> bool {
        self.validator.as_ref().is_none_or(|validator| validator.is_valid(value))
    }
}

impl Contract {
    /// Reads the request. Never fails: what cannot be used is as if it were not there.
    pub fn of(asked: &Asked) -> Self {
        let texts = prompt::texts(&asked.messages);
        let tools = tools(asked);
        let alternatives = usize::from(asked.top_logprobs.unwrap_or(0)).min(20);
        Self {
            form: form(asked, &tools, &texts),
            domains: Domains::of(&texts),
            listed: listing::length(&texts),
            tools,
            top_logprobs: asked.wants_logprobs.then_some(alternatives),
            max_tokens: asked.max_tokens,
            asks_json: format_kind(asked) == Some("json_object"),
            must_call: asked.tool_choice.as_ref().and_then(Value::as_str) == Some("required"),
        }
    }

    /// The lead alone only where a schema shows that nothing can be voted on.
    pub fn plan(&self) -> Plan {
        let structure = match &self.form {
            Form::Tool(index) => self.tools.get(*index).map(|tool| &tool.structure),
            Form::Schema(structure) | Form::Prompted { structure, is_trusted: true } => Some(structure),
            Form::Prompted { is_trusted: false, .. } | Form::Open => None,
        };
        match structure {
            Some(structure) if !structure.shape.holds_verdict("") => Plan::Lead,
            Some(_) | None => Plan::Panel,
        }
    }

    /// A cap on tokens so low that only the verdict itself has room.
    pub(super) fn is_terse(&self) -> bool {
        self.max_tokens.is_some_and(|tokens| tokens <= 8)
    }
}

fn form(asked: &Asked, tools: &[Tool], texts: &[prompt::PromptText]) -> Form {
    if let Some(index) = forced_tool(asked, tools) {
        return Form::Tool(index);
    }
    let format = asked.response_format.as_ref();
    let kind = format_kind(asked);
    let declared = format.and_then(|format| {
        let wrapped = format.get("json_schema").unwrap_or(format);
        wrapped.get("schema")
    });
    if let Some(schema) = declared.filter(|_| kind == Some("json_schema")) {
        return Form::Schema(Structure::of(schema));
    }
    match prompt::schema(texts) {
        Some((schema, is_instruction)) => {
            Form::Prompted { structure: Structure::of(&schema), is_trusted: is_instruction }
        }
        None => Form::Open,
    }
}

fn format_kind(asked: &Asked) -> Option<&str> {
    asked.response_format.as_ref()?.get("type")?.as_str()
}

/// A named function, or any where there is only one.
fn forced_tool(asked: &Asked, tools: &[Tool]) -> Option<usize> {
    let choice = asked.tool_choice.as_ref()?;
    let name = choice.pointer("/function/name").or_else(|| choice.get("name")).and_then(Value::as_str);
    match name {
        Some(name) => tools.iter().position(|tool| tool.name == name),
        None => (choice.as_str() == Some("required") && tools.len() == 1).then_some(0),
    }
}

fn tools(asked: &Asked) -> Vec<Tool> {
    if asked.tool_choice.as_ref().and_then(Value::as_str) == Some("none") {
        return Vec::new();
    }
    let Some(Value::Array(tools)) = &asked.tools else { return Vec::new() };
    let tool = |tool: &Value| {
        let function = tool.get("function").unwrap_or(tool);
        let name = function.get("name").and_then(Value::as_str)?.to_owned();
        let schema =
            function.get("parameters").cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        Some(Tool { name, structure: Structure::of(&schema) })
    };
    tools.iter().filter_map(tool).collect()
}
