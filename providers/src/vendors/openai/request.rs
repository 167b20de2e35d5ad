//! A [`ChatRequest`] as the JSON body of `POST chat/completions`.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::choices::grammar;
use crate::call::Body;
use crate::chat::{ChatRequest, Message};
use crate::vendors::capabilities::Known;
use crate::vendors::profile::{AnswerCap, Choices, SeedName};
use crate::vendors::strict_schema::taken;
use crate::vendors::taken::Taken;

#[derive(Debug, Serialize)]
struct Wire<'a> {
    model: &'a str,
    messages: Messages<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    random_seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a [Value]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_outputs: Option<StructuredOutputs<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grammar: Option<String>,
}

/// Ours, or a caller's as they were sent.
#[derive(Debug)]
enum Messages<'a> {
    Own(&'a [Message]),
    Caller(&'a [Value]),
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(messages) => messages.serialize(serializer),
            Self::Caller(messages) => messages.serialize(serializer),
        }
    }
}

/// Ours, or a caller's as it was sent.
#[derive(Debug)]
enum ResponseFormat<'a> {
    Own(OwnFormat<'a>),
    Caller(&'a Value),
}

impl Serialize for ResponseFormat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(format) => format.serialize(serializer),
            Self::Caller(format) => format.serialize(serializer),
        }
    }
}

#[derive(Debug, Serialize)]
struct OwnFormat<'a> {
    r#type: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Debug, Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: Cow<'a, Value>,
}

#[derive(Debug, Serialize)]
struct StructuredOutputs<'a> {
    choice: &'a [String],
}

