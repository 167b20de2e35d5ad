//! panel.yaml changes while the gateway serves.

use std::collections::BTreeSet;

use futures::future::join_all;
use gateway::reload::{Reload, ReloadError, look, reload};
use gateway::settings::{Environment, Source};
use serde_json::{Value, json};

use crate::support::gateway::{Gateway, Served};
use crate::support::panel::{panel, with};
use crate::support::upstream::{Reply, Upstream};

fn source(served: &Served) -> Source {
    Source { path: served.gateway.folder().file("panel.yaml"), ..Source::default() }
}

async fn change(served: &Served, file: &Value) -> Result<Reload, ReloadError> {
    served.gateway.folder().write("panel.yaml", &format!("{file:#}"));
    reload(&served.gateway.app, &source(served), &Environment::default()).await
}

fn case(id: &str) -> Value {
    json!({"case": {"id": id, "input": "What is the capital of France?", "output": "Paris."}})
}

/// Two judges only, who read another rubric.
fn smaller(file: &Value) -> Value {
    let change = json!({
        "rubrics": {"quality": {"criteria": [{
            "name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5], "pass": 4,
            "instructions": "Is the answer short?",
        }]}},
        "panels": {"default": {"judges": ["ann", "bob"]}},
    });
    with(file.clone(), change)
}

async fn metric(served: &Served, name: &str) -> Option<String> {
    let text = served.get("/metrics").await.text;
    text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")).map(str::to_owned))
}

#[tokio::test]
async fn changed_file_serves_the_next_request_and_an_equal_one_changes_nothing() {
    let upstream = Upstream::saying("5");
    let file = panel(upstream.base_url());
    let served = Gateway::connected(&file).await.serve().await;
    let before = served.post("/v1/verdicts", &case("a")).await.json();
    assert_eq!(change(&served, &file).await.unwrap(), Reload::Unchanged);
    assert_eq!(change(&served, &smaller(&file)).await.unwrap(), Reload::InForce);
    let after = served.post("/v1/verdicts", &case("b")).await.json();
    assert_ne!(before["panel_version"], after["panel_version"]);
    assert_eq!((&before["quorum"]["asked"], &after["quorum"]["asked"]), (&json!(3), &json!(2)));
}

#[tokio::test]
async fn file_with_a_problem_keeps_the_old_version_and_says_so_until_it_is_mended() {
    let upstream = Upstream::saying("5");
    let file = panel(upstream.base_url());
    let served = Gateway::connected(&file).await.serve().await;
    let successful = "tribunal_config_last_reload_successful";
    assert_eq!(metric(&served, successful).await.as_deref(), Some("1"));
    let bad = with(file.clone(), json!({"panels": {"default": {"judges": ["ann", "nobody"]}}}));
    let error = change(&served, &bad).await.unwrap_err();
    assert!(matches!(error, ReloadError::Problems(_)), "{error}");
    let (app, source, none) = (served.gateway.app.clone(), source(&served), Environment::default());
    look(&app, &source, &none).await;
    look(&app, &source, &none).await;
    assert_eq!(metric(&served, successful).await.as_deref(), Some("0"));
    let refused = "tribunal_config_reloads_total{outcome=\"refused\"}";
    assert_eq!(metric(&served, refused).await.as_deref(), Some("1"), "one bad file is told once");
    let ready = served.get("/health/readiness").await;
    assert_eq!((ready.status, &ready.json()["status"]), (200, &json!("ok")));
    assert!(ready.text.contains("refused"), "{}", ready.text);
    let verdict = served.post("/v1/verdicts", &case("a")).await.json();
    assert_eq!(verdict["quorum"]["asked"], 3, "the old version serves");

    served.gateway.folder().write("panel.yaml", &format!("{:#}", smaller(&file)));
    look(&app, &source, &none).await;
    assert_eq!(metric(&served, successful).await.as_deref(), Some("1"));
    assert!(!served.get("/health/readiness").await.text.contains("refused"));
    assert_eq!(served.post("/v1/verdicts", &case("b")).await.json()["quorum"]["asked"], 2);
}

