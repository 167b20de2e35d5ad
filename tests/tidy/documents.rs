//! Documents that name files: each named file exists.

use super::{assert_none, has_extension, read, root, text_files};

/// Backticked words that are paths from the repository's root: a slash or a root file's extension, and a known beginning.
fn named_paths(text: &str) -> Vec<&str> {
    let pieces = text.split('`').enumerate().filter(|(number, _)| number % 2 == 1).map(|(_, piece)| piece);
    pieces.filter(|piece| is_path(piece)).collect()
}

fn is_path(piece: &str) -> bool {
    let is_plain = piece.chars().all(|c| c.is_ascii_alphanumeric() || "._-/*".contains(c));
    let folders =
        ["aggregation/", "providers/", "gateway/", "tests/", "dashboards/", "docs/", "scripts/", "fuzz/"];
    let is_below =
        folders.iter().chain(&[".ci/", ".config/", ".github/"]).any(|folder| piece.starts_with(folder));
    let is_root_file = !piece.contains('/')
        && piece.chars().next().is_some_and(|first| first.is_ascii_uppercase())
        && ["md", "toml", "lock"].iter().any(|extension| has_extension(piece, extension));
    is_plain && (is_below || is_root_file)
}

/// A `*` stands for any file in its folder.
fn missing(document: &str, text: &str) -> Vec<String> {
    let exists =
        |path: &str| root().join(path.split('*').next().unwrap_or(path).trim_end_matches('/')).exists();
    let names = named_paths(text).into_iter().filter(|path| !exists(path));
    names.map(|path| format!("{document}: `{path}` does not exist")).collect()
}

/// Markdown links to files of the repository, from the document's own folder.
fn dead_links(document: &str, text: &str) -> Vec<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for rest in text.split("](").skip(1) {
        let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
        let is_elsewhere = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
        if !is_elsewhere && !root().join(folder).join(target).exists() {
            findings.push(format!("{document}: link to `{target}`, which does not exist"));
        }
    }
    findings
}

#[test]
fn architecture_names_only_what_exists() {
    let text = read("ARCHITECTURE.md");
    assert!(named_paths(&text).len() > 10, "ARCHITECTURE.md names hardly any path");
    assert_none(&missing("ARCHITECTURE.md", &text));
    assert_none(&missing("CONTRIBUTING.md", &read("CONTRIBUTING.md")));
}

#[test]
fn links_between_documents_work() {
    let files = text_files();
    let documents = files.iter().filter(|file| has_extension(&file.path, "md"));
    assert_none(&documents.flat_map(|file| dead_links(&file.path, &file.text)).collect::<Vec<_>>());
}

#[test]
fn missing_files_are_found() {
    let text = "see `gateway/src/imaginary.rs`, `gateway/src/lib.rs`, `aggregation` and `a/b`";
    assert_eq!(named_paths(text).len(), 2);
    assert_eq!(missing("a.md", text).len(), 1);
    assert_eq!(
        dead_links("docs/a.md", "[x](imaginary.md) [y](https://example.org) [z](../LICENSE#top)").len(),
        1
    );
}
