//! What we send has the form that the recorded servers accepted.

use std::sync::Arc;

use providers::Dialect;
use providers::chat::{ChatRequest, ResponseSchema};
use serde_json::{Value, json};

use crate::exchange::{KEY, ask_once};
use crate::recordings::{Recording, recordings};
use crate::server::{Reply, Server, completion};

const OURS: [&str; 14] = [
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "seed",
    "random_seed",
    "stop",
    "logprobs",
    "top_logprobs",
    "response_format",
    "structured_outputs",
    "grammar",
];

/// Whole numbers and their floats are the same on the wire.
pub fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(list) => list.iter().map(normal).collect(),
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), normal(value))).collect(),
        other => other.clone(),
    }
}

fn schema(body: &Value) -> Option<Arc<ResponseSchema>> {
    let json_schema = body["response_format"].get("json_schema")?;
    Some(Arc::new(ResponseSchema {
        name: json_schema["name"].as_str()?.to_owned(),
        schema: json_schema["schema"].clone(),
    }))
}

/// The texts that a recorded answer was held to: vLLM's list, or what the recorded grammar says.
fn choices(recording: &Recording) -> Option<Arc<[String]>> {
    if let Some(list) = recording.json["request"]["body_json"]["structured_outputs"]["choice"].as_array() {
        return Some(list.iter().map(|text| text.as_str().unwrap().to_owned()).collect());
    }
    let texts: &[&str] = match recording.name.as_str() {
        "llama-server/chat_grammar_choices" => &["1", "2", "3", "4", "5"],
        "llama-server/chat_grammar_choices_escaped" => &["a\" | [^x]* \"b", "mañana\\\t"],
        _ => return None,
    };
    Some(texts.iter().map(|&text| text.to_owned()).collect())
}

/// The recorded body with what we always say in addition.
fn completed(mut body: Value) -> Value {
    body["model"] = json!("smollm2-135m");
    if let Some(json_schema) = body.get_mut("response_format").and_then(|f| f.get_mut("json_schema")) {
        json_schema["strict"] = json!(true);
    }
    body
}

fn is_held(body: &Value) -> bool {
    body.get("grammar").is_some() || body.get("structured_outputs").is_some()
}

#[tokio::test]
async fn requests_have_the_form_that_was_accepted() {
    let mut compared = 0;
    for recording in recordings() {
        let Some(body) = recording.json["request"].get("body_json") else { continue };
        let is_ours = body.as_object().unwrap().keys().all(|name| OURS.contains(&name.as_str()));
        let has_other_form = body.get("max_completion_tokens").is_some()
            != (recording.dialect == Dialect::OpenAi)
            || body.get("logprobs").is_some() != body.get("top_logprobs").is_some()
            || body["top_logprobs"].as_i64().is_some_and(|n| n < 0)
            || is_held(body) != choices(&recording).is_some()
            || body["response_format"].get("json_schema").is_some() != body.get("response_format").is_some()
            || body["messages"].as_array().is_none_or(|list| {
                list.iter().any(|message| {
                    !message["content"].is_string()
                        || !["system", "user", "assistant"].contains(&message["role"].as_str().unwrap())
                })
            });
        let is_accepted = recording.json["response"]["status"] == 200;
        let is_native = matches!(recording.dialect, Dialect::Anthropic | Dialect::Gemini);
        if is_native || !recording.is_chat() || !is_ours || has_other_form || !is_accepted {
            continue;
        }
        let server = Server::start([Reply::Bytes(completion("4"))]);
        let request = ChatRequest {
            response_schema: schema(body),
            choices: choices(&recording),
            ..recording.request()
        };
        ask_once(&server, recording.dialect, request).await.0.unwrap();
        let sent = server.received()[0].json();
        assert_eq!(normal(&sent), normal(&completed(body.clone())), "{}", recording.name);
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} recordings were comparable");
}

#[tokio::test]
async fn headers_are_those_of_the_allow_list() {
    let server = Server::start([Reply::Bytes(completion("4"))]);
    ask_once(&server, Dialect::Vllm, ChatRequest::user("hi")).await.0.unwrap();
    let received = server.received();
    assert_eq!(received[0].head[0], "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(received[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received[0].header("user-agent"), Some(concat!("tribunal/", env!("CARGO_PKG_VERSION"))));
    let mut names: Vec<&str> =
        received[0].head[1..].iter().filter_map(|line| line.split_once(':').map(|(name, _)| name)).collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "authorization", "content-length", "content-type", "host", "user-agent"]);
}
