//! What keeps a run from being begun or gone on with: told at once, with every place.

use serde_json::{Value, json};

use super::{served, served_with};
use crate::support::binary::tribunal;
use crate::support::gateway::{Gateway, Served};
use crate::support::panel::{Folder, NOWHERE, panel, with};
use crate::support::upstream::Upstream;

/// Fields and messages of a refused request.
async fn refused(served: &Served, body: &Value) -> Vec<(String, String)> {
    let answer = served.post("/v1/runs", body).await;
    let problem = answer.json();
    assert_eq!((answer.status, &problem["type"]), (422, &json!("tribunal:invalid-run")), "{problem}");
    assert_eq!(served.gateway.asked().count(), 0);
    assert_eq!(served.get("/v1/runs").await.json(), json!({"runs": []}));
    let text = |error: &Value, name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let errors = problem["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|error| (text(error, "field"), format!("{}; {}", text(error, "message"), text(error, "hint"))))
        .collect()
}

#[tokio::test]
async fn every_problem_of_the_cases_is_named_with_its_place() {
    let served = served().await;
    let body = json!({
        "cases": [
            {"id": "q1", "output": "x"},
            {"id": "q2", "outptu": "x", "metadata": 7},
            "no object",
            {"id": "q1", "output": "y"},
            {"id": "q5", "output": "x", "reference": "y"},
        ],
        "concurrency": 0, "max_cost_usd": -1.0, "repeat": 101,
    });
    let found = refused(&served, &body).await;
    for (field, words) in [
        ("concurrency", "must be 1 to 1024"),
        ("repeat", "must be 1 to 100"),
        ("max_cost_usd", "must be US dollars"),
        ("cases[1].outptu", "did you mean `output`?"),
        ("cases[1].metadata", "must be an object"),
        ("cases[2]", "not a JSON object"),
        ("cases[3].id", "is `q1`, as in cases[0]"),
        ("cases", "by_mode"),
    ] {
        assert!(found.iter().any(|(f, m)| f == field && m.contains(words)), "{field}: {words}: {found:#?}");
    }
}

#[tokio::test]
async fn what_the_panel_makes_impossible_is_told_before_a_call() {
    let empty = refused(&served().await, &json!({"cases": []})).await;
    assert_eq!(empty, [(String::from("cases"), String::from("no case to judge; "))]);

    let unpriced = with(panel(NOWHERE), json!({"judges": {"bob": {"price": null}}}));
    let capped = json!({"cases": [{"output": "x"}], "max_cost_usd": 1.0});
    let found = refused(&served_with(&unpriced).await, &capped).await;
    assert!(found[0].0 == "max_cost_usd" && found[0].1.contains("`bob` is unknown"), "{found:?}");

    let kin = json!({"judges": {"bob": {"family": "alder"}}, "models": {"alder-*": {"family": "alder"}}});
    let related = json!({"cases": [{"output": "x", "model": "alder-7"}]});
    let found = refused(&served_with(&with(panel(NOWHERE), kin)).await, &related).await;
    assert!(
        found[0].0 == "cases" && found[0].1.contains("alder-7") && found[0].1.contains("ann, bob"),
        "{found:?}"
    );
}

#[tokio::test]
async fn cases_that_a_template_cannot_show_are_named() {
    let change = json!({"judges": {"ann": {"template": "mine"}}});
    let folder = Folder::with_panel(&with(panel(NOWHERE), change));
    folder.write("mine/pointwise.jinja", "{# answer: bare #}\n{{ input }} {{ output }} {{ form }}");
    let judges = crate::support::judges::Judges::saying("2", "4", "5");
    let served = Gateway::in_folder(folder, judges).await.serve().await;
    let body = json!({"cases": [{"input": "?", "output": "x"}, {"output": "x"}, {"a": "x", "b": "y"}]});
    let found = refused(&served, &body).await;
    assert!(found.iter().any(|(f, m)| f == "cases[1]" && m.contains("`input` is missing")), "{found:?}");
    assert!(found.iter().any(|(f, m)| f == "cases" && m.contains("no file for pairwise")), "{found:?}");
}

#[tokio::test]
async fn a_run_of_the_command_line_is_its_own() {
    let upstream = Upstream::saying("4");
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", r#"{"id": "q1", "output": "x"}"#);
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    let served = Gateway::connected_in(folder).await.serve().await;
    for (path, words) in [("resume", "was begun on the command line"), ("stop", "no gateway judges run")] {
        let answer = served.post(&format!("/v1/runs/last/{path}"), &json!({})).await;
        assert_eq!((answer.status, &answer.json()["type"]), (409, &json!("tribunal:run-conflict")), "{path}");
        assert!(answer.text.contains(words), "{}", answer.text);
    }
    for path in ["/v1/runs/nope/resume", "/v1/runs/nope/stop"] {
        assert_eq!(served.post(path, &json!({})).await.status, 404, "{path}");
    }
    assert_eq!(served.get("/v1/runs/nope/events").await.status, 404);
    let wrong = served.post("/v1/runs/last/resume", &json!({"colour": "red"})).await;
    assert_eq!((wrong.status, &wrong.json()["type"]), (400, &json!("tribunal:bad-json")));
}
