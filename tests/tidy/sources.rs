//! Size, names and forbidden marks of Rust files, and the closed list of top-level folders.

use std::fs;

use super::{assert_none, code_before_tests, is_test_file, read, root, rust_files, text_files};

const LONGEST_FILE_LINES: usize = 500;
const UNLABELLED_DRAWERS: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "types", "traits"];
const TOP_LEVEL_FOLDERS: [&str; 10] = [
    ".ci",
    ".config",
    ".github",
    "aggregation",
    "dashboards",
    "docs",
    "fuzz",
    "gateway",
    "providers",
    "scripts",
];

fn too_long(path: &str, text: &str) -> Vec<String> {
    let lines = code_before_tests(text).lines().count();
    if is_test_file(path) || lines <= LONGEST_FILE_LINES {
        return Vec::new();
    }
    vec![format!("{path}: {lines} lines before its tests, at most {LONGEST_FILE_LINES}: split it by noun")]
}

fn badly_named(path: &str) -> Vec<String> {
    let parts = path.split('/').map(|part| part.trim_end_matches(".rs"));
    parts
        .filter(|part| UNLABELLED_DRAWERS.contains(part))
        .map(|part| format!("{path}: `{part}` says nothing about what it owns"))
        .collect()
}

/// The marks are put together here so that this file does not hold them.
fn forbidden_marks(path: &str, text: &str) -> Vec<String> {
    let marks = [
        (["#[ign", "ore"].concat(), "a test that does not run proves nothing"),
        (["#[should", "_panic"].concat(), "assert on the error instead"),
        (["to", "do!("].concat(), "unfinished"),
        (["unimple", "mented!("].concat(), "unfinished"),
        (["clippy::too_many", "_lines"].concat(), "70 lines a function, without exception"),
        (["#![all", "ow("].concat(), "an exception is one item long and has a reason"),
    ];
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (mark, why) in &marks {
            if line.contains(mark.as_str()) {
                findings.push(format!("{path}:{}: `{mark}`: {why}", number + 1));
            }
        }
    }
    findings
}

/// Hidden folders that are not listed are an editor's business, not the repository's.
fn unknown_top_level(folders: &[String]) -> Vec<String> {
    let unknown = folders.iter().filter(|name| {
        !TOP_LEVEL_FOLDERS.contains(&name.as_str()) && *name != "tests" && !name.starts_with('.')
    });
    unknown
        .map(|name| format!("{name}/: a new top-level folder needs a decision in docs/decisions"))
        .collect()
}

#[test]
fn rust_files_are_at_most_500_lines() {
    assert_none(&rust_files().iter().flat_map(|file| too_long(&file.path, &file.text)).collect::<Vec<_>>());
}

#[test]
fn long_files_are_found_and_their_tests_do_not_count() {
    let long = "let x = 1;\n".repeat(501);
    assert_eq!(too_long("gateway/src/a.rs", &long).len(), 1);
    assert_eq!(too_long("gateway/src/a/tests.rs", &long).len(), 0);
    let tested = format!("fn a() {{}}\n\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
    assert_eq!(too_long("gateway/src/a.rs", &tested).len(), 0);
}

#[test]
fn functions_are_at_most_70_lines_by_clippy() {
    assert!(read("clippy.toml").lines().any(|line| line == "too-many-lines-threshold = 70"));
    assert!(read("Cargo.toml").contains("pedantic = { level = \"warn\""), "pedantic holds too_many_lines");
}

#[test]
fn files_are_named_for_what_they_own() {
    assert_none(&rust_files().iter().flat_map(|file| badly_named(&file.path)).collect::<Vec<_>>());
}

#[test]
fn unlabelled_drawers_are_found() {
    assert_eq!(badly_named("gateway/src/utils.rs").len(), 1);
    assert_eq!(badly_named("gateway/src/common/mod.rs").len(), 1);
    assert_eq!(badly_named("gateway/src/commonality.rs").len(), 0);
}

#[test]
fn no_forbidden_mark_in_rust() {
    assert_none(
        &rust_files().iter().flat_map(|file| forbidden_marks(&file.path, &file.text)).collect::<Vec<_>>(),
    );
}

#[test]
fn forbidden_marks_are_found() {
    let ignored = ["#[ign", "ore = \"slow\"]\nfn a() { to", "do!() }\n"].concat();
    assert_eq!(forbidden_marks("a.rs", &ignored).len(), 2);
    assert_eq!(forbidden_marks("a.rs", "// a list of things to do\n").len(), 0);
}

#[test]
fn top_level_folders_are_a_closed_list() {
    let entries = fs::read_dir(root()).expect("a readable root").map(|entry| entry.expect("an entry").path());
    let folders: Vec<String> = entries
        .filter(|path| path.is_dir())
        .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .filter(|name| !super::NOT_OURS.contains(&name.as_str()))
        .collect();
    assert_none(&unknown_top_level(&folders));
}

#[test]
fn unknown_top_level_folders_are_found() {
    assert_eq!(unknown_top_level(&["core".to_owned(), "gateway".to_owned(), ".vscode".to_owned()]).len(), 1);
}

#[test]
fn every_crate_inherits_the_workspace_lints_and_versions() {
    let manifests: Vec<_> = text_files()
        .into_iter()
        .filter(|file| file.path.matches('/').count() == 1 && file.path.ends_with("/Cargo.toml"))
        .filter(|file| !file.path.starts_with("fuzz/"))
        .collect();
    assert_eq!(manifests.len(), 4, "four crates");
    assert_none(&manifests.iter().flat_map(|file| own_versions(&file.path, &file.text)).collect::<Vec<_>>());
}

fn own_versions(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if !text.contains("[lints]\nworkspace = true") {
        findings.push(format!("{path}: lints are not inherited"));
    }
    let mut is_dependency = false;
    for line in text.lines() {
        if line.starts_with('[') {
            is_dependency = line.contains("dependencies]");
        } else if is_dependency && line.contains('=') && !line.contains("workspace = true") {
            findings.push(format!("{path}: `{line}`: versions live in the root Cargo.toml"));
        }
    }
    findings
}

#[test]
fn versions_outside_the_root_are_found() {
    let bad = "[dependencies]\nserde = \"1\"\nhttp = { workspace = true }\n";
    assert_eq!(own_versions("a/Cargo.toml", bad).len(), 2);
}
