//! Faults of what is kept, seen in the field: nothing stale, torn or undefined is taken for a result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::support::binary::{start, tribunal, tribunal_with};
use crate::support::gate::Gate;
use crate::support::panel::{Folder, lines, panel, with};
use crate::support::upstream::{Reply, Upstream, prompt_of};

/// A panel of one judge, asked in bare words.
fn single(upstream: &Upstream, change: Value) -> Value {
    let alone = json!({"panels": {"default": {"judges": ["ann"], "quorum": 1}}});
    with(with(panel(upstream.base_url()), alone), change)
}

/// How often each judge was asked about each case of [`numbered`], by model and number.
fn asked(upstream: &Upstream) -> BTreeMap<(String, String), usize> {
    let mut asked = BTreeMap::new();
    for body in upstream.requests() {
        let prompt = prompt_of(&body);
        let (_, after) = prompt.split_once("answer number ").expect("the case's own words");
        let case: String = after.chars().take_while(char::is_ascii_digit).collect();
        *asked.entry((body["model"].as_str().expect("a model").to_owned(), case)).or_default() += 1;
    }
    asked
}

fn numbered(count: usize) -> String {
    lines((1..=count).map(|n| json!({"id": format!("c{n}"), "output": format!("answer number {n} of many")})))
}

fn votes(line: &str) -> usize {
    let verdict: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    verdict["criteria"]["quality"]["votes"].as_array().map_or(0, Vec::len)
}

#[test]
fn ff_store_001_whatever_may_change_an_answer_is_asked_again() {
    let upstream = Upstream::saying("4");
    let folder = Folder::empty();
    folder.write("cases.jsonl", &numbered(1));
    let rubric = |words: &str| {
        let question =
            json!({"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5], "instructions": words});
        json!({"rubrics": {"quality": {"criteria": [question]}}})
    };
    let second = || rubric("Is it right, and kind?");
    let mut calls = 0;
    for (change, what) in [
        (rubric("Is it right?"), "the first run"),
        (second(), "the rubric"),
        (with(second(), json!({"judges": {"ann": {"model": "m2"}}})), "the model"),
        (with(second(), json!({"judges": {"ann": {"template": "mine"}}})), "the template"),
        (with(second(), json!({"judges": {"ann": {"params": {"temperature": 1}}}})), "the sampling"),
        (with(second(), json!({"judges": {"ann": {"scoring": "sampled"}}})), "the scoring"),
        (with(second(), json!({"rubrics": {"quality": {"guidelines": "strict.md"}}})), "the guidelines"),
    ] {
        folder.write("strict.md", "Be strict.");
        folder.write("mine/pointwise.jinja", "{# answer: bare #}\n{{ output }} Reply with {{ form }}.");
        folder.write("panel.yaml", &single(&upstream, change).to_string());
        tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
        assert!(upstream.count() > calls, "{what} changed, and nobody was asked");
        calls = upstream.count();
        tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
        assert_eq!(upstream.count(), calls, "{what} is as it was, and its judgment known");
    }
    let elsewhere = Upstream::saying("2");
    folder.write("panel.yaml", &single(&elsewhere, second()).to_string());
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--json"]).exits(0);
    assert_eq!(ran.json_lines()[0]["criteria"]["quality"]["value"], 2.0, "another endpoint, another answer");
    assert_eq!(elsewhere.count(), 1);
}

#[test]
fn ff_store_002_errors_and_unreadable_replies_are_asked_again() {
    let is_clear = Arc::new(AtomicBool::new(false));
    let clear = Arc::clone(&is_clear);
    let upstream = Upstream::start(move |question| {
        let is_bob = question.body["model"] == "birch-one";
        match (clear.load(Ordering::Relaxed), is_bob) {
            (true, _) => Reply::text("4"),
            (false, true) => Reply::error(501, "not today"),
            (false, false) => Reply::text("I would rather not say."),
        }
    });
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", &numbered(2));
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(2);
    is_clear.store(true, Ordering::Relaxed);
    let resume = ["judge", "cases.jsonl", "--resume", "last", "--retry-errors", "--json"];
    let ran = tribunal(&folder, &resume);
    assert!(ran.stdout.lines().all(|line| votes(line) == 3), "{}", ran.stdout);
    let before = upstream.count();
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    assert_eq!(upstream.count(), before, "now there are judgments to be reused");
}

#[test]
fn ff_store_003_a_run_goes_on_by_case_and_not_by_count() {
    let gate = Gate::closed();
    let held = gate.clone();
    let upstream = Upstream::start(move |question| {
        let is_slow = ["number 2 ", "number 4 "].iter().any(|words| question.prompt.contains(words));
        if is_slow { Reply::text("4").behind(&held) } else { Reply::text("4") }
    });
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", &numbered(4));
    let mut running = start(&folder, &["judge", "cases.jsonl", "-j", "4", "--no-cache", "--quiet"]);
    upstream.wait_for(12);
    let finished = || tribunal(&folder, &["runs", "--json"]).exits(0).json_lines()[0]["finished"] == 2;
    assert!((0..200).any(|_| finished()), "the first and the third case are stored");
    running.kill();
    gate.open();
    let resume = ["judge", "cases.jsonl", "-j", "2", "--no-cache", "--resume", "last", "-o", "out.jsonl"];
    tribunal(&folder, &resume).exits(0);
    let asked = asked(&upstream);
    for model in ["alder-one", "birch-one", "cedar-one"] {
        let times = |case: &str| asked[&(model.to_owned(), case.to_owned())];
        assert_eq!(["1", "2", "3", "4"].map(times), [1, 2, 1, 2], "{model}");
    }
    let out = folder.read("out.jsonl");
    let mut cases: Vec<String> = out
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("JSON")["case"].as_str().expect("an id").to_owned()
        })
        .collect();
    cases.sort();
    assert_eq!(cases, ["c1", "c2", "c3", "c4"], "each once");
}