#[tokio::test]
async fn judge_that_cannot_be_connected_keeps_the_old_version() {
    let upstream = Upstream::saying("5");
    let file = panel(upstream.base_url());
    let served = Gateway::connected(&file).await.serve().await;
    let replay = json!({
        "servers": {"s-ann": {"provider": "replay", "path": "gone.jsonl", "base_url": null}},
    });
    let error = change(&served, &with(file, replay)).await.unwrap_err();
    assert!(matches!(error, ReloadError::Wiring(_) | ReloadError::Problems(_)), "{error}");
    assert_eq!(served.post("/v1/verdicts", &case("a")).await.json()["quorum"]["asked"], 3);
}

#[tokio::test]
async fn breaker_stays_open_when_other_settings_change() {
    let upstream = Upstream::start(|_| Reply::error(501, "no such thing here"));
    let file = panel(upstream.base_url());
    let served = Gateway::connected(&file).await.serve().await;
    let breaker = async || served.get("/v1/judges").await.json()["judges"][0]["breaker"].clone();
    for n in 0..20 {
        served.post("/v1/verdicts", &case(&format!("c{n}"))).await;
    }
    assert_eq!(breaker().await, "open");
    let asked = upstream.count();
    let mut changed = smaller(&file);
    changed["servers"]["s-ann"]["limits"] = json!({"concurrency": 7});
    assert_eq!(change(&served, &changed).await.unwrap(), Reload::InForce);
    assert_eq!(breaker().await, "open");
    let verdict = served.post("/v1/verdicts", &case("after")).await.json();
    assert_eq!(verdict["quorum"]["voted"], 0);
    assert_eq!(upstream.count(), asked, "nobody asks a server that is known to fail");
}

#[tokio::test]
async fn listener_and_store_hold_from_the_next_start() {
    let upstream = Upstream::saying("5");
    let file = panel(upstream.base_url());
    let served = Gateway::connected(&file).await.serve().await;
    let bind = served.gateway.app.bind();
    let other = json!({"server": {"bind": "127.0.0.1:4999"}, "store": "other.db"});
    assert_eq!(change(&served, &with(file, other)).await.unwrap(), Reload::InForce);
    assert_eq!(served.gateway.app.bind(), bind);
    let verdict = served.post("/v1/verdicts", &case("a")).await.json();
    let stored = served.get(&format!("/v1/verdicts/{}", verdict["id"].as_str().unwrap())).await;
    assert_eq!(stored.status, 200, "the store is the one that was opened");
}

/// Every request is served by one version: votes, rubric and version of a verdict belong together.
#[tokio::test]
async fn each_request_under_load_is_of_one_version() {
    let upstream = Upstream::start(|question| {
        Reply::text(if question.prompt.contains("Is the answer short?") { "2" } else { "5" })
    });
    let large = panel(upstream.base_url());
    let small = smaller(&large);
    let served = Gateway::connected(&large).await.serve().await;
    let mut versions = BTreeSet::new();
    for round in 0..12 {
        let bodies: Vec<Value> = (0..16).map(|n| case(&format!("r{round}-{n}"))).collect();
        let requests = join_all(bodies.iter().map(|body| served.post("/v1/verdicts", body)));
        let file = if round % 2 == 0 { &small } else { &large };
        let (answers, changed) = tokio::join!(requests, change(&served, file));
        assert_eq!(changed.unwrap(), Reload::InForce);
        for answer in answers {
            assert_eq!(answer.status, 200, "{}", answer.text);
            let verdict = answer.json();
            let votes = verdict["criteria"]["quality"]["votes"].as_array().map(Vec::len);
            let of_one = (votes, verdict["criteria"]["quality"]["value"].as_f64());
            assert!(of_one == (Some(3), Some(5.0)) || of_one == (Some(2), Some(2.0)), "{}", answer.text);
            versions.insert((verdict["panel_version"].as_str().unwrap().to_owned(), votes));
        }
    }
    assert_eq!(versions.len(), 2, "{versions:?}");
}
