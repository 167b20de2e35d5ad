//! Boundaries inside the crates that no dependency list shows.

use super::{assert_none, code_before_tests, rust_files};

/// What pure code never says. The lints refuse the clock and the environment; this refuses the rest.
const IMPURE: [&str; 8] =
    ["async fn", "async move", ".await", "std::fs", "std::net", "std::process", "std::thread", "std::io"];

fn impure(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, line) in code_before_tests(text).lines().enumerate() {
        for word in IMPURE.iter().filter(|word| line.contains(*word) && !line.trim_start().starts_with("//"))
        {
            findings.push(format!("{path}:{}: `{word}`: aggregation is pure", number + 1));
        }
    }
    findings
}

/// A cleared request can be made in one file alone, so that nothing reaches a judge past the perimeter.
fn cleared_elsewhere(path: &str, text: &str) -> Vec<String> {
    if path.ends_with("/perimeter.rs") {
        return Vec::new();
    }
    let makes = |line: &str| {
        ["Cleared(", "Cleared {", "Cleared::new("].iter().any(|made| line.contains(made))
            && !line.trim_start().starts_with("//")
    };
    let lines = code_before_tests(text).lines().enumerate().filter(|(_, line)| makes(line));
    lines.map(|(number, _)| format!("{path}:{}: only perimeter.rs clears a request", number + 1)).collect()
}

#[test]
fn aggregation_is_pure() {
    let files = rust_files();
    let files = files.iter().filter(|file| file.path.starts_with("aggregation/src/"));
    assert_none(&files.flat_map(|file| impure(&file.path, &file.text)).collect::<Vec<_>>());
}

#[test]
fn only_the_perimeter_clears_requests() {
    let files = rust_files();
    let files = files.iter().filter(|file| file.path.starts_with("gateway/src/"));
    assert_none(&files.flat_map(|file| cleared_elsewhere(&file.path, &file.text)).collect::<Vec<_>>());
}

#[test]
fn broken_boundaries_are_found() {
    assert_eq!(impure("aggregation/src/a.rs", "pub async fn ask() {}\nuse std::fs;\n").len(), 2);
    assert_eq!(impure("aggregation/src/a.rs", "/// No `std::fs` here.\npub fn fold() {}\n").len(), 0);
    assert_eq!(cleared_elsewhere("gateway/src/engine/a.rs", "let request = Cleared(request);\n").len(), 1);
    assert_eq!(cleared_elsewhere("gateway/src/perimeter.rs", "Cleared(request)\n").len(), 0);
}
