//! Runs that the command line made, read over HTTP.

use serde_json::{Value, json};

use super::served_with;
use crate::support::binary::tribunal;
use crate::support::gateway::Gateway;
use crate::support::panel::{Folder, panel};
use crate::support::upstream::Upstream;

/// More than one page of verdicts.
const CASES: usize = 150;

async fn served_after_a_run(upstream: &Upstream) -> crate::support::gateway::Served {
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    let case = |n: usize| json!({"id": format!("c{n:03}"), "input": format!("No. {n}"), "output": "Yes."});
    let lines: Vec<String> = (0..CASES).map(|n| case(n).to_string()).collect();
    folder.write("cases.jsonl", &lines.join("\n"));
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    Gateway::connected_in(folder).await.serve().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_and_its_verdicts_are_read_back() {
    let upstream = Upstream::saying("4");
    let served = served_after_a_run(&upstream).await;
    let listed = served.get("/v1/runs?limit=5").await.json();
    let run = &listed["runs"][0];
    let shown = |field: &str| run[field].clone();
    assert_eq!(
        (shown("status"), shown("cases"), shown("finished")),
        (json!("finished"), json!(CASES), json!(CASES))
    );
    assert_eq!(served.get("/v1/runs/last").await.json(), *run);
    let id = run["id"].as_str().unwrap();
    let answer = served.get(&format!("/v1/runs/{id}/verdicts")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/jsonl")));
    let verdicts: Vec<Value> = answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let cases: Vec<&str> = verdicts.iter().map(|verdict| verdict["case"].as_str().unwrap()).collect();
    assert_eq!(cases.len(), CASES);
    assert!(cases.is_sorted() && cases.iter().collect::<std::collections::BTreeSet<_>>().len() == CASES);
    assert_eq!(verdicts[0]["criteria"]["quality"]["value"], 4.0);
}

#[tokio::test]
async fn runs_that_are_not_there_and_queries_that_make_no_sense_are_named() {
    let served = served_with(&panel(crate::support::panel::NOWHERE)).await;
    assert_eq!(served.get("/v1/runs").await.json(), json!({"runs": []}));
    for path in ["/v1/runs/last", "/v1/runs/nope", "/v1/runs/nope/verdicts"] {
        let answer = served.get(path).await;
        assert_eq!((answer.status, &answer.json()["type"]), (404, &json!("tribunal:unknown-run")), "{path}");
    }
    for query in ["limit=0", "limit=1001", "limit=many", "colour=red"] {
        let answer = served.get(&format!("/v1/runs?{query}")).await;
        assert_eq!((answer.status, &answer.json()["type"]), (400, &json!("tribunal:bad-query")), "{query}");
        assert!(answer.text.contains("the query is not usable: "), "{}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_held_against_thresholds() {
    let upstream = Upstream::saying("4");
    let served = served_after_a_run(&upstream).await;
    let gate = async |query: &str| served.get(&format!("/v1/runs/last/gate?{query}")).await;
    for (query, decision) in [
        ("min=quality=0.75", "pass"),
        ("min=0.8", "fail"),
        ("pass_rate=quality=0.9&min=quality=0.7", "pass"),
        ("min=quality=0.75&min_cases=1000", "inconclusive"),
        ("min=quality=0.75&require_calibration=true", "inconclusive"),
        ("min=quality=0.75&min_cases=1000&rule=point", "pass"),
    ] {
        let answer = gate(query).await;
        assert_eq!((answer.status, &answer.json()["decision"]), (200, &json!(decision)), "{query}");
    }
    for query in ["", "min=qualty=0.5"] {
        let answer = gate(query).await;
        assert_eq!((answer.status, &answer.json()["type"]), (422, &json!("tribunal:no-gate")), "{query}");
    }
    for query in ["min=quality=85", "margin=2", "rule=loose", "colour=red"] {
        let answer = gate(query).await;
        assert_eq!((answer.status, &answer.json()["type"]), (400, &json!("tribunal:bad-query")), "{query}");
    }
    assert_eq!(served.get("/v1/runs/nope/gate?min=0.5").await.status, 404);
    let page = served.get("/v1/runs/last/report").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(
        page.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'"))
    );
    assert!(
        page.text.starts_with("<!doctype html>") || page.text.starts_with("<!DOCTYPE html>"),
        "{}",
        page.text
    );
    assert_eq!(served.get("/v1/runs/nope/report").await.status, 404);
}
