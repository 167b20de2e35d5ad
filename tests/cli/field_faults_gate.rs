//! Faults of gates seen in the field: what was not judged, is rounded, or is zero never turns a build green.

use gateway::verdict::AbstentionKind;
use providers::error::ErrorKind;
use serde_json::{Value, json};

use super::gate::{all_agree, gate, recorded};
use crate::support::binary::{Ran, tribunal};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{Folder, NOWHERE, lines, panel, with};
use crate::support::upstream::{Reply, Upstream};

fn report(ran: &Ran) -> Value {
    ran.json_lines().remove(0)
}

#[test]
fn ff_gate_001_a_selection_of_nothing_is_no_pass() {
    let folder = recorded(&all_agree(&[(3, 5.0)]));
    let check = |file: &str, text: &str, words: &str| {
        folder.write(file, text);
        let ran = tribunal(&folder, &["gate", file, "--allow-replay", "--min", "quality=0"]).exits(65);
        assert!(ran.stderr.contains(words), "{words} is not in\n{}", ran.stderr);
    };
    check("empty.jsonl", "", "no cases in `empty.jsonl`");
    check("blank.jsonl", "\n\r\n\n", "no cases in `blank.jsonl`");
    check("headings.csv", "id,output\n", "no cases in `headings.csv`");
    check("list.json", "[]", "no cases in `list.json`");
    folder.write("bad.jsonl", "not json\n[1]\n");
    let skipping = ["gate", "bad.jsonl", "--allow-replay", "--min", "quality=0", "--skip-bad-lines"];
    let ran = tribunal(&folder, &skipping).exits(2);
    assert!(ran.stderr.contains("no case is left to judge"), "{}", ran.stderr);
    // A mistyped criterion selects nothing either.
    gate(&folder, &["--min", "qualty=0"]).exits(64);
    let ran = tribunal(&folder, &["runs"]).exits(0);
    assert!(ran.stderr.contains("no runs yet"), "nothing was begun: {}", ran.stderr);
}

#[test]
fn ff_gate_002_the_exit_code_is_the_gate() {
    let failing = recorded(&all_agree(&[(2, 1.0)]));
    gate(&failing, &["--min", "quality=0.5", "--rule", "point"]).exits(1);
    gate(&failing, &["--pass-rate", "quality=0.5", "--min-cases", "2"]).exits(2);
    gate(&recorded(&all_agree(&[(40, 1.0)])), &["--pass-rate", "quality=0.5"]).exits(1);
    // Every case errored: nobody listens there.
    let folder = Folder::with_panel(&panel(NOWHERE));
    folder.write("cases.jsonl", &lines((0..2).map(|n| json!({"id": format!("q{n}"), "output": "x"}))));
    for held in [["--min", "quality=0"], ["--pass-rate", "quality=0"]] {
        let ran = tribunal(&folder, &["gate", "cases.jsonl", held[0], held[1]]).exits(69);
        assert!(!ran.stdout.contains("gate: pass"), "{}", ran.stdout);
    }
}

#[test]
fn ff_gate_003_a_criterion_that_could_not_be_judged_is_not_satisfied() {
    let upstream = Upstream::start(|question| {
        let asks = |words: &str| question.prompt.contains(words);
        if asks("first duty") {
            let cut = json!({"role": "assistant", "content": "{\"reason\": \"The ans"});
            return Reply::completion(&json!({"index": 0, "message": cut, "finish_reason": "length"}));
        }
        Reply::text(if asks("second duty") { "I would rather not say." } else { "pass" })
    });
    let criterion = |name: &str, words: &str| json!({"name": name, "type": "pass_fail", "instructions": format!("Is the {words} done?")});
    let criteria =
        json!([criterion("m1", "first duty"), criterion("m2", "second duty"), criterion("o1", "rest")]);
    let change = json!({
        "rubrics": {"quality": {"criteria": criteria}},
        "panels": {"default": {"gate": {"pass_rate": {"m1": 0.5, "m2": 0.5, "o1": 0.5}}}},
    });
    let folder = Folder::with_panel(&with(panel(upstream.base_url()), change));
    folder.write(
        "cases.jsonl",
        &lines((0..30).map(|n| json!({"id": format!("q{n}"), "output": format!("No. {n}")}))),
    );
    let ran = tribunal(&folder, &["gate", "cases.jsonl", "--json", "--junit", "junit.xml"]).exits(2);
    let run = &report(&ran)["runs"][0];
    let decisions = run["requirements"].as_array().expect("a list").iter();
    let decisions: Vec<_> = decisions.map(|own| (&own["criterion"], &own["decision"], &own["n"])).collect();
    let expected = [("m1", "inconclusive", 0), ("m2", "inconclusive", 0), ("o1", "pass", 30)];
    assert_eq!(decisions.len(), expected.len());
    for (found, (criterion, decision, n)) in decisions.into_iter().zip(expected) {
        assert_eq!(found, (&json!(criterion), &json!(decision), &json!(n)));
    }
    assert_eq!((&run["decision"], &run["undecided"]), (&json!("inconclusive"), &json!(30)));
    let junit = folder.read("junit.xml");
    assert_eq!(junit.matches("<error type=\"not_judged\"").count(), 60, "{junit}");
}

