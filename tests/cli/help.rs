//! What needs no panel.

use crate::support::binary::tribunal;
use crate::support::panel::Folder;

#[test]
fn help_and_version_are_no_errors() {
    let folder = Folder::empty();
    let help = tribunal(&folder, &["--help"]).exits(0);
    for command in ["init", "judge", "serve", "check", "schema", "runs", "show", "keys", "completions"] {
        assert!(help.stdout.contains(command), "{command} is not in {}", help.stdout);
    }
    assert!(tribunal(&folder, &["--version"]).exits(0).stdout.starts_with("tribunal "));
    let judge = tribunal(&folder, &["judge", "--help"]).exits(0);
    assert!(judge.stdout.contains("Exit codes"), "{}", judge.stdout);
}

#[test]
fn a_wrong_command_line_is_usage() {
    let folder = Folder::empty();
    for arguments in [
        &[][..],
        &["nonsense"],
        &["judge"],
        &["judge", "cases.jsonl", "--output", "x"],
        &["judge", "--a", "x"],
        &["judge", "cases.jsonl", "-j", "0"],
        &["completions", "klingon"],
        &["show"],
    ] {
        let ran = tribunal(&folder, arguments).exits(64);
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty(), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn the_schema_is_json_and_describes_the_file() {
    let ran = tribunal(&Folder::empty(), &["schema"]).exits(0);
    let schema: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    for key in ["server", "store", "servers", "judges", "models", "rubrics", "panels", "aliases"] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
}

#[test]
fn completions_are_scripts() {
    let ran = tribunal(&Folder::empty(), &["completions", "bash"]).exits(0);
    assert!(ran.stdout.contains("_tribunal()") && ran.stdout.contains("--skip-bad-lines"));
}

#[test]
fn without_a_file_every_command_names_init() {
    let folder = Folder::empty();
    for arguments in [&["judge", "cases.jsonl"][..], &["check"], &["serve"], &["runs"], &["show", "last"]] {
        let ran = tribunal(&folder, arguments).exits(78);
        assert!(ran.stderr.contains("panel.yaml") && ran.stderr.contains("tribunal init"), "{}", ran.stderr);
    }
}

#[test]
fn init_overwrites_nothing_unasked() {
    let folder = Folder::empty();
    folder.write("panel.yaml", "mine");
    let ran = tribunal(&folder, &["init", "--yes", "--no-probe"]).exits(64);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    assert_eq!(folder.read("panel.yaml"), "mine");
}

#[test]
fn init_writes_a_file_that_check_takes() {
    // A key in the environment is enough, whatever servers this machine has.
    let folder = Folder::empty();
    let key = [("OPENAI_API_KEY", "sk-test-0123456789")];
    let arguments = ["init", "--yes", "--no-probe", "--rubric", "The answer is \"right\": yes or no."];
    let ran = crate::support::binary::tribunal_with(&folder, &arguments, &key, "").exits(0);
    let text = folder.read("panel.yaml");
    assert!(text.contains("openai/gpt-5-mini"), "{text}");
    assert!(!text.contains("sk-test") && !ran.stderr.contains("sk-test") && !ran.stdout.contains("sk-test"));
    crate::support::binary::tribunal_with(&folder, &["check"], &key, "").exits(0);
}