/// The body for a server with these capabilities, and what had to be left out of it.
pub(crate) fn encode(request: &ChatRequest, model: &str, known: &Known) -> Body {
    let profile = known.profile();
    let Taken { top_logprobs, temperature, top_p, seed, stop, schema, choices, caller, dropped } =
        Taken::of(request, known);
    let cap_is = |name: AnswerCap| request.max_tokens.filter(|_| profile.answer_cap == name);
    let seed_is = |name: SeedName| seed.filter(|_| profile.seed == name);
    let choices_by = |way: Choices| choices.filter(|_| profile.choices == Some(way));
    let own_format = schema.map(|schema| {
        let (name, schema) = (&*schema.name, taken(&schema.schema, profile.schemas));
        ResponseFormat::Own(OwnFormat {
            r#type: "json_schema",
            json_schema: JsonSchema { name, strict: true, schema },
        })
    });
    let caller = caller.as_ref();
    let wire = Wire {
        model,
        messages: caller
            .map_or(Messages::Own(&request.messages), |caller| Messages::Caller(&caller.messages)),
        max_tokens: cap_is(AnswerCap::MaxTokens),
        max_completion_tokens: cap_is(AnswerCap::MaxCompletionTokens),
        temperature,
        top_p,
        seed: seed_is(SeedName::Seed),
        random_seed: seed_is(SeedName::RandomSeed),
        stop,
        logprobs: top_logprobs.map(|_| true),
        top_logprobs,
        response_format: own_format
            .or_else(|| caller?.response_format.as_deref().map(ResponseFormat::Caller)),
        tools: caller.and_then(|caller| caller.tools),
        tool_choice: caller.and_then(|caller| caller.tool_choice),
        parallel_tool_calls: caller.and_then(|caller| caller.parallel_tool_calls),
        frequency_penalty: caller.and_then(|caller| caller.frequency_penalty),
        presence_penalty: caller.and_then(|caller| caller.presence_penalty),
        reasoning_effort: caller.and_then(|caller| caller.reasoning_effort),
        structured_outputs: choices_by(Choices::StructuredOutputs).map(|choice| StructuredOutputs { choice }),
        grammar: choices_by(Choices::Grammar).map(grammar),
    };
    #[expect(clippy::expect_used, reason = "string keys, numbers and JSON values always serialise")]
    let bytes = serde_json::to_vec(&wire).expect("a chat request serialises");
    Body { revision: known.revision(), bytes: Bytes::from(bytes), dropped }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    use crate::vendors::Dialect;
    use crate::vendors::capabilities::Capabilities;
    use crate::vendors::samples::{asking_again_with_tools, asking_for_everything, caller};

    fn encoded(request: &ChatRequest, dialect: Dialect) -> (Value, Vec<&'static str>) {
        let body = encode(request, "m", &Capabilities::new(dialect).known());
        (serde_json::from_slice(&body.bytes).unwrap(), body.dropped)
    }

    #[test]
    fn plain_request_holds_only_model_and_messages() {
        let (body, dropped) = encoded(&ChatRequest::user("hi"), Dialect::Vllm);
        assert_eq!(body, json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}));
        assert!(dropped.is_empty());
    }

    #[test]
    fn every_parameter_has_its_name() {
        let (body, dropped) = encoded(&asking_for_everything(), Dialect::LlamaCpp);
        let expected = json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Rate 1-5."},
            ],
            "max_tokens": 60,
            "temperature": 0.0,
            "top_p": 0.5,
            "seed": 7,
            "stop": ["\n"],
            "logprobs": true,
            "top_logprobs": 50,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": true, "schema": {"type": "string", "maxLength": 9}},
            },
        });
        assert_eq!(body, expected);
        assert!(dropped.is_empty());
    }

    #[test]
    fn openai_takes_its_own_name_and_twenty_alternatives() {
        let (body, dropped) = encoded(&asking_for_everything(), Dialect::OpenAi);
        assert_eq!(body["max_completion_tokens"], 60);
        assert!(body.get("max_tokens").is_none());
        assert_eq!(body["top_logprobs"], 20);
        assert_eq!(dropped, ["top_logprobs"]);
        assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "string"}));
    }

    #[test]
    fn choices_go_where_the_dialect_has_a_place_for_them() {
        let mut request =
            ChatRequest { response_schema: None, top_logprobs: None, ..asking_for_everything() };
        let check =
            |request: &ChatRequest, dialect, structured_outputs: Value, grammar: Value, dropped: &[&str]| {
                let (body, left_out) = encoded(request, dialect);
                let field = |name: &str| body.get(name).cloned().unwrap_or_default();
                assert_eq!(field("structured_outputs"), structured_outputs, "{dialect:?}");
                assert_eq!(field("grammar"), grammar, "{dialect:?}");
                assert_eq!(left_out, dropped, "{dialect:?}");
            };
        check(&request, Dialect::Vllm, json!({"choice": ["A", "tie"]}), Value::Null, &[]);
        check(&request, Dialect::LlamaCpp, Value::Null, json!("root ::= \"A\" | \"tie\""), &[]);
        for dialect in [Dialect::OpenAi, Dialect::Ollama, Dialect::Compatible] {
            check(&request, dialect, Value::Null, Value::Null, &["choices"]);
        }
        request.choices = Some([].into());
        check(&request, Dialect::Vllm, Value::Null, Value::Null, &[]);
        check(&asking_for_everything(), Dialect::LlamaCpp, Value::Null, Value::Null, &[]);
    }

    #[test]
    fn callers_messages_and_tools_go_as_they_were_sent() {
        let body = Arc::new(asking_again_with_tools());
        let request = ChatRequest { max_tokens: Some(60), ..ChatRequest::from_caller(Arc::clone(&body)) };
        let (sent, dropped) = encoded(&request, Dialect::OpenAi);
        let expected = json!({
            "model": "m",
            "messages": body.messages,
            "max_completion_tokens": 60,
            "tools": body.tools,
            "tool_choice": body.tool_choice,
            "parallel_tool_calls": false,
            "frequency_penalty": 0.5,
            "presence_penalty": -1.0,
            "reasoning_effort": "low",
        });
        assert_eq!(sent, expected);
        assert!(dropped.is_empty());
        let (sent, dropped) = encoded(&request, Dialect::Mistral);
        assert_eq!((sent.get("reasoning_effort"), dropped), (None, vec!["reasoning_effort"]));
    }

    #[test]
    fn callers_response_format_stands_in_place_of_ours() {
        let check = |response_format: Value, expected: Option<Value>| {
            let body = caller(json!({"messages": [], "response_format": response_format}));
            let request = ChatRequest { caller: Some(body.into()), ..asking_for_everything() };
            let (sent, dropped) = encoded(&request, Dialect::Vllm);
            assert_eq!(sent.get("response_format"), expected.as_ref());
            assert_eq!((sent["messages"].clone(), sent.get("structured_outputs")), (json!([]), None));
            assert!(dropped.is_empty());
        };
        let schema = json!({"type": "json_schema", "json_schema": {"name": "v", "schema": {"maxLength": 9}, "strict": false}});
        check(schema.clone(), Some(schema));
        check(json!({"type": "json_object"}), Some(json!({"type": "json_object"})));
        check(json!({"type": "text"}), None);
        check(Value::Null, None);
    }
}
