//! Runs that are begun, followed, stopped and gone on with over HTTP.

use serde_json::{Value, json};

use super::served;
use crate::support::gate::Gate;
use crate::support::gateway::{Answer, Gateway, Served};
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};
use crate::support::upstream::Upstream;

fn cases(count: usize) -> Value {
    let case = |n: usize| json!({"id": format!("c{n:02}"), "input": format!("No. {n}"), "output": "Yes."});
    json!({"cases": (0..count).map(case).collect::<Vec<_>>(), "use_cache": false, "concurrency": 1})
}

/// The run's id.
async fn begin(served: &Served, body: &Value) -> String {
    let begun = served.post("/v1/runs", body).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    let run = begun.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(begun.header("location"), Some(format!("/v1/runs/{run}").as_str()));
    run
}

/// All events of a run, each a name and its data; waits for its end.
async fn events(served: &Served, run: &str) -> Vec<(String, Value)> {
    let answer = served.get(&format!("/v1/runs/{run}/events")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
    let event = |block: &str| {
        let (name, data) = block.split_once('\n').unwrap();
        let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), data)
    };
    answer.text.split("\n\n").filter(|block| block.starts_with("event: ")).map(event).collect()
}

/// How the run ended, told by its last event.
async fn end(served: &Served, run: &str) -> Value {
    let (name, data) = events(served, run).await.pop().unwrap();
    assert_eq!(name, "end");
    data
}

