//! What a server refuses is asked once, and then never again: not by the next command either.

use serde_json::json;

use super::cases;
use crate::support::binary::tribunal;
use crate::support::gateway::Gateway;
use crate::support::panel::{Folder, panel, with};
use crate::support::upstream::{Question, Reply, Upstream};

fn without_logprobs(question: &Question<'_>) -> Reply {
    if question.body.get("logprobs").is_some() {
        Reply::error(400, "logprobs is not supported by this model")
    } else {
        Reply::text("4")
    }
}

fn refused(upstream: &Upstream) -> usize {
    upstream.requests().iter().filter(|body| body.get("logprobs").is_some()).count()
}

fn scored_by_probability(upstream: &Upstream) -> serde_json::Value {
    let auto = json!({"scoring": "auto"});
    with(panel(upstream.base_url()), json!({"judges": {"ann": auto, "bob": auto, "cid": auto}}))
}

#[test]
fn what_a_probe_learns_the_next_command_knows() {
    let upstream = Upstream::start(without_logprobs);
    let folder = Folder::with_panel(&scored_by_probability(&upstream));
    folder.write("cases.jsonl", &cases(5));
    tribunal(&folder, &["check", "--probe"]).exits(0);
    assert_eq!(refused(&upstream), 3, "once a model");
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    assert_eq!(refused(&upstream), 3);
}

#[tokio::test]
async fn judges_show_what_was_learned() {
    let upstream = Upstream::start(without_logprobs);
    let served = Gateway::connected(&scored_by_probability(&upstream)).await.serve().await;
    let judge = async || served.get("/v1/judges").await.json()["judges"][0].clone();
    assert_eq!((&judge().await["refused"], &judge().await["model_replied"]), (&json!([]), &json!(null)));
    served.post("/v1/verdicts", &json!({"case": {"input": "Capital of France?", "output": "Paris."}})).await;
    let shown = judge().await;
    assert_eq!((&shown["refused"], &shown["model_replied"]), (&json!(["logprobs"]), &json!("mock-1")));
}