#[test]
fn ff_store_004_a_torn_line_takes_no_other_with_it() {
    let gate = Gate::closed();
    let held = gate.clone();
    let upstream = Upstream::start(move |question| {
        if question.prompt.contains("number 2 ") { Reply::text("4").behind(&held) } else { Reply::text("4") }
    });
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", &numbered(3));
    let mut running = start(&folder, &["judge", "cases.jsonl", "-j", "1", "--quiet", "-o", "out.jsonl"]);
    upstream.wait_for(6);
    running.kill();
    gate.open();
    // What the file looks like when the disk was cut off in mid-line.
    folder.write("out.jsonl", "{\"case\":\"c1\",\"criteria\":{}}\n{\"case\":\"c2\",\"cri");
    let resume = ["judge", "cases.jsonl", "--quiet", "-o", "out.jsonl", "--resume", "last"];
    tribunal(&folder, &resume).exits(0);
    let out = folder.read("out.jsonl");
    assert_eq!(out.lines().map(votes).collect::<Vec<_>>(), [3, 3, 3], "the store fills the file anew: {out}");
    assert_eq!(asked(&upstream)[&(String::from("alder-one"), String::from("1"))], 1, "`c1` was kept");
    // Cases with a torn last line are refused by that line, whatever stands before it.
    folder.write("cases.jsonl", "{\"id\":\"c1\",\"output\":\"x\"}\n{\"id\":\"c2\",\"out");
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(65);
    assert!(ran.stderr.contains("cases.jsonl:line 2"), "{}", ran.stderr);
}

#[test]
fn ff_store_005_what_is_undefined_is_null_with_its_reason() {
    let upstream = Upstream::saying("4");
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", &numbered(40));
    let ran = tribunal(&folder, &["gate", "cases.jsonl", "--min", "quality=0.7", "--json"]).exits(0);
    // Strict: a NaN is no JSON.
    let report: Value = serde_json::from_str(ran.stdout.trim_end()).expect("JSON");
    let criterion = &report["runs"][0]["criteria"][0];
    let pair = &criterion["agreement"][0];
    assert_eq!((&criterion["mean"], &pair["n"]), (&json!(0.75), &json!(40)));
    assert_eq!(pair["kappa"], Value::Null, "judges that never vary have no kappa");
    assert!(pair["undefined"].as_str().is_some_and(|why| !why.is_empty()), "{pair}");
    for file in ["out.jsonl", "show.jsonl"] {
        let arguments: &[&str] = if file == "out.jsonl" {
            &["judge", "cases.jsonl", "--json"]
        } else {
            &["show", "last", "--json"]
        };
        let ran = tribunal(&folder, arguments).exits(0);
        assert_eq!(ran.json_lines().len(), 40);
        assert!(!ran.stdout.contains("NaN") && !ran.stdout.contains("Infinity"), "{file}");
    }
}

#[test]
fn ff_store_006_two_cases_of_one_id_are_refused_before_anything_is_spent() {
    let upstream = Upstream::saying("4");
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    let twice = "{\"id\":\"dup\",\"output\":\"right\"}\n{\"id\":\"dup\",\"output\":\"wrong\"}\n";
    folder.write("twice.jsonl", twice);
    for command in [&["judge", "twice.jsonl"][..], &["gate", "twice.jsonl", "--min", "quality=0"]] {
        let ran = tribunal(&folder, command).exits(65);
        assert!(ran.stderr.contains("twice.jsonl:2: id `dup` stands at line 1"), "{}", ran.stderr);
        let ran = tribunal_with(
            &folder,
            &[command[0], "-", "--min", "quality=0"][..if command[0] == "gate" { 4 } else { 2 }],
            &[],
            twice,
        );
        assert!(ran.exits(65).stderr.contains("id `dup` stands at line 1"));
    }
    assert_eq!(upstream.count(), 0);
}

#[test]
fn ff_store_007_lines_are_counted_as_an_editor_counts_them() {
    let upstream = Upstream::saying("4");
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", "\u{feff}{\"id\":\"1\",\"output\":\"a\"}\r\n\r\n[1,2]\r\n");
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(65);
    assert!(ran.stderr.contains("cases.jsonl:line 3"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("line 1") && !ran.stderr.contains("line 2"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0);
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--skip-bad-lines", "--json"]).exits(0);
    let verdicts = ran.json_lines();
    assert_eq!((verdicts.len(), &verdicts[0]["case"]), (1, &json!("1")));
}
