//! Ctrl-C, and going on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{cases, folder};
use crate::support::binary::{start, tribunal};
use crate::support::gate::Gate;
use crate::support::upstream::{Reply, Upstream};

/// More than are read ahead and in flight.
const CASES: usize = 200;

#[test]
fn an_interrupted_run_prints_how_to_go_on_and_asks_nothing_twice() {
    let gate = Gate::closed();
    let (held, count) = (gate.clone(), AtomicUsize::new(0));
    let upstream = Upstream::start(move |_| {
        // The first ten cases pass, the others wait for the test.
        let is_early = count.fetch_add(1, Ordering::Relaxed) < 30;
        if is_early { Reply::text("4") } else { Reply::text("4").behind(&held) }
    });
    let folder = folder(&upstream);
    folder.write("cases.jsonl", &cases(CASES));
    let mut running = start(&folder, &["judge", "cases.jsonl", "-j", "2"]);
    upstream.wait_for(33);
    running.interrupt();
    gate.open();
    let ran = running.wait(&folder).exits(130);
    let resume = ran.stderr.lines().find_map(|line| line.strip_prefix("interrupted; go on with: tribunal "));
    let resume = resume.unwrap_or_else(|| panic!("no command in\n{}", ran.stderr)).to_owned();
    assert!(resume.starts_with("judge cases.jsonl --resume "), "{resume}");
    assert!(upstream.count() < 3 * CASES, "it stopped before the end");

    // As printed, and by `last`.
    let mut command: Vec<&str> = resume.split(' ').collect();
    command.extend(["-j", "16", "--quiet"]);
    tribunal(&folder, &command).exits(0);
    assert_eq!(upstream.count(), 3 * CASES, "each judge was asked once about each case");
    tribunal(&folder, &["judge", "cases.jsonl", "--resume", "last", "--quiet"]).exits(0);
    assert_eq!(upstream.count(), 3 * CASES);
    let runs = tribunal(&folder, &["runs", "--json"]).exits(0).json_lines();
    assert_eq!(
        (runs.len(), runs[0]["finished"].as_u64(), &runs[0]["status"]),
        (1, Some(CASES as u64), &"finished".into())
    );
}

#[test]
fn a_case_that_changed_does_not_take_the_old_verdict() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    folder.write("cases.jsonl", &cases(3).replace("No. 2", "Another"));
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--quiet", "--resume", "last"]).exits(65);
    assert!(
        ran.stderr.contains(
            "changed since the run began; hint: begin a new run, its other judgments come from the cache"
        ),
        "{}",
        ran.stderr
    );
    assert_eq!(upstream.count(), 9);
}

#[test]
fn a_second_interrupt_stops_at_once() {
    let gate = Gate::closed();
    let held = gate.clone();
    let upstream = Upstream::start(move |_| Reply::text("4").behind(&held));
    let folder = folder(&upstream);
    folder.write("cases.jsonl", &cases(CASES));
    let mut running = start(&folder, &["judge", "cases.jsonl", "-j", "2"]);
    upstream.wait_for(6);
    // Signals of one kind may merge, so that the second one is sent until it has worked.
    let ran = running.interrupt_until_it_ends(&folder).exits(130);
    assert!(ran.stderr.contains("--resume"), "{}", ran.stderr);
    gate.open();
}

#[test]
fn votes_that_failed_are_asked_again_and_nothing_else_is() {
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let upstream = Upstream::start(move |question| {
        let is_bob = question.body["model"] == "birch-one";
        if is_bob && down.load(Ordering::Relaxed) { Reply::error(501, "not today") } else { Reply::text("4") }
    });
    let folder = folder(&upstream);
    folder.write("cases.jsonl", &cases(20));
    let asked = |model: &str| upstream.requests().iter().filter(|body| body["model"] == model).count();
    let votes = || {
        let verdicts = folder.read("out.jsonl");
        let lines = verdicts.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.map(|v| v["criteria"]["quality"]["votes"].as_array().unwrap().len()).collect::<Vec<_>>()
    };
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet", "-o", "out.jsonl"]).exits(0);
    assert_eq!(votes(), [2; 20]);
    let resume = ["judge", "cases.jsonl", "--quiet", "-o", "out.jsonl", "--resume", "last"];
    let retry = [&resume[..], &["--retry-errors"]].concat();
    tribunal(&folder, &resume).exits(0);
    let before = asked("birch-one");
    assert_eq!(votes(), [2; 20], "a finished case is left as it is");

    is_down.store(false, Ordering::Relaxed);
    tribunal(&folder, &retry).exits(0);
    assert_eq!(votes(), [3; 20]);
    assert_eq!(asked("birch-one"), before + 20, "the one that failed");
    assert_eq!((asked("alder-one"), asked("cedar-one")), (20, 20), "and nobody else");
    let runs = tribunal(&folder, &["runs", "--json"]).exits(0).json_lines();
    assert_eq!(
        (runs.len(), runs[0]["finished"].as_u64()),
        (1, Some(20)),
        "a new verdict replaces the old one"
    );
    tribunal(&folder, &retry).exits(0);
    assert_eq!(upstream.count(), before + 60, "there is nothing left to ask");
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--retry-errors"]).exits(64);
    assert!(ran.stderr.contains("--resume"), "{}", ran.stderr);
}
