//! A [`ChatRequest`] as the JSON body of `POST models/…:generateContent`.

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

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig<'a>,
}

#[derive(Debug, Serialize)]
struct Instruction<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: [Part<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Part<'a> {
    text: Cow<'a, str>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_sequences: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_schema: Option<EnumSchema<'a>>,
}

#[derive(Debug, PartialEq, Serialize)]
struct EnumSchema<'a> {
    r#type: &'static str,
    r#enum: &'a [String],
}

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The body for a server with these capabilities, and what had to be left out of it.
pub(crate) fn encode(request: &ChatRequest, known: &Known) -> Body {
    let Taken { top_logprobs, temperature, top_p, seed, stop, schema, choices, dropped } =
        Taken::of(request, known);
    let conversation = conversation(&request.messages);
    let wire = Wire {
        system_instruction: conversation.system.map(|text| Instruction { parts: [Part { text }] }),
        contents: conversation.turns.into_iter().map(Content::from).collect(),
        generation_config: GenerationConfig {
            max_output_tokens: request.max_tokens,
            temperature,
            top_p,
            // Why: it is an `int32` there, and equal seeds have to stay equal.
            seed: seed.map(|seed| seed & 0x7FFF_FFFF),
            stop_sequences: stop,
            response_logprobs: top_logprobs.map(|_| true),
            logprobs: top_logprobs,
            response_mime_type: schema.map(|_| "application/json").or_else(|| choices.map(|_| "text/x.enum")),
            response_json_schema: schema.map(|schema| taken(&schema.schema, known.profile().schemas)),
            response_schema: choices.map(|r#enum| EnumSchema { r#type: "STRING", r#enum }),
        },
    };
    #[expect(clippy::expect_used, reason = "string keys, numbers and JSON values always serialise")]
    let bytes = serde_json::to_vec(&wire).expect("a chat request serialises");
    Body { revision: known.revision(), bytes: Bytes::from(bytes), dropped }
}

impl<'a> From<Turn<'a>> for Content<'a> {
    fn from(turn: Turn<'a>) -> Self {
        Self { role: if turn.is_assistant { "model" } else { "user" }, parts: [Part { text: turn.text }] }
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
        let body = encode(request, &capabilities.known());
        (serde_json::from_slice(&body.bytes).unwrap(), body.dropped)
    }

    #[test]
    fn plain_request_holds_only_the_turns() {
        let (body, dropped) = encoded(&ChatRequest::user("hi"), &Capabilities::new(Dialect::Gemini));
        assert_eq!(body, json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}));
        assert!(dropped.is_empty());
    }

    #[test]
    fn every_parameter_has_its_name() {
        let request = ChatRequest { seed: Some(u64::MAX), ..asking_for_everything() };
        let (body, dropped) = encoded(&request, &Capabilities::new(Dialect::Gemini));
        let expected = json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [{"text": "Rate 1-5."}]}],
            "generationConfig": {
                "maxOutputTokens": 60,
                "temperature": 0.0,
                "topP": 0.5,
                "seed": 2_147_483_647,
                "stopSequences": ["\n"],
                "responseLogprobs": true,
                "logprobs": 20,
                "responseMimeType": "application/json",
                "responseJsonSchema": {"type": "string"},
            },
        });
        assert_eq!(body, expected);
        assert_eq!(dropped, ["top_logprobs"]);
    }

    #[test]
    fn choices_are_an_enum() {
        let request = ChatRequest { response_schema: None, ..asking_for_everything() };
        let (body, _) = encoded(&request, &Capabilities::new(Dialect::Gemini));
        let config = &body["generationConfig"];
        assert_eq!(config["responseMimeType"], "text/x.enum");
        assert_eq!(config["responseSchema"], json!({"type": "STRING", "enum": ["A", "tie"]}));
        assert!(config.get("responseJsonSchema").is_none());
    }

    #[test]
    fn refused_parameters_are_learned() {
        let check = |message: &str, field: &str, expected: &[&str]| {
            let capabilities = Capabilities::new(Dialect::Gemini);
            let error = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
            let request = ChatRequest { top_logprobs: Some(5), ..asking_for_everything() };
            capabilities.learn(&Refusal::of(400, &error), &request);
            let (body, dropped) = encoded(&request, &capabilities);
            assert!(body["generationConfig"].get(field).is_none(), "{message}: {body}");
            assert_eq!(dropped, expected, "{message}");
        };
        check("Logprobs is not enabled for models/gemini-2.5-pro", "logprobs", &["logprobs"]);
        check("Logprobs is not supported for the current model.", "responseLogprobs", &["logprobs"]);
        check("JSON mode is not enabled for models/gemma-3", "responseMimeType", &["response_format"]);
        check(
            "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.",
            "responseJsonSchema",
            &["response_format"],
        );
    }
}
