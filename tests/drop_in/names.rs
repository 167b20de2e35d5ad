//! Which name leads where, and the lists of names.

use serde_json::{Value, json};

use super::{CHAT, asking, question, saying, served};
use crate::support::gateway::Answer;
use crate::support::judges::Judges;

fn content(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["choices"][0]["message"]["content"].clone()
}

#[tokio::test]
async fn panels_and_aliases_answer_under_their_names() {
    let aliases = json!({"aliases": {"gpt-4o": "panel/default", "one": "judge/cid"}});
    let served = served(aliases, Judges::saying("yes", "yes", "no")).await;
    for name in ["default", "panel/default", "gpt-4o"] {
        let answer = served.post(CHAT, &asking(json!({"model": name}))).await;
        assert_eq!((content(&answer), &answer.json()["model"]), (json!("yes"), &json!(name)));
    }
    let unnamed = asking(json!({"model": null}));
    assert_eq!(content(&served.post(CHAT, &unnamed).await), "yes");
}

#[tokio::test]
async fn an_unknown_name_is_a_400_that_lists_the_names() {
    let served = saying("yes", "yes", "no").await;
    let answer = served.post(CHAT, &asking(json!({"model": "gpt-9"}))).await;
    let error = answer.json()["error"].clone();
    assert_eq!(
        (answer.status, &error["code"], &error["param"]),
        (400, &json!("model_not_found"), &json!("model"))
    );
    let message = error["message"].as_str().unwrap();
    for name in ["gpt-9", "default", "panel/default", "judge/ann"] {
        assert!(message.contains(name), "{message}");
    }
}

#[tokio::test]
async fn a_catch_all_takes_every_name() {
    let served = served(json!({"aliases": {"*": "panel/default"}}), Judges::saying("yes", "yes", "no")).await;
    assert_eq!(content(&served.post(CHAT, &asking(json!({"model": "gpt-9"}))).await), "yes");
    let unknown = served.post(CHAT, &asking(json!({"model": "judge/nobody"}))).await;
    assert_eq!(unknown.status, 400, "a judge that is named is meant: {}", unknown.text);
}

#[tokio::test]
async fn every_path_that_clients_make_of_a_base_address_answers() {
    let served = saying("yes", "yes", "no").await;
    for path in [CHAT, "/chat/completions", "/v1"] {
        assert_eq!(content(&served.post(path, &question()).await), "yes", "{path}");
    }
    for path in ["/v1/models", "/models"] {
        let list = served.get(path).await.json();
        let ids: Vec<&str> =
            list["data"].as_array().unwrap().iter().filter_map(|m| m["id"].as_str()).collect();
        assert_eq!(list["object"], "list");
        assert!(
            ids.contains(&"default") && ids.contains(&"panel/default") && ids.contains(&"judge/ann"),
            "{ids:?}"
        );
    }
    assert_eq!(served.get("/v1/models/panel/default").await.json()["object"], "model");
    let unknown = served.get("/v1/models/nobody").await;
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!("model_not_found")));
    let info = served.get("/v1/model/info").await.json();
    assert_eq!(info["data"][0]["model_name"], "default");
    assert_eq!(served.get("/health/liveliness").await.status, 200);
}
