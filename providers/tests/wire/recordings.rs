//! Every recording becomes what `expected.tsv` says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use providers::chat::{ChatRequest, ChatResponse, Message, Role};
use providers::error::{ErrorKind, ProviderError};
use providers::{Client, Dialect, list_models, probe_health, vendors};
use serde_json::Value;
use tower::ServiceExt;

use crate::exchange::{address, ask_once, stacked};
use crate::outcome::{of_answer, of_error};
use crate::server::{Reply, Server, answer};

const FOLDERS: [(&str, Dialect); 6] = [
    ("openai", Dialect::OpenAi),
    ("llama-server", Dialect::LlamaCpp),
    ("vllm", Dialect::Vllm),
    ("mistral", Dialect::Mistral),
    ("anthropic", Dialect::Anthropic),
    ("gemini", Dialect::Gemini),
];

/// Routes that this crate never calls.
const NOT_OURS: [(&str, &str); 13] = [
    ("/v1/messages", "Anthropic's format"),
    ("/v1/responses", "the Responses format"),
    ("/v1/completions", "text completions"),
    ("/completion", "llama.cpp's own format"),
    ("/apply-template", "renders a prompt"),
    ("/tokenize", "tokenizer"),
    ("/detokenize", "tokenizer"),
    ("/metrics", "for Prometheus"),
    ("/slots", "llama.cpp's inner state"),
    ("/props", "llama.cpp's settings"),
    ("/openapi.json", "documentation"),
    ("/version", "version"),
    ("/load", "load"),
];

pub struct Recording {
    pub name: String,
    pub dialect: Dialect,
    pub json: Value,
}

impl Recording {
    fn is(&self, method: &str, route: &str) -> bool {
        self.json["request"]["method"] == method && self.json["request"]["path"] == route
    }

    /// Documented exchanges can leave the request out: all of them are chats.
    pub fn is_chat(&self) -> bool {
        let is_hosted = matches!(self.dialect, Dialect::Anthropic | Dialect::Gemini);
        is_hosted || self.json.get("request").is_none() || self.is("POST", "/v1/chat/completions")
    }

    fn not_ours(&self) -> Option<&'static str> {
        if self.is_chat() {
            return None;
        }
        let request = &self.json["request"];
        let path = request["path"].as_str()?.split('?').next()?;
        let known = NOT_OURS.iter().find(|(route, _)| path.starts_with(*route)).map(|(_, why)| *why);
        match (request["method"].as_str()?, path) {
            (_, "/v1/nothing" | "/v1/embeddings" | "/v1/rerank" | "/score") => {
                Some("a route that is not there")
            }
            ("GET", "/v1/chat/completions") => Some("a method that is not there"),
            ("GET", "/ping") => Some("another health route"),
            _ => known,
        }
    }

    fn reply(&self) -> Reply {
        match self.json["transport_error"]["type"].as_str() {
            Some("TimeoutError") => return Reply::Hang,
            Some(_) => return Reply::BytesThenClose(Vec::new()),
            None => {}
        }
        let response = &self.json["response"];
        let headers: Vec<(&str, &str)> = response["headers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap()))
            .filter(|(name, _)| {
                !["content-length", "transfer-encoding", "connection", "keep-alive"]
                    .contains(&name.to_lowercase().as_str())
            })
            .collect();
        let body = match response.get("body_json") {
            Some(body) => body.to_string(),
            None => response["body_text"].as_str().unwrap().to_owned(),
        };
        Reply::Bytes(answer(response["status"].as_u64().unwrap().try_into().unwrap(), &headers, &body))
    }

    /// The bytes of a recorded stream.
    fn stream(&self) -> Option<String> {
        let response = &self.json["response"];
        if let Some(text) = response["sse_text"].as_str() {
            return Some(text.to_owned());
        }
        let lines = response["events"].as_array()?.iter().map(|event| event["line"].as_str().unwrap());
        Some(lines.fold(String::new(), |stream, line| stream + line + "\n\n"))
    }

    /// The recorded request as far as ours can say it.
    pub fn request(&self) -> ChatRequest {
        let body = &self.json["request"]["body_json"];
        let messages: Vec<Message> = body["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|message| Message {
                role: match message["role"].as_str() {
                    Some("system") => Role::System,
                    Some("assistant") => Role::Assistant,
                    Some(_) | None => Role::User,
                },
                content: message["content"].as_str().unwrap_or_default().to_owned(),
            })
            .collect();
        let number = |name: &str| body[name].as_u64();
        ChatRequest {
            max_tokens: number("max_tokens")
                .or(number("max_completion_tokens"))
                .map(|n| n.try_into().unwrap()),
            temperature: body["temperature"].as_f64(),
            seed: number("seed").or(number("random_seed")),
            top_logprobs: number("top_logprobs").map(|n| n.try_into().unwrap()),
            stop: body["stop"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|s| s.as_str().unwrap().to_owned())
                .collect(),
            ..ChatRequest::new(messages)
        }
    }
}

