//! One call to one judge with words of our own: what can it do, and is it there?

use std::sync::Arc;
use std::time::Duration;

use providers::chat::{ChatRequest, ResponseSchema};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use tower::ServiceExt;

use super::Engine;
use crate::judge::{Judge, ProviderKind};
use crate::panel::Panel;
use crate::perimeter;

/// Long enough for a local model that is just being loaded.
const DEADLINE: Duration = Duration::from_mins(1);
const QUESTION: &str =
    "This is a connection test. Answer with the JSON object {\"score\": 3} and nothing else.";

/// What one call showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Probe {
    pub judge: String,
    pub is_answering: bool,
    pub latency_ms: f64,
    /// The model that the server says answered.
    pub model: Option<String>,
    /// Whether token probabilities came back when asked for.
    pub logprobs: bool,
    /// The answer was JSON under the schema that was sent.
    pub structured_output: bool,
    /// Parameters that the server refused and that are left out from now on.
    pub dropped: Vec<String>,
    /// Tokens per second of the answer, where the server counts them.
    pub tokens_per_second: Option<f64>,
    pub error: Option<String>,
}

/// Calls the judge once, past cache and store.
pub async fn probe(engine: &Engine, panel: &Panel, judge: &Judge) -> Probe {
    let mut probe = Probe {
        judge: judge.id.to_string(),
        is_answering: false,
        latency_ms: 0.0,
        model: None,
        logprobs: false,
        structured_output: false,
        dropped: Vec::new(),
        tokens_per_second: None,
        error: None,
    };
    if judge.server.provider == ProviderKind::Replay {
        probe.is_answering = true;
        return probe;
    }
    let Some(provider) = engine.askers.load().provider(&panel.name, &judge.id) else {
        probe.error = Some(String::from(
            "not connected: its key is missing, or this version does not know its provider",
        ));
        return probe;
    };
    let mut request = ChatRequest::user(QUESTION);
    request.max_tokens = Some(32);
    request.temperature = judge.params.temperature;
    request.top_logprobs = Some(5);
    request.deadline = Some(DEADLINE);
    request.response_schema = Some(Arc::new(ResponseSchema {
        name: String::from("probe"),
        schema: json!({
            "type": "object",
            "properties": {"score": {"type": "integer", "enum": [1, 2, 3, 4, 5]}},
            "required": ["score"],
            "additionalProperties": false,
        }),
    }));
    let started = Instant::now();
    match provider.oneshot(perimeter::clear_probe(request).into_inner()).await {
        Err(error) => probe.error = Some(error.to_string()),
        Ok(response) => {
            let elapsed = started.elapsed().as_secs_f64();
            probe.is_answering = true;
            probe.latency_ms = elapsed * 1000.0;
            probe.logprobs =
                response.logprobs.as_ref().is_some_and(|tokens| tokens.iter().any(|t| t.top.len() > 1));
            let answer: Option<serde_json::Value> = serde_json::from_str(&response.text).ok();
            probe.structured_output = answer.is_some_and(|answer| answer.get("score").is_some());
            probe.dropped = response.dropped.iter().map(|name| (*name).to_owned()).collect();
            #[expect(clippy::cast_precision_loss, reason = "at most a few dozen tokens")]
            let rate = response.usage.map(|usage| usage.completion_tokens as f64 / elapsed);
            probe.tokens_per_second = rate.filter(|rate| rate.is_finite());
            probe.model = response.model;
        }
    }
    probe
}
