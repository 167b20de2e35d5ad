//! What a caller sent, in one form whichever route it came by. Knows no panel and no judge.

use std::collections::BTreeMap;
use std::sync::Arc;

use providers::chat::{CallerBody, ChatRequest};
use serde_json::{Map, Value, json};

use crate::case::Sensitivity;

/// Most choices of one answer, as OpenAI has it.
const MOST_CHOICES: u64 = 128;

/// Most alternatives of a token, as OpenAI has it.
const MOST_ALTERNATIVES: u8 = 20;

/// A request to the drop-in endpoint, in the form of chat completions.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerRequest {
    /// The name that was asked for; `None`: none was.
    pub model: Option<String>,
    /// Every field that is not Tribunal's own, in its order.
    pub body: Map<String, Value>,
    pub sampling: Sampling,
    /// How many choices the answer has.
    pub choices: u32,
    pub stream: Option<Streaming>,
    /// A case to be judged by the panel's own prompt.
    pub native_case: Option<Value>,
    pub sensitivity: Option<Sensitivity>,
    /// Settings that the answer repeats, in the names of its route.
    pub repeated: Map<String, Value>,
}

/// What a caller wants of the generation; all of it adapted to each judge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampling {
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub seed: Option<u64>,
    pub stop: Vec<String>,
    pub wants_logprobs: bool,
    /// Alternatives of each token.
    pub top_logprobs: Option<u8>,
}

impl Sampling {
    /// A call with a caller's body, generated as the caller wants it.
    pub fn asked_with(&self, body: impl Into<Arc<CallerBody>>) -> ChatRequest {
        ChatRequest {
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            top_p: self.top_p,
            seed: self.seed,
            stop: self.stop.clone(),
            top_logprobs: self.wants_logprobs.then(|| self.top_logprobs.unwrap_or_default()),
            ..ChatRequest::from_caller(body)
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streaming {
    /// A last chunk says what the answer took.
    pub includes_usage: bool,
}

/// Why a request cannot be answered as it is; said to its caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadRequest {
    pub message: String,
    /// The field that is meant.
    pub param: Option<&'static str>,
}

impl BadRequest {
    pub(super) fn of(param: &'static str, message: impl Into<String>) -> Self {
        Self { message: message.into(), param: Some(param) }
    }
}

impl CallerRequest {
    /// The body of a chat completion. Fields that are not known are kept.
    pub fn of_chat(body: Value) -> Result<Self, BadRequest> {
        let Value::Object(mut body) = body else {
            return Err(BadRequest { message: String::from("the body is no JSON object"), param: None });
        };
        let native_case = native_case(&mut body)?;
        let has_messages =
            body.get("messages").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        if !has_messages && native_case.is_none() {
            let hint = "`messages` is no list with at least one message";
            return Err(BadRequest::of("messages", hint));
        }
        let sampling = Sampling {
            max_tokens: tokens(&body, "max_completion_tokens")?.or(tokens(&body, "max_tokens")?),
            temperature: number(&body, "temperature")?,
            top_p: number(&body, "top_p")?,
            seed: body.get("seed").and_then(seed),
            stop: stop(&body)?,
            wants_logprobs: flag(&body, "logprobs")?,
            top_logprobs: alternatives(&body)?,
        };
        let stream = flag(&body, "stream")?.then(|| Streaming {
            includes_usage: body
                .get("stream_options")
                .and_then(|options| options.get("include_usage"))
                .is_some_and(|wanted| wanted == true),
        });
        Ok(Self {
            model: model(&body)?,
            choices: choices(&body)?,
            sampling,
            stream,
            native_case,
            sensitivity: wished_sensitivity(&body)?,
            repeated: Map::new(),
            body,
        })
    }
}

/// `tribunal: {"case": …}`; the field never goes to a judge.
fn native_case(body: &mut Map<String, Value>) -> Result<Option<Value>, BadRequest> {
    let Some(own) = body.shift_remove("tribunal") else { return Ok(None) };
    match own {
        Value::Null => Ok(None),
        Value::Object(mut fields) => match (fields.shift_remove("case"), fields.keys().next()) {
            (Some(case), None) => Ok(Some(case)),
            (_, Some(unknown)) => {
                let text = format!("`tribunal` has no field `{unknown}`; hint: `tribunal: {{\"case\": …}}`");
                Err(BadRequest::of("tribunal", text))
            }
            (None, None) => Ok(None),
        },
        _ => Err(BadRequest::of("tribunal", "`tribunal` is no object; hint: `tribunal: {\"case\": …}`")),
    }
}

fn model(body: &Map<String, Value>) -> Result<Option<String>, BadRequest> {
    match body.get("model") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(BadRequest::of("model", "`model` is no text")),
    }
}

fn flag(body: &Map<String, Value>, name: &'static str) -> Result<bool, BadRequest> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(BadRequest::of(name, format!("`{name}` is neither true nor false"))),
    }
}

