//! Words that must not be in the repository: secrets, and paths of somebody's own machine.

use super::{assert_none, text_files};

/// Put together here so that this file does not hold what it looks for.
fn machine_words() -> Vec<String> {
    [
        ["/wo", "rk/"],
        ["/tmp/", "wt"],
        ["/ro", "ot/"],
        ["/home/", "runner"],
        ["shared/", "design"],
        ["shared/", "spec"],
    ]
    .iter()
    .chain(&[["shared/", "oracles"], ["shared/", "wire"], ["shared/", "cases"], ["shared/", "data"]])
    .chain(&[["fa", "rm-"], ["before", "-stop"]])
    .map(|parts| parts.concat())
    .collect()
}

fn words_of_a_machine(path: &str, text: &str) -> Vec<String> {
    let words = machine_words();
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in words.iter().filter(|word| line.contains(word.as_str())) {
            findings.push(format!("{path}:{}: `{word}` belongs to one machine", number + 1));
        }
    }
    findings
}

/// A known prefix followed by at least so many characters of a key.
fn secrets(path: &str, text: &str) -> Vec<String> {
    let prefixes =
        [("sk-", 32), ("sk-ant-", 20), ("AKIA", 16), ("ghp_", 30), ("github_pat_", 22), ("AIza", 30)];
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let key = prefixes.iter().find(|(prefix, length)| holds_key(line, prefix, *length));
        if let Some((prefix, _)) = key {
            findings.push(format!("{path}:{}: looks like a key (`{prefix}…`)", number + 1));
        }
        if line.contains(&["-----BE", "GIN"].concat()) && line.contains(&["PRIVATE", " KEY"].concat()) {
            findings.push(format!("{path}:{}: a private key", number + 1));
        }
    }
    findings
}

/// A key mixes letters and digits; a word with hyphens, such as a test's name, does not reach the length without a digit.
fn holds_key(line: &str, prefix: &str, length: usize) -> bool {
    line.match_indices(prefix).any(|(start, _)| {
        let rest = line.get(start + prefix.len()..).unwrap_or_default();
        let key: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let starts_a_word =
            !line.get(..start).unwrap_or_default().ends_with(|c: char| c.is_ascii_alphanumeric());
        starts_a_word
            && key.len() >= length
            && key.contains(|c: char| c.is_ascii_digit())
            && key.contains(|c: char| c.is_ascii_alphabetic())
    })
}

#[test]
fn no_path_of_one_machine() {
    assert_none(
        &text_files().iter().flat_map(|file| words_of_a_machine(&file.path, &file.text)).collect::<Vec<_>>(),
    );
}

#[test]
fn paths_of_one_machine_are_found() {
    let line = ["see /wo", "rk/notes and /tmp/", "wt\n"].concat();
    assert_eq!(words_of_a_machine("a.md", &line).len(), 2);
    assert_eq!(words_of_a_machine("a.md", "network/share and firmware-9\n").len(), 0);
}

#[test]
fn no_secret() {
    let files = text_files();
    let files = files.iter().filter(|file| !file.path.ends_with("Cargo.lock"));
    assert_none(&files.flat_map(|file| secrets(&file.path, &file.text)).collect::<Vec<_>>());
}

#[test]
fn secrets_are_found() {
    let key = ["sk", "-", &"a1b2".repeat(9)].concat();
    assert_eq!(secrets("a.rs", &format!("let key = \"{key}\";")).len(), 1);
    let pem = ["-----BE", "GIN RSA PRIVATE", " KEY-----"].concat();
    assert_eq!(secrets("a.pem", &pem).len(), 1);
    assert_eq!(
        secrets("a.rs", "let key = \"sk-test\"; // task-3a9f1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f80").len(),
        0
    );
}
