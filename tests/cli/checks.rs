//! Checks that code decides, as a user sees them.

use serde_json::{Value, json};

use super::folder;
use crate::support::binary::tribunal;
use crate::support::panel::{Folder, NOWHERE, panel, with};
use crate::support::upstream::Upstream;

/// The example of the guide.
fn example() -> Folder {
    let folder = Folder::empty();
    folder.write("panel.yaml", include_str!("../../docs/examples/checks/panel.yaml"));
    folder.write("cases.jsonl", include_str!("../../docs/examples/checks/cases.jsonl"));
    folder.write("judgments.jsonl", include_str!("../../docs/examples/checks/judgments.jsonl"));
    folder
}

/// The usual panel and cases, with these checks.
fn checked(upstream: &Upstream, checks: &Value) -> Folder {
    let folder = folder(upstream);
    let change = json!({"rubrics": {"quality": {"checks": checks}}});
    folder.write("panel.yaml", &with(panel(upstream.base_url()), change).to_string());
    folder
}

fn criteria(lines: &[Value]) -> Vec<Value> {
    lines.iter().map(|verdict| verdict["criteria"].clone()).collect()
}

#[test]
fn the_example_of_the_guide_prints_what_the_guide_shows() {
    let folder = example();
    tribunal(&folder, &["check"]).exits(0);
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(0);
    let guide = include_str!("../../docs/guide/panels.md");
    let (tables, _) = ran.stdout.split_once("\njudge ").expect("a table of judges");
    for line in tables.lines().map(str::trim_end) {
        assert!(guide.contains(line), "the guide does not show\n{line}");
    }
    assert!(ran.stdout.contains("2 without a value (2 by a failed check)"), "{}", ran.stdout);
    let shown = tribunal(&folder, &["show", "last", "--case", "half"]).exits(0).stdout;
    for line in [
        "brief: pass  (check)",
        "usable: fail  (check: the answer breaks the schema at `/required`: `currency` is missing)",
        "faithful: failed check",
        "north excluded/failed check: no vote",
    ] {
        assert!(shown.contains(line), "{line} is not in\n{shown}");
    }
}

#[test]
fn what_was_found_is_the_same_in_every_output_and_run() {
    let folder = example();
    let judged = tribunal(&folder, &["judge", "cases.jsonl", "--json"]).exits(0).json_lines();
    let half = &judged[2];
    assert_eq!((&half["escalated"], &half["cost_usd"]), (&json!(false), &json!(0.0)));
    assert_eq!(half["criteria"]["usable"]["method"], "check");
    assert_eq!(half["criteria"]["faithful"]["undefined"], "failed_check");
    let shown = tribunal(&folder, &["show", "last", "--json"]).exits(0).json_lines();
    let of = |id: &str, lines: &[Value]| lines.iter().find(|verdict| verdict["case"] == id).cloned();
    for id in ["paper", "chatty", "half", "wrong"] {
        let (shown, judged) = (of(id, &shown).expect(id), of(id, &judged).expect(id));
        assert_eq!(shown["criteria"], judged["criteria"]);
    }
    let resume = ["judge", "cases.jsonl", "--json", "--resume", "last"];
    let resumed = tribunal(&folder, &resume).exits(0).json_lines();
    assert_eq!(criteria(&resumed), criteria(&judged));
    let again = tribunal(&folder, &["judge", "cases.jsonl", "--json"]).exits(0).json_lines();
    assert_eq!(criteria(&again), criteria(&judged));
}

#[test]
fn failed_cases_are_neither_paid_for_nor_estimated() {
    let upstream = Upstream::saying("4");
    let checks = json!([{"kind": "contains", "none_of": ["2"], "required": true}]);
    let folder = checked(&upstream, &checks);
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--dry-run"]).exits(0);
    let all = ran.stdout.lines().find(|line| line.starts_with("all")).unwrap_or_default();
    assert_eq!(all.split_whitespace().nth(1), Some("6"), "{}", ran.stdout);
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    assert_eq!(upstream.count(), 6, "`No. 2` was sent to nobody");
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet", "--resume", "last"]).exits(0);
    assert_eq!(upstream.count(), 6, "nor when the run goes on");
}

#[test]
fn passing_checks_is_no_judgment_and_failing_them_is_one() {
    let upstream = Upstream::saying("I could not say.");
    let folder = checked(&upstream, &json!([{"kind": "length", "max": 100}]));
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(2);
    assert!(ran.stderr.contains("nothing was judged"), "{}", ran.stderr);

    let upstream = Upstream::saying("4");
    let folder = checked(&upstream, &json!([{"kind": "length", "max": 1, "required": true}]));
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(0);
    assert!(ran.stdout.contains("3 without a value (3 by a failed check)"), "{}", ran.stdout);
    assert_eq!(upstream.count(), 0);
}

#[test]
fn pairs_are_refused_before_the_first_call() {
    let upstream = Upstream::saying("A");
    let folder = checked(&upstream, &json!([{"kind": "length", "max": 100}]));
    folder.write("pairs.jsonl", "{\"a\":\"x\",\"b\":\"y\"}\n");
    let ran = tribunal(&folder, &["judge", "pairs.jsonl"]).exits(65);
    assert!(ran.stderr.contains("rubric `quality` has checks"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0);
}

#[test]
fn a_schema_may_stand_in_a_file_beside_the_settings() {
    let checks = json!([{"kind": "json_schema", "schema_file": "schemas/answer.json"}]);
    let change = json!({"rubrics": {"quality": {"checks": checks}}});
    let folder = Folder::with_panel(&with(panel(NOWHERE), change));
    let refused = |word: &str| {
        let ran = tribunal(&folder, &["check"]).exits(78);
        assert!(ran.stderr.contains(word), "{word} is not in\n{}", ran.stderr);
    };
    refused("`schemas/answer.json` cannot be read");
    folder.write("schemas/answer.json", "{\"type\": ");
    refused("is no JSON");
    folder.write("schemas/answer.json", "{\"properties\": {\"a\": {\"type\": \"objekt\"}}}");
    refused("(at `/properties/a/type`)");
    folder.write("schemas/answer.json", "{\"type\": \"object\"}");
    tribunal(&folder, &["check"]).exits(0);
    let ran = tribunal(&folder, &["check", "--print"]).exits(0);
    assert!(ran.stdout.contains("schema_file") && ran.stdout.contains("failed_check"), "{}", ran.stdout);
}
