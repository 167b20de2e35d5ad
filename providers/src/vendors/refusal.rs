//! A server's refusal: its many shapes read into one, and what kind of failure it is.

use std::time::Duration;

use serde_json::Value;

use crate::error::{ErrorKind, Upstream};
use crate::error_text::{Secrets, presentable, without_echo};
use crate::retry_after;

/// Our word for OpenRouter's list of what its moderation found, which comes with a 403.
const MODERATION: &str = "moderation";

/// What an error body says. Fields that are absent or null are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: u16,
    pub message: String,
    pub r#type: String,
    pub code: String,
    pub param: String,
    /// Gemini's `retryDelay`, which no header repeats.
    pub retry_after: Option<Duration>,
    /// Gemini's reasons and quotas, Azure's inner code, Anthropic's code of the details, in the order in which they stand.
    pub reasons: Vec<String>,
}

impl Refusal {
    /// Reads the body of an answer with an error status. Anything is accepted: what is no JSON has no message.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(status, &value),
            Err(_) => Self { status, message: "no JSON body".to_owned(), ..Self::default() },
        }
    }

    /// OpenAI's, Anthropic's and Gemini's `{"error": {…}}`, vLLM's `{"error": "text"}`, FastAPI's `{"detail": …}`,
    /// Mistral's bare `{"message": …}`, and lists of one of them.
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
            message: with_raw(message, error),
            r#type: text(error.get("type").or_else(|| error.get("status"))),
            code: text(error.get("code")),
            param: text(error.get("param")),
            retry_after: retry_after::from_error(error),
            reasons: reasons(error),
        }
        .with_status_of_code()
    }

    /// An error inside a 200 often carries the real status as its code, or says it with its type.
    fn with_status_of_code(mut self) -> Self {
        const TYPES: [(&str, u16); 9] = [
            ("rate_limit", 429),
            ("overloaded_error", 529),
            ("timeout_error", 504),
            ("api_error", 500),
            ("invalid_request_error", 400),
            ("authentication_error", 401),
            ("billing_error", 402),
            ("permission_error", 403),
            ("not_found_error", 404),
        ];
        if self.status < 300 {
            let of_code = self.code.parse::<u16>().ok().filter(|code| (400..600).contains(code));
            let of_type = || TYPES.iter().find(|(word, _)| self.says(word)).map(|(_, status)| *status);
            self.status = of_code.or_else(of_type).unwrap_or(self.status);
        }
        self
    }

    /// The message without what it repeats of the request.
    pub(crate) fn text(&self) -> &str {
        without_echo(&self.message)
    }

    /// Whether it can be about a parameter at all. OpenRouter's 404 can be about what no model behind it takes, and
    /// llama.cpp's 500 about what it was not built or started for.
    pub(crate) fn may_teach(&self) -> bool {
        let says = |phrases: &[&str]| {
            let text = self.text().to_lowercase();
            phrases.iter().any(|phrase| text.contains(phrase))
        };
        let is_of_request = match self.status {
            400 | 422 => true,
            404 => says(&["no endpoints found that support"]),
            500 => says(&["unsupported param", "requires --jinja"]),
            _ => false,
        };
        is_of_request && !self.is_too_long() && !self.is_filtered() && !self.is_of_account()
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
            400 | 429 if self.is_of_account() => ErrorKind::Unauthorized { status, message },
            // Same status as a rate limit, but waiting does not fill an account, nor does it end a day.
            429 if self.says("insufficient_quota") || self.is_daily() => {
                ErrorKind::Unauthorized { status, message }
            }
            429 => ErrorKind::RateLimited { message },
            401..=403 => ErrorKind::Unauthorized { status, message },
            408 | 409 | 425 | 0..300 | 500.. => ErrorKind::Server { status, message },
            300..400 => ErrorKind::BadRequest { status, message: "redirects are not followed".to_owned() },
            400..500 => ErrorKind::BadRequest { status, message },
        }
    }

    /// The fields beside the message, for whoever passes it on.
    pub(crate) fn upstream(&self, secrets: Secrets<'_>) -> Upstream {
        let word = |field: &str| (!field.is_empty()).then(|| presentable(field, secrets));
        Upstream {
            status: self.status,
            r#type: word(&self.r#type),
            code: word(&self.code),
            param: word(&self.param),
        }
    }

    fn says(&self, word: &str) -> bool {
        self.code.contains(word) || self.r#type.contains(word)
    }

    fn is_too_long(&self) -> bool {
        const PHRASES: [&str; 8] = [
            "maximum context length",
            "exceeds the available context size",
            "exceeds the context",
            "exceeds context",
            "context window",
            "prompt is too long",
            "input is too long",
            "input token count",
        ];
        if ["context_length_exceeded", "exceed_context_size", "request_too_large"]
            .iter()
            .any(|w| self.says(w))
        {
            return true;
        }
        let text = self.text().to_lowercase();
        // Why: a body over a server's limit holds a prompt that is too long, and often no JSON says so.
        self.status == 413
            || matches!(self.status, 400 | 422 | 500) && PHRASES.iter().any(|phrase| text.contains(phrase))
    }

    fn is_filtered(&self) -> bool {
        self.says("content_filter")
            || self.says("content_policy_violation")
            || self.gives_reason("ResponsibleAIPolicyViolation")
            || self.gives_reason(MODERATION)
    }

    /// A 400 or 429 about the account: Anthropic's empty or blocked one, Gemini's keys and countries.
    fn is_of_account(&self) -> bool {
        const PHRASES: [&str; 4] = [
            "credit balance is too low",
            "api key not valid",
            "api key expired",
            "location is not supported",
        ];
        let text = self.text().to_lowercase();
        let is_blocked =
            |reason: &String| reason.ends_with("spend_limit_reached") || reason == "organization_on_hold";
        // Gemini's status of a country or a billing that is not as it has to be.
        self.r#type == "FAILED_PRECONDITION"
            || self.gives_reason("API_KEY_INVALID")
            || self.reasons.iter().any(is_blocked)
            || PHRASES.iter().any(|phrase| text.contains(phrase))
    }

    /// A quota for a day, by Gemini's name of it.
    fn is_daily(&self) -> bool {
        self.reasons.iter().any(|reason| reason.contains("PerDay"))
    }

    fn gives_reason(&self, reason: &str) -> bool {
        self.reasons.iter().any(|given| given == reason)
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

/// OpenRouter's message and the words of whoever it asked.
fn with_raw(message: String, error: &Value) -> String {
    let raw = text(error.get("metadata").and_then(|metadata| metadata.get("raw")));
    if raw.is_empty() { message } else { format!("{message}: {raw}") }
}

/// Why, in words for programs.
fn reasons(error: &Value) -> Vec<String> {
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let of_google = details.flat_map(|detail| {
        let quotas = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
        std::iter::once(detail.get("reason")).chain(quotas.map(|quota| quota.get("quotaId")))
    });
    let of_azure = error.get("innererror").and_then(|inner| inner.get("code"));
    let of_anthropic = error.get("details").and_then(|details| details.get("error_code"));
    let moderated = error.get("metadata").and_then(|metadata| metadata.get("reasons"));
    let of_openrouter = moderated.and_then(Value::as_array).is_some_and(|reasons| !reasons.is_empty());
    of_google
        .chain([of_azure, of_anthropic])
        .map(text)
        .chain(of_openrouter.then(|| MODERATION.to_owned()))
        .filter(|reason| !reason.is_empty())
        .collect()
}

/// A message, or FastAPI's list of problems: the first one with its place.
fn details(field: &Value) -> String {
    if let Some(inner) = field.get("detail") {
        return details(inner);
    }
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
        Refusal::of(status, body).kind(Secrets { key: None, host: "", request: None })
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
        check(
            json!({"message": {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}}),
            "body.messages: Field required",
        );
        check(
            json!({"error": {"message": "Provider returned error", "metadata": {"raw": "seed is unknown"}}}),
            "Provider returned error: seed is unknown",
        );
        check(json!({"error": null}), "");
        check(json!(3), "");
        assert_eq!(Refusal::read(502, b"<html>").message, "no JSON body");
    }

    #[test]
    fn kind_follows_status_and_code() {
        let body = |code: &str| json!({"error": {"message": "a", "code": code}});
        let message = || "a".to_owned();
        for status in [400, 404, 405, 418, 422] {
            assert_eq!(kind(status, &body("")), ErrorKind::BadRequest { status, message: message() });
        }
        for status in [401, 402, 403] {
            assert_eq!(kind(status, &body("")), ErrorKind::Unauthorized { status, message: message() });
        }
        for status in [200, 408, 409, 425, 500, 503, 529] {
            assert_eq!(kind(status, &body("")), ErrorKind::Server { status, message: message() });
        }
        assert_eq!(kind(413, &body("")), ErrorKind::TooLong { message: message() });
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

    #[test]
    fn type_inside_a_200_says_the_status() {
        let check = |word: &str, expected: u16| {
            let body = json!({"type": "error", "error": {"type": word, "message": "a"}});
            assert_eq!(Refusal::of(200, &body).status, expected, "{word}");
        };
        check("overloaded_error", 529);
        check("rate_limit_error", 429);
        check("api_error", 500);
        check("authentication_error", 401);
        check("something_new", 200);
        // Mistral gives load this type: the status decides where there is one.
        assert_eq!(Refusal::of(429, &json!({"message": "a", "type": "invalid_request_error"})).status, 429);
    }

    #[test]
    fn accounts_and_days_are_no_fault_of_the_request() {
        let check = |status: u16, body: Value| {
            assert!(matches!(kind(status, &body), ErrorKind::Unauthorized { .. }), "{body}");
            assert!(!Refusal::of(status, &body).may_teach(), "{body}");
        };
        check(400, json!({"error": {"message": "Your credit balance is too low to access the API."}}));
        check(400, json!({"error": {"message": "User location is not supported for the API use."}}));
        check(400, json!({"error": {"message": "Enable billing.", "status": "FAILED_PRECONDITION"}}));
        check(400, json!({"error": {"message": "x", "details": [{"reason": "API_KEY_INVALID"}]}}));
        check(429, json!({"error": {"details": {"error_code": "enforced_spend_limit_reached"}}}));
        let quota = |id: &str| json!({"error": {"details": [{"violations": [{"quotaId": id}]}]}});
        check(429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"));
        assert!(matches!(kind(429, &quota("GenerateRequestsPerMinute")), ErrorKind::RateLimited { .. }));
    }

    #[test]
    fn filters_are_known_by_inner_code_and_by_reasons() {
        let inner = json!({"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}});
        let body = json!({"error": {"message": "a", "code": null, "innererror": inner}});
        assert_eq!(kind(400, &body), ErrorKind::ContentFilter { message: "a".to_owned() });
        let body = json!({"error": {"message": "a", "code": 403, "metadata": {"reasons": ["violence"]}}});
        assert_eq!(kind(403, &body), ErrorKind::ContentFilter { message: "a".to_owned() });
    }

    #[test]
    fn what_may_teach_is_about_the_request() {
        let check = |status: u16, message: &str, expected: bool| {
            assert_eq!(
                Refusal::of(status, &json!({"error": {"message": message}})).may_teach(),
                expected,
                "{message}"
            );
        };
        check(400, "anything", true);
        check(422, "anything", true);
        check(404, "No endpoints found that support tool use.", true);
        check(404, "no such model", false);
        check(500, "Unsupported param: tools", true);
        check(500, "tools param requires --jinja flag", true);
        check(500, "out of memory", false);
        check(400, "maximum context length", false);
    }

    #[test]
    fn fields_beside_the_message_are_passed_on() {
        let error = json!({"message": "x", "type": "t", "code": 7, "param": "see https://a.test/x"});
        let secrets = Secrets { key: None, host: "", request: None };
        let upstream = Refusal::of(418, &json!({ "error": error })).upstream(secrets);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            upstream,
            Upstream { status: 418, r#type: text("t"), code: text("7"), param: text("see [url]") }
        );
        let bare = Refusal::read(502, b"<html>").upstream(secrets);
        assert_eq!(bare, Upstream { status: 502, r#type: None, code: None, param: None });
    }
}
