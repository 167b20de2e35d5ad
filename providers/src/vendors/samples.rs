//! Requests that the tests of several vendors encode.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::chat::{CallerBody, ChatRequest, Forwarding, Message, ResponseSchema, Role};

pub(crate) fn asking_for_everything() -> ChatRequest {
    ChatRequest {
        max_tokens: Some(60),
        temperature: Some(0.0),
        top_p: Some(0.5),
        seed: Some(7),
        stop: vec!["\n".to_owned()],
        top_logprobs: Some(50),
        response_schema: Some(Arc::new(ResponseSchema {
            name: "verdict".to_owned(),
            schema: json!({"type": "string", "maxLength": 9}),
        })),
        choices: Some(["A".to_owned(), "tie".to_owned()].into()),
        ..ChatRequest::new([
            Message { role: Role::System, content: "Be brief.".to_owned() },
            Message { role: Role::User, content: "Rate 1-5.".to_owned() },
        ])
    }
}

/// A caller's body that is adapted to whoever is asked.
pub(crate) fn caller(body: Value) -> CallerBody {
    let Value::Object(fields) = body else { panic!("{body} is no object") };
    CallerBody::new(fields, Forwarding::Adapted)
}

/// A function that takes a verdict.
pub(crate) fn verdict_tool() -> Value {
    let parameters = json!({"type": "object", "properties": {"score": {"type": "integer", "maximum": 5}}});
    json!({"type": "function", "function": {"name": "verdict", "description": "Takes it.", "parameters": parameters}})
}

/// An image, a broken tool call and what came of it, and the wish for another call.
pub(crate) fn asking_again_with_tools() -> CallerBody {
    let call = |name: &str, arguments: &str| json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
    caller(json!({
        "model": "panel/p",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Rate it."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "image_url", "image_url": {"url": "https://x.test/a.webp?b=1"}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [call("verdict", "{\"score\": 9}")]},
            {"role": "tool", "tool_call_id": "c1", "content": "at most 5"},
        ],
        "tools": [verdict_tool()],
        "tool_choice": {"type": "function", "function": {"name": "verdict"}},
        "parallel_tool_calls": false,
        "frequency_penalty": 0.5,
        "presence_penalty": -1,
        "reasoning_effort": "low",
        "max_tokens": 7, "temperature": 1, "stream": true, "n": 3, "user": "u", "metadata": {}, "store": true,
        "my_field": 1,
    }))
}
