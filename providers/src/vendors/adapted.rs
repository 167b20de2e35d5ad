//! The part of a caller's own body that a server takes, in the form of chat completions.
//!
//! A server that takes no tools or no response format is told in the prompt which JSON to answer with.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::capabilities::{Known, Parameter};
use super::profile::Format;
use crate::chat::CallerBody;

mod tool_turns;

use tool_turns::without_tool_turns;

/// What a server with these capabilities takes of a caller's body.
#[derive(Debug)]
pub(crate) struct Adapted<'a> {
    pub messages: Cow<'a, [Value]>,
    /// Not empty.
    pub tools: Option<&'a [Value]>,
    pub tool_choice: Option<&'a Value>,
    pub parallel_tool_calls: Option<bool>,
    /// The caller's own, or the schema of a function that has to be called and cannot be sent.
    pub response_format: Option<Cow<'a, Value>>,
    pub frequency_penalty: Option<f64>,
    pub presence_penalty: Option<f64>,
    pub reasoning_effort: Option<&'a str>,
}

/// Which function the model has to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolChoice<'a> {
    /// As the model likes; also what is not known.
    Auto,
    None,
    /// Any of them.
    Required,
    Function(&'a str),
}

/// What an answer has to be, other than text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AnswerForm<'a> {
    JsonObject,
    JsonSchema(&'a Value),
}

impl<'a> ToolChoice<'a> {
    pub(crate) fn of(choice: Option<&'a Value>) -> Self {
        let Some(choice) = choice else { return Self::Auto };
        match choice.as_str() {
            Some("none") => Self::None,
            Some("required" | "any") => Self::Required,
            Some(_) => Self::Auto,
            None => {
                let function = choice.get("function").unwrap_or(choice);
                function.get("name").and_then(Value::as_str).map_or(Self::Auto, Self::Function)
            }
        }
    }

    fn is_forced(self) -> bool {
        match self {
            Self::Required | Self::Function(_) => true,
            Self::Auto | Self::None => false,
        }
    }
}

impl<'a> AnswerForm<'a> {
    /// `None`: text, or nothing that is known.
    pub(crate) fn of(response_format: Option<&'a Value>) -> Option<Self> {
        let format = response_format?;
        match format.get("type").and_then(Value::as_str)? {
            "json_object" => Some(Self::JsonObject),
            "json_schema" => Some(
                format
                    .get("json_schema")
                    .and_then(|wrapper| wrapper.get("schema"))
                    .map_or(Self::JsonObject, Self::JsonSchema),
            ),
            _ => None,
        }
    }
}

impl<'a> Adapted<'a> {
    /// Adds the names of what is left out to `dropped`.
    pub(crate) fn of(caller: &'a CallerBody, known: &Known, dropped: &mut Vec<&'static str>) -> Self {
        let choice = ToolChoice::of(caller.tool_choice.as_ref());
        let asked_tools = tools(caller);
        let takes_choice = known.takes(Parameter::ToolChoice);
        let takes_tools = known.takes(Parameter::Tools) && (takes_choice || choice == ToolChoice::Auto);
        let sent_tools = asked_tools.filter(|_| takes_tools);
        let form = AnswerForm::of(caller.response_format.as_ref());
        let has_calls = sent_tools.is_some() && choice != ToolChoice::None;
        let sent_form = form.filter(|form| takes_form(known, *form, has_calls));

        let mut keeps = |parameter: Parameter, is_kept: bool| {
            if !is_kept {
                dropped.push(parameter.name());
            }
            is_kept
        };
        let mut takes = |parameter: Parameter| keeps(parameter, known.takes(parameter));
        let frequency_penalty =
            number(caller, "frequency_penalty").filter(|_| takes(Parameter::FrequencyPenalty));
        let presence_penalty =
            number(caller, "presence_penalty").filter(|_| takes(Parameter::PresencePenalty));
        let effort = caller.other.get("reasoning_effort").and_then(Value::as_str);
        let reasoning_effort = effort.filter(|_| takes(Parameter::ReasoningEffort));

        // What comes with tools means nothing without any.
        let (has_tools, sends_tools) = (asked_tools.is_some(), sent_tools.is_some());
        let parallel = caller.other.get("parallel_tool_calls").and_then(Value::as_bool);
        let takes_parallel = sends_tools && known.takes(Parameter::ParallelToolCalls);
        let parallel_tool_calls =
            parallel.filter(|_| has_tools && keeps(Parameter::ParallelToolCalls, takes_parallel));
        let tool_choice = caller.tool_choice.as_ref();
        let tool_choice =
            tool_choice.filter(|_| has_tools && keeps(Parameter::ToolChoice, sends_tools && takes_choice));
        if has_tools {
            keeps(Parameter::Tools, sends_tools);
        }
        if form.is_some() {
            keeps(Parameter::ResponseFormat, sent_form.is_some());
        }
        let arguments = asked_tools
            .filter(|_| choice.is_forced() && !sends_tools)
            .map(|tools| arguments_schema(tools, choice));
        let instruction = match &arguments {
            Some(arguments) => Some(instruction(Some(arguments))),
            None => form.filter(|_| sent_form.is_none()).map(|form| match form {
                AnswerForm::JsonObject => instruction(None),
                AnswerForm::JsonSchema(schema) => instruction(Some(schema)),
            }),
        };
        // Other formats refuse tool turns where there are no tools, also those of a caller that sent none.
        let is_plain = !sends_tools && (has_tools || known.profile().format != Format::OpenAi);
        Self {
            messages: messages(caller, is_plain, instruction),
            tools: sent_tools,
            tool_choice,
            parallel_tool_calls,
            response_format: match (arguments.filter(|_| holds_to_schemas(known)), &caller.response_format) {
                (Some(arguments), _) => Some(Cow::Owned(schema_format(&arguments))),
                (None, own) => own.as_ref().filter(|_| sent_form.is_some()).map(Cow::Borrowed),
            },
            frequency_penalty,
            presence_penalty,
            reasoning_effort,
        }
    }

