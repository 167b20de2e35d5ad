//! `tribunal gate` over a rubric with checks: what code decides is held like a criterion of pass and fail.

use serde_json::{Value, json};

use super::gate::{all_agree, gate, recorded};
use super::gate_baseline::{folder as compared, judges};
use crate::support::binary::{Ran, tribunal};
use crate::support::panel::{Folder, lines, panel, with};

/// Sixty recorded cases, all 5 by every judge, of which the first `long` have an answer that fails the check `brief`.
fn sixty(long: usize, check: &Value, change: Value) -> Folder {
    let folder = recorded(&all_agree(&[(60, 5.0)]));
    let output = |n: usize| if n < long { "much too long" } else { "x" };
    let line = |n: usize| json!({"id": format!("q{n:05}"), "output": output(n)});
    folder.write("cases.jsonl", &lines((0..60).map(line)));
    let check = with(json!({"kind": "length", "name": "brief", "max": 5}), check.clone());
    let file: Value = serde_json::from_str(&folder.read("panel.yaml")).expect("JSON");
    let file = with(file, json!({"rubrics": {"quality": {"checks": [check]}}}));
    folder.write("panel.yaml", &with(file, change).to_string());
    folder
}

fn report(ran: &Ran) -> Value {
    ran.json_lines().remove(0)
}

#[test]
fn a_check_is_held_by_its_pass_rate() {
    let folder = sixty(3, &json!({}), json!({}));
    let ran = gate(&folder, &["--pass-rate", "brief=0.85", "--json"]).exits(0);
    let run = &report(&ran)["runs"][0];
    let own = &run["requirements"][0];
    assert_eq!((&own["criterion"], &own["measure"]), (&json!("brief"), &json!("pass_rate")));
    assert_eq!((&own["estimate"], &own["n"], &own["failures"]), (&json!(0.95), &json!(60), &json!(3)));
    let failed = &run["failed_checks"];
    assert_eq!((failed.as_array().map(Vec::len), &failed[0]["case"]), (Some(3), &json!("q00000")));
    assert!(run["worst"].as_array().expect("a list").iter().all(|line| line["criterion"] == "quality"));
    gate(&folder, &["--pass-rate", "brief=0.99"]).exits(1);
    gate(&folder, &["--pass-rate", "brief=0.95", "--rule", "point"]).exits(0);
    // The bare number is about what judges are asked.
    gate(&folder, &["--pass-rate", "0.9", "--json"]).exits(0);
    let ran = gate(&folder, &["--min", "brief=0.5"]).exits(64);
    // BadTerms::MeanOfCheck
    assert!(ran.stderr.contains("`brief` is a check, which passes or fails"), "{}", ran.stderr);
    let ran = gate(&folder, &["--pass-rate", "brif=0.5"]).exits(64);
    assert!(ran.stderr.contains("did you mean `brief`?"), "{}", ran.stderr);
}

#[test]
fn thresholds_of_the_panel_may_name_checks() {
    let held = |share: f64| json!({"panels": {"default": {"gate": {"pass_rate": {"brief": share}}}}});
    gate(&sixty(0, &json!({}), held(0.95)), &[]).exits(0);
    let ran = gate(&sixty(9, &json!({}), held(0.95)), &[]).exits(1);
    assert!(ran.stdout.contains("brief: pass rate 0.850, at most "), "{}", ran.stdout);
    // No number of cases shows a share of 1; the figure alone may be asked for.
    let folder = sixty(0, &json!({}), held(1.0));
    let ran = gate(&folder, &[]).exits(2);
    assert!(ran.stdout.contains("no number of cases shows that none ever fails"), "{}", ran.stdout);
    gate(&folder, &["--rule", "point"]).exits(0);
}

#[test]
fn every_output_shows_checks() {
    let folder = sixty(3, &json!({}), json!({}));
    let files = ["--junit", "junit.xml", "--markdown", "gate.md", "--html", "gate.html"];
    let ran = gate(&folder, &[&["--min", "quality=0.5"][..], &files].concat()).exits(0);
    let row = ran.stdout.lines().find(|line| line.starts_with("brief")).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, ["brief", "pointwise", "60", "100.0", "%", "95.0", "%"], "{}", ran.stdout);
    let junit = folder.read("junit.xml");
    let found = "message=\"brief failed: 13 characters, at most 5 are allowed\"";
    assert_eq!(junit.matches("<failure type=\"failed_check\" ").count(), 3, "{junit}");
    assert_eq!(
        (junit.matches(found).count(), junit.matches("<testcase ").count()),
        (3, 1 + 60 + 60),
        "{junit}"
    );
    let markdown = folder.read("gate.md");
    assert!(markdown.contains("<summary>Failed checks</summary>"), "{markdown}");
    assert!(markdown.contains("| <code>brief</code>, check | pointwise | 60 | 100.0 % |"), "{markdown}");
    let page = folder.read("gate.html");
    assert!(page.contains("Failed checks") && page.contains("13 characters, at most 5"), "{page}");
}

