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
