//! A key sees the rows of its project, and nothing else.

use std::sync::Arc;

use gateway::access::AccessKey;
use serde_json::json;

use super::{CHAT, Owned, add, case, get, post, question, usual};
use crate::support::gateway::Served;

async fn of_project(served: &Served, project: &str) -> Owned {
    add(served, |key| AccessKey { project: Arc::from(project), ..key }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_and_runs_are_seen_in_their_project_alone() {
    let served = usual().await;
    let (ours, theirs) = (of_project(&served, "ours").await, of_project(&served, "theirs").await);
    let verdict = post(&served, "/v1/verdicts", &ours, &case()).await.json();
    let folded = post(&served, CHAT, &ours, &question("default")).await.json();
    for id in [&verdict["id"], &folded["tribunal"]["verdict_id"]] {
        let path = format!("/v1/verdicts/{}", id.as_str().unwrap());
        assert_eq!(get(&served, &path, &ours).await.status, 200);
        assert_eq!(get(&served, &path, &theirs).await.status, 404);
    }
    let cases = json!({"cases": [case()["case"]]});
    let begun = post(&served, "/v1/runs", &ours, &cases).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    let run = format!("/v1/runs/{}", begun.json()["id"].as_str().unwrap());
    assert!(get(&served, &format!("{run}/events"), &ours).await.text.contains("finished"));
    for path in ["", "/verdicts", "/events", "/gate?min=0.5", "/report"] {
        let path = format!("{run}{path}");
        assert_eq!(get(&served, &path, &ours).await.status, 200, "{path}");
        assert_eq!(get(&served, &path, &theirs).await.status, 404, "{path}");
    }
    for path in ["/stop", "/resume"] {
        assert_eq!(post(&served, &format!("{run}{path}"), &theirs, &json!({})).await.status, 404);
    }
    let of = async |key: &Owned| get(&served, "/v1/runs", key).await.json()["runs"].as_array().unwrap().len();
    assert_eq!((of(&ours).await, of(&theirs).await), (1, 0));
}

#[tokio::test]
async fn judgments_of_one_project_serve_no_other() {
    let served = usual().await;
    let (ours, theirs) = (of_project(&served, "ours").await, of_project(&served, "theirs").await);
    for (key, calls) in [(&ours, 3), (&ours, 3), (&theirs, 6)] {
        assert_eq!(post(&served, "/v1/verdicts", key, &case()).await.status, 200);
        assert_eq!(served.gateway.asked().count(), calls);
    }
}

#[tokio::test]
async fn an_idempotency_key_is_its_projects() {
    let served = usual().await;
    let (ours, theirs) = (of_project(&served, "ours").await, of_project(&served, "theirs").await);
    for (key, expected) in [(&ours, None), (&theirs, None), (&ours, Some("true"))] {
        let request = served.request("POST", "/v1/verdicts").bearer_auth(&key.text);
        let request = request.header("idempotency-key", "same").json(&case());
        let answer = crate::support::gateway::Answer::of(request).await;
        assert_eq!(
            (answer.status, answer.header("idempotency-replayed")),
            (200, expected),
            "{}",
            answer.text
        );
    }
}