#[test]
fn ff_gate_004_the_exact_figure_is_compared_and_shown() {
    // On 1 to 5 the mean 3.496 is 0.624, and the floor 3.5 is 0.625.
    let folder = recorded(&[3.0, 4.0, 3.0, 4.0, 3.48].map(|score| [score; 3]));
    let file: Value = serde_json::from_str(&folder.read("panel.yaml")).expect("JSON");
    let criteria = json!([{"name": "quality", "type": "continuous", "scale": [1, 5]}]);
    let change = json!({"rubrics": {"quality": {"criteria": criteria}}});
    folder.write("panel.yaml", &with(file, change).to_string());
    let ran = gate(&folder, &["--min", "quality=0.625", "--rule", "point"]).exits(1);
    assert!(ran.stdout.contains("mean 0.624 (< 0.625)"), "{}", ran.stdout);
    // Rounded to three places both would be 0.625.
    let folder = recorded(&all_agree(&[(20, 4.0), (20, 3.0)]));
    let ran = gate(&folder, &["--min", "quality=0.62501", "--rule", "point"]).exits(1);
    assert!(ran.stdout.contains("mean 0.62500 (< 0.62501)"), "{}", ran.stdout);
}

#[test]
fn ff_gate_005_equal_sums_are_no_regression_in_any_order() {
    let upstream = Upstream::start(|question| {
        let (_, after) = question.prompt.split_once("worth ").expect("the answer's own words");
        Reply::text(&after[..1])
    });
    let criteria = json!([{"name": "quality", "type": "ordinal", "scale": [0, 1, 2, 3]}]);
    let change = json!({"rubrics": {"quality": {"criteria": criteria}}});
    let folder = Folder::with_panel(&with(panel(upstream.base_url()), change));
    let outputs = |points: [u8; 5]| {
        let line = |(n, points)| json!({"id": format!("q{n}"), "output": format!("worth {points}, No. {n}")});
        lines(points.into_iter().enumerate().map(line))
    };
    folder.write("pinned.jsonl", &outputs([0, 0, 0, 0, 3]));
    let strict = ["--baseline", "pinned.jsonl", "--compare", "scores", "--margin", "0", "--rule", "point"];
    for points in [[0, 0, 0, 1, 2], [0, 0, 0, 2, 1], [1, 2, 0, 0, 0], [1, 1, 1, 0, 0]] {
        folder.write("cases.jsonl", &outputs(points));
        tribunal(&folder, &[&["gate", "cases.jsonl"][..], &strict].concat()).exits(0);
        // The same on the means by themselves: 3 of 15.
        tribunal(&folder, &["gate", "cases.jsonl", "--min", "0.2", "--rule", "point"]).exits(0);
    }
    folder.write("cases.jsonl", &outputs([0, 0, 0, 1, 1]));
    tribunal(&folder, &[&["gate", "cases.jsonl"][..], &strict].concat()).exits(1);
}

#[tokio::test]
async fn ff_gate_006_a_failure_is_not_turned_into_a_pass_by_a_negation() {
    let unavailable = || ErrorKind::Server { status: 503, message: String::from("overloaded") };
    let question = json!({
        "name": "quality", "type": "pass_fail", "instructions": "Pass unless the answer mentions a competitor.",
    });
    let checks = json!([{"kind": "contains", "name": "silent", "none_of": ["Initech"]}]);
    let change = json!({"rubrics": {"quality": {"criteria": [question], "checks": checks}}});
    let judges = Judges::default().failing("ann", unavailable()).failing("bob", unavailable());
    let gateway =
        Gateway::scripted(&with(panel(NOWHERE), change), judges.failing("cid", unavailable())).await;
    let verdict = gateway.judge(json!({"id": "q1", "output": "We are better than Initech."})).await;
    let quality = &verdict.criteria["quality"];
    assert_eq!((&quality.value, quality.score, quality.passed), (&None, None, None));
    assert!(quality.abstentions.iter().all(|missing| missing.kind == AbstentionKind::Unavailable));
    assert_eq!(verdict.criteria["silent"].passed, Some(false), "code inverts what it found");
    // A check that cannot be made is not passed either: recorded judges may come without the answer's text.
    let folder = recorded(&all_agree(&[(30, 5.0)]));
    folder.write(
        "cases.jsonl",
        &lines((0..30).map(|n| json!({"id": format!("q{n:05}"), "mode": "pointwise"}))),
    );
    let file: Value = serde_json::from_str(&folder.read("panel.yaml")).expect("JSON");
    let change = json!({"rubrics": {"quality": {"checks": [{"kind": "contains", "name": "silent", "none_of": ["Initech"]}]}}});
    folder.write("panel.yaml", &with(file, change).to_string());
    let ran = gate(&folder, &["--pass-rate", "silent=0", "--json"]).exits(2);
    assert_eq!(report(&ran)["runs"][0]["requirements"][0]["n_missing"], 30);
}

#[test]
fn ff_gate_007_a_threshold_of_zero_is_a_threshold() {
    let folder = recorded(&all_agree(&[(30, 1.0)]));
    let file: Value = serde_json::from_str(&folder.read("panel.yaml")).expect("JSON");
    let with_gate = |gate: Value| with(file.clone(), json!({"panels": {"default": {"gate": gate}}}));
    let zero = json!({"min": {"quality": 0}, "pass_rate": {"quality": 0.0}});
    folder.write("panel.yaml", &with_gate(zero).to_string());
    let ran = gate(&folder, &["--json"]).exits(0);
    let requirements = &report(&ran)["runs"][0]["requirements"];
    for own in [&requirements[0], &requirements[1]] {
        assert_eq!(
            (&own["threshold"], &own["estimate"], &own["decision"]),
            (&json!(0.0), &json!(0.0), &json!("pass"))
        );
    }
    // A zero of the caller is not replaced by the file's threshold, and unset is something else.
    folder.write("panel.yaml", &with_gate(json!({"min": {"quality": 0.9}})).to_string());
    gate(&folder, &["--min", "quality=0"]).exits(0);
    gate(&folder, &[]).exits(1);
    folder.write("panel.yaml", &file.to_string());
    gate(&folder, &[]).exits(64);
    gate(&folder, &["--min", "0", "--min-cases", "0", "--margin", "0"]).exits(0);
}
