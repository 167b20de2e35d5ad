//! A [`ChatRequest`] as the JSON body of `POST messages`.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::call::Body;
use crate::chat::ChatRequest;
use crate::vendors::capabilities::Known;
use crate::vendors::strict_schema::taken;
use crate::vendors::taken::Taken;
use crate::vendors::turns::{Turn, conversation};

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
}

#[derive(Debug, Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Cow<'a, str>,
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
    let Taken { temperature, top_p, stop, schema, dropped, top_logprobs: _, seed: _, choices: _ } =
        Taken::of(request, known);
    let conversation = conversation(&request.messages);
    let wire = Wire {
        model,
        max_tokens: request.max_tokens.unwrap_or(UNCAPPED),
        system: conversation.system,
        messages: conversation.turns.into_iter().map(WireMessage::from).collect(),
        temperature,
        top_p,
        stop_sequences: stop,
        output_config: schema.map(|schema| OutputConfig {
            format: OutputFormat {
                r#type: "json_schema",
                schema: taken(&schema.schema, known.profile().schemas),
            },
        }),
    };
    #[expect(clippy::expect_used, reason = "string keys, numbers and JSON values always serialise")]
    let bytes = serde_json::to_vec(&wire).expect("a chat request serialises");
    Body { revision: known.revision(), bytes: Bytes::from(bytes), dropped }
}

impl<'a> From<Turn<'a>> for WireMessage<'a> {
    fn from(turn: Turn<'a>) -> Self {
        Self { role: if turn.is_assistant { "assistant" } else { "user" }, content: turn.text }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::vendors::Dialect;
    use crate::vendors::capabilities::Capabilities;
    use crate::vendors::refusal::Refusal;
    use crate::vendors::samples::asking_for_everything;

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
}
