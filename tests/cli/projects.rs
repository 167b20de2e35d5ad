//! `--project`: the rows of one project.

use super::folder;
use crate::support::binary::{tribunal, tribunal_with};
use crate::support::upstream::Upstream;

#[test]
fn a_project_has_runs_of_its_own() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let search = ["--project", "search"];
    let in_search = |arguments: &[&'static str]| -> Vec<&'static str> {
        arguments.iter().copied().chain(search).collect()
    };
    tribunal(&folder, &in_search(&["judge", "cases.jsonl", "--quiet"])).exits(0);
    assert!(tribunal(&folder, &["runs"]).exits(0).stderr.contains("no runs yet"));
    tribunal(&folder, &["show", "last"]).exits(65);
    let runs = tribunal(&folder, &in_search(&["runs", "--json"])).exits(0).json_lines();
    assert_eq!((runs.len(), &runs[0]["finished"]), (1, &serde_json::json!(3)));
    let by_variable = [("TRIBUNAL_PROJECT", "search")];
    let of_search = tribunal_with(&folder, &["runs", "--json"], &by_variable, "").exits(0);
    assert_eq!(of_search.json_lines(), runs);

    for arguments in [
        &["show", "last"][..],
        &["show", "last", "--case", "q2"],
        &["report", "last"],
        &["gate", "--run", "last", "--min", "quality=0.5", "--min-cases", "1", "--junit", "junit.xml"],
        &["judge", "cases.jsonl", "--resume", "last", "--max-cost", "1"],
    ] {
        tribunal(&folder, &in_search(arguments)).exits(0);
    }
    assert!(folder.read("junit.xml").contains("q2"), "{}", folder.read("junit.xml"));
    let judgments = tribunal(&folder, &in_search(&["show", "last", "--judgments"])).exits(0).json_lines();
    assert_eq!((judgments.len(), upstream.count()), (9, 9), "nothing is asked twice");

    // Nothing is shared between projects, judgments that could answer included.
    tribunal(&folder, &["judge", "cases.jsonl", "--quiet"]).exits(0);
    assert_eq!(upstream.count(), 18);
}

#[test]
fn the_command_to_go_on_names_the_project() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let capped = ["judge", "cases.jsonl", "--quiet", "--max-cost", "0.000001", "--project", "search"];
    let ran = tribunal(&folder, &capped).exits(2);
    assert!(ran.stderr.contains("--project search --resume "), "{}", ran.stderr);
}

#[test]
fn a_single_verdict_belongs_to_its_project() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let one = ["judge", "--input", "Who?", "--output", "Me.", "--json", "--project", "search"];
    let verdict = tribunal(&folder, &one).exits(0).json_lines().remove(0);
    let id = verdict["id"].as_str().expect("an id");
    tribunal(&folder, &["show", id, "--project", "search"]).exits(0);
    tribunal(&folder, &["show", id]).exits(65);
    let wrong = tribunal(&folder, &["runs", "--project", "a b"]).exits(64);
    assert!(wrong.stderr.contains("a-z, 0-9"), "{}", wrong.stderr);
}
