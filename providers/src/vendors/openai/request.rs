//! A [`ChatRequest`] as the JSON body of `POST chat/completions`.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::choices::grammar;
use super::strict_schema::strict;
use crate::call::Body;
use crate::chat::{ChatRequest, Message};
use crate::vendors::capabilities::{Known, Parameter, choices};
use crate::vendors::profile::{AnswerCap, Choices, Schemas};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_outputs: Option<StructuredOutputs<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grammar: Option<String>,
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
    schema: Cow<'a, Value>,
}

#[derive(Debug, Serialize)]
struct StructuredOutputs<'a> {
    choice: &'a [String],
}

/// The body for a server with these capabilities, and what had to be left out of it.
pub(crate) fn encode(request: &ChatRequest, model: &str, known: &Known) -> Body {
    let profile = known.profile();
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
    let choices = choices(request).filter(|_| keeps(Parameter::Choices, true));
    let top_logprobs = request.top_logprobs.filter(|_| takes_logprobs).map(|asked| {
        let allowed = asked.min(profile.most_alternatives);
        if allowed < asked {
            dropped.push("top_logprobs");
        }
        allowed
    });
    let cap_is = |name: AnswerCap| request.max_tokens.filter(|_| profile.answer_cap == name);
    let choices_by = |way: Choices| choices.filter(|_| profile.choices == Some(way));
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
            json_schema: JsonSchema {
                name: &schema.name,
                strict: true,
                schema: taken(&schema.schema, profile.schemas),
            },
        }),
        structured_outputs: choices_by(Choices::StructuredOutputs).map(|choice| StructuredOutputs { choice }),
        grammar: choices_by(Choices::Grammar).map(grammar),
    };
    #[expect(clippy::expect_used, reason = "string keys, numbers and JSON values always serialise")]
    let bytes = serde_json::to_vec(&wire).expect("a chat request serialises");
    Body { revision: known.revision(), bytes: Bytes::from(bytes), dropped }
}

fn taken(schema: &Value, schemas: Schemas) -> Cow<'_, Value> {
    match schemas {
        Schemas::Full => Cow::Borrowed(schema),
        Schemas::Strict => Cow::Owned(strict(schema)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::chat::{ResponseSchema, Role};
    use crate::vendors::Dialect;
    use crate::vendors::capabilities::Capabilities;

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
                schema: json!({"type": "string", "maxLength": 9}),
            })),
            choices: Some(["A".to_owned(), "tie".to_owned()].into()),
            deadline: None,
            recall: crate::Recall::default(),
        }
    }

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
                "json_schema": {"name": "verdict", "strict": true, "schema": {"type": "string", "maxLength": 9}},
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
        assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "string"}));
    }

    #[test]
    fn choices_go_where_the_dialect_has_a_place_for_them() {
        let mut request = ChatRequest { response_schema: None, top_logprobs: None, ..full() };
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
        check(&full(), Dialect::LlamaCpp, Value::Null, Value::Null, &[]);
    }
}
