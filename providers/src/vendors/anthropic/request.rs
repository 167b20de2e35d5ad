//! A [`ChatRequest`] as the JSON body of `POST messages`.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::blocks::Content;
use super::tools::{Tool, WireChoice, tool_choice, tools};
use crate::call::Body;
use crate::chat::ChatRequest;
use crate::vendors::capabilities::Known;
use crate::vendors::strict_schema::taken;
use crate::vendors::taken::Taken;
use crate::vendors::turns::{Turn, caller_conversation, conversation};

/// The answer's cap when the request has none: the most that every model takes.
const UNCAPPED: u32 = 4096;

#[derive(Debug, Serialize)]
struct Wire<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Cow<'a, str>>,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_sequences: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<WireChoice<'a>>,
}

#[derive(Debug, Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Debug, Serialize)]
struct OutputConfig<'a> {
    format: OutputFormat<'a>,
}

#[derive(Debug, Serialize)]
struct OutputFormat<'a> {
    r#type: &'static str,
    schema: Cow<'a, Value>,
}

/// The body for a server with these capabilities, and what had to be left out of it.
pub(crate) fn encode(request: &ChatRequest, model: &str, known: &Known) -> Body {
    let Taken { temperature, top_p, stop, schema, caller, dropped, top_logprobs: _, seed: _, choices: _ } =
        Taken::of(request, known);
    let caller = caller.as_ref();
    let conversation = match caller {
        Some(caller) => caller_conversation(&caller.messages),
        None => conversation(&request.messages),
    };
    let schema = schema.map(|own| &own.schema).or_else(|| caller?.schema());
    let wire = Wire {
        model,
        max_tokens: request.max_tokens.unwrap_or(UNCAPPED),
        system: conversation.system,
        messages: conversation.turns.into_iter().map(WireMessage::from).collect(),
        temperature,
        top_p,
        stop_sequences: stop,
        output_config: schema.map(|schema| OutputConfig {
            format: OutputFormat { r#type: "json_schema", schema: taken(schema, known.profile().schemas) },
        }),
        tools: caller.and_then(|caller| caller.tools).map(tools),
        tool_choice: caller.and_then(tool_choice),
    };
    #[expect(clippy::expect_used, reason = "string keys, numbers and JSON values always serialise")]
    let bytes = serde_json::to_vec(&wire).expect("a chat request serialises");
    Body { revision: known.revision(), bytes: Bytes::from(bytes), dropped }
}

impl<'a> From<Turn<'a>> for WireMessage<'a> {
    fn from(turn: Turn<'a>) -> Self {
        Self { role: if turn.is_assistant { "assistant" } else { "user" }, content: turn.pieces.into() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::vendors::Dialect;
    use crate::vendors::capabilities::Capabilities;
    use crate::vendors::refusal::Refusal;
    use crate::vendors::samples::{asking_again_with_tools, asking_for_everything, caller, verdict_tool};

    fn encoded(request: &ChatRequest, capabilities: &Capabilities) -> (Value, Vec<&'static str>) {
        let body = encode(request, "claude-x", &capabilities.known());
        (serde_json::from_slice(&body.bytes).unwrap(), body.dropped)
    }

    #[test]
    fn answers_always_have_a_cap() {
        let (body, dropped) = encoded(&ChatRequest::user("hi"), &Capabilities::new(Dialect::Anthropic));
        let messages = json!([{"role": "user", "content": "hi"}]);
        assert_eq!(body, json!({"model": "claude-x", "max_tokens": 4096, "messages": messages}));
        assert!(dropped.is_empty());
    }

    #[test]
    fn what_the_api_lacks_is_left_out() {
        let (body, dropped) = encoded(&asking_for_everything(), &Capabilities::new(Dialect::Anthropic));
        let expected = json!({
            "model": "claude-x",
            "max_tokens": 60,
            "system": "Be brief.",
            "messages": [{"role": "user", "content": "Rate 1-5."}],
            "temperature": 0.0,
            "top_p": 0.5,
            "stop_sequences": ["\n"],
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "string"}}},
        });
        assert_eq!(body, expected);
        assert_eq!(dropped, ["logprobs", "seed"]);
    }

    #[test]
    fn refused_parameters_are_learned() {
        let check = |message: &str, field: &str, expected: &[&str]| {
            let capabilities = Capabilities::new(Dialect::Anthropic);
            let error = json!({"error": {"type": "invalid_request_error", "message": message}});
            capabilities.learn(&Refusal::of(400, &error), &asking_for_everything());
            let (body, dropped) = encoded(&asking_for_everything(), &capabilities);
            assert!(body.get(field).is_none(), "{message}: {body}");
            assert_eq!(dropped, expected, "{message}");
        };
        check(
            "`temperature` is deprecated for this model.",
            "temperature",
            &["logprobs", "temperature", "seed"],
        );
        check(
            "`temperature` may only be set to 1 when thinking is enabled.",
            "temperature",
            &["logprobs", "temperature", "seed"],
        );
        check(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            "top_p",
            &["logprobs", "top_p", "seed"],
        );
        check(
            "output_config: Extra inputs are not permitted",
            "output_config",
            &["logprobs", "seed", "response_format"],
        );
        check(
            "This model does not support output_config.format",
            "output_config",
            &["logprobs", "seed", "response_format"],
        );
    }

    #[test]
    fn callers_turns_and_tools_become_blocks() {
        let request = ChatRequest::from_caller(asking_again_with_tools());
        let (body, dropped) = encoded(&request, &Capabilities::new(Dialect::Anthropic));
        let expected = json!({
            "model": "claude-x",
            "max_tokens": 4096,
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "Rate it."},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    {"type": "image", "source": {"type": "url", "url": "https://x.test/a.webp?b=1"}},
                ]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "c1", "name": "verdict", "input": {"score": 9}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "at most 5"}]},
                ]},
            ],
            "tools": [{
                "name": "verdict",
                "description": "Takes it.",
                "input_schema": {"type": "object", "properties": {"score": {"type": "integer", "maximum": 5}}},
            }],
            "tool_choice": {"type": "tool", "name": "verdict", "disable_parallel_tool_use": true},
        });
        assert_eq!(body, expected);
        assert_eq!(dropped, ["frequency_penalty", "presence_penalty", "reasoning_effort"]);
    }

    #[test]
    fn choices_among_tools_have_their_names() {
        let check = |choice: Value, parallel: Value, expected: Value| {
            let fields = json!({
                "messages": [{"role": "user", "content": "u"}], "tools": [verdict_tool()],
                "tool_choice": choice, "parallel_tool_calls": parallel,
            });
            let request = ChatRequest::from_caller(caller(fields));
            let (body, dropped) = encoded(&request, &Capabilities::new(Dialect::Anthropic));
            assert_eq!(body.get("tool_choice").cloned().unwrap_or_default(), expected, "{choice}");
            assert!(dropped.is_empty() && body["tools"].is_array());
        };
        check(Value::Null, Value::Null, Value::Null);
        check(Value::Null, json!(true), Value::Null);
        check(Value::Null, json!(false), json!({"type": "auto", "disable_parallel_tool_use": true}));
        check(json!("auto"), Value::Null, json!({"type": "auto"}));
        check(json!("none"), json!(false), json!({"type": "none"}));
        check(json!("required"), Value::Null, json!({"type": "any"}));
    }

    #[test]
    fn callers_schema_is_an_output_format_and_a_bare_object_is_an_instruction() {
        let encoded = |response_format: Value| {
            let fields =
                json!({"messages": [{"role": "user", "content": "u"}], "response_format": response_format});
            encoded(&ChatRequest::from_caller(caller(fields)), &Capabilities::new(Dialect::Anthropic))
        };
        let schema = json!({"type": "string", "maxLength": 9});
        let (body, dropped) =
            encoded(json!({"type": "json_schema", "json_schema": {"name": "v", "schema": schema}}));
        assert_eq!(
            body["output_config"],
            json!({"format": {"type": "json_schema", "schema": {"type": "string"}}})
        );
        assert!(dropped.is_empty());
        let (body, dropped) = encoded(json!({"type": "json_object"}));
        assert_eq!(body["messages"][0]["content"], "u\n\nAnswer with one JSON object and nothing else.");
        assert_eq!((body.get("output_config"), dropped), (None, vec!["response_format"]));
    }

    #[test]
    fn broken_arguments_and_documents_have_a_place() {
        let fields = json!({"tools": [verdict_tool()], "messages": [
            {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}]},
            {"role": "assistant", "content": "hm", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{"}}]},
        ]});
        let (body, _) =
            encoded(&ChatRequest::from_caller(caller(fields)), &Capabilities::new(Dialect::Anthropic));
        let document = json!({"type": "base64", "media_type": "application/pdf", "data": "AA"});
        assert_eq!(body["messages"][0]["content"][0], json!({"type": "document", "source": document}));
        assert_eq!(body["messages"][1]["content"][1]["input"], json!({"arguments": "{"}));
    }
}