fn number(body: &Map<String, Value>, name: &'static str) -> Result<Option<f64>, BadRequest> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) => Ok(Some(number)),
            None => Err(BadRequest::of(name, format!("`{name}` is no number"))),
        },
    }
}

/// A cap on tokens: at least one.
pub(super) fn tokens(body: &Map<String, Value>, name: &'static str) -> Result<Option<u32>, BadRequest> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().filter(|cap| *cap > 0) {
            Some(cap) => Ok(Some(u32::try_from(cap).unwrap_or(u32::MAX))),
            None => Err(BadRequest::of(name, format!("`{name}` is no count of tokens, at least 1"))),
        },
    }
}

/// Seeds may be negative on the wire; judges are sent the same bits.
fn seed(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_i64().map(i64::cast_unsigned))
}

fn stop(body: &Map<String, Value>) -> Result<Vec<String>, BadRequest> {
    let bad = || BadRequest::of("stop", "`stop` is neither a text nor a list of texts");
    match body.get("stop") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(stop)) => Ok(vec![stop.clone()]),
        Some(Value::Array(list)) => {
            list.iter().map(|stop| stop.as_str().map(str::to_owned).ok_or_else(bad)).collect()
        }
        Some(_) => Err(bad()),
    }
}

fn alternatives(body: &Map<String, Value>) -> Result<Option<u8>, BadRequest> {
    match body.get("top_logprobs") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let count = value.as_u64().and_then(|count| u8::try_from(count).ok());
            let count = count.filter(|count| *count <= MOST_ALTERNATIVES).ok_or_else(|| {
                let text = format!("`top_logprobs` is no count from 0 to {MOST_ALTERNATIVES}");
                BadRequest::of("top_logprobs", text)
            })?;
            Ok(Some(count))
        }
    }
}

fn choices(body: &Map<String, Value>) -> Result<u32, BadRequest> {
    match body.get("n") {
        None | Some(Value::Null) => Ok(1),
        Some(value) => match value.as_u64().filter(|count| (1..=MOST_CHOICES).contains(count)) {
            Some(count) => Ok(u32::try_from(count).unwrap_or(1)),
            None => Err(BadRequest::of("n", format!("`n` is no count from 1 to {MOST_CHOICES}"))),
        },
    }
}

/// `metadata.sensitivity`.
pub fn wished_sensitivity(body: &Map<String, Value>) -> Result<Option<Sensitivity>, BadRequest> {
    let wished = body.get("metadata").and_then(|metadata| metadata.get("sensitivity"));
    match wished {
        None | Some(Value::Null) => Ok(None),
        Some(name) => serde_json::from_value(name.clone()).map(Some).map_err(|_| {
            let text = "`metadata.sensitivity` is none of public, internal, confidential";
            BadRequest::of("metadata", text)
        }),
    }
}

