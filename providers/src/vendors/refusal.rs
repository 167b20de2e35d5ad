//! A server's refusal: its many shapes read into one, and what kind of failure it is.

use serde_json::Value;

use crate::error::ErrorKind;
use crate::error_text::{Secrets, presentable, without_echo};

/// What an error body says. Fields that are absent or null are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: u16,
    pub message: String,
    pub r#type: String,
    pub code: String,
    pub param: String,
}

impl Refusal {
    /// Reads the body of an answer with an error status. Anything is accepted: what is no JSON has no message.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(status, &value),
            Err(_) => Self { status, message: "no JSON body".to_owned(), ..Self::default() },
        }
    }

    /// OpenAI's `{"error": {…}}`, vLLM's `{"error": "text"}`, FastAPI's `{"detail": …}`, bare `{"message": …}`.
    pub(crate) fn of(status: u16, body: &Value) -> Self {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let message = match error {
            Value::String(text) => text.clone(),
            _ => [error.get("message"), error.get("detail"), error.get("error")]
                .into_iter()
                .flatten()
                .map(details)
                .find(|text| !text.is_empty())
                .unwrap_or_default(),
        };
        Self {
            status,
            message,
            r#type: text(error.get("type")),
            code: text(error.get("code")),
            param: text(error.get("param")),
        }
        .with_status_of_code()
    }

    /// An error inside a 200 often carries the real status as its code.
    fn with_status_of_code(mut self) -> Self {
        if self.status < 300 {
            match self.code.parse::<u16>() {
                Ok(code) if (400..600).contains(&code) => self.status = code,
                Ok(_) | Err(_) if self.says("rate_limit") => self.status = 429,
                Ok(_) | Err(_) => {}
            }
        }
        self
    }

    /// The message without what it repeats of the request.
    pub(crate) fn text(&self) -> &str {
        without_echo(&self.message)
    }

    /// Whether it can be about a parameter at all.
    pub(crate) fn may_teach(&self) -> bool {
        matches!(self.status, 400 | 422) && !self.is_too_long() && !self.is_filtered()
    }

    pub(crate) fn kind(&self, secrets: Secrets<'_>) -> ErrorKind {
        let status = self.status;
        let message = presentable(&self.message, secrets);
        if self.is_too_long() {
            return ErrorKind::TooLong { message };
        }
        if self.is_filtered() {
            return ErrorKind::ContentFilter { message };
        }
        match status {
            // Same status as a rate limit, but waiting does not fill an account.
            429 if self.says("insufficient_quota") => ErrorKind::Unauthorized { status, message },
            429 => ErrorKind::RateLimited { message },
            401..=403 => ErrorKind::Unauthorized { status, message },
            408 | 409 | 425 | 0..300 | 500.. => ErrorKind::Server { status, message },
            300..400 => ErrorKind::BadRequest { status, message: "redirects are not followed".to_owned() },
            400..500 => ErrorKind::BadRequest { status, message },
        }
    }

    fn says(&self, word: &str) -> bool {
        self.code.contains(word) || self.r#type.contains(word)
    }

    fn is_too_long(&self) -> bool {
        const PHRASES: [&str; 7] = [
            "maximum context length",
            "exceeds the available context size",
            "exceeds the context",
            "exceeds context",
            "context window",
            "prompt is too long",
            "input is too long",
        ];
        if self.says("context_length_exceeded") || self.says("exceed_context_size") {
            return true;
        }
        let text = self.text().to_lowercase();
        matches!(self.status, 400 | 413 | 422 | 500) && PHRASES.iter().any(|phrase| text.contains(phrase))
    }

    fn is_filtered(&self) -> bool {
        self.says("content_filter") || self.says("content_policy_violation")
    }
}

/// A field as text: servers give codes as numbers too.
fn text(field: Option<&Value>) -> String {
    match field {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => String::new(),
    }
}

/// A message, or FastAPI's list of problems: the first one with its place.
fn details(field: &Value) -> String {
    let Some(problem) = field.as_array().and_then(|list| list.first()) else { return text(Some(field)) };
    let place: Vec<String> = problem
        .get("loc")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|part| text(Some(part)))
        .collect();
    format!("{}: {}", place.join("."), text(problem.get("msg")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(status: u16, body: &Value) -> ErrorKind {
        Refusal::of(status, body).kind(Secrets { key: None, host: "", messages: &[] })
    }

    #[test]
    fn every_shape_has_a_message() {
        let check = |body: Value, expected: &str| {
            assert_eq!(Refusal::of(400, &body).message, expected, "{body}");
        };
        check(json!({"error": {"message": "a"}}), "a");
        check(json!({"error": "a"}), "a");
        check(json!({"detail": "a"}), "a");
        check(json!({"message": "a"}), "a");
        check(json!([{"error": {"message": "a"}}]), "a");
        check(
            json!({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}),
            "body.seed: Extra inputs are not permitted",
        );
        check(json!({"error": null}), "");
        check(json!(3), "");
        assert_eq!(Refusal::read(502, b"<html>").message, "no JSON body");
    }

    #[test]
    fn kind_follows_status_and_code() {
        let body = |code: &str| json!({"error": {"message": "a", "code": code}});
        let message = || "a".to_owned();
        for status in [400, 404, 405, 413, 418, 422] {
            assert_eq!(kind(status, &body("")), ErrorKind::BadRequest { status, message: message() });
        }
        for status in [401, 402, 403] {
            assert_eq!(kind(status, &body("")), ErrorKind::Unauthorized { status, message: message() });
        }
        for status in [200, 408, 409, 425, 500, 503, 529] {
            assert_eq!(kind(status, &body("")), ErrorKind::Server { status, message: message() });
        }
        assert_eq!(kind(429, &body("")), ErrorKind::RateLimited { message: message() });
        assert_eq!(
            kind(429, &body("insufficient_quota")),
            ErrorKind::Unauthorized { status: 429, message: message() }
        );
        assert_eq!(kind(200, &body("rate_limit_exceeded")), ErrorKind::RateLimited { message: message() });
        assert_eq!(kind(200, &body("502")), ErrorKind::Server { status: 502, message: message() });
        assert_eq!(kind(400, &body("content_filter")), ErrorKind::ContentFilter { message: message() });
        assert!(matches!(kind(307, &body("")), ErrorKind::BadRequest { status: 307, .. }));
    }
}
