//! A [`ChatRequest`] as the JSON body of `POST models/…:generateContent`.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::parts::Part;
use super::tools::{Tool, ToolConfig, tool_config, tools};
use crate::call::Body;
use crate::chat::ChatRequest;
use crate::vendors::capabilities::Known;
use crate::vendors::strict_schema::taken;
use crate::vendors::taken::Taken;
use crate::vendors::turns::{Turn, caller_conversation, conversation};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
}

#[derive(Debug, Serialize)]
struct Instruction<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
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
    let Taken { top_logprobs, temperature, top_p, seed, stop, schema, choices, caller, dropped } =
        Taken::of(request, known);
    let caller = caller.as_ref();
    let conversation = match caller {
        Some(caller) => caller_conversation(&caller.messages),
        None => conversation(&request.messages),
    };
    let schemas = known.profile().schemas;
    let schema = schema.map(|own| &own.schema).or_else(|| caller?.schema());
    let is_json = schema.is_some() || caller.is_some_and(|caller| caller.response_format.is_some());
    let wire = Wire {
        system_instruction: conversation.system.map(|text| Instruction { parts: [text.into()] }),
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
            response_mime_type: is_json
                .then_some("application/json")
                .or_else(|| choices.map(|_| "text/x.enum")),
            response_json_schema: schema.map(|schema| taken(schema, schemas)),
            response_schema: choices.map(|r#enum| EnumSchema { r#type: "STRING", r#enum }),
            frequency_penalty: caller.and_then(|caller| caller.frequency_penalty),
            presence_penalty: caller.and_then(|caller| caller.presence_penalty),
        },
        tools: caller.and_then(|caller| caller.tools).map(|list| tools(list, schemas)),
        tool_config: caller.and_then(tool_config),
    };
    #[expect(clippy::expect_used, reason = "string keys, numbers and JSON values always serialise")]
    let bytes = serde_json::to_vec(&wire).expect("a chat request serialises");
    Body { revision: known.revision(), bytes: Bytes::from(bytes), dropped }
}

impl<'a> From<Turn<'a>> for Content<'a> {
    fn from(turn: Turn<'a>) -> Self {
        let role = if turn.is_assistant { "model" } else { "user" };
        Self { role, parts: turn.pieces.into_iter().map(Part::from).collect() }
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

    #[test]
    fn callers_turns_and_tools_become_parts() {
        let request = ChatRequest::from_caller(asking_again_with_tools());
        let (body, dropped) = encoded(&request, &Capabilities::new(Dialect::Gemini));
        let expected = json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [
                    {"text": "Rate it."},
                    {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                    {"fileData": {"mimeType": "image/webp", "fileUri": "https://x.test/a.webp?b=1"}},
                ]},
                {"role": "model", "parts": [{
                    "functionCall": {"name": "verdict", "args": {"score": 9}},
                    "thoughtSignature": "skip_thought_signature_validator",
                }]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "verdict", "response": {"result": "at most 5"}}},
                ]},
            ],
            "generationConfig": {"frequencyPenalty": 0.5, "presencePenalty": -1.0},
            "tools": [{"functionDeclarations": [{
                "name": "verdict",
                "description": "Takes it.",
                "parametersJsonSchema": {"type": "object", "properties": {"score": {"type": "integer", "maximum": 5}}},
            }]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["verdict"]}},
        });
        assert_eq!(body, expected);
        assert_eq!(dropped, ["reasoning_effort", "parallel_tool_calls"]);
    }

    #[test]
    fn choices_among_functions_have_their_modes() {
        let check = |choice: Value, expected: Value| {
            let fields = json!({
                "messages": [{"role": "user", "content": "u"}], "tools": [verdict_tool()], "tool_choice": choice,
            });
            let (body, _) =
                encoded(&ChatRequest::from_caller(caller(fields)), &Capabilities::new(Dialect::Gemini));
            let config = body.get("toolConfig").map(|config| &config["functionCallingConfig"]);
            assert_eq!(config.cloned().unwrap_or_default(), expected, "{choice}");
        };
        check(Value::Null, Value::Null);
        check(json!("auto"), json!({"mode": "AUTO"}));
        check(json!("none"), json!({"mode": "NONE"}));
        check(json!("required"), json!({"mode": "ANY"}));
    }

    #[test]
    fn callers_format_goes_into_the_prompt_beside_functions_only() {
        let check = |tools: Value, response_format: Value, config: Value, dropped: &[&str]| {
            let fields = json!({
                "messages": [{"role": "user", "content": "u"}], "tools": tools, "response_format": response_format,
            });
            let (body, left_out) =
                encoded(&ChatRequest::from_caller(caller(fields)), &Capabilities::new(Dialect::Gemini));
            assert_eq!(body.get("generationConfig").cloned().unwrap_or_default(), config);
            let text = body["contents"][0]["parts"][0]["text"].as_str().unwrap();
            assert_eq!((text != "u", left_out.as_slice()), (!dropped.is_empty(), dropped));
        };
        let schema =
            json!({"type": "json_schema", "json_schema": {"schema": {"type": "string", "maxLength": 9}}});
        let config =
            json!({"responseMimeType": "application/json", "responseJsonSchema": {"type": "string"}});
        check(Value::Null, schema.clone(), config, &[]);
        check(
            Value::Null,
            json!({"type": "json_object"}),
            json!({"responseMimeType": "application/json"}),
            &[],
        );
        check(json!([verdict_tool()]), schema, Value::Null, &["response_format"]);
    }
}
