//! Error variants: each is produced by some test, so that its message and its exit code have been seen once.

use std::collections::BTreeSet;

use super::{TextFile, assert_none, code_before_tests, is_test_file, text_files};

/// Variants under an `#[error("…")]` attribute, with the longest literal piece of the message.
fn variants(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for piece in code.split("#[error(").skip(1) {
        let message = piece.split('"').nth(1).unwrap_or_default();
        let literal = message.split(['{', '}', '`', '\\']).max_by_key(|part| part.len()).unwrap_or_default();
        if let Some(name) = variant_after_attribute(piece) {
            found.push((name, literal.trim().to_owned()));
        }
    }
    found
}

/// The identifier after the attribute's closing bracket; `None` for an error that is a struct.
fn variant_after_attribute(piece: &str) -> Option<String> {
    let rest = piece.split_once(")]")?.1;
    let line = rest
        .lines()
        .map(str::trim)
        .find(|line| !(line.is_empty() || line.starts_with("//") || line.starts_with('#')))?;
    let name: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
    name.chars().next().filter(char::is_ascii_uppercase).map(|_| name)
}

/// A variant counts as produced when test code names it, or asserts on a piece of its message.
fn unproduced(path: &str, code: &str, tests: &str, words: &BTreeSet<&str>) -> Vec<String> {
    let is_produced =
        |name: &str, literal: &str| words.contains(name) || (literal.len() >= 8 && tests.contains(literal));
    let missing = variants(code).into_iter().filter(|(name, literal)| !is_produced(name, literal));
    missing.map(|(name, _)| format!("{path}: no test produces `{name}`")).collect()
}

fn test_code(file: &TextFile) -> &str {
    if is_test_file(&file.path) || file.path.contains("/snapshots/") {
        return &file.text;
    }
    file.text.get(code_before_tests(&file.text).len()..).unwrap_or_default()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

#[test]
fn every_error_variant_is_produced_by_a_test() {
    let files = text_files();
    let tests: String =
        files.iter().filter(|file| !file.path.starts_with("tests/tidy")).map(test_code).collect();
    let words = words(&tests);
    let sources = files.iter().filter(|file| file.path.contains("/src/") && !is_test_file(&file.path));
    let findings =
        sources.flat_map(|file| unproduced(&file.path, code_before_tests(&file.text), &tests, &words));
    assert_none(&findings.collect::<Vec<_>>());
}

#[test]
fn unproduced_variants_are_found() {
    let code = "#[derive(Error)]\nenum ReadError {\n    #[error(\"line {line} is no case\")]\n    NoCase { line: usize },\n    \
                #[error(\"file `{0}` is empty of cases\")]\n    Empty(String),\n    #[error(transparent)]\n    Store(#[from] StoreError),\n}\n";
    let check = |tests: &str, expected: usize| {
        assert_eq!(unproduced("a.rs", code, tests, &words(tests)).len(), expected, "{tests}");
    };
    check("", 3);
    check("assert_eq!(read(\"\"), Err(ReadError::NoCase { line: 1 }));", 2);
    check("assert!(message.contains(\"is empty of cases\")); ReadError::Store(x)", 1);
}