    /// The JSON Schema of the answer, where the response format is sent and has one.
    pub(crate) fn schema(&self) -> Option<&Value> {
        match AnswerForm::of(self.response_format.as_deref())? {
            AnswerForm::JsonSchema(schema) => Some(schema),
            AnswerForm::JsonObject => None,
        }
    }
}

/// The caller's tools, if there are any.
pub(crate) fn tools(caller: &CallerBody) -> Option<&[Value]> {
    caller.tools.as_ref()?.as_array().map(Vec::as_slice).filter(|tools| !tools.is_empty())
}

/// Whether the form of an answer can be sent, beside functions that may be called or without.
fn takes_form(known: &Known, form: AnswerForm<'_>, has_calls: bool) -> bool {
    let fits = match known.profile().format {
        Format::OpenAi => true,
        // It has no JSON without a schema.
        Format::Anthropic => form != AnswerForm::JsonObject,
        // It refuses JSON beside functions.
        Format::Gemini => !has_calls,
    };
    fits && known.takes(Parameter::ResponseFormat)
}

fn number(caller: &CallerBody, name: &str) -> Option<f64> {
    caller.other.get(name).and_then(Value::as_f64)
}

/// The parameters of the function that has to be called; of any of them when there are several.
fn arguments_schema(tools: &[Value], choice: ToolChoice<'_>) -> Value {
    let functions = tools.iter().filter_map(|tool| tool.get("function"));
    let meant = functions.filter(|function| match choice {
        ToolChoice::Function(name) => function.get("name").and_then(Value::as_str) == Some(name),
        ToolChoice::Required | ToolChoice::Auto | ToolChoice::None => true,
    });
    let mut schemas: Vec<Value> = meant
        .map(|function| function.get("parameters").cloned().unwrap_or_else(|| json!({"type": "object"})))
        .collect();
    match (schemas.pop(), schemas.is_empty()) {
        (None, _) => json!({"type": "object"}),
        (Some(only), true) => only,
        (Some(last), false) => {
            schemas.push(last);
            json!({ "anyOf": schemas })
        }
    }
}

/// Whether an answer can be held to a schema that stands in for a function.
fn holds_to_schemas(known: &Known) -> bool {
    known.profile().format == Format::OpenAi && known.takes(Parameter::ResponseFormat)
}

fn schema_format(schema: &Value) -> Value {
    json!({"type": "json_schema", "json_schema": {"name": "arguments", "schema": schema}})
}

fn instruction(schema: Option<&Value>) -> String {
    let first = "Answer with one JSON object and nothing else.";
    match schema {
        None => first.to_owned(),
        Some(schema) => format!("{first} It must follow this JSON Schema: {schema}"),
    }
}

fn messages(caller: &CallerBody, is_plain: bool, instruction: Option<String>) -> Cow<'_, [Value]> {
    let mut messages =
        if is_plain { without_tool_turns(&caller.messages) } else { Cow::Borrowed(&*caller.messages) };
    if let Some(instruction) = instruction {
        instruct(messages.to_mut(), &instruction);
    }
    messages
}

/// The user's last words get one more paragraph; where somebody else spoke last, the user speaks again.
fn instruct(messages: &mut Vec<Value>, instruction: &str) {
    let last = messages.last_mut().filter(|last| last.get("role").and_then(Value::as_str) == Some("user"));
    match last.and_then(|last| last.get_mut("content")) {
        Some(Value::String(text)) => {
            text.push_str("\n\n");
            text.push_str(instruction);
        }
        Some(Value::Array(parts)) => parts.push(json!({"type": "text", "text": instruction})),
        Some(_) | None => messages.push(json!({"role": "user", "content": instruction})),
    }
}

#[cfg(test)]
mod tests;
