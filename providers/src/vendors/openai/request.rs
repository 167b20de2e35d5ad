//! A [`ChatRequest`] as the JSON body of `POST chat/completions`.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::AnswerCap;
use super::capabilities::{Known, Parameter};
use crate::call::Body;
use crate::chat::{ChatRequest, Message};

#[derive(Debug, Serialize)]
struct Wire<'a> {
    model: &'a str,
    messages: &'a [Message],
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
    stop: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Debug, Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Debug, Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a Value,
}

/// The body for a server with these capabilities, and what had to be left out of it.
pub(super) fn encode(request: &ChatRequest, model: &str, known: &Known) -> Body {
    let mut dropped = Vec::new();
    // `asked` is whether the request has the parameter at all.
    let mut keeps = |parameter: Parameter, asked: bool| {
        let kept = known.takes(parameter);
        if asked && !kept {
            dropped.push(parameter.name());
        }
        asked && kept
    };
    let takes_logprobs = keeps(Parameter::Logprobs, request.top_logprobs.is_some());
    let temperature = request.temperature.filter(|_| keeps(Parameter::Temperature, true));
    let top_p = request.top_p.filter(|_| keeps(Parameter::TopP, true));
    let seed = request.seed.filter(|_| keeps(Parameter::Seed, true));
    let has_stop = keeps(Parameter::Stop, !request.stop.is_empty());
    let schema = request.response_schema.as_deref().filter(|_| keeps(Parameter::ResponseFormat, true));
    let top_logprobs = request.top_logprobs.filter(|_| takes_logprobs).map(|asked| {
        let allowed = asked.min(known.most_alternatives());
        if allowed < asked {
            dropped.push("top_logprobs");
        }
        allowed
    });
    let cap_is = |name: AnswerCap| request.max_tokens.filter(|_| known.answer_cap() == name);
    let wire = Wire {
        model,
        messages: &request.messages,
        max_tokens: cap_is(AnswerCap::MaxTokens),
        max_completion_tokens: cap_is(AnswerCap::MaxCompletionTokens),
        temperature,
        top_p,
        seed,
        stop: has_stop.then_some(request.stop.as_slice()),
        logprobs: takes_logprobs.then_some(true),
        top_logprobs,
        response_format: schema.map(|schema| ResponseFormat {
            r#type: "json_schema",
            json_schema: JsonSchema { name: &schema.name, strict: true, schema: &schema.schema },
        }),
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
    use crate::chat::{ResponseSchema, Role};
    use crate::vendors::Dialect;
    use crate::vendors::openai::capabilities::Capabilities;
    use crate::vendors::openai::profile;

    fn full() -> ChatRequest {
        ChatRequest {
            messages: [
                Message { role: Role::System, content: "Be brief.".to_owned() },
                Message { role: Role::User, content: "Rate 1-5.".to_owned() },
            ]
            .into(),
            max_tokens: Some(60),
            temperature: Some(0.0),
            top_p: Some(0.5),
            seed: Some(7),
            stop: vec!["\n".to_owned()],
            top_logprobs: Some(50),
            response_schema: Some(Arc::new(ResponseSchema {
                name: "verdict".to_owned(),
                schema: json!({"type": "object"}),
            })),
            deadline: None,
            recall: crate::Recall::default(),
        }
    }

    fn encoded(request: &ChatRequest, dialect: Dialect) -> (Value, Vec<&'static str>) {
        let body = encode(request, "m", &Capabilities::new(profile(dialect)).known());
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
        let (body, dropped) = encoded(&full(), Dialect::LlamaCpp);
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
                "json_schema": {"name": "verdict", "strict": true, "schema": {"type": "object"}},
            },
        });
        assert_eq!(body, expected);
        assert!(dropped.is_empty());
    }

    #[test]
    fn openai_takes_its_own_name_and_twenty_alternatives() {
        let (body, dropped) = encoded(&full(), Dialect::OpenAi);
        assert_eq!(body["max_completion_tokens"], 60);
        assert!(body.get("max_tokens").is_none());
        assert_eq!(body["top_logprobs"], 20);
        assert_eq!(dropped, ["top_logprobs"]);
    }
}
