//! Reference pages, written from the code itself: settings from their schema, commands from the parser, routes from the
//! OpenAPI document, metrics from their declarations.
//!
//! Owns: how those become Markdown. Must not know: anything that the code does not say. A test compares the pages in
//! `docs/reference` with what this module writes; `scripts/references` writes them again.

mod api;
mod cli;
mod config;
mod markdown;
mod metrics;

use std::io;
use std::path::Path;

/// A generated file of `docs/reference`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub file_name: &'static str,
    pub text: String,
}

/// Every generated file.
pub fn pages() -> Vec<Page> {
    let document = serde_json::to_value(crate::api::openapi()).unwrap_or_default();
    vec![
        Page { file_name: "config.md", text: config::page(&crate::settings::schema()) },
        Page { file_name: "cli.md", text: cli::page() },
        Page { file_name: "api.md", text: api::page(&document) },
        Page { file_name: "metrics.md", text: metrics::page() },
        Page { file_name: "openapi.json", text: format!("{document:#}\n") },
    ]
}

/// Writes every generated file into `folder`.
pub fn write(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    pages().iter().try_for_each(|page| std::fs::write(folder.join(page.file_name), &page.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_pages_say_what_the_code_says() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference");
        for page in pages() {
            let stands = std::fs::read_to_string(folder.join(page.file_name)).unwrap_or_default();
            let line = stands.lines().zip(page.text.lines()).position(|(old, new)| old != new);
            assert!(
                stands == page.text,
                "docs/reference/{} is out of date (first at line {}); `scripts/references` writes it again",
                page.file_name,
                line.map_or_else(|| stands.lines().count() + 1, |index| index + 1)
            );
        }
    }

    #[test]
    fn every_written_page_stands_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("reference")).unwrap();
        for page in pages() {
            let text = std::fs::read_to_string(folder.path().join("reference").join(page.file_name)).unwrap();
            assert_eq!(text, page.text, "{}", page.file_name);
        }
    }
}
