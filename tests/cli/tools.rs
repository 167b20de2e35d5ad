//! `tribunal judge --from`: result files of other tools.

use super::folder;
use crate::support::binary::tribunal;
use crate::support::upstream::Upstream;

const PROMPTFOO: &str = include_str!("../../gateway/src/intake/tools/fixtures/promptfoo.json");

#[test]
fn a_promptfoo_file_is_judged_from_end_to_end() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("results.json", PROMPTFOO);
    let ran = tribunal(&folder, &["judge", "results.json", "--from", "promptfoo", "--by-mode"]).exits(65);
    assert!(ran.stderr.contains("`test-3-prompt-1-tutor-2`: `response` holds no answer"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the tutor is away"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0, "nothing was asked");
    let arguments =
        ["judge", "results.json", "--from", "promptfoo", "--by-mode", "--skip-bad-lines", "--json"];
    let verdicts = tribunal(&folder, &arguments).exits(0).json_lines();
    assert_eq!(verdicts.len(), 7);
    let peru = verdicts.iter().find(|verdict| verdict["case"] == "test-0-prompt-1-tutor-2");
    assert_eq!(peru.expect("the case")["mode"], "reference");
}

fn fixture(name: &str) -> String {
    format!("{}/../gateway/src/intake/tools/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn an_inspect_log_is_counted_and_judged_as_it_was_written() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    let log = fixture("inspect.eval");
    let flags = ["judge", &log, "--from", "inspect", "--skip-bad-lines"];
    let ran = tribunal(&folder, &[&flags[..], &["--dry-run"]].concat()).exits(0);
    let ann = ran.stdout.lines().find_map(|line| line.trim_start().strip_prefix("ann "));
    assert!(ann.is_some_and(|calls| calls.trim_start().starts_with("4 ")), "{}", ran.stdout);
    assert!(ran.stderr.contains("case `away-epoch-2`: `error` holds no answer"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0, "nothing was asked");
    let verdicts = tribunal(&folder, &[&flags[..], &["--json"]].concat()).exits(0).json_lines();
    let mut names: Vec<_> = verdicts.iter().filter_map(|verdict| verdict["case"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["2-epoch-1", "2-epoch-2", "peru-epoch-1", "peru-epoch-2"]);
}

#[test]
fn two_answer_files_of_mt_bench_are_judged_as_pairs() {
    let upstream = Upstream::saying("A");
    let folder = folder(&upstream);
    let bench = fixture("mt_bench");
    let ran = tribunal(&folder, &["judge", &bench]).exits(65);
    assert!(ran.stderr.contains("looks like a file of mt-bench; hint: --from mt-bench"), "{}", ran.stderr);
    let flags = ["judge", &bench, "--from", "mt-bench", "--skip-bad-lines", "--json"];
    let verdicts = tribunal(&folder, &flags).exits(0).json_lines();
    assert_eq!(verdicts.len(), 2);
    assert!(verdicts.iter().all(|verdict| verdict["mode"] == "pairwise"), "{verdicts:?}");
}

#[test]
fn the_command_to_go_on_with_reads_the_file_in_the_same_way() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("results.json", PROMPTFOO);
    let flags = ["judge", "results.json", "--from", "promptfoo", "--by-mode", "--skip-bad-lines"];
    let ran = tribunal(&folder, &[&flags[..], &["--max-cost", "0.000001"]].concat()).exits(2);
    let said =
        "go on with: tribunal judge results.json --from promptfoo --skip-bad-lines --by-mode --resume ";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn a_file_of_a_tool_without_from_gets_the_hint() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("results.json", PROMPTFOO);
    let ran = tribunal(&folder, &["judge", "results.json"]).exits(65);
    assert!(ran.stderr.contains("hint: --from promptfoo"), "{}", ran.stderr);
    let ran = tribunal(&folder, &["judge", "results.json", "--from", "inspect"]).exits(65);
    assert!(ran.stderr.contains("looks like a file of promptfoo, not of inspect"), "{}", ran.stderr);
    let ran = tribunal(&folder, &["judge", "results.json", "--from", "nobody"]).exits(64);
    assert!(ran.stderr.contains("mt-bench"), "{}", ran.stderr);
}
