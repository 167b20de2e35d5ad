//! Where the store is: a SQLite file or a Postgres address.

use std::fmt;
use std::path::PathBuf;

use secrecy::SecretString;

use super::StoreError;

/// Parsed from the `store` setting. Prints without user, password and parameters.
#[derive(Debug, Clone)]
pub enum StoreLocation {
    Sqlite(PathBuf),
    Postgres { url: SecretString, shown: String },
}

impl StoreLocation {
    /// `postgres://…` and `postgresql://…` are Postgres; all else is a file name, `sqlite:` before it or not.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let unsupported = |location: &str, hint| {
            Err(StoreError::UnsupportedLocation { location: location.to_owned(), hint })
        };
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres { url: SecretString::from(text), shown: without_secrets(text) });
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
        if let Some((scheme, _)) = path.split_once("://") {
            return unsupported(scheme, "name a file such as `tribunal.db`, or `postgres://…`");
        }
        if path.is_empty() || path == ":memory:" {
            return unsupported(path, "name a file: what is paid for must survive the process");
        }
        if path.contains('?') {
            return unsupported(path, "a file takes no parameters after `?`");
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => path.display().fmt(f),
            Self::Postgres { shown, .. } => f.write_str(shown),
        }
    }
}

/// Host and database only: everything before the last `@` of the authority and after `?` may hold a secret.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    [scheme, "://", rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match StoreLocation::parse(text) {
            Ok(StoreLocation::Sqlite(path)) => format!("file {}", path.display()),
            Ok(location @ StoreLocation::Postgres { .. }) => location.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_scheme_or_a_file_name_decides() {
        check("tribunal.db", "file tribunal.db");
        check("sqlite:/var/lib/tribunal.db", "file /var/lib/tribunal.db");
        check("sqlite:///var/lib/tribunal.db", "file /var/lib/tribunal.db");
        check("postgres://anna:s3cret@db:5432/tribunal?sslmode=disable", "postgres://db:5432/tribunal");
        check("postgresql://db/tribunal", "postgresql://db/tribunal");
        let memory =
            "unsupported store `:memory:` (hint: name a file: what is paid for must survive the process)";
        check(":memory:", memory);
        check("sqlite::memory:", memory);
        check(
            "mysql://root:pw@db/x",
            "unsupported store `mysql` (hint: name a file such as `tribunal.db`, or `postgres://…`)",
        );
        check(
            "a.db?mode=ro",
            "unsupported store `a.db?mode=ro` (hint: a file takes no parameters after `?`)",
        );
    }

    #[test]
    fn a_password_is_never_printed() {
        let location = StoreLocation::parse("postgres://anna:p@ss@db/x?password=other").unwrap();
        assert_eq!(location.to_string(), "postgres://db/x");
        let debug = format!("{location:?}");
        assert!(!debug.contains("p@ss") && !debug.contains("other"), "{debug}");
    }
}
