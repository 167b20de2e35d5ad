//! `tribunal runs` and `tribunal show`.

use serde_json::{Value, json};

use super::folder;
use crate::support::binary::tribunal;
use crate::support::panel::Folder;
use crate::support::upstream::Upstream;

fn judged() -> (Folder, Upstream) {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    (folder, upstream)
}

#[test]
fn runs_are_listed_newest_first() {
    let (folder, _upstream) = judged();
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    let ran = tribunal(&folder, &["runs"]).exits(0);
    assert_eq!(ran.stdout.matches("finished").count(), 2, "{}", ran.stdout);
    let runs = tribunal(&folder, &["runs", "--json"]).exits(0).json_lines();
    assert!(runs[0]["id"].as_str() > runs[1]["id"].as_str());
    assert_eq!(
        (&runs[1]["cases"], &runs[1]["finished"], &runs[1]["decided"]),
        (&json!(3), &json!(3), &json!(3))
    );
    assert_eq!(tribunal(&folder, &["runs", "-l", "1", "--json"]).exits(0).json_lines().len(), 1);

    let empty = Folder::with_panel(&crate::support::panel::panel(crate::support::panel::NOWHERE));
    assert!(tribunal(&empty, &["runs"]).exits(0).stderr.contains("no runs yet"));
}

#[test]
fn a_run_a_case_and_a_verdict_are_shown() {
    let (folder, upstream) = judged();
    let run = tribunal(&folder, &["show", "last"]).exits(0);
    assert!(run.stdout.contains("3 of 3 cases finished") && run.stdout.contains("q2"), "{}", run.stdout);
    let id = tribunal(&folder, &["runs", "--json"]).exits(0).json_lines()[0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(tribunal(&folder, &["show", &id]).exits(0).stdout, run.stdout);
    let verdicts = tribunal(&folder, &["show", "last", "--json"]).exits(0).json_lines();
    assert_eq!(verdicts.len(), 3);

    let case = tribunal(&folder, &["show", "last", "--case", "q2"]).exits(0);
    assert!(case.stdout.starts_with("case q2") && case.stdout.contains("ann: 4"), "{}", case.stdout);
    let own = verdicts[1]["id"].as_str().expect("an id");
    assert_eq!(tribunal(&folder, &["show", own]).exits(0).stdout, case.stdout);
    assert_eq!(upstream.count(), 9, "nothing is asked");
}

#[test]
fn judgments_are_shown_with_their_raw_replies() {
    let (folder, _upstream) = judged();
    let judgments = tribunal(&folder, &["show", "last", "--judgments"]).exits(0).json_lines();
    assert_eq!(judgments.len(), 9);
    assert!(judgments.iter().all(|judgment| judgment["raw"] == "4" && judgment["source"] == "asked"));
    let of_case = tribunal(&folder, &["show", "last", "--case", "q2", "--judgments"]).exits(0).json_lines();
    let judges: Vec<Value> = of_case.iter().map(|judgment| judgment["judge"].clone()).collect();
    assert_eq!(judges, ["ann", "bob", "cid"]);
    assert_eq!(of_case[0]["rating"]["value"], json!({"number": 4.0}));
    assert_eq!((&of_case[0]["prompt_tokens"], &of_case[0]["cost_microusd"]), (&json!(100), &json!(120)));
}

#[test]
fn what_is_not_there_is_said() {
    let (folder, _upstream) = judged();
    let ran = tribunal(&folder, &["show", "nope"]).exits(65);
    assert!(ran.stderr.contains("`nope`") && ran.stderr.contains("tribunal runs"), "{}", ran.stderr);
    let ran = tribunal(&folder, &["show", "last", "--case", "q9"]).exits(65);
    assert!(ran.stderr.contains("`q9`"), "{}", ran.stderr);
}
