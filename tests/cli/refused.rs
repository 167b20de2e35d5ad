//! What is refused before anything is spent.

use serde_json::json;

use super::folder;
use crate::support::binary::tribunal;
use crate::support::panel::{panel, with};
use crate::support::upstream::Upstream;

#[test]
fn all_bad_lines_are_listed_with_their_numbers() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("bad.jsonl", "{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"b\",\"outptu\":\"x\"}\nnot json\n{\"id\":\"d\",\"input\":\"q\"}\n");
    let ran = tribunal(&folder, &["judge", "bad.jsonl"]).exits(65);
    for line in ["line 2", "line 3", "line 4"] {
        assert!(ran.stderr.contains(&format!("bad.jsonl:{line}")), "{line} is not in\n{}", ran.stderr);
    }
    assert!(ran.stderr.contains("did you mean `output`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--skip-bad-lines"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0);

    let ran = tribunal(&folder, &["judge", "bad.jsonl", "--skip-bad-lines", "--json"]).exits(0);
    assert_eq!(ran.json_lines().len(), 1);
    assert!(ran.stderr.contains("line 3") && ran.stderr.contains("3 lines are left out"), "{}", ran.stderr);
}

#[test]
fn duplicate_ids_are_all_named() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("twice.jsonl", "{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"b\",\"output\":\"x\"}\n{\"id\":\"a\",\"output\":\"y\"}\n{\"id\":\"b\",\"output\":\"y\"}\n");
    let ran = tribunal(&folder, &["judge", "twice.jsonl", "--skip-bad-lines"]).exits(65);
    for words in ["twice.jsonl:3: id `a` stands at line 1", "twice.jsonl:4: id `b` stands at line 2"] {
        assert!(ran.stderr.contains(words), "{words} is not in\n{}", ran.stderr);
    }
    assert_eq!(upstream.count(), 0);
}

#[test]
fn files_that_hold_nothing_or_are_not_there() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("empty.jsonl", "\n\n");
    for (file, code) in [("empty.jsonl", 65), ("nowhere.jsonl", 65)] {
        let ran = tribunal(&folder, &["judge", file]).exits(code);
        assert!(ran.stderr.contains(file), "{}", ran.stderr);
    }
}

#[test]
fn a_field_that_a_template_needs_is_missed_before_the_first_call() {
    let upstream = Upstream::saying("A");
    let folder = folder(&upstream);
    folder.write(
        "panel.yaml",
        &with(panel(upstream.base_url()), json!({"judges": {"ann": {"template": "mine"}}})).to_string(),
    );
    folder.write(
        "mine/pairwise.jinja",
        "{# answer: bare #}\n{{ reference }} {{ first }} {{ second }} {{ form }}",
    );
    folder.write("pairs.jsonl", "{\"id\":\"p1\",\"a\":\"x\",\"b\":\"y\",\"reference\":\"z\"}\n{\"id\":\"p2\",\"a\":\"x\",\"b\":\"y\"}\n");
    let ran = tribunal(&folder, &["judge", "pairs.jsonl"]).exits(65);
    assert!(
        ran.stderr.contains("line 2") && ran.stderr.contains("`p2`: `reference` missing"),
        "{}",
        ran.stderr
    );
    // A mode without a file is a matter of the configuration.
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(78);
    assert!(ran.stderr.contains("no file for pointwise cases"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0);
}

#[test]
fn judges_that_are_all_related_to_the_candidates() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let change = json!({"judges": {"bob": {"family": "alder"}}, "models": {"alder-*": {"family": "alder"}}});
    folder.write("panel.yaml", &with(panel(upstream.base_url()), change).to_string());
    folder.write("kin.jsonl", "{\"output\":\"x\",\"model\":\"alder-7\"}\n");
    for arguments in [&["judge", "kin.jsonl"][..], &["judge", "--output", "x", "--model", "alder-7"]] {
        let ran = tribunal(&folder, arguments).exits(78);
        assert!(ran.stderr.contains("alder-7") && ran.stderr.contains("ann, bob"), "{}", ran.stderr);
    }
    assert_eq!(upstream.count(), 0);
    let ran = tribunal(&folder, &["judge", "kin.jsonl", "--allow-kin"]).exits(0);
    assert!(ran.stdout.contains("--allow-kin"), "{}", ran.stdout);
}

#[test]
fn a_judge_without_its_key() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let change = json!({"servers": {"s-ann": {"api_key": {"env": "ANN_KEY"}}}});
    folder.write("panel.yaml", &with(panel(upstream.base_url()), change).to_string());
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(78);
    assert!(ran.stderr.contains("`ANN_KEY` is not set"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0);
}

#[test]
fn a_run_that_is_not_there_or_of_another_panel() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    tribunal(&folder, &["judge", "cases.jsonl", "--resume", "last"]).exits(65);
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    let before = upstream.count();
    folder.write(
        "panel.yaml",
        &with(panel(upstream.base_url()), json!({"panels": {"default": {"quorum": 3}}})).to_string(),
    );
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--resume", "last"]).exits(78);
    assert!(ran.stderr.contains("panel version"), "{}", ran.stderr);
    assert_eq!(upstream.count(), before);
}
