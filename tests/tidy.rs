//! The rules that the repository keeps, kept by a test instead of by memory.
//!
//! Owns: reading the repository's own files. Must not know: what the code does. Every rule is a pure function from text
//! to findings, so that each can be shown to fail on a small bad sample; the test then runs it over the real files.

mod architecture;
mod dependencies;
mod documents;
mod errors;
mod licences;
mod metrics;
mod shell;
mod sources;
mod sql;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository; `path` starts at its root and uses `/`.
struct TextFile {
    path: String,
    text: String,
}

/// Generated or private folders, at any depth.
const NOT_OURS: [&str; 6] = ["target", ".git", ".local", "node_modules", "__pycache__", ".venv"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests crate is a folder of the repository")
}

/// Every UTF-8 file of the repository, sorted by path.
fn text_files() -> Vec<TextFile> {
    let mut files = Vec::new();
    for path in paths_below(root()) {
        if let Ok(text) = fs::read_to_string(&path) {
            files.push(TextFile { path: relative(&path), text });
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    assert!(files.len() > 20, "hardly any file found below {}", root().display());
    files
}

fn rust_files() -> Vec<TextFile> {
    text_files().into_iter().filter(|file| has_extension(&file.path, "rs")).collect()
}

fn paths_below(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if NOT_OURS.contains(&name) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            paths.extend(paths_below(&path));
        } else {
            paths.push(path);
        }
    }
    paths
}

fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).expect("a path below the root");
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// The lines of a Rust file up to its test module; all of them in a file without one.
fn code_before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text)
}

/// Whether the file holds nothing but tests.
fn is_test_file(path: &str) -> bool {
    path.starts_with("tests/")
        || path.ends_with("/tests.rs")
        || ["/tests/", "/conformance/"].iter().any(|folder| path.contains(folder))
}

#[track_caller]
fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "{} finding(s):\n  {}", findings.len(), findings.join("\n  "));
}
