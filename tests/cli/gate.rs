//! `tribunal gate`: each exit code from a real invocation.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::binary::{Ran, tribunal};
use crate::support::panel::{Folder, panel, with};
use crate::support::upstream::Upstream;

/// A panel of three recorded judges on `quality` (1 to 5, passes from 4) with these scores, one list a case.
pub(super) fn recorded(scores: &[[f64; 3]]) -> Folder {
    let judge = |name: &str| json!({"server": "tape", "model": name, "family": name});
    let folder = Folder::with_panel(&json!({
        "servers": {"tape": {"provider": "replay", "path": "tape.jsonl", "read": "score"}},
        "judges": {"ann": judge("ann"), "bob": judge("bob"), "cid": judge("cid")},
        "rubrics": {"quality": {"criteria": [{"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5], "pass": 4}]}},
        "panels": {"default": {"judges": ["ann", "bob", "cid"], "rubric": "quality",
            "escalate": {"random_review_share": "off", "near_threshold": "off"}}},
    }));
    let (mut cases, mut tape) = (String::new(), String::new());
    for (case, scores) in scores.iter().enumerate() {
        let _ = writeln!(cases, "{}", json!({"id": format!("q{case:05}"), "output": "x"}));
        for (name, score) in ["ann", "bob", "cid"].iter().zip(scores) {
            let line = json!({"case": format!("q{case:05}"), "judge": name, "raw": "", "verdict": null, "score": score});
            let _ = writeln!(tape, "{line}");
        }
    }
    folder.write("cases.jsonl", &cases);
    folder.write("tape.jsonl", &tape);
    folder
}

/// As many cases with these scores of all three judges.
pub(super) fn all_agree(groups: &[(usize, f64)]) -> Vec<[f64; 3]> {
    groups.iter().flat_map(|(count, score)| std::iter::repeat_n([*score; 3], *count)).collect()
}

pub(super) fn gate(folder: &Folder, more: &[&str]) -> Ran {
    tribunal(folder, &[&["gate", "cases.jsonl", "--allow-replay"], more].concat())
}

fn report(ran: &Ran) -> Value {
    ran.json_lines().remove(0)
}

#[test]
fn clear_scores_pass_and_fail() {
    let folder = recorded(&all_agree(&[(40, 5.0), (20, 4.0)]));
    let ran = gate(&folder, &["--min", "quality=0.85"]).exits(0);
    assert!(ran.stdout.contains("gate: pass"), "{}", ran.stdout);
    let ran = gate(&folder, &["--min", "0.97"]).exits(1);
    assert!(ran.stdout.contains("gate: FAIL") && ran.stdout.contains("(< 0.97)"), "{}", ran.stdout);
    gate(&folder, &["--pass-rate", "quality=0.9"]).exits(0);
    gate(&folder, &["--min", "quality=0", "--json"]).exits(0);
}

#[test]
fn open_questions_are_inconclusive_and_say_what_would_decide() {
    let folder = recorded(&all_agree(&[(30, 5.0), (20, 4.0), (10, 2.0)]));
    let ran = gate(&folder, &["--min", "quality=0.78", "--json"]).exits(2);
    let requirement = &report(&ran)["runs"][0]["requirements"][0];
    assert_eq!(requirement["reason"], "bounds_hold_threshold");
    assert!(requirement["needed_more"].as_u64() > Some(100), "{requirement}");
    gate(&folder, &["--min", "quality=0.78", "--on-inconclusive", "pass"]).exits(0);
    gate(&folder, &["--min", "quality=0.78", "--rule", "point"]).exits(0);
    let small = recorded(&all_agree(&[(10, 5.0)]));
    let ran = gate(&small, &["--min", "quality=0.5"]).exits(2);
    assert!(ran.stdout.contains("at least 30 are needed"), "{}", ran.stdout);
    gate(&small, &["--min", "quality=0.5", "--min-cases", "10"]).exits(0);
}

#[test]
fn several_criteria_take_the_most_severe() {
    let folder = recorded(&all_agree(&[(30, 5.0), (20, 4.0), (10, 2.0)]));
    // The mean stays open, the pass rate fails.
    let both = ["--min", "quality=0.78", "--pass-rate", "quality=0.95"];
    gate(&folder, &both).exits(2);
    gate(&folder, &[&both[..], &["--on-inconclusive", "pass"]].concat()).exits(1);
}

#[test]
fn a_mean_of_tenths_reaches_its_threshold() {
    // 24 ones and 36 three-quarters: 51 / 60.
    let folder = recorded(&all_agree(&[(24, 5.0), (36, 4.0)]));
    let ran = gate(&folder, &["--min", "quality=0.85", "--rule", "point", "--json"]).exits(0);
    assert_eq!(report(&ran)["decision"], "pass");
}

#[test]
fn votes_that_are_missing_leave_it_open_and_none_at_all_is_no_pass() {
    let mut scores = all_agree(&[(60, 5.0)]);
    let folder = recorded(&scores);
    let tape = folder.read("tape.jsonl");
    let without = |cases: usize| {
        let gone: Vec<String> = (0..cases).map(|case| format!("q{case:05}")).collect();
        let kept = tape.lines().filter(|line| !gone.iter().any(|case| line.contains(case.as_str())));
        kept.flat_map(|line| [line, "\n"]).collect::<String>()
    };
    folder.write("tape.jsonl", &without(4));
    let ran = gate(&folder, &["--min", "quality=0.5"]).exits(2);
    assert!(ran.stdout.contains("more than 5 % are missing"), "{}", ran.stdout);
    folder.write("tape.jsonl", &without(60));
    gate(&folder, &["--min", "quality=0"]).exits(69);
    scores.clear();
    let nothing = recorded(&scores);
    gate(&nothing, &["--min", "quality=0"]).exits(65);
}

#[test]
fn waiting_cases_that_could_change_the_decision_leave_it_open() {
    let split: Vec<[f64; 3]> = std::iter::repeat_n([1.0, 5.0, 5.0], 30).collect();
    let folder = recorded(&[&all_agree(&[(60, 5.0)])[..], &split].concat());
    let ran = gate(&folder, &["--min", "quality=0.8", "--json"]).exits(2);
    let requirement = &report(&ran)["runs"][0]["requirements"][0];
    assert_eq!(
        (&requirement["reason"], &requirement["n_pending"]),
        (&json!("pending_could_change"), &json!(30))
    );
}

#[test]
fn what_cannot_be_asked_is_usage() {
    let folder = recorded(&all_agree(&[(3, 5.0)]));
    let check = |more: &[&str], words: &str| {
        let ran = gate(&folder, more).exits(64);
        assert!(ran.stderr.contains(words), "{words} is not in\n{}", ran.stderr);
    };
    check(&[], "nothing has to be reached on panel `default`; hint: --min quality=0.85");
    check(&["--min", "qualty=0.5"], "did you mean `quality`?");
    check(&["--min", "quality=85"], "not between 0 and 1");
    check(&["--min", "quality=much"], "not a number");
    check(&["--min", "quality=0.5", "-p", "default", "-p", "default"], "named twice");
    let ran = tribunal(&folder, &["gate", "cases.jsonl", "--min", "quality=0.5"]).exits(64);
    assert!(ran.stderr.contains("--allow-replay"), "{}", ran.stderr);
    folder.write("cases.jsonl", "{\"id\":\"p1\",\"a\":\"x\",\"b\":\"y\"}\n");
    check(&["--min", "quality=0.5"], "--baseline b");
    // GateFault::Terms: the stored run is of pairs.
    tribunal(&folder, &["judge", "cases.jsonl"]).exits(69);
    let stored = ["gate", "--run", "last", "--allow-replay", "--min", "quality=0.5"];
    let ran = tribunal(&folder, &stored).exits(64);
    assert!(ran.stderr.contains("--baseline b"), "{}", ran.stderr);
    tribunal(&folder, &["gate"]).exits(64);
}

#[test]
fn bad_data_and_other_versions_have_codes_of_their_own() {
    let folder = recorded(&all_agree(&[(40, 5.0)]));
    gate(&folder, &["--min", "quality=0.5"]).exits(0);
    let panel_file = folder.read("panel.yaml");
    let other = panel_file.replace("\"pass\": 4", "\"pass\": 3");
    assert_ne!(other, panel_file);
    folder.write("panel.yaml", &other);
    let ran =
        tribunal(&folder, &["gate", "--run", "last", "--allow-replay", "--min", "quality=0.5"]).exits(78);
    assert!(ran.stderr.contains("panel version"), "{}", ran.stderr);
    folder.write("cases.jsonl", "{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"a\",\"output\":\"y\"}\n");
    gate(&folder, &["--min", "quality=0.5"]).exits(65);
}

#[test]
fn a_stored_run_gives_the_same_bytes_twice() {
    let folder = recorded(&all_agree(&[(40, 5.0), (5, 2.0)]));
    let judged = gate(&folder, &["--min", "quality=0.5", "--json"]).exits(0);
    let stored = ["gate", "--run", "last", "--allow-replay", "--min", "quality=0.5", "--json"];
    let first = tribunal(&folder, &stored).exits(0);
    let second = tribunal(&folder, &stored).exits(0);
    assert_eq!((&first.stdout, &second.stdout), (&judged.stdout, &judged.stdout));
}

#[test]
fn thresholds_of_the_panel_stand_unless_others_are_given() {
    let upstream = Upstream::saying("4");
    let change = json!({"panels": {"default": {"gate": {"min": {"quality": 0.9}}}}});
    let folder = Folder::with_panel(&with(panel(upstream.base_url()), change));
    let cases: Vec<String> = (0..40)
        .map(|n| json!({"id": format!("q{n}"), "input": "Who?", "output": format!("No. {n}")}).to_string())
        .collect();
    folder.write("cases.jsonl", &cases.join("\n"));
    tribunal(&folder, &["gate", "cases.jsonl"]).exits(1);
    tribunal(&folder, &["gate", "cases.jsonl", "--min", "quality=0.75"]).exits(0);
    let ran = tribunal(&folder, &["gate", "cases.jsonl", "--min", "quality=0.75", "--require-calibration"])
        .exits(2);
    assert!(ran.stdout.contains("without a fresh calibration"), "{}", ran.stdout);
}
