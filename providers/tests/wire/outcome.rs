//! An outcome in one line, for `expected.tsv`.

use std::fmt::Write as _;

use providers::chat::{ChatResponse, TokenLogprobs};
use providers::error::{ErrorKind, ProviderError};

pub fn of_answer(response: &ChatResponse) -> String {
    let mut line = format!("ok {:?} {}", response.finish, text(&response.text));
    if let Some(usage) = response.usage {
        let _ = write!(line, " usage={}+{}", usage.prompt_tokens, usage.completion_tokens);
        if usage.cached_tokens > 0 {
            let _ = write!(line, " cached={}", usage.cached_tokens);
        }
        if usage.reasoning_tokens > 0 {
            let _ = write!(line, " hidden={}", usage.reasoning_tokens);
        }
    }
    for (name, apart) in [("reasoning", &response.reasoning), ("refusal", &response.refusal)] {
        if let Some(apart) = apart {
            let _ = write!(line, " {name}={}", text(apart));
        }
    }
    for call in &response.tool_calls {
        let id = call.id.as_deref().unwrap_or("-");
        let _ = write!(line, " call={id}:{}{}", call.name, text(&call.arguments));
    }
    if let Some(places) = &response.logprobs {
        let _ = write!(line, " logprobs={}", logprobs(places));
    }
    line
}

/// Places, alternatives at the first one, its token with its bytes and probability.
fn logprobs(places: &[TokenLogprobs]) -> String {
    let first = &places[0];
    let impossible = places
        .iter()
        .flat_map(|place| std::iter::once(&place.token).chain(&place.top))
        .filter(|token| token.logprob.is_infinite())
        .count();
    let mut line = format!(
        "{}x{} first={:?}@{:.3}",
        places.len(),
        first.top.len(),
        String::from_utf8_lossy(&first.token.bytes),
        first.token.logprob
    );
    if impossible > 0 {
        let _ = write!(line, " impossible={impossible}");
    }
    line
}

pub fn of_error(error: &ProviderError, is_final: bool) -> String {
    let kind = match &error.kind {
        ErrorKind::BadRequest { status, message } => format!("bad_request {status} {}", text(message)),
        ErrorKind::Unauthorized { status, message } => format!("unauthorized {status} {}", text(message)),
        ErrorKind::TooLong { message } => format!("too_long {}", text(message)),
        ErrorKind::ContentFilter { message } => format!("content_filter {}", text(message)),
        ErrorKind::RateLimited { message } => format!("rate_limited {}", text(message)),
        ErrorKind::Server { status, message } => format!("server {status} {}", text(message)),
        ErrorKind::Connection { message } => format!("connection {}", text(message)),
        ErrorKind::Garbage { message } => format!("garbage {}", text(message)),
        ErrorKind::Timeout { after_ms } => format!("timeout {after_ms}"),
        ErrorKind::BreakerOpen => "breaker_open".to_owned(),
        ErrorKind::Recalled => "recalled".to_owned(),
        ErrorKind::LimitExceeded { message } => format!("limit_exceeded {}", text(message)),
    };
    let retry = if error.is_retryable() && !is_final { "retry" } else { "no_retry" };
    match error.retry_after() {
        Some(wait) => format!("{kind} {retry} after={}ms", wait.as_millis()),
        None => format!("{kind} {retry}"),
    }
}

fn text(text: &str) -> String {
    let start: String = text.chars().take(48).collect();
    format!("{start:?}")
}