#[test]
fn a_failed_required_check_leaves_the_judged_criterion_without_a_value() {
    let required = json!({"required": true});
    let both = ["--min", "quality=0.9", "--pass-rate", "brief=0.7", "--json"];
    let ran = gate(&sixty(6, &required, json!({})), &both).exits(2);
    let requirements = &report(&ran)["runs"][0]["requirements"];
    assert_eq!(
        (&requirements[0]["reason"], &requirements[0]["n_missing"]),
        (&json!("too_many_missing"), &json!(6))
    );
    assert_eq!((&requirements[1]["decision"], &requirements[1]["n"]), (&json!("pass"), &json!(60)));
    // Up to 5 % may be missing, and they lift no mean.
    gate(&sixty(3, &required, json!({})), &both).exits(0);
    let fail = json!({"rubrics": {"quality": {"failed_check": "fail"}}});
    let ran = gate(&sixty(6, &required, fail), &both).exits(2);
    let own = &report(&ran)["runs"][0]["requirements"][0];
    assert_eq!((&own["estimate"], &own["n_missing"]), (&json!(0.9), &json!(0)), "the lowest of the scale");
}

#[test]
fn cases_that_wait_for_a_person_are_not_open_for_a_check() {
    let drawn = json!({"panels": {"default": {"escalate": {"random_review_share": 1.0}}}});
    let folder = sixty(3, &json!({}), drawn);
    let ran = gate(&folder, &["--min", "quality=0.9", "--pass-rate", "brief=0.85", "--json"]).exits(0);
    let requirements = &report(&ran)["runs"][0]["requirements"];
    assert_eq!((&requirements[0]["n_pending"], &requirements[1]["n_pending"]), (&json!(60), &json!(0)));
    folder.write("labels.jsonl", &lines((0..40).map(|n| json!({"id": format!("q{n:05}"), "label": 5}))));
    let corrected = ["--pass-rate", "brief=0.85", "--correct", "ppi", "--labels", "labels.jsonl", "--json"];
    let ran = gate(&folder, &corrected).exits(0);
    assert_eq!(report(&ran)["runs"][0]["requirements"][0]["correction"], Value::Null);
    let ran = gate(&sixty(0, &json!({"kind": "exact", "max": null}), json!({})), &["--pass-rate", "brief=0"]);
    assert!(ran.exits(2).stdout.contains("no case has a score"), "without references nothing is decided");
}

#[test]
fn pairs_with_a_baseline_are_judged_without_checks_and_thresholds_with_them() {
    let upstream = judges();
    let folder = compared(&upstream, |_| "good", |_| "good");
    let checks = json!([{"kind": "contains", "name": "polite", "text": "good", "required": true}]);
    let held = json!({
        "rubrics": {"quality": {"checks": checks}},
        "panels": {"default": {"gate": {"pass_rate": {"polite": 0.9}}}},
    });
    folder.write("panel.yaml", &with(panel(upstream.base_url()), held).to_string());
    let ran = tribunal(&folder, &["gate", "cases.jsonl", "--baseline", "pinned.jsonl", "--json"]).exits(0);
    let runs = &report(&ran)["runs"];
    let criteria = |run: usize| {
        let criteria = runs[run]["criteria"].as_array().expect("a list").iter();
        criteria.map(|own| own["criterion"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(runs[0]["requirements"][0]["measure"], "win_rate");
    assert_eq!(
        (criteria(0), criteria(1)),
        (vec![String::from("quality")], vec![String::from("polite"), String::from("quality")])
    );
    assert_ne!(runs[0]["panel_version"], runs[1]["panel_version"], "verdicts with checks are others");
    // The stored run of pairs stands for itself, as a gate and as a page.
    let pairs = runs[0]["run"].as_str().expect("an id");
    let again = tribunal(&folder, &["gate", "--run", pairs, "--json"]).exits(0);
    assert_eq!(report(&again)["runs"][0], runs[0]);
    let page = tribunal(&folder, &["report", pairs]).exits(0);
    assert!(page.stdout.contains("pairwise"), "{}", page.stdout);
    tribunal(&folder, &["gate", "cases.jsonl", "--baseline", "pinned.jsonl", "--compare", "scores"]).exits(0);
    // A rubric without checks asks and decides the same of pairs.
    let before = upstream.count();
    folder.write("panel.yaml", &panel(upstream.base_url()).to_string());
    let ran = tribunal(&folder, &["gate", "cases.jsonl", "--baseline", "pinned.jsonl", "--json"]).exits(0);
    assert_eq!(report(&ran)["runs"][0]["panel_version"], runs[0]["panel_version"]);
    assert_eq!(upstream.count(), before);
}
