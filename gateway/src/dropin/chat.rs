//! An answer as a chat completion, whole or as the chunks of a stream.

use providers::chat::{TokenLogprobs, Usage};
use serde_json::{Map, Value, json};

use super::said::{Called, Envelope, Said, finish_reason, tokens, with};

/// The body of `POST /v1/chat/completions`.
pub fn completion(said: &Said, envelope: &Envelope) -> Value {
    let choice = |index: u32| {
        json!({
            "index": index,
            "message": message(said),
            "logprobs": said.logprobs.as_deref().map(|places| json!({"content": tokens(places), "refusal": null})),
            "finish_reason": finish_reason(said),
        })
    };
    let mut body = head(envelope, "chat.completion");
    body.insert("choices".to_owned(), (0..envelope.choices).map(choice).collect());
    body.insert("usage".to_owned(), usage(&envelope.usage));
    body.insert("tribunal".to_owned(), envelope.tribunal.clone());
    Value::Object(body)
}

/// The same as the chunks of a stream, each choice after the other; the last chunk holds the usage where it was asked for.
pub fn chunks(said: &Said, envelope: &Envelope, includes_usage: bool) -> Vec<Value> {
    let chunk = |choices: Value| {
        let mut chunk = head(envelope, "chat.completion.chunk");
        chunk.insert("choices".to_owned(), choices);
        if includes_usage {
            chunk.insert("usage".to_owned(), Value::Null);
        }
        Value::Object(chunk)
    };
    let mut chunks = Vec::new();
    for index in 0..envelope.choices {
        let choice = |delta: Value, logprobs: Value, finish: Value| {
            chunk(json!([{"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}]))
        };
        chunks.push(choice(
            json!({"role": "assistant", "content": "", "refusal": null}),
            Value::Null,
            Value::Null,
        ));
        for (delta, logprobs) in deltas(said) {
            chunks.push(choice(delta, logprobs, Value::Null));
        }
        chunks.push(choice(json!({}), Value::Null, Value::from(finish_reason(said))));
    }
    if let Some(last) = chunks.pop() {
        chunks.push(with(last, [("tribunal", envelope.tribunal.clone())]));
    }
    if includes_usage {
        let mut last = head(envelope, "chat.completion.chunk");
        last.insert("choices".to_owned(), json!([]));
        last.insert("usage".to_owned(), usage(&envelope.usage));
        chunks.push(Value::Object(last));
    }
    chunks
}

/// Prompt and completion tokens as chat completions name them.
pub fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}

fn head(envelope: &Envelope, object: &str) -> Map<String, Value> {
    let head = [
        ("id", Value::from(format!("chatcmpl-{}", envelope.id))),
        ("object", Value::from(object)),
        ("created", Value::from(envelope.created_s)),
        ("model", Value::from(envelope.model.as_str())),
        ("system_fingerprint", Value::Null),
    ];
    head.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn message(said: &Said) -> Value {
    let message = json!({"role": "assistant", "content": said.content, "refusal": said.refusal});
    let call = |call: &Called| {
        let function = json!({"name": call.name, "arguments": call.arguments});
        json!({"id": call.id, "type": "function", "function": function})
    };
    let calls: Vec<Value> = said.tool_calls.iter().map(call).collect();
    with(message, (!calls.is_empty()).then(|| ("tool_calls", Value::Array(calls))))
}

/// What is said, piece by piece, each with its tokens.
fn deltas(said: &Said) -> Vec<(Value, Value)> {
    if let Some(places) = &said.logprobs {
        let piece = |place: &TokenLogprobs| {
            let text = String::from_utf8_lossy(&place.token.bytes);
            let token = tokens(std::slice::from_ref(place));
            (json!({"content": text}), json!({"content": token, "refusal": null}))
        };
        return places.iter().map(piece).collect();
    }
    let mut deltas = Vec::new();
    if let Some(content) = &said.content {
        deltas.push((json!({"content": content}), Value::Null));
    }
    if let Some(refusal) = &said.refusal {
        deltas.push((json!({"refusal": refusal}), Value::Null));
    }
    for (index, call) in said.tool_calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": call.arguments});
        let call = json!({"index": index, "id": call.id, "type": "function", "function": function});
        deltas.push((json!({"tool_calls": [call]}), Value::Null));
    }
    deltas
}

#[cfg(test)]
mod tests {
    use super::super::said::samples::{called, envelope, weighed};
    use super::*;

    #[test]
    fn a_completion_has_every_field_that_clients_read() {
        let body = completion(&Said::text("yes"), &Envelope { choices: 2, ..envelope() });
        assert_eq!(
            body["choices"][1],
            json!({
                "index": 1, "message": {"role": "assistant", "content": "yes", "refusal": null},
                "logprobs": null, "finish_reason": "stop",
            })
        );
        assert_eq!(
            (&body["id"], &body["model"], &body["created"]),
            (&json!("chatcmpl-v1"), &json!("panel"), &json!(7))
        );
        assert_eq!(
            body["usage"],
            json!({
                "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 1}, "completion_tokens_details": {"reasoning_tokens": 0},
            })
        );
        assert_eq!(body["tribunal"], json!({"verdict_id": "v1"}));
    }

    #[test]
    fn tools_refusals_and_tokens_have_their_places() {
        let body = completion(&called(), &envelope());
        let choice = &body["choices"][0];
        assert_eq!(
            (&choice["message"]["content"], &choice["finish_reason"]),
            (&Value::Null, &json!("tool_calls"))
        );
        assert_eq!(
            choice["message"]["tool_calls"][0]["function"],
            json!({"name": "grade", "arguments": "{}"})
        );

        let body = completion(&Said::refusal("No."), &envelope());
        assert_eq!(
            body["choices"][0]["message"],
            json!({"role": "assistant", "content": null, "refusal": "No."})
        );

        let body = completion(&weighed(), &envelope());
        let tokens = &body["choices"][0]["logprobs"]["content"];
        assert_eq!(
            tokens[0]["top_logprobs"][1],
            json!({"token": "no", "logprob": -9999.0, "bytes": [110, 111]})
        );
        assert_eq!(tokens[1]["top_logprobs"], json!([]), "a list, never null");
    }

    #[test]
    fn a_stream_says_the_same_and_ends_as_strict_clients_wait_for() {
        for said in [Said::text("yes"), called(), Said::refusal("No."), weighed()] {
            let chunks = chunks(&said, &envelope(), true);
            let ends: Vec<&Value> =
                chunks.iter().map(|chunk| &chunk["choices"][0]["finish_reason"]).collect();
            let (usage, rest) = ends.split_last().unwrap();
            assert!(usage.is_null() && rest.last().unwrap().is_string(), "{chunks:#?}");
            assert_eq!(chunks[chunks.len() - 1]["choices"], json!([]));
            assert_eq!(chunks[chunks.len() - 1]["usage"]["total_tokens"], 7);
            let text: String =
                chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
            assert_eq!(text, said.content.unwrap_or_default());
        }
        assert!(
            chunks(&Said::text("x"), &envelope(), false).iter().all(|chunk| chunk.get("usage").is_none())
        );
    }
}
