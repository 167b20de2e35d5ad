//! Answers as streams, in the framing that strict clients wait for.

use serde_json::{Value, json};

use super::{CHAT, asking, saying, served};
use crate::support::gateway::{Answer, Gateway};
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

/// The data of each event; `[DONE]` as a text.
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{}", answer.text);
    let blocks = answer.text.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    blocks
        .map(|block| {
            let data = block.lines().find_map(|line| line.strip_prefix("data: ")).expect(block);
            serde_json::from_str(data).unwrap_or_else(|_| json!(data))
        })
        .collect()
}

#[tokio::test]
async fn ff_drop_001_a_stream_ends_with_its_reason_its_usage_and_done() {
    let served = saying("yes", "no", "yes").await;
    let body = asking(json!({"stream": true, "stream_options": {"include_usage": true}}));
    let answer = served.post(CHAT, &body).await;
    assert!(answer.header("x-tribunal-verdict-id").is_some());
    let events = events(&answer);
    let [.., finish, usage, done] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(
        (&finish["choices"][0]["finish_reason"], &finish["choices"][0]["delta"]),
        (&json!("stop"), &json!({}))
    );
    assert_eq!((&usage["choices"], usage["usage"]["total_tokens"].is_u64()), (&json!([]), true));
    assert_eq!(done, "[DONE]");
    let text: String = events.iter().filter_map(|e| e["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "yes");
    assert!(events[..events.len() - 1].iter().all(|e| e["object"] == "chat.completion.chunk"));
}

#[tokio::test]
async fn an_early_failure_of_a_stream_keeps_its_status() {
    let served = saying("", "", "").await;
    let answer = served.post(CHAT, &asking(json!({"stream": true}))).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (503, Some("application/json")),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn the_responses_api_streams_its_events_by_name() {
    let served = saying("yes", "no", "yes").await;
    let answer = served
        .post("/v1/responses", &json!({"model": "default", "input": "Yes or no?", "stream": true}))
        .await;
    assert!(answer.text.starts_with("event: response.created\n"), "{}", answer.text);
    let events = events(&answer);
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["status"]),
        (&json!("response.completed"), &json!("completed"))
    );
    let text: String = events
        .iter()
        .filter(|event| event["type"] == "response.output_text.delta")
        .filter_map(|event| event["delta"].as_str())
        .collect();
    assert_eq!(text, "yes");
}

/// A panel whose judges take longer than headers are held.
async fn late(judges: Judges) -> Answer {
    let served = Gateway::scripted(&with(panel(NOWHERE), json!({})), judges).await.serve().await;
    served.post(CHAT, &asking(json!({"stream": true}))).await
}

#[tokio::test]
async fn a_late_answer_comes_after_its_headers_and_a_late_failure_is_a_frame() {
    let slow = |text: &str| {
        let reply = providers::ScriptedReply::text(text);
        vec![providers::ScriptedReply::Delay(std::time::Duration::from_millis(5_500), Box::new(reply))]
    };
    let of = |text: &str| {
        Judges::default().in_order("ann", slow(text)).in_order("bob", slow(text)).in_order("cid", slow(text))
    };
    let (answered, failed) = tokio::join!(late(of("yes")), late(of("")));
    let answered = events(&answered);
    assert_eq!(answered.last().unwrap(), "[DONE]");
    assert!(answered.iter().any(|event| event["choices"][0]["delta"]["content"] == "yes"));
    assert_eq!(failed.status, 200, "its headers were out");
    let failed = events(&failed);
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert_eq!((&failed[0]["error"]["code"], &failed[1]), (&json!("no_quorum"), &json!("[DONE]")));
}

#[tokio::test]
async fn a_stream_of_a_tool_call_is_one_call() {
    let served =
        served(json!({}), Judges::saying("{\"choice\":\"A\"}", "{\"choice\":\"A\"}", "{\"choice\":\"B\"}"))
            .await;
    let parameters =
        json!({"type": "object", "required": ["choice"], "properties": {"choice": {"enum": ["A", "B"]}}});
    let body = asking(json!({
        "stream": true, "tool_choice": "required",
        "tools": [{"type": "function", "function": {"name": "pick", "parameters": parameters}}],
    }));
    let events = events(&served.post(CHAT, &body).await);
    let calls: Vec<&Value> =
        events.iter().filter_map(|event| event["choices"][0]["delta"].get("tool_calls")).collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0][0]["function"], json!({"name": "pick", "arguments": "{\"choice\":\"A\"}"}));
    let finish = events.iter().rev().find(|event| event["choices"][0]["finish_reason"].is_string()).unwrap();
    assert_eq!(finish["choices"][0]["finish_reason"], "tool_calls");
}
