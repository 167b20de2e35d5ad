//! What a key may ask, and how confidential what it sends is.

use gateway::access::AccessKey;
use gateway::case::Sensitivity;
use serde_json::{Value, json};

use super::{CHAT, Owned, add, case, get, post, question, served, usual};
use crate::support::gateway::Served;
use crate::support::judges::Judges;
use crate::support::panel::with;

/// A second panel, and an alias of a judge.
fn two_panels() -> Value {
    json!({
        "panels": {"second": {"judges": ["ann", "bob", "cid"], "rubric": "quality"}},
        "aliases": {"one": "judge/cid", "two": "panel/second", "*": "panel/default"},
    })
}

async fn only(served: &Served, names: &[&str]) -> Owned {
    let may_ask = names.iter().map(|name| (*name).to_owned()).collect();
    add(served, |key| AccessKey { may_ask, ..key }).await
}

fn names(list: &Value, field: &str, name: &str) -> Vec<String> {
    let list = list[field].as_array().expect("a list");
    list.iter().filter_map(|entry| entry[name].as_str()).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_key_asks_its_panels_and_sees_no_others() {
    let served = served(two_panels(), Judges::saying("2", "4", "5")).await;
    let key = only(&served, &["second"]).await;
    for name in ["second", "panel/second", "two"] {
        assert_eq!(post(&served, CHAT, &key, &question(name)).await.status, 200, "{name}");
    }
    let asked = served.gateway.asked().count();
    for name in ["default", "panel/default", "judge/cid", "one", "anything"] {
        let refused = post(&served, CHAT, &key, &question(name)).await;
        assert_eq!((refused.status, &refused.json()["error"]["type"]), (403, &json!("permission_error")));
        assert!(refused.text.contains("it may ask: second"), "{}", refused.text);
    }
    let embedding = post(&served, "/v1/embeddings", &key, &json!({"model": "one", "input": "x"})).await;
    assert_eq!(embedding.status, 403);
    for path in ["/v1/verdicts", "/v1/runs"] {
        let body = match path {
            "/v1/runs" => json!({"panel": "default", "cases": [case()["case"]]}),
            _ => with(case(), json!({"panel": "default"})),
        };
        let refused = post(&served, path, &key, &body).await;
        assert_eq!((refused.status, &refused.json()["type"]), (403, &json!("tribunal:forbidden")), "{path}");
    }
    assert_eq!(served.gateway.asked().count(), asked, "nothing was asked");
    let models = get(&served, "/v1/models", &key).await.json();
    assert_eq!(names(&models, "data", "id"), ["two", "second", "panel/second"]);
    let panels = get(&served, "/v1/panels", &key).await.json();
    assert_eq!(
        (names(&panels, "panels", "name"), &panels["aliases"]),
        (vec!["second".into()], &json!({"two": "panel/second"}))
    );
}

#[tokio::test]
async fn a_key_of_one_panel_need_not_name_it() {
    let served = served(two_panels(), Judges::saying("2", "4", "5")).await;
    let key = only(&served, &["second"]).await;
    let verdict = post(&served, "/v1/verdicts", &key, &case()).await;
    assert_eq!((verdict.status, &verdict.json()["panel"]), (200, &json!("second")), "{}", verdict.text);
    let unnamed = with(question("x"), json!({"model": null}));
    let answer = post(&served, CHAT, &key, &unnamed).await;
    assert_eq!(
        (answer.status, &answer.json()["tribunal"]["panel"]),
        (200, &json!("second")),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_key_may_be_for_one_judge() {
    let served = served(two_panels(), Judges::saying("2", "4", "5")).await;
    let key = only(&served, &["judge/cid"]).await;
    assert_eq!(post(&served, CHAT, &key, &question("one")).await.status, 200);
    assert_eq!(post(&served, CHAT, &key, &question("judge/ann")).await.status, 403);
    assert_eq!(post(&served, CHAT, &key, &question("default")).await.status, 403);
    let decision = json!({"model": "default", "input": "x", "questions": [{"type": "predicate", "instructions": "It is so."}]});
    assert_eq!(post(&served, "/v1/decisions", &key, &decision).await.status, 403);
    assert_eq!(served.post("/v1/decisions", &decision).await.json()["error"]["code"], "invalid_api_key");
    assert_eq!(served.gateway.asked().names(), ["cid"]);
}

/// Everything that a confidential key sends stays inside, on every route.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_confidential_key_sends_is_confidential() {
    let change = json!({"servers": {"s-cid": {"perimeter": "outside"}}});
    let served = served(change, Judges::saying("2", "4", "5")).await;
    let key = add(&served, |key| AccessKey { sensitivity: Sensitivity::Confidential, ..key }).await;
    let open = add(&served, |key| key).await;
    let body = with(case(), json!({"case": {"sensitivity": "public"}, "cache": false}));
    let verdict = post(&served, "/v1/verdicts", &key, &body).await.json();
    assert_eq!(verdict["criteria"]["quality"]["abstentions"][0]["judge"], "cid", "{verdict:#}");
    assert_eq!(post(&served, CHAT, &key, &question("default")).await.status, 200);
    let native =
        with(question("default"), json!({"tribunal": {"case": {"id": "q9", "input": "x", "output": "y"}}}));
    assert_eq!(post(&served, CHAT, &key, &native).await.status, 200);
    for path in [CHAT, "/v1/embeddings", "/v1/responses"] {
        let body = with(question("judge/cid"), json!({"input": "x"}));
        let refused = post(&served, path, &key, &body).await;
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("perimeter")), "{path}");
    }
    let decision = json!({"model": "default", "input": "x", "questions": [{"type": "predicate", "instructions": "It is so."}]});
    assert_eq!(
        post(&served, "/v1/decisions", &key, &decision).await.status,
        503,
        "the two inside gave no decision"
    );
    let cases = json!({"cases": [{"id": "r1", "input": "x", "output": "y", "sensitivity": "public"}]});
    let begun = post(&served, "/v1/runs", &key, &cases).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    let events = format!("/v1/runs/{}/events", begun.json()["id"].as_str().unwrap());
    assert!(get(&served, &events, &key).await.text.contains("finished"));
    assert!(!served.gateway.asked().names().contains(&String::from("cid")), "the outside judge saw nothing");
    post(&served, CHAT, &open, &question("default")).await;
    assert!(
        served.gateway.asked().names().contains(&String::from("cid")),
        "and an open key's request reaches it"
    );
}

#[tokio::test]
async fn without_keys_nothing_is_narrower() {
    let served = usual().await;
    let ids = names(&served.get("/v1/models").await.json(), "data", "id");
    assert!(ids.contains(&String::from("judge/ann")), "{ids:?}");
}