/// What the caller says of its request and no judge sees: each field of `metadata`, `tags` and `user`. People find the
/// case by it.
pub fn labels(body: &Map<String, Value>) -> BTreeMap<String, Value> {
    let metadata = body.get("metadata").and_then(Value::as_object).into_iter().flatten();
    let named = metadata.filter(|(name, _)| *name != "sensitivity");
    let own = ["tags", "user"].into_iter().filter_map(|name| body.get_key_value(name));
    named.chain(own).filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// What a panel's judges are asked with: the caller's fields, less those that are the gateway's to answer.
pub fn for_judges(body: &Map<String, Value>) -> Map<String, Value> {
    const OWN: [&str; 8] =
        ["model", "n", "stream", "stream_options", "metadata", "tags", "user", "guardrails"];
    let kept = body.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The messages as one text, role by role: what people see of the request.
pub fn transcript(messages: &[Value]) -> String {
    let text = |message: &Value| {
        let role = message.get("role").and_then(Value::as_str).unwrap_or("user");
        let said = match message.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts.iter().map(part_text).collect::<Vec<_>>().join("\n"),
            Some(_) | None => String::new(),
        };
        match message.get("tool_calls").filter(|calls| !calls.is_null()) {
            Some(calls) => format!("{role}: {said}{calls}"),
            None => format!("{role}: {said}"),
        }
    };
    messages.iter().map(text).collect::<Vec<_>>().join("\n\n")
}

/// One part of a message as people read it; of an image only that it is there.
pub(super) fn part_text(part: &Value) -> String {
    let text = part.get("text").or_else(|| part.get("refusal"));
    match (text.and_then(Value::as_str), part.get("type").and_then(Value::as_str)) {
        (Some(text), _) => text.to_owned(),
        (None, Some(kind)) => format!("[{kind}]"),
        (None, None) => json!(part).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(body: Value) -> Result<CallerRequest, BadRequest> {
        CallerRequest::of_chat(body)
    }

    fn asked(more: Value) -> Value {
        let mut body = json!({"model": "panel", "messages": [{"role": "user", "content": "Yes or no?"}]});
        if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
            body.extend(more);
        }
        body
    }

    #[test]
    fn labels_are_what_no_judge_sees() {
        let body = asked(json!({
            "metadata": {"sensitivity": "internal", "suite": "nightly", "none": null}, "tags": ["pr-7"], "user": "ci",
        }));
        let expected = [("suite", json!("nightly")), ("tags", json!(["pr-7"])), ("user", json!("ci"))];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        let body = body.as_object().expect("an object");
        assert_eq!(labels(body), BTreeMap::from(expected));
        let sent = for_judges(body);
        assert!(!["metadata", "tags", "user"].iter().any(|name| sent.contains_key(*name)));
        assert_eq!(labels(&Map::new()), BTreeMap::new());
    }

    #[test]
    fn fields_are_read_and_unknown_ones_kept() {
        let request = chat(asked(json!({
            "max_tokens": 5, "temperature": 0, "stop": "\n", "logprobs": true, "top_logprobs": 2, "n": 3, "seed": -1,
            "stream": true, "stream_options": {"include_usage": true}, "x_own": {"a": 1},
            "metadata": {"sensitivity": "confidential"}, "tribunal": {"case": {"output": "x"}},
        })))
        .unwrap();
        assert_eq!((request.model.as_deref(), request.choices), (Some("panel"), 3));
        assert_eq!(request.stream, Some(Streaming { includes_usage: true }));
        assert_eq!(request.sensitivity, Some(Sensitivity::Confidential));
        assert_eq!(request.native_case, Some(json!({"output": "x"})));
        assert_eq!(
            request.sampling,
            Sampling {
                max_tokens: Some(5),
                temperature: Some(0.0),
                top_p: None,
                seed: Some(u64::MAX),
                stop: vec![String::from("\n")],
                wants_logprobs: true,
                top_logprobs: Some(2),
            }
        );
        assert!(request.body.contains_key("x_own") && !request.body.contains_key("tribunal"));
        let sent = for_judges(&request.body);
        assert!(sent.contains_key("x_own") && !sent.contains_key("metadata") && !sent.contains_key("n"));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let check = |body: Value, param: &str| {
            assert_eq!(chat(body).unwrap_err().param, Some(param));
        };
        check(json!({"model": "panel"}), "messages");
        check(json!({"messages": []}), "messages");
        check(asked(json!({"model": 5})), "model");
        check(asked(json!({"n": 0})), "n");
        check(asked(json!({"stream": "yes"})), "stream");
        check(asked(json!({"stop": [1]})), "stop");
        check(asked(json!({"max_tokens": 0})), "max_tokens");
        check(asked(json!({"top_logprobs": 21})), "top_logprobs");
        check(asked(json!({"temperature": "hot"})), "temperature");
        check(asked(json!({"metadata": {"sensitivity": "secret"}})), "metadata");
        check(asked(json!({"tribunal": {"cas": 1}})), "tribunal");
        assert_eq!(chat(json!([])).unwrap_err().to_string(), "the body is no JSON object");
    }

    #[test]
    fn a_transcript_holds_every_text() {
        let messages = [
            json!({"role": "system", "content": "Judge."}),
            json!({"role": "user", "content": [{"type": "text", "text": "This?"}, {"type": "image_url", "image_url": {}}]}),
        ];
        assert_eq!(transcript(&messages), "system: Judge.\n\nuser: This?\n[image_url]");
    }
}
