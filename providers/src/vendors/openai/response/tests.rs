use serde_json::json;

use super::*;

fn read(body: &Value) -> ChatResponse {
    decode(body.to_string().as_bytes(), 200).unwrap()
}

fn message(message: &Value) -> ChatResponse {
    read(&json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
}

#[test]
fn text_is_a_string_or_parts_or_empty() {
    let check = |content: Value, expected: &str| {
        assert_eq!(message(&json!({ "content": content })).text, expected, "{content}");
    };
    check(json!("4 \u{e9} \"q\""), "4 \u{e9} \"q\"");
    check(json!(null), "");
    check(json!([{"type": "text", "text": "a"}, {"type": "thinking"}, {"type": "text", "text": "b"}]), "ab");
    check(json!(4), "");
    assert_eq!(read(&json!({"choices": [{}]})).text, "");
}

#[test]
fn reasoning_and_refusal_are_kept_apart() {
    let response = message(&json!({"content": "4", "reasoning": "because", "refusal": null}));
    assert_eq!((response.reasoning.as_deref(), response.refusal), (Some("because"), None));
    let response = message(&json!({"content": null, "reasoning_content": "hm", "refusal": "no"}));
    assert_eq!((response.reasoning.as_deref(), response.refusal.as_deref()), (Some("hm"), Some("no")));
    assert_eq!(message(&json!({"content": "4", "reasoning": ""})).reasoning, None);
}

#[test]
fn finish_reasons_are_closed() {
    for (reason, expected) in [
        (Some("stop"), FinishReason::Stop),
        (Some("length"), FinishReason::Length),
        (Some("content_filter"), FinishReason::ContentFilter),
        (Some("tool_calls"), FinishReason::ToolCalls),
        (Some("function_call"), FinishReason::ToolCalls),
        (Some("abort"), FinishReason::Other),
        (None, FinishReason::Other),
    ] {
        assert_eq!(finish(reason), expected, "{reason:?}");
    }
}

fn places(logprobs: &Value) -> Option<Vec<TokenLogprobs>> {
    read(&json!({"choices": [{"message": {"content": "x"}, "logprobs": logprobs}]})).logprobs
}

#[test]
fn impossible_tokens_have_minus_infinity() {
    let logprob = |wire: Value| {
        let list = json!({"content": [{"token": "a", "logprob": wire}]});
        places(&list).unwrap()[0].token.logprob
    };
    assert!(logprob(json!(-0.5)) > -1.0);
    assert!(logprob(json!(-9998.0)).is_finite());
    for wire in [json!(null), json!(-9999.0), json!(-1e30)] {
        assert!(logprob(wire.clone()).is_infinite(), "{wire}");
    }
}

#[test]
fn token_bytes_fall_back_to_its_text() {
    let list = json!({"content": [{
        "token": "\u{fffd}", "bytes": [240, 159], "logprob": -1.0,
        "top_logprobs": [{"token": "é", "bytes": null, "logprob": -2.0}, {"token": "b", "logprob": -3.0}],
    }]});
    let place = &places(&list).unwrap()[0];
    assert_eq!(place.token.bytes, [240, 159]);
    assert_eq!(place.top[0].bytes, "é".as_bytes());
    assert_eq!(place.top[1].bytes, b"b");
}

#[test]
fn odd_logprobs_do_not_cost_the_text() {
    for odd in [
        json!(null),
        json!([]),
        json!({"content": null}),
        json!({"content": []}),
        json!({"tokens": ["a"]}),
        json!({"content": [{"logprob": 1}]}),
        json!({"content": [{"token": "a", "bytes": [300]}]}),
    ] {
        assert_eq!(places(&odd), None, "{odd}");
    }
}

#[test]
fn odd_usage_is_unknown_not_zero() {
    let usage = |wire: Value| read(&json!({"choices": [{}], "usage": wire})).usage;
    for odd in [json!(null), json!({}), json!({"prompt_tokens": "many"}), json!(3)] {
        assert_eq!(usage(odd.clone()), None, "{odd}");
    }
    let known = usage(json!({
        "prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": null,
    }));
    let expected = Usage { prompt_tokens: 9, completion_tokens: 5, cached_tokens: 4, ..Usage::default() };
    assert_eq!(known, Some(expected));
    assert_eq!(expected.total_tokens(), 14);
}

#[test]
fn body_without_an_answer_says_why() {
    let check = |body: &str, expected: &str| match decode(body.as_bytes(), 200) {
        Err(Unusable::Empty { kind, .. }) => assert_eq!(kind.to_string(), expected, "{body}"),
        other => panic!("{body}: {other:?}"),
    };
    check("", "unreadable answer: empty body");
    check(" \n", "unreadable answer: empty body");
    check("<html></html>", "unreadable answer: HTML instead of JSON");
    check("{\"choices\": [", "connection failed: answer stops in the middle");
    check("{\"choices\": [{\"logprobs\": NaN, ", "connection failed: answer stops in the middle");
    check("{\"choices\": 3}", "unreadable answer: no JSON of a chat completion");
    check("[1]", "unreadable answer: no JSON of a chat completion");
    check("{}", "unreadable answer: answer has no choices");
    check("{\"choices\": []}", "unreadable answer: answer has no choices");
    check("{\"choices\": NaN}", "unreadable answer: answer has no choices");
}

#[test]
fn error_inside_success_is_an_error() {
    let body = json!({"error": {"message": "upstream", "code": 502}, "choices": []});
    let expected =
        Refusal { status: 502, message: "upstream".to_owned(), code: "502".to_owned(), ..Refusal::default() };
    assert_eq!(decode(body.to_string().as_bytes(), 200), Err(Unusable::from(expected)));
}

#[test]
fn embeddings_are_read_for_what_they_cost() {
    let body = json!({
        "object": "list", "data": [{"embedding": [0.1], "index": 0}], "model": "e",
        "usage": {"prompt_tokens": 8, "total_tokens": 8},
    });
    let response = decode_embeddings(body.to_string().as_bytes(), 200).unwrap();
    let expected = Usage { prompt_tokens: 8, ..Usage::default() };
    assert_eq!((response.usage, response.model.as_deref()), (Some(expected), Some("e")));
    let check = |body: &str, expected: &str| {
        let error = decode_embeddings(body.as_bytes(), 200).unwrap_err().into_kind().to_string();
        assert_eq!(error, expected, "{body}");
    };
    check("{}", "unreadable answer: answer has no embeddings");
    check("", "unreadable answer: empty body");
    check("{\"error\": {\"message\": \"x\", \"code\": 503}}", "server failed with status 503: x");
}
