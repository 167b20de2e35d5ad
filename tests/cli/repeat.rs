//! Cases judged several times in one run.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{cases, folder};
use crate::support::binary::tribunal;
use crate::support::panel::{Folder, panel};
use crate::support::stored::Stored;
use crate::support::upstream::{Reply, Upstream};

/// Two judges that always say 4, and one that says 4 and 5 in turn.
fn wavering() -> Upstream {
    let asked = AtomicUsize::new(0);
    Upstream::start(move |question| {
        let wavers = question.body["model"] == "cedar-one";
        let is_high = wavers && asked.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        Reply::text(if is_high { "5" } else { "4" })
    })
}

fn row<'a>(table: &'a str, criterion: &str, asked: &str) -> Vec<&'a str> {
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut rows = lines.filter(|row| row.first() == Some(&criterion) && row.get(2) == Some(&asked));
    rows.next().unwrap_or_else(|| panic!("no row of {asked} in\n{table}"))
}

#[test]
fn every_repeat_is_asked_afresh_and_the_table_says_how_far_they_are_apart() {
    let upstream = wavering();
    let folder = folder(&upstream);
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    assert_eq!(upstream.count(), 9);
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "-j", "1", "--repeat", "3", "-o", "v.jsonl"]);
    let ran = ran.exits(0);
    assert_eq!(upstream.count(), 9 + 27, "the cache answers none of them");
    assert!(ran.stderr.contains("3 cases, 3 times each"), "{}", ran.stderr);

    let written = std::fs::read_to_string(folder.path().join("v.jsonl")).unwrap();
    let verdicts: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |field: &str| verdicts.iter().map(|verdict| verdict[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("case")[..4], ["q1", "q1#2", "q1#3", "q2"].map(Value::from));
    assert_eq!(of("repeat_of")[..4], ["q1", "q1", "q1", "q2"].map(Value::from));
    assert_eq!(of("source"), of("repeat_of"), "repeats are not independent");

    // Two of three pairs of cid are one step of four apart; the panel's median never moves.
    assert_eq!(row(&ran.stdout, "quality", "cid")[3..7], ["3", "mean", "distance", "0.17"]);
    assert_eq!(row(&ran.stdout, "quality", "panel")[3..7], ["3", "mean", "distance", "0.00"]);
}

#[test]
fn a_run_of_single_cases_says_nothing_of_repeats() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(0);
    assert!(!ran.stdout.contains("same case again"), "{}", ran.stdout);
    assert!(!tribunal(&folder, &["judge", "cases.jsonl", "--json"]).exits(0).stdout.contains("repeat_of"));
}

#[tokio::test]
async fn people_are_asked_once_about_a_case_that_is_judged_twice() {
    let upstream = Upstream::saying("4");
    let mut file = panel(upstream.base_url());
    file["panels"]["default"]["escalate"]["random_review_share"] = json!(1.0);
    let folder = Folder::with_panel(&file);
    folder.write("cases.jsonl", &cases(3));
    tribunal(&folder, &["judge", "cases.jsonl", "--repeat", "2", "--quiet"]).exits(0);
    let stored = Stored::open(folder).await;
    assert_eq!(stored.open_triage().await, 3);
}

#[test]
fn a_repeated_run_is_gone_on_with_as_it_was_begun() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    tribunal(&folder, &["judge", "cases.jsonl", "--repeat", "2", "--quiet"]).exits(0);
    let once = tribunal(&folder, &["judge", "cases.jsonl", "--quiet", "--resume", "last"]).exits(64);
    assert!(once.stderr.contains("was begun with --repeat 2; hint: give the same again"), "{}", once.stderr);
    let again = ["judge", "cases.jsonl", "--quiet", "--repeat", "2", "--resume", "last"];
    tribunal(&folder, &again).exits(0);
    assert_eq!(upstream.count(), 18);
}

#[test]
fn a_case_that_is_named_like_a_repeat_is_refused() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let taken = json!({"id": "q1#2", "input": "Who?", "output": "Me."});
    folder.write("cases.jsonl", &format!("{}\n{taken}\n", cases(1)));
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--quiet", "--repeat", "2"]).exits(65);
    assert!(ran.stderr.contains("id `q1#2` stands at line 1 already"), "{}", ran.stderr);
    tribunal(&folder, &["judge", "cases.jsonl", "--repeat", "0"]).exits(64);
}

#[test]
fn a_recording_is_not_asked_twice() {
    let tape = |name: &str| json!({"server": "tape", "model": name, "family": name});
    let folder = Folder::with_panel(&json!({
        "servers": {"tape": {"provider": "replay", "path": "tape.jsonl"}},
        "judges": {"ann": tape("ann"), "bob": tape("bob"), "cid": tape("cid")},
        "panels": {"default": {"judges": ["ann", "bob", "cid"], "rubric": "correctness"}},
    }));
    folder.write("tape.jsonl", "{\"case\":\"q1\",\"judge\":\"ann\",\"score\":4}\n");
    folder.write("cases.jsonl", &cases(1));
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--repeat", "2"]).exits(64);
    assert!(ran.stderr.contains("repeats a recording, which says the same each time"), "{}", ran.stderr);
}
