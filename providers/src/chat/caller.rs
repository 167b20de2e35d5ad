//! What a caller of an OpenAI-compatible endpoint sent, to be asked with in place of our own messages.

use bytes::Bytes;
use serde_json::{Map, Value};

/// A caller's own body, taken apart once and shared by all judges that are asked with it.
///
/// [`ChatRequest`](super::ChatRequest)'s own `max_tokens`, `temperature`, `top_p`, `seed`, `stop` and `top_logprobs` hold
/// for an adapted body; the fields of those names in `other` are not looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerBody {
    /// As sent: roles, parts, images, tool turns.
    pub messages: Vec<Value>,
    /// The list of tools as sent, in the form of chat completions.
    pub tools: Option<Value>,
    pub tool_choice: Option<Value>,
    /// As sent, in the form of chat completions.
    pub response_format: Option<Value>,
    /// Every further field, unknown ones too.
    pub other: Map<String, Value>,
    pub forwarding: Forwarding,
}

/// How much of a caller's body a judge is asked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forwarding {
    /// As far as the judge takes it; what it is known to refuse and what no dialect knows is left out.
    Adapted,
    /// As it stands, on servers that speak OpenAI's format: every field, in its order, and only the model replaced.
    /// Others are asked as with [`Adapted`](Self::Adapted).
    Verbatim {
        route: Route,
        /// The JSON object that the caller sent.
        body: Bytes,
    },
}

/// The route of OpenAI's API that a body is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    ChatCompletions,
    /// Only on servers that speak OpenAI's format.
    Embeddings,
}

/// One call of a function that the model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// `None`: the server gave none.
    pub id: Option<String>,
    pub name: String,
    /// JSON by agreement, kept as it came: it may be broken, cut or empty.
    pub arguments: String,
}

impl CallerBody {
    /// Takes a parsed body apart. Without a list of messages there are none.
    pub fn new(mut body: Map<String, Value>, forwarding: Forwarding) -> Self {
        // Why: the order of what is left stays, which `remove` would not keep.
        let mut take = |name: &str| body.shift_remove(name).filter(|value| !value.is_null());
        let messages = match take("messages") {
            Some(Value::Array(messages)) => messages,
            Some(_) | None => Vec::new(),
        };
        let (tools, tool_choice, response_format) =
            (take("tools"), take("tool_choice"), take("response_format"));
        Self { messages, tools, tool_choice, response_format, other: body, forwarding }
    }

    /// The route that the body is for.
    pub fn route(&self) -> Route {
        match self.forwarding {
            Forwarding::Adapted => Route::ChatCompletions,
            Forwarding::Verbatim { route, .. } => route,
        }
    }

    /// Whether a text stands in a message.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.messages.iter().any(|message| holds(message, text))
    }
}

fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(list) => list.iter().any(|value| holds(value, text)),
        Value::Object(fields) => fields.values().any(|value| holds(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn body_is_taken_apart_and_the_rest_keeps_its_order() {
        let body = json!({
            "b": 1, "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}], "tools": null,
            "a": {"x": null}, "tool_choice": "auto", "response_format": {"type": "text"}, "c": 3,
        });
        let Value::Object(fields) = body else { panic!("an object") };
        let body = CallerBody::new(fields, Forwarding::Adapted);
        assert_eq!((body.messages.len(), body.tools.as_ref()), (1, None));
        assert_eq!((body.tool_choice.as_ref(), body.route()), (Some(&json!("auto")), Route::ChatCompletions));
        assert_eq!(Value::Object(body.other.clone()).to_string(), r#"{"b":1,"a":{"x":null},"c":3}"#);
        assert!(body.says("hell") && !body.says("verdict"));
    }

    #[test]
    fn odd_messages_are_none() {
        let Value::Object(fields) = json!({"messages": "hi", "input": "x"}) else { panic!("an object") };
        let forwarding = Forwarding::Verbatim { route: Route::Embeddings, body: Bytes::new() };
        let body = CallerBody::new(fields, forwarding);
        assert!(body.messages.is_empty() && body.other.contains_key("input"));
        assert_eq!(body.route(), Route::Embeddings);
    }
}
