//! `tribunal gate`'s files, GitHub's variables, and `tribunal report`.

use serde_json::json;

use super::gate::{all_agree, gate, recorded};
use crate::support::binary::{Ran, tribunal, tribunal_with};
use crate::support::panel::Folder;

const CASES: [(usize, f64); 3] = [(30, 5.0), (20, 4.0), (10, 2.0)];

fn in_workflow(folder: &Folder, more: &[&str], environment: &[(&str, &str)]) -> Ran {
    tribunal_with(folder, &[&["gate", "cases.jsonl", "--allow-replay"], more].concat(), environment, "")
}

fn count(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

#[test]
fn a_junit_file_tells_failed_from_not_judged_from_waiting() {
    let mut scores = all_agree(&CASES);
    scores.extend([[1.0, 5.0, 5.0]; 5]);
    let folder = recorded(&scores);
    // The last two cases of all lose two of their three votes: no quorum.
    let tape = folder.read("tape.jsonl");
    let is_gone = |line: &&str| {
        !["q00058", "q00059"].iter().any(|case| line.contains(case)) || line.contains("\"judge\":\"ann\"")
    };
    folder
        .write("tape.jsonl", &tape.lines().filter(is_gone).flat_map(|line| [line, "\n"]).collect::<String>());
    gate(&folder, &["--min", "quality=0.85", "--junit", "out.xml"]).exits(2);
    let text = folder.read("out.xml");
    assert!(text.contains("tests=\"66\" failures=\"8\" errors=\"3\" skipped=\"5\""), "{text}");
    assert_eq!(count(&text, "<testcase "), 66, "a requirement and 65 cases");
    assert_eq!(count(&text, "<failure type=\"not_passed\""), 8);
    assert_eq!(count(&text, "<error type=\"not_judged\""), 2);
    assert_eq!(count(&text, "<error type=\"inconclusive\""), 1);
    assert_eq!(count(&text, "<skipped type=\"escalated\""), 5);
    assert!(text.contains("bob: no vote ("), "the missing votes' reasons: {text}");
}

#[test]
fn every_file_is_written_and_twice_the_same() {
    let folder = recorded(&all_agree(&CASES));
    let files = |n: u8| ["xml", "md", "html"].map(|kind| format!("out{n}.{kind}"));
    let [junit, markdown, html] = files(1);
    let ran = gate(&folder, &["--min", "0.9", "--junit", &junit, "--markdown", &markdown, "--html", &html])
        .exits(1);
    assert!(ran.stdout.contains("gate: FAIL"), "{}", ran.stdout);
    let [junit, markdown, html] = files(2);
    let stored = ["gate", "--run", "last", "--allow-replay", "--min", "0.9", "--quiet"];
    let more = ["--junit", &junit, "--markdown", &markdown, "--html", &html];
    let ran = tribunal(&folder, &[&stored[..], &more].concat()).exits(1);
    assert_eq!(ran.stdout, "");
    for (first, second) in files(1).iter().zip(&files(2)) {
        assert_eq!(folder.read(first), folder.read(second), "{first}");
    }
    assert!(folder.read("out1.md").starts_with("## ❌ Gate: fail\n"));
    assert!(folder.read("out1.html").contains("<title>Fail: gate of default</title>"));
}

#[test]
fn a_workflow_gets_a_summary_and_annotations() {
    let folder = recorded(&all_agree(&CASES));
    let summary = folder.file("summary.md").display().to_string();
    folder.write("summary.md", "what an earlier step wrote\n");
    let workflow = [("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", summary.as_str())];
    let ran = in_workflow(&folder, &["--min", "0.9"], &workflow).exits(1);
    let error = "::error title=gate fail%3A default::quality: mean ";
    assert_eq!(count(&ran.stdout, error), 1, "{}", ran.stdout);
    assert!(folder.read("summary.md").starts_with("what an earlier step wrote\n## ❌ Gate: fail\n"));
    let ran = in_workflow(&folder, &["--min", "0.5", "--json"], &workflow).exits(0);
    assert_eq!(ran.json_lines().len(), 1, "standard output stays JSON");
    assert!(ran.stderr.contains("::notice title=gate pass%3A default::"), "{}", ran.stderr);
    let ran = in_workflow(&folder, &["--min", "0.9", "-o", "-", "--quiet"], &workflow).exits(1);
    assert_eq!(ran.json_lines().len(), 60, "standard output stays JSON lines");
    assert!(ran.stderr.contains(error), "{}", ran.stderr);
    assert_eq!(count(&folder.read("summary.md"), "## "), 3 + 3, "three gates, each with its panel");
}

#[test]
fn elsewhere_there_is_no_annotation_and_an_unwritable_summary_is_a_warning() {
    let folder = recorded(&all_agree(&CASES));
    let ran =
        in_workflow(&folder, &["--min", "0.5"], &[("GITHUB_ACTIONS", "false"), ("GITHUB_STEP_SUMMARY", "")]);
    let ran = ran.exits(0);
    assert!(!ran.stdout.contains("::notice") && !ran.stderr.contains("summary"), "{}", ran.stderr);
    let ran =
        in_workflow(&folder, &["--min", "0.5"], &[("GITHUB_STEP_SUMMARY", "no/such/folder.md")]).exits(0);
    assert!(ran.stderr.contains("warning: no step summary: cannot write"), "{}", ran.stderr);
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_is_judged() {
    let folder = recorded(&all_agree(&CASES));
    for flag in ["--junit", "--markdown", "--html"] {
        let ran = gate(&folder, &["--min", "0.5", flag, "no/such/folder/file"]).exits(64);
        assert!(ran.stderr.contains("cannot write `no/such/folder/file`"), "{}", ran.stderr);
    }
    let ran = tribunal(&folder, &["runs"]).exits(0);
    assert!(ran.stderr.contains("no runs yet"), "{}", ran.stderr);
}

#[test]
fn a_stored_run_is_a_page_with_and_without_thresholds() {
    let folder = recorded(&all_agree(&CASES));
    tribunal(&folder, &["judge", "cases.jsonl"]).exits(0);
    let ran = tribunal(&folder, &["report", "last"]).exits(0);
    assert!(ran.stdout.contains("Nothing had to be reached"), "{}", ran.stdout);
    tribunal(&folder, &["report", "last", "-o", "page.html"]).exits(0);
    assert_eq!(folder.read("page.html"), ran.stdout);
    // The version of a panel does not depend on its gate.
    let panel = folder.read("panel.yaml").replace(
        "\"rubric\": \"quality\"",
        "\"rubric\": \"quality\", \"gate\": {\"min\": {\"quality\": 0.5}}",
    );
    let panel = panel
        .replace("\"rubric\":\"quality\"", "\"rubric\":\"quality\",\"gate\":{\"min\":{\"quality\":0.5}}");
    folder.write("panel.yaml", &panel);
    let ran = tribunal(&folder, &["report", "last", "-p", "default"]).exits(0);
    assert!(ran.stdout.contains("<title>Pass: gate of default</title>"), "{}", ran.stdout);
    tribunal(&folder, &["report", "nothing"]).exits(65);
    tribunal(&folder, &["report", "last", "-p", "other"]).exits(64);
    tribunal(&folder, &["report", "last", "-o", "no/such/folder.html"]).exits(64);
}

#[test]
fn a_run_of_pairs_is_a_page_whatever_its_panel_demands() {
    let folder = recorded(&all_agree(&[(2, 5.0)]));
    let pair = |id: &str| json!({"id": id, "a": "x", "b": "y"}).to_string();
    folder.write("cases.jsonl", &[pair("q00000"), pair("q00001")].join("\n"));
    tribunal(&folder, &["judge", "cases.jsonl"]).exits(2);
    let ran = tribunal(&folder, &["report", "last"]).exits(0);
    assert!(ran.stdout.contains("pairwise"), "{}", ran.stdout);
}