/// A judge that answers only once the gate lets it, so that a run is under way until then.
async fn held() -> (Gate, Served) {
    let gate = Gate::closed();
    let judges = Judges::saying("2", "4", "5").behind("cid", &gate, "5");
    (gate, Gateway::of(judges).await.serve().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_judged_in_the_background_and_tells_how_far_it_is() {
    let served = served().await;
    let run = begin(&served, &cases(5)).await;
    let told = events(&served, &run).await;
    let (name, data) = told.last().unwrap();
    assert_eq!((name.as_str(), data), ("end", &json!({"status": "finished", "reason": null})));
    for (name, data) in &told[..told.len() - 1] {
        assert_eq!((name.as_str(), &data["total"]), ("progress", &json!(5)));
    }
    let shown = served.get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!(
        (&shown["status"], &shown["cases"], &shown["finished"]),
        (&json!("finished"), &json!(5), &json!(5))
    );
    let verdicts = served.get(&format!("/v1/runs/{run}/verdicts")).await;
    assert_eq!(verdicts.text.lines().count(), 5);
    assert_eq!(served.gateway.asked().count(), 15);
    assert_eq!(events(&served, &run).await.len(), 1, "one event of a run that has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_begins_one_run() {
    let served = served().await;
    let send = async |body: &Value| {
        Answer::of(served.request("POST", "/v1/runs").header("idempotency-key", "k1").json(body)).await
    };
    let first = send(&cases(2)).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (202, None));
    let again = send(&cases(2)).await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (202, Some("true")));
    assert_eq!(first.json()["id"], again.json()["id"]);
    let other = send(&cases(3)).await;
    assert_eq!((other.status, &other.json()["type"]), (422, &json!("tribunal:idempotency-conflict")));
    end(&served, first.json()["id"].as_str().unwrap()).await;
    assert_eq!(served.gateway.asked().count(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_goes_on_where_it_stopped() {
    let (gate, served) = held().await;
    let run = begin(&served, &cases(20)).await;
    let stopped = served.post(&format!("/v1/runs/{run}/stop"), &json!({})).await;
    assert_eq!(stopped.status, 202, "{}", stopped.text);
    gate.open();
    assert_eq!(end(&served, &run).await, json!({"status": "stopped", "reason": "stopped on request"}));
    let asked = served.gateway.asked().count();
    assert!(asked < 60, "{asked}");
    let again = served.post(&format!("/v1/runs/{run}/stop"), &json!({})).await;
    assert_eq!((again.status, &again.json()["type"]), (409, &json!("tribunal:run-conflict")));

    let resumed = served.post(&format!("/v1/runs/{run}/resume"), &json!({})).await;
    assert_eq!((resumed.status, &resumed.json()["reason"]), (202, &Value::Null));
    assert_eq!(end(&served, &run).await["status"], "finished");
    assert_eq!(served.gateway.asked().count(), 60, "each judge was asked once about each case");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_after_a_restart() {
    let (gate, served) = held().await;
    let run = begin(&served, &cases(20)).await;
    // Until a case of it is under way.
    while served.gateway.asked().count() < 3 {
        served.get(&format!("/v1/runs/{run}")).await;
    }
    let asked = served.gateway.asked().clone();
    served.gateway.app.desk().stop();
    gate.open();
    let folder = served.gateway.shut_down().await;
    let before = asked.count();
    assert!(before < 60, "{before}");

    let served = Gateway::in_folder(folder, Judges::saying("2", "4", "5")).await.serve().await;
    assert_eq!(end(&served, &run).await["status"], "finished");
    assert_eq!(before + served.gateway.asked().count(), 60, "nothing stored was asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_a_panel_that_changed_is_not_gone_on_with() {
    let (gate, served) = held().await;
    let run = begin(&served, &cases(20)).await;
    served.gateway.app.desk().stop();
    gate.open();
    let folder = served.gateway.shut_down().await;
    let changed = with(
        panel(NOWHERE),
        json!({"rubrics": {"quality": {"criteria": [{
            "name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5], "pass": 4, "instructions": "Is it kind?",
        }]}}}),
    );
    folder.write("panel.yaml", &format!("{changed:#}"));
    let served = Gateway::in_folder(folder, Judges::saying("2", "4", "5")).await.serve().await;
    let ended = end(&served, &run).await;
    assert_eq!(ended["status"], "stopped");
    assert!(ended["reason"].as_str().unwrap().contains("hint: restore panel.yaml"), "{ended}");
    let resumed = served.post(&format!("/v1/runs/{run}/resume"), &json!({})).await;
    assert_eq!((resumed.status, &resumed.json()["type"]), (409, &json!("tribunal:run-conflict")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cap_stops_a_run_and_a_higher_one_lets_it_go_on() {
    let upstream = Upstream::saying("4");
    let served = Gateway::connected(&panel(upstream.base_url())).await.serve().await;
    let run = begin(&served, &with(cases(3), json!({"max_cost_usd": 0.000_001}))).await;
    let ended = end(&served, &run).await;
    assert_eq!(ended["status"], "stopped");
    assert!(ended["reason"].as_str().unwrap().starts_with("stopped by max_cost_usd 0.000001: "), "{ended}");
    assert_eq!(upstream.count(), 0);
    let body = json!({"max_cost_usd": 1.0, "retry_errors": true});
    assert_eq!(served.post(&format!("/v1/runs/{run}/resume"), &body).await.status, 202);
    assert_eq!(end(&served, &run).await["status"], "finished");
    assert_eq!(upstream.count(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_are_let_go_when_the_gateway_stops() {
    let (gate, served) = held().await;
    let run = begin(&served, &cases(2)).await;
    let response = served.request("GET", &format!("/v1/runs/{run}/events")).send().await.unwrap();
    served.gateway.app.desk().stop();
    let text = response.text().await.unwrap();
    assert!(!text.contains("event: end"), "{text}");
    gate.open();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_runs_may_wait() {
    let (gate, served) = held().await;
    let mut queued = 0;
    for _ in 0..64 {
        begin(&served, &cases(1)).await;
    }
    for run in served.get("/v1/runs?limit=100").await.json()["runs"].as_array().unwrap() {
        queued += usize::from(run["status"] == "queued");
    }
    assert!((60..=64).contains(&queued), "{queued} are not begun while four are judged");
    let refused = served.post("/v1/runs", &cases(1)).await;
    assert_eq!((refused.status, &refused.json()["type"]), (429, &json!("tribunal:too-many-runs")));
    assert!(refused.header("retry-after").is_some());
    gate.open();
}

#[tokio::test]
async fn cases_are_judged_as_often_as_was_asked() {
    let served = served().await;
    let mut body = cases(2);
    body["repeat"] = json!(3);
    body["use_cache"] = json!(true);
    let run = begin(&served, &body).await;
    assert_eq!(end(&served, &run).await["status"], "finished");
    assert_eq!(served.gateway.asked().count(), 2 * 3 * 3, "each repeat is asked afresh");
    let report = served.get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!((&report["cases"], &report["finished"]), (&json!(6), &json!(6)));
}
