//! `tribunal gate --baseline`: outputs beside pinned ones, and people's labels beside judges.

use serde_json::{Value, json};

use crate::support::binary::{Ran, tribunal};
use crate::support::panel::{Folder, lines, panel};
use crate::support::upstream::{Question, Reply, Upstream};

/// Judges that see which answer is good: a pair is answered by its slot, one answer by a number.
pub(super) fn judges() -> Upstream {
    Upstream::start(|question: &Question<'_>| {
        let good = |text: &str| text.contains("good");
        Reply::text(
            match question.prompt.split_once("Answer A:").and_then(|(_, pair)| pair.split_once("Answer B:")) {
                Some((first, second)) if good(first) == good(second) => "tie",
                Some((first, _)) => {
                    if good(first) {
                        "A"
                    } else {
                        "B"
                    }
                }
                None => {
                    if good(&question.prompt) {
                        "5"
                    } else {
                        "2"
                    }
                }
            },
        )
    })
}

fn outputs(words: impl Fn(usize) -> &'static str) -> String {
    let line = |n: usize| json!({"id": format!("q{n:02}"), "input": "Who?", "output": format!("a {} answer, {n}", words(n))});
    lines((0..40).map(line))
}

pub(super) fn folder(
    upstream: &Upstream,
    candidate: impl Fn(usize) -> &'static str,
    pinned: impl Fn(usize) -> &'static str,
) -> Folder {
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", &outputs(candidate));
    folder.write("pinned.jsonl", &outputs(pinned));
    folder
}

fn gate(folder: &Folder, more: &[&str]) -> Ran {
    tribunal(folder, &[&["gate", "cases.jsonl"], more].concat())
}

fn report(ran: &Ran) -> Value {
    ran.json_lines().remove(0)
}

#[test]
fn the_same_outputs_are_no_worse_and_no_better() {
    let upstream = judges();
    let folder = folder(&upstream, |_| "good", |_| "good");
    let ran = gate(&folder, &["--baseline", "pinned.jsonl", "--json"]).exits(0);
    let run = &report(&ran)["runs"][0];
    let requirement = &run["requirements"][0];
    assert_eq!((&requirement["measure"], &requirement["estimate"]), (&json!("win_rate"), &json!(0.5)));
    assert_eq!(requirement["comparison"]["ties"], 40);
    assert_eq!(run["baseline"]["name"], "pinned.jsonl");
    gate(&folder, &["--baseline", "pinned.jsonl", "--superior"]).exits(1);
    gate(&folder, &["--baseline", "pinned.jsonl", "--compare", "scores"]).exits(0);
}

#[test]
fn worse_outputs_fail_and_are_listed() {
    let upstream = judges();
    let folder = folder(&upstream, |n| if n % 2 == 0 { "bad" } else { "good" }, |_| "good");
    let ran = gate(&folder, &["--baseline", "pinned.jsonl"]).exits(1);
    assert!(ran.stdout.contains("win rate 0.250"), "{}", ran.stdout);
    let ran = gate(&folder, &["--baseline", "pinned.jsonl", "--compare", "scores", "--json"]).exits(1);
    let run = &report(&ran)["runs"][0];
    assert_eq!(run["requirements"][0]["estimate"], -0.375);
    assert_eq!(
        run["regressions"][0],
        json!({"case": "q00", "criterion": "quality", "candidate": 0.25, "baseline": 1.0})
    );
    let again = tribunal(&folder, &["gate", "--run", "last", "--json"]).exits(1);
    assert_eq!(again.stdout, ran.stdout);
}

