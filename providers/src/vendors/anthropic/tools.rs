//! Tools and the choice among them.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::vendors::adapted::{Adapted, ToolChoice};

#[derive(Debug, Serialize)]
pub(super) struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: Cow<'a, Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireChoice<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

/// Functions; tools of other kinds are those of other servers.
pub(super) fn tools(tools: &[Value]) -> Vec<Tool<'_>> {
    let functions = tools.iter().filter_map(|tool| tool.get("function"));
    functions
        .filter_map(|function| {
            let schema = function.get("parameters").filter(|schema| schema.is_object());
            Some(Tool {
                name: function.get("name")?.as_str()?,
                description: function.get("description").and_then(Value::as_str),
                input_schema: schema.map_or_else(|| Cow::Owned(json!({"type": "object"})), Cow::Borrowed),
            })
        })
        .collect()
}

/// `None`: the server's default, which is the model's own choice.
pub(super) fn tool_choice<'a>(caller: &Adapted<'a>) -> Option<WireChoice<'a>> {
    caller.tools?;
    let is_one_at_a_time = caller.parallel_tool_calls == Some(false);
    let (r#type, name) = match ToolChoice::of(caller.tool_choice) {
        ToolChoice::Auto if caller.tool_choice.is_none() && !is_one_at_a_time => return None,
        ToolChoice::Auto => ("auto", None),
        ToolChoice::None => ("none", None),
        ToolChoice::Required => ("any", None),
        ToolChoice::Function(name) => ("tool", Some(name)),
    };
    let has_calls = r#type != "none";
    Some(WireChoice {
        r#type,
        name,
        disable_parallel_tool_use: (is_one_at_a_time && has_calls).then_some(true),
    })
}
