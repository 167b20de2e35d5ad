//! `tribunal judge`: what comes out.

use serde_json::{Value, json};

use super::folder;
use crate::support::binary::{tribunal, tribunal_with};
use crate::support::panel::{NOWHERE, panel, with};
use crate::support::upstream::{Reply, Upstream};

#[test]
fn a_file_becomes_a_table() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(0);
    assert_eq!(upstream.count(), 9);
    for word in ["q1", "q2", "q3", "quality", "ann", "bob", "cid", "3 cases", "9 judgments asked"] {
        assert!(ran.stdout.contains(word), "{word} is not in\n{}", ran.stdout);
    }
    assert!(ran.stderr.contains("run ") && ran.stderr.contains("3/3 cases"), "{}", ran.stderr);
}

#[test]
fn json_is_one_verdict_a_line_in_the_order_of_the_cases() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--json"]).exits(0);
    let cases: Vec<Value> = ran.json_lines().iter().map(|verdict| verdict["case"].clone()).collect();
    assert_eq!(cases, ["q1", "q2", "q3"]);
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "-o", "out.jsonl", "--quiet"]).exits(0);
    assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    let lines: Vec<Value> =
        folder.read("out.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.iter().map(|verdict| verdict["case"].clone()).collect::<Vec<_>>(), cases);
    assert_eq!(lines[0]["calls"], json!({"asked": 0, "reused": 3, "retried": 0, "repaired": 0}));
    assert_eq!(upstream.count(), 9, "the second run was free");
    tribunal(&folder, &["judge", "cases.jsonl", "--no-cache", "--quiet"]).exits(0);
    assert_eq!(upstream.count(), 18);
}

#[test]
fn one_case_by_flags() {
    let upstream =
        Upstream::start(|question| Reply::text(if question.prompt.contains("Answer B") { "A" } else { "4" }));
    let folder = folder(&upstream);
    let ran = tribunal(&folder, &["judge", "--input", "Capital of France?", "--output", "Paris."]).exits(0);
    assert!(ran.stdout.contains("quality: 4") && ran.stdout.contains("quorum 3 of 3"), "{}", ran.stdout);
    let verdict =
        tribunal(&folder, &["judge", "--a", "x", "--b", "y", "--json"]).exits(0).json_lines().remove(0);
    assert_eq!(verdict["mode"], "pairwise");
    let verdict = tribunal(&folder, &["judge", "--output", "x", "--reference", "y", "--json"])
        .exits(0)
        .json_lines()
        .remove(0);
    assert_eq!(verdict["mode"], "reference");
    let ran = tribunal(&folder, &["judge", "--output", "x", "--sensitivity", "secret"]).exits(64);
    assert!(ran.stderr.contains("sensitivity"), "{}", ran.stderr);
}

#[test]
fn cases_come_from_standard_input_and_under_other_names() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let lines = "{\"id\":\"a\",\"answer\":\"x\",\"ideal\":\"y\"}\n";
    let arguments = ["judge", "-", "--map", "output=answer,reference=ideal", "--json"];
    let verdict = tribunal_with(&folder, &arguments, &[], lines).exits(0).json_lines().remove(0);
    assert_eq!((&verdict["case"], &verdict["mode"]), (&json!("a"), &json!("reference")));
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--map", "output"]).exits(64);
    assert!(!ran.stderr.is_empty());
}

#[test]
fn judges_that_are_all_down_exit_69() {
    let folder = crate::support::panel::Folder::with_panel(&panel(NOWHERE));
    folder.write("cases.jsonl", &super::cases(1));
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(69);
    assert!(
        ran.stderr.contains("no judge answered") && ran.stderr.contains("check --probe"),
        "{}",
        ran.stderr
    );
    tribunal(&folder, &["judge", "--output", "x"]).exits(69);
}

#[test]
fn replies_without_any_verdict_exit_2() {
    let upstream = Upstream::saying("I could not say.");
    let folder = folder(&upstream);
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(2);
    assert!(ran.stderr.contains("nothing was judged"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 18, "each reply was asked once more");
}

#[test]
fn modes_are_reported_apart() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("mixed.jsonl", "{\"output\":\"x\"}\n{\"output\":\"x\",\"reference\":\"y\"}\n");
    let ran = tribunal(&folder, &["judge", "mixed.jsonl"]).exits(64);
    assert!(ran.stderr.contains("--by-mode"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0);
    let ran = tribunal(&folder, &["judge", "mixed.jsonl", "--by-mode"]).exits(0);
    assert!(ran.stdout.contains("pointwise") && ran.stdout.contains("reference"), "{}", ran.stdout);
}

#[test]
fn panels_are_chosen_by_name() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let other = json!({"panels": {"other": {"judges": ["ann", "bob"], "rubric": "quality"}}});
    folder.write("panel.yaml", &with(panel(upstream.base_url()), other).to_string());
    let verdict =
        tribunal(&folder, &["judge", "cases.jsonl", "-p", "other", "--json"]).exits(0).json_lines().remove(0);
    assert_eq!(verdict["panel"], "other");
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "-p", "nope"]).exits(64);
    assert!(ran.stderr.contains("default, other"), "{}", ran.stderr);
}