pub fn recordings() -> Vec<Recording> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let mut all = Vec::new();
    for (folder, dialect) in FOLDERS {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{folder}/{}", path.file_stem().unwrap().to_str().unwrap());
            let json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            all.push(Recording { name, dialect, json });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

async fn outcome(recording: &Recording) -> String {
    if let Some(stream) = recording.stream() {
        let fold = match recording.dialect {
            Dialect::Anthropic => vendors::anthropic::stream::fold,
            Dialect::Gemini => vendors::gemini::stream::fold,
            _ => vendors::openai::stream::fold,
        };
        let outcome = fold(&stream);
        assert_eq!(outcome, streamed(recording, &stream).await, "{}: the same over a socket", recording.name);
        return match outcome {
            Ok(response) => format!("stream {}", of_answer(&response)),
            Err(kind) => format!("stream {}", of_error(&ProviderError::new(kind), false)),
        };
    }
    if let Some(why) = recording.not_ours() {
        return format!("skipped: {why}");
    }
    let server = if recording.json["transport_error"]["type"] == "ConnectionRefusedError" {
        Server::closed()
    } else {
        Server::start([recording.reply()])
    };
    let (client, url) = (Client::new(), address(&server));
    if recording.is("GET", "/v1/models") {
        return match list_models(&client, recording.dialect, &url, None).await {
            Ok(models) => format!("models {models:?}"),
            Err(error) => of_error(&error, false),
        };
    }
    if recording.is("GET", "/health") {
        return match probe_health(&client, recording.dialect, &url, None).await {
            Ok(()) => "healthy".to_owned(),
            Err(error) => of_error(&error, false),
        };
    }
    assert!(recording.is_chat(), "{} is of no known kind", recording.name);
    if recording.json["transport_error"]["type"] == "TimeoutError" {
        let provider = stacked(&server, recording.dialect, Duration::from_millis(50));
        return of_error(&provider.oneshot(recording.request()).await.unwrap_err(), false);
    }
    match ask_once(&server, recording.dialect, recording.request()).await {
        (Ok(response), _) => of_answer(&response),
        (Err(error), is_final) => of_error(&error, is_final),
    }
}

/// The stream as the answer to a request that asked for none.
async fn streamed(recording: &Recording, stream: &str) -> Result<ChatResponse, ErrorKind> {
    let server = Server::start([Reply::Bytes(answer(200, &[("content-type", "text/event-stream")], stream))]);
    let (outcome, _) = ask_once(&server, recording.dialect, recording.request()).await;
    outcome.map(|response| ChatResponse { dropped: Vec::new(), ..response }).map_err(|error| error.kind)
}

#[tokio::test]
async fn every_recording_becomes_what_is_expected() {
    let expected: BTreeMap<&str, &str> =
        include_str!("expected.tsv").lines().filter_map(|line| line.split_once('\t')).collect();
    let mut wrong = String::new();
    let mut seen = BTreeSet::new();
    for recording in recordings() {
        let actual = outcome(&recording).await;
        if expected.get(recording.name.as_str()) != Some(&actual.as_str()) {
            let _ = writeln!(wrong, "{}\t{actual}", recording.name);
        }
        seen.insert(recording.name);
    }
    assert!(wrong.is_empty(), "not as in expected.tsv:\n{wrong}");
    let gone: Vec<_> = expected.keys().filter(|name| !seen.contains(**name)).collect();
    assert!(gone.is_empty(), "expected but not recorded: {gone:?}");
}
