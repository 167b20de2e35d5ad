//! Health, metrics, documents, and what every answer carries.

use serde_json::{Value, json};

use super::{case, served, served_with, snapshots};
use crate::support::gateway::Answer;
use crate::support::panel::{NOWHERE, panel, with};

#[tokio::test]
async fn panels_and_judges_are_listed_without_addresses_and_keys() {
    let change = json!({"aliases": {"house": "panel/default"}});
    let served = served_with(&with(panel(NOWHERE), change)).await;
    let panels = served.get("/v1/panels").await;
    let listed = panels.json();
    assert_eq!(listed["panels"][0]["name"], "default");
    assert_eq!(listed["panels"][0]["judges"], json!(["ann", "bob", "cid"]));
    assert_eq!(listed["aliases"], json!({"house": "panel/default"}));
    let judges = served.get("/v1/judges").await;
    let names: Vec<Value> =
        judges.json()["judges"].as_array().expect("judges").iter().map(|judge| judge["id"].clone()).collect();
    assert_eq!(names, ["ann", "bob", "cid"]);
    for answer in [&panels, &judges] {
        assert_eq!(answer.status, 200);
        assert!(!answer.text.contains("127.0.0.1"), "{}", answer.text);
    }
}

#[tokio::test]
async fn health_tells_alive_ready_and_how_each_judge_does() {
    let served = served().await;
    for path in ["/health/liveness", "/health/liveliness", "/health/readiness"] {
        let answer = served.get(path).await;
        assert_eq!((answer.status, answer.json()["status"].clone()), (200, json!("ok")), "{path}");
    }
    let health = served.get("/health").await.json();
    assert_eq!((&health["status"], &health["store"]), (&json!("ok"), &json!("ok")));
    assert_eq!(health["judges"].as_array().map(Vec::len), Some(3));
    assert_eq!(health["judges"][0]["is_wired"], true);

    served.gateway.app.shut_down(std::time::Duration::from_secs(20)).await;
    assert_eq!(served.get("/health/liveness").await.status, 200, "the process is there");
    let unready = served.get("/health/readiness").await;
    assert_eq!(unready.status, 503);
    assert!(unready.header("retry-after").is_some());
    assert_eq!(served.get("/health").await.json()["status"], "degraded");
}

#[tokio::test]
async fn metrics_can_be_parsed_and_hold_no_text() {
    let served = served().await;
    served.post("/v1/verdicts", &case()).await;
    served.get("/v1/some/unknown/path").await;
    let answer = served.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4")));
    for line in answer.text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
        assert!(series.starts_with("tribunal_"), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
    for sample in [
        "tribunal_verdicts_total{outcome=\"decided\",panel=\"default\"} 1",
        "tribunal_judgments_total{judge=\"ann\",outcome=\"rated\"} 1",
        "tribunal_escalations_total{panel=\"default\",reason=\"disagreement\"} 1",
        "tribunal_http_requests_total{route=\"/v1/verdicts\",status=\"200\"} 1",
        "tribunal_http_requests_total{route=\"unknown\",status=\"404\"} 1",
        "tribunal_triage_cases{project=\"default\"} 1",
        "tribunal_overhead_seconds_count 1",
    ] {
        assert!(answer.text.lines().any(|line| line == sample), "{sample} is not in\n{}", answer.text);
    }
    assert!(!answer.text.contains("Paris") && !answer.text.contains("capital"), "{}", answer.text);
}

#[tokio::test]
async fn the_document_describes_every_route() {
    let served = served().await;
    let answer = served.get("/openapi.json").await;
    let document = answer.json();
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
    let routes: Vec<String> = document["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods");
            methods.keys().map(move |method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
        })
        .collect();
    snapshots().bind(|| insta::assert_json_snapshot!("routes", routes));
    // Every schema that is referred to is there.
    for (at, _) in answer.text.match_indices("#/components/schemas/") {
        let name = answer.text[at + "#/components/schemas/".len()..].split('"').next().expect("a name");
        assert!(document["components"]["schemas"][name].is_object(), "{name}");
    }
}

#[tokio::test]
async fn the_page_needs_no_script_and_nobody_else() {
    let served = served().await;
    let page = served.get("/docs").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    let lower = page.text.to_lowercase().replace("&#x2f;", "/");
    assert!(lower.contains("<span class=\"path\">/v1/verdicts</span>"), "{}", page.text);
    assert!(!lower.contains("<script") && !lower.contains("javascript:") && !lower.contains(" onload="));
    // A sample call names an address, but nothing is fetched or linked from elsewhere.
    for reference in ["src=", "href=", "url(", "action=", "@import"] {
        for (at, _) in lower.match_indices(reference) {
            let target = lower[at + reference.len()..].trim_start_matches(['"', '\'', ' ']);
            let is_own = target.starts_with('#') || (target.starts_with('/') && !target.starts_with("//"));
            assert!(is_own, "{}", target.chars().take(80).collect::<String>());
        }
    }
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{policy}");
}

#[tokio::test]
async fn a_request_id_is_echoed_or_made() {
    let served = served().await;
    let own = Answer::of(served.request("GET", "/health/liveness").header("x-request-id", "abc-1.2_3")).await;
    assert_eq!(own.header("x-request-id"), Some("abc-1.2_3"));
    let made = served.get("/health/liveness").await.header("x-request-id").map(str::to_owned);
    assert!(made.as_ref().is_some_and(|id| id.len() == 36), "{made:?}");
    for odd in ["a b", "<script>", &"x".repeat(129)] {
        let answer = Answer::of(served.request("GET", "/health/liveness").header("x-request-id", odd)).await;
        assert!(answer.header("x-request-id").is_some_and(|id| id != odd && id.len() == 36));
    }
}