#[test]
fn better_outputs_are_superior() {
    let upstream = judges();
    let folder = folder(&upstream, |_| "good", |n| if n % 2 == 0 { "bad" } else { "good" });
    gate(&folder, &["--baseline", "pinned.jsonl", "--superior"]).exits(0);
    gate(&folder, &["--baseline", "pinned.jsonl", "--superior", "--compare", "scores"]).exits(0);
    // Thresholds are of the outputs by themselves, in a run of their own.
    let ran = gate(&folder, &["--baseline", "pinned.jsonl", "--min", "quality=0.9", "--json"]).exits(0);
    assert_eq!(report(&ran)["runs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn pairs_of_a_file_are_compared_with_their_b() {
    let upstream = judges();
    let folder = folder(&upstream, |_| "good", |_| "good");
    let line = |n: usize| json!({"id": format!("p{n}"), "a": format!("good {n}"), "b": format!("bad {n}")});
    folder.write("cases.jsonl", &lines((0..40).map(line)));
    let ran = gate(&folder, &["--baseline", "b", "--superior", "--json"]).exits(0);
    let hash = report(&ran)["runs"][0]["baseline"]["hash"].as_str().expect("a hash").to_owned();
    tribunal(&folder, &["gate", "--run", "last", "--superior"]).exits(0);
    gate(&folder, &["--baseline", "b", "--baseline-hash", &hash]).exits(0);
    let ran = gate(&folder, &["--baseline", "b", "--baseline-hash", "b3:other"]).exits(78);
    assert!(ran.stderr.contains(&hash), "{}", ran.stderr);
    gate(&folder, &["--baseline", "b", "--compare", "scores"]).exits(64);
    // Pairs that were judged without being pinned: GateFault::NotPinned.
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    let ran = tribunal(&folder, &["gate", "--run", "last", "--min", "quality=0.5"]).exits(64);
    assert!(ran.stderr.contains("--baseline b"), "{}", ran.stderr);
}

#[test]
fn a_baseline_has_to_hold_every_case() {
    let upstream = judges();
    let folder = folder(&upstream, |_| "good", |_| "good");
    let pinned = folder.read("pinned.jsonl");
    folder.write("pinned.jsonl", pinned.lines().next().expect("a line"));
    let before = upstream.count();
    let ran = gate(&folder, &["--baseline", "pinned.jsonl"]).exits(65);
    assert!(ran.stderr.contains("baseline `pinned.jsonl` has no output for it"), "{}", ran.stderr);
    assert_eq!(upstream.count(), before);
    gate(&folder, &["--baseline", "nowhere.jsonl"]).exits(65);
}

#[test]
fn labels_stand_for_waiting_cases_and_correct_the_judges() {
    let upstream = judges();
    let folder = folder(&upstream, |n| if n % 4 == 0 { "bad" } else { "good" }, |_| "good");
    // People are a step stricter than the judges on every case they read.
    let label =
        |n: usize| json!({"id": format!("q{n:02}"), "label": if n.is_multiple_of(4) { 1 } else { 4 }});
    folder.write("labels.jsonl", &lines((0..32).map(label)));
    let min = ["--min", "quality=0.8125", "--rule", "point"];
    gate(&folder, &min).exits(0);
    let corrected = ["--min", "quality=0.7", "--labels", "labels.jsonl", "--correct", "ppi", "--json"];
    let ran = gate(&folder, &corrected).exits(1);
    let run = &report(&ran)["runs"][0];
    let requirement = &run["requirements"][0];
    assert!((requirement["correction"]["judge_only"].as_f64().expect("a number") - 0.8125).abs() < 1e-12);
    assert!((requirement["estimate"].as_f64().expect("a number") - 0.5625).abs() < 1e-9, "{requirement}");
    assert_eq!((&run["labels"]["name"], &run["labels"]["labels"]), (&json!("labels.jsonl"), &json!(32)));
    folder.write("labels.jsonl", "{\"id\":\"q00\",\"label\":9}\n");
    let ran = gate(&folder, &corrected).exits(65);
    assert!(ran.stderr.contains("label of case `q00` on `quality` is not on its scale"), "{}", ran.stderr);
    gate(&folder, &["--min", "quality=0.5", "--correct", "ppi"]).exits(64);
}
