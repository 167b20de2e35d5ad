//! How the store fails.

/// A failed verb of the store. Messages name the verb, never a value, a path inside the database or a password.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("unsupported store `{location}` (hint: {hint})")]
    UnsupportedLocation { location: String, hint: &'static str },

    #[error("open store `{location}`")]
    Open {
        location: String,
        #[source]
        source: sqlx::Error,
    },

    #[error("create the file of store `{location}`")]
    Create {
        location: String,
        #[source]
        source: std::io::Error,
    },

    #[error(
        "store `{location}` has schema version {found}, this program knows up to {known} (hint: use the newer \
         program that wrote it, or another store)"
    )]
    NewerSchema { location: String, found: i64, known: i64 },

    #[error("migrate store `{location}`")]
    Migrate {
        location: String,
        #[source]
        source: sqlx::migrate::MigrateError,
    },

    /// The database was busy or out of reach: the same verb may succeed later.
    #[error("{verb}: the database is busy or unreachable")]
    Unavailable {
        verb: &'static str,
        #[source]
        source: sqlx::Error,
    },

    /// The database refused the statement or its values: repeating it will not help.
    #[error("{verb}: the database refused")]
    Refused {
        verb: &'static str,
        #[source]
        source: sqlx::Error,
    },

    #[error("{verb}: column `{column}` holds `{value}`, which this program does not know")]
    UnknownValue { verb: &'static str, column: &'static str, value: String },

    #[error(
        "the store holds {most} keys, revoked ones included, and takes no more (hint: use another store)"
    )]
    TooManyKeys { most: u32 },

    #[error("no run `{run}` (hint: `tribunal runs` lists them)")]
    NoSuchRun { run: String },
}

impl StoreError {
    /// Whether the same verb may succeed when it is tried again.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// Sorts a driver error under the verb that met it.
    pub(super) fn of_verb(verb: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| {
            if is_transient(&source) {
                Self::Unavailable { verb, source }
            } else {
                Self::Refused { verb, source }
            }
        }
    }
}

fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Io(_) => true,
        sqlx::Error::Database(database) => database.code().is_some_and(|code| is_transient_code(&code)),
        _ => false,
    }
}

/// SQLite's result codes are numbers (the low byte is the primary code), Postgres's are five characters.
fn is_transient_code(code: &str) -> bool {
    const SQLITE_BUSY: u32 = 5;
    const SQLITE_LOCKED: u32 = 6;
    // Classes: connection exception, transaction rollback, insufficient resources, operator intervention.
    const POSTGRES_CLASSES: [&str; 4] = ["08", "40", "53", "57"];
    if code.len() == 5 {
        return POSTGRES_CLASSES.iter().any(|class| code.starts_with(class));
    }
    code.parse::<u32>().is_ok_and(|code| [SQLITE_BUSY, SQLITE_LOCKED].contains(&(code & 0xff)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_and_lost_connections_are_transient() {
        let check = |code, expected| assert_eq!(is_transient_code(code), expected, "{code}");
        check("5", true);
        check("517", true); // SQLITE_BUSY_SNAPSHOT
        check("6", true);
        check("13", false); // SQLITE_FULL
        check("2067", false); // SQLITE_CONSTRAINT_UNIQUE
        check("08006", true);
        check("40001", true);
        check("23505", false);
        check("22021", false);
        assert!(is_transient(&sqlx::Error::PoolTimedOut));
        assert!(!is_transient(&sqlx::Error::RowNotFound));
    }
}
