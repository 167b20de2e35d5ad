//! kill -9 of a gateway in the middle of a run that was begun over HTTP: the next one finishes it by itself.

use std::time::Duration;

use serde_json::{Value, json};

use super::kill::{CASES, asked, stored};
use crate::support::binary::{Running, start};
use crate::support::panel::{Folder, JUDGES, panel};
use crate::support::upstream::{Reply, Upstream};

/// A gateway on a free port, and its address.
fn serve(folder: &Folder) -> (Running, String) {
    let running = start(folder, &["serve", "--bind", "127.0.0.1:0"]);
    loop {
        let said = folder.read("stderr");
        if let Some((_, after)) = said.split_once("listening on ")
            && let Some((address, _)) = after.split_once(' ')
        {
            return (running, address.to_owned());
        }
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_run_is_finished_by_the_next_gateway_and_nothing_stored_is_asked_again() {
    let upstream = Upstream::start(|_| Reply::text("4"));
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_mins(1)).build().unwrap();
    let (mut first, address) = serve(&folder);
    let case = |n: usize| json!({"id": n.to_string(), "output": format!("answer number {n} of many")});
    let cases: Vec<Value> = (0..CASES).map(case).collect();
    let body = json!({"cases": cases, "use_cache": false, "concurrency": 4});
    let begun = client.post(format!("{address}/v1/runs")).json(&body).send().await.unwrap();
    assert_eq!(begun.status(), 202);
    let run = begun.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    upstream.wait_for(50);
    first.kill();
    let before = asked(&upstream);
    let (folder, kept) = stored(folder).await;
    assert!(!kept.is_empty() && kept.len() < CASES * JUDGES.len(), "{} judgments", kept.len());

    let (second, address) = serve(&folder);
    let events = client.get(format!("{address}/v1/runs/{run}/events")).send().await.unwrap();
    let events = events.text().await.unwrap();
    assert!(events.ends_with("event: end\ndata: {\"status\":\"finished\",\"reason\":null}\n\n"), "{events}");
    let after = asked(&upstream);
    for judgment in &kept {
        assert_eq!(after[judgment], before[judgment], "{judgment:?} was stored and is asked again");
    }
    drop(second);
    let (_, all) = stored(folder).await;
    assert_eq!(all.len(), CASES * JUDGES.len());
}
