//! kill -9 in the middle of a run: nothing stored is lost, and nothing stored is asked again.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::binary::{start, tribunal};
use crate::support::panel::{Folder, JUDGES, panel};
use crate::support::stored::Stored;
use crate::support::upstream::{Reply, Upstream, prompt_of};

pub(super) const CASES: usize = 60;

/// How often each (judge, case) was asked.
pub(super) fn asked(upstream: &Upstream) -> BTreeMap<(String, String), usize> {
    let mut asked = BTreeMap::new();
    for body in upstream.requests() {
        let model = body["model"].as_str().expect("a model");
        let judge = match model {
            "alder-one" => "ann",
            "birch-one" => "bob",
            _ => "cid",
        };
        let prompt = prompt_of(&body);
        let (_, after) = prompt.split_once("answer number ").expect("the case's own words");
        let case: String = after.chars().take_while(char::is_ascii_digit).collect();
        *asked.entry((judge.to_owned(), case)).or_default() += 1;
    }
    asked
}

/// The judgments in the store of a run that has ended, by (judge, case).
pub(super) async fn stored(folder: Folder) -> (Folder, Vec<(String, String)>) {
    let stored = Stored::open(folder).await;
    let run = stored.last_run().await;
    let mut found = Vec::new();
    for case in 0..CASES {
        let rows = stored.judgments(&run, &case.to_string()).await;
        found.extend(rows.into_iter().filter(|row| row.outcome.is_ok()).map(|row| (row.judge, row.case_id)));
    }
    (stored.close().await, found)
}

#[tokio::test]
async fn nothing_stored_is_lost_or_asked_again() {
    let upstream = Upstream::start(|_| Reply::text("4"));
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    let line =
        |n: usize| json!({"id": n.to_string(), "output": format!("answer number {n} of many")}).to_string();
    let cases: Vec<String> = (0..CASES).map(line).collect();
    folder.write("cases.jsonl", &cases.join("\n"));

    // Three times, each further into the run.
    let mut folder = folder;
    for (round, requests) in [20, 70, 120].into_iter().enumerate() {
        let mut arguments = vec!["judge", "cases.jsonl", "-j", "4", "--no-cache", "--quiet"];
        if round > 0 {
            arguments.extend(["--resume", "last"]);
        }
        let mut running = start(&folder, &arguments);
        upstream.wait_for(requests);
        running.kill();
        let before = asked(&upstream);
        let kept;
        (folder, kept) = stored(folder).await;
        for judgment in &kept {
            assert!(before.contains_key(judgment), "{judgment:?} was never asked");
        }

        // A run that goes on for a little asks none of them.
        let mut running =
            start(&folder, &["judge", "cases.jsonl", "-j", "4", "--no-cache", "--quiet", "--resume", "last"]);
        upstream.wait_for(requests + 15);
        running.kill();
        let after = asked(&upstream);
        for judgment in &kept {
            assert_eq!(after[judgment], before[judgment], "{judgment:?} was stored and is asked again");
        }
        let now;
        (folder, now) = stored(folder).await;
        assert!(kept.iter().all(|judgment| now.contains(judgment)), "a stored judgment is gone");
    }

    tribunal(&folder, &["judge", "cases.jsonl", "--no-cache", "--quiet", "--resume", "last"]).exits(0);
    let (folder, all) = stored(folder).await;
    assert_eq!(all.len(), CASES * JUDGES.len());
    let runs = tribunal(&folder, &["runs", "--json"]).exits(0).json_lines();
    assert_eq!((runs.len(), &runs[0]["finished"]), (1, &json!(CASES)));
}
