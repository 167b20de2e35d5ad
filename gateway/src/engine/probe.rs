//! One call to one judge with words of our own: what can it do, and is it there?

use std::sync::Arc;
use std::time::Duration;

use providers::chat::{ChatRequest, ResponseSchema};
use providers::error::ErrorKind;
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use tower::ServiceExt;

use super::Askers;
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
pub async fn probe(askers: &Askers, panel: &Panel, judge: &Judge) -> Probe {
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
    let Some(provider) = askers.provider(&panel.name, &judge.id) else {
        probe.error = Some(String::from("not connected: its key is missing"));
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
        Err(error) => probe.error = Some(explained(&error.kind, judge)),
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

/// The failure with its address and the next step: whoever probes is setting a server up.
fn explained(kind: &ErrorKind, judge: &Judge) -> String {
    let server = &judge.server;
    let (name, address) = (&server.name, &server.base_url);
    let hint = match kind {
        ErrorKind::Connection { .. } => {
            format!("is the server running? its address is `servers.{name}.base_url`")
        }
        ErrorKind::BadRequest { status: 404 | 405, .. }
        | ErrorKind::Server { status: 501, .. }
        | ErrorKind::Garbage { .. } => format!(
            "does a server of that provider answer there? `servers.{name}.base_url` ends with its version, such as `/v1`, and `judges.{}.model` is one of its models",
            judge.id
        ),
        ErrorKind::Unauthorized { .. } => match &server.api_key_source {
            Some(source) => format!("the key comes from `{source}`"),
            None => format!("name the key as `servers.{name}.api_key`"),
        },
        ErrorKind::Timeout { .. } | ErrorKind::Server { .. } => {
            String::from("its own log says why; a model that is still being loaded needs a moment")
        }
        ErrorKind::RateLimited { .. } | ErrorKind::LimitExceeded { .. } | ErrorKind::BreakerOpen => {
            format!("try again later, or lower `servers.{name}.limits`")
        }
        ErrorKind::TooLong { .. } => String::from("the model's context is too small for any case"),
        ErrorKind::BadRequest { .. } | ErrorKind::ContentFilter { .. } | ErrorKind::Recalled => {
            return format!("`{address}`: {kind}");
        }
    };
    format!("`{address}`: {kind}; hint: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::judge;

    #[test]
    fn a_failed_probe_names_address_reason_and_next_step() {
        let message = || String::from("m");
        let check = |kind: ErrorKind, reason: &str, hint: &str| {
            let expected = format!("`http://127.0.0.1:1/v1`: {reason}{hint}");
            let text = explained(&kind, &judge("gpt-5", "gpt"));
            assert!(text.starts_with(&expected), "{text}");
        };
        let unreachable = "; hint: is the server running? its address is `servers.test.base_url`";
        check(ErrorKind::Connection { message: message() }, "connection failed: m", unreachable);
        let other = "; hint: does a server of that provider answer there? `servers.test.base_url`";
        check(ErrorKind::Garbage { message: message() }, "unreadable answer: m", other);
        let failed = "server failed with status 501: m";
        check(ErrorKind::Server { status: 501, message: message() }, failed, other);
        let refused = "server refused the request with status 404: m";
        check(ErrorKind::BadRequest { status: 404, message: message() }, refused, other);
        let key = "; hint: name the key as `servers.test.api_key`";
        check(
            ErrorKind::Unauthorized { status: 401, message: message() },
            "server refused the key with status 401: m",
            key,
        );
        check(ErrorKind::Timeout { after_ms: 9 }, "no answer within 9 ms", "; hint: its own log");
        check(ErrorKind::RateLimited { message: message() }, "rate limited: m", "; hint: try again later");
        check(ErrorKind::TooLong { message: message() }, "prompt is longer", "");
        check(ErrorKind::ContentFilter { message: message() }, "content filter: m", "");
    }

    #[test]
    fn a_refused_key_is_named_by_its_source_and_never_shown() {
        let mut judge = judge("gpt-5", "gpt");
        let server = Arc::make_mut(&mut judge.server);
        server.api_key_source = Some(String::from("OPENAI_API_KEY"));
        server.api_key = Some(String::from("sk-secret").into());
        let text = explained(&ErrorKind::Unauthorized { status: 401, message: String::new() }, &judge);
        assert!(text.ends_with("hint: the key comes from `OPENAI_API_KEY`"), "{text}");
    }
}
