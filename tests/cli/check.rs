//! `tribunal check`.

use serde_json::json;

use super::folder;
use crate::support::binary::{tribunal, tribunal_with};
use crate::support::panel::{Folder, NOWHERE, panel, with};
use crate::support::upstream::{Reply, Upstream};

#[test]
fn a_valid_file_is_said_to_be_valid() {
    let folder = Folder::with_panel(&panel(NOWHERE));
    let ran = tribunal(&folder, &["check"]).exits(0);
    assert!(ran.stdout.contains("panel.yaml is valid: 1 panels, 3 judges"), "{}", ran.stdout);
    let report = tribunal(&folder, &["check", "--json"]).exits(0).json_lines().remove(0);
    assert_eq!((&report["valid"], &report["panels"][0]["name"]), (&json!(true), &json!("default")));
}

#[test]
fn all_problems_come_at_once_with_place_and_next_step() {
    let folder = Folder::empty();
    folder.write(
        "panel.yaml",
        "servers:\n  s: {provider: vlm, base_url: 'http://127.0.0.1:9/v1'}\n\
         judges:\n  ann: {server: s, model: m, tempalte: direct}\n\
         panels:\n  default:\n    judges: [ann, bob]\n    rubric: quality of answers\n    quorum: 7\n",
    );
    let ran = tribunal(&folder, &["check"]).exits(78);
    for (line, word) in [(2, "vlm"), (4, "tempalte"), (7, "bob")] {
        let place = format!("panel.yaml:{line}:");
        let found = ran.stderr.lines().find(|text| text.contains(&place) && text.contains(word));
        assert!(found.is_some(), "no problem of `{word}` at {place} in\n{}", ran.stderr);
    }
    assert!(ran.stderr.matches("hint: ").count() >= 3, "{}", ran.stderr);
}

#[test]
fn the_effective_settings_show_defaults_and_no_secret() {
    let secret = "sk-live-7f3a9c1e5b";
    let change = json!({"servers": {"s-ann": {"api_key": {"env": "ANN_KEY"}}}});
    let folder = Folder::with_panel(&with(panel(NOWHERE), change));
    for arguments in
        [&["check", "--print"][..], &["check"], &["check", "--json"], &["check", "--print", "--log", "trace"]]
    {
        let ran = tribunal_with(&folder, arguments, &[("ANN_KEY", secret)], "").exits(0);
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{arguments:?}: {ran:?}");
    }
    let ran = tribunal_with(&folder, &["check", "--print"], &[("ANN_KEY", secret)], "").exits(0);
    assert!(ran.stdout.contains("ANN_KEY") && ran.stdout.contains("body_limit"), "{}", ran.stdout);
    // Without the key the file is still valid; what is missing is said.
    let ran = tribunal(&folder, &["check"]).exits(0);
    assert!(ran.stderr.contains("`ANN_KEY` is not set"), "{}", ran.stderr);
}

#[test]
fn a_secret_reaches_the_judge_and_nothing_else() {
    let secret = "sk-live-7f3a9c1e5b";
    let upstream = Upstream::start(|_| Reply::error(401, "invalid key sk-live-7f3a9c1e5b"));
    let folder = folder(&upstream);
    let change = json!({"servers": {"s-ann": {"api_key": {"env": "ANN_KEY"}}}});
    folder.write("panel.yaml", &with(panel(upstream.base_url()), change).to_string());
    let arguments = ["judge", "cases.jsonl", "--json", "--log", "trace"];
    let ran = tribunal_with(&folder, &arguments, &[("ANN_KEY", secret)], "").exits(69);
    assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    let store = std::fs::read(folder.file("tribunal.db")).expect("a store");
    assert!(
        !store.windows(secret.len()).any(|window| window == secret.as_bytes()),
        "the key is in the store"
    );
}

#[test]
fn names_that_keys_may_be_read_from_can_be_limited() {
    let change = json!({"servers": {"s-ann": {"api_key": {"env": "ANN_KEY"}}}});
    let folder = Folder::with_panel(&with(panel(NOWHERE), change));
    folder.write("cases.jsonl", &super::cases(1));
    let key = [("ANN_KEY", "sk-x"), ("TRIBUNAL_ALLOW_ENV", "OTHER_KEY")];
    let ran = tribunal_with(&folder, &["judge", "cases.jsonl"], &key, "").exits(78);
    assert!(ran.stderr.contains("ANN_KEY") && ran.stderr.contains("--allow-env"), "{}", ran.stderr);
}

#[test]
fn a_probe_calls_each_judge_once() {
    let upstream = Upstream::start(|_| Reply::text("{\"score\": 3}"));
    let folder = folder(&upstream);
    let report = tribunal(&folder, &["check", "--probe", "--json"]).exits(0).json_lines().remove(0);
    let probes = report["probes"].as_array().expect("probes");
    assert_eq!((probes.len(), upstream.count()), (3, 3));
    assert!(probes.iter().all(|probe| probe["is_answering"] == true && probe["structured_output"] == true));
    assert_eq!(probes[0]["model"], "mock-1");

    let down = Folder::with_panel(&panel(NOWHERE));
    let ran = tribunal(&down, &["check", "--probe"]).exits(69);
    assert!(ran.stderr.contains("3 of 3 judges did not answer"), "{}", ran.stderr);
}
