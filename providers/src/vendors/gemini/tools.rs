//! Functions and the choice among them.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::vendors::adapted::{Adapted, ToolChoice};
use crate::vendors::profile::Schemas;
use crate::vendors::strict_schema::taken;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tool<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<Cow<'a, Value>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    function_calling_config: CallingConfig<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallingConfig<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

pub(super) fn tools(tools: &[Value], schemas: Schemas) -> [Tool<'_>; 1] {
    let functions = tools.iter().filter_map(|tool| tool.get("function"));
    let function_declarations = functions
        .filter_map(|function| {
            Some(Function {
                name: function.get("name")?.as_str()?,
                description: function.get("description").and_then(Value::as_str),
                parameters_json_schema: function
                    .get("parameters")
                    .filter(|schema| schema.is_object())
                    .map(|schema| taken(schema, schemas)),
            })
        })
        .collect();
    [Tool { function_declarations }]
}

pub(super) fn tool_config<'a>(caller: &Adapted<'a>) -> Option<ToolConfig<'a>> {
    caller.tools?;
    let (mode, name) = match ToolChoice::of(Some(caller.tool_choice?)) {
        ToolChoice::Auto => ("AUTO", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Function(name) => ("ANY", Some([name])),
    };
    Some(ToolConfig { function_calling_config: CallingConfig { mode, allowed_function_names: name } })
}
