//! `store:` checked: a file, or the address of a Postgres database, which may hold a password.

use std::path::Path;

use secrecy::SecretString;

use super::problem::{KeyPath, Report};

pub(super) const STORE: &str = "tribunal.db";
const MASK: &str = "***";

/// The setting as the store reads it, and as it may be printed.
#[derive(Debug, Clone)]
pub(super) struct CheckedStore {
    pub url: SecretString,
    /// As written, passwords masked.
    pub shown: String,
}

pub(super) fn check(text: &str, folder: &Path, report: &mut Report<'_>) -> Option<CheckedStore> {
    let path = KeyPath::of(&["store"]);
    let text = text.trim();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let file = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
    match scheme {
        Some("postgres" | "postgresql") => {
            let shown = masked(text);
            if shown != text && report.is_written_in_file(&path) {
                let message = "the database password stands in the file";
                report.warning(&path, message, "set `TRIBUNAL__STORE` in the environment and remove it here");
            }
            Some(CheckedStore { url: SecretString::from(text), shown })
        }
        Some("sqlite") | None if is_file_name(file) => {
            let url = folder.join(file).to_string_lossy().into_owned();
            Some(CheckedStore { url: SecretString::from(url), shown: text.to_owned() })
        }
        _ => {
            let hint = "write a file name such as `tribunal.db`, or `postgres://user@host/database`";
            report.problem(&path, "this is neither a file nor a Postgres address", hint);
            None
        }
    }
}

fn is_file_name(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('/') && text != ":memory:" && !text.contains('?')
}

/// Passwords may stand before the host and in the query; what cannot be read is masked as a whole.
fn masked(address: &str) -> String {
    let Ok(mut url) = url::Url::parse(address) else { return MASK.to_owned() };
    let is_secret = |key: &str| key.to_lowercase().contains("password");
    let in_query = url.query_pairs().any(|(key, _)| is_secret(&key));
    if url.password().is_none() && !in_query {
        return address.to_owned();
    }
    if url.password().is_some() && url.set_password(Some(MASK)).is_err() {
        return MASK.to_owned();
    }
    if in_query {
        let kept: Vec<(String, String)> = url
            .query_pairs()
            .map(|(k, v)| (k.to_string(), if is_secret(&k) { MASK.to_owned() } else { v.to_string() }))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(kept);
    }
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::tree::Node;
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn files_are_joined_to_the_folder_and_passwords_masked() {
        let check = |text: &str, url: &str, shown: &str| {
            let tree = Node::empty();
            let mut report = Report::new(&tree, "panel.yaml");
            let found = check(text, Path::new("conf"), &mut report).unwrap();
            assert_eq!((found.url.expose_secret(), found.shown.as_str()), (url, shown));
        };
        check("tribunal.db", "conf/tribunal.db", "tribunal.db");
        check("/var/t.db", "/var/t.db", "/var/t.db");
        check("sqlite:t.db", "conf/t.db", "sqlite:t.db");
        check("sqlite:///var/t.db", "/var/t.db", "sqlite:///var/t.db");
        check("postgres://u@h/d", "postgres://u@h/d", "postgres://u@h/d");
        check("postgres://u:p@h/d", "postgres://u:p@h/d", "postgres://u:***@h/d");
        check(
            "postgresql://h/d?password=p&x=1",
            "postgresql://h/d?password=p&x=1",
            "postgresql://h/d?password=***&x=1",
        );
        check("postgres://u:p@h:port/d", "postgres://u:p@h:port/d", "***");
    }

    #[test]
    fn other_places_are_refused() {
        for text in ["", "mysql://h/d", ":memory:", "sqlite::memory:", "dir/", "t.db?mode=ro"] {
            let tree = Node::empty();
            let mut report = Report::new(&tree, "panel.yaml");
            assert!(check(text, Path::new(""), &mut report).is_none(), "{text}");
            assert_eq!(report.finish().0.len(), 1, "{text}");
        }
    }
}
