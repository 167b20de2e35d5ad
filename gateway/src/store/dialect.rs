//! What differs between SQLite and Postgres: connections, transactions and durability, and nothing else.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use secrecy::ExposeSecret;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor};

use super::{StoreError, StoreLocation};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

/// How far a committed batch must have gone. Postgres always goes to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// Survives the death of the process; a power cut may take the last moments.
    Process,
    /// Survives a power cut: runs, erasures, and whatever a person did.
    Power,
}

impl Dialect {
    /// SQLite takes the write lock at once: a transaction that reads first and writes later could not get it any more.
    pub(super) fn begin_write(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN",
        }
    }

    /// The database's clock: the one that all gateways of a store share.
    pub(super) fn now(self) -> &'static str {
        match self {
            Self::Sqlite => include_str!("sql/now_sqlite.sql"),
            Self::Postgres => include_str!("sql/now_postgres.sql"),
        }
    }
}

/// The connections of one store.
#[derive(Debug, Clone)]
pub(super) struct Pools {
    pub(super) dialect: Dialect,
    /// SQLite: one connection, so that writers queue here and not in the database's busy loop.
    pub(super) writer: AnyPool,
    pub(super) readers: AnyPool,
    /// SQLite only: checkpoints run beside the writer, never inside a commit.
    pub(super) checkpoints: Option<Checkpoints>,
    /// Whether the write connection stands at `synchronous = FULL`.
    writes_through: Arc<AtomicBool>,
}

#[derive(Debug, Clone)]
pub(super) struct Checkpoints {
    pub(super) pool: AnyPool,
    /// Texts were erased and a reader kept the log from being cut: it still has them.
    pub(super) is_owed: Arc<AtomicBool>,
}

const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 16;

/// `auto_vacuum` must come before the first table, `secure_delete` makes an erased text unreadable in the file.
const SQLITE_WRITER: &str = "PRAGMA busy_timeout = 5000; PRAGMA auto_vacuum = INCREMENTAL; \
     PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; \
     PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;";
const SQLITE_READER: &str = "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; \
     PRAGMA query_only = ON;";
const SQLITE_CHECKPOINTER: &str = "PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL; \
     PRAGMA wal_autocheckpoint = 0;";

impl Pools {
    pub(super) async fn connect(location: &StoreLocation) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        match location {
            StoreLocation::Sqlite(path) => sqlite(location, path).await,
            StoreLocation::Postgres { url, .. } => postgres(location, url.expose_secret()).await,
        }
    }

    /// Brings the write connection to `durability`. Must be called outside a transaction, on that connection.
    pub(super) async fn set_durability(
        &self,
        connection: &mut AnyConnection,
        durability: Durability,
    ) -> Result<(), sqlx::Error> {
        let through = durability == Durability::Power;
        if self.dialect == Dialect::Postgres || self.writes_through.load(Ordering::Acquire) == through {
            return Ok(());
        }
        // Invariant: the flag may say NORMAL of a connection at FULL, never the other way round, even when this
        // future is dropped half way.
        if through {
            connection.execute("PRAGMA synchronous = FULL").await?;
            self.writes_through.store(true, Ordering::Release);
        } else {
            self.writes_through.store(false, Ordering::Release);
            connection.execute("PRAGMA synchronous = NORMAL").await?;
        }
        Ok(())
    }
}

async fn sqlite(location: &StoreLocation, path: &Path) -> Result<Pools, StoreError> {
    let failed = |source| StoreError::Create { location: location.to_string(), source };
    let path = std::path::absolute(path).map_err(failed)?;
    create_private(&path).map_err(failed)?;
    let open = |source| StoreError::Open { location: location.to_string(), source };
    let options = sqlite_url(&path).parse::<AnyConnectOptions>().map_err(open)?.disable_statement_logging();
    let writes_through = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&writes_through);
    let writer = sqlite_pool(1).after_connect(move |connection, _| {
        flag.store(false, Ordering::Release);
        prepare(connection, SQLITE_WRITER)
    });
    // The writer comes first: it turns a new file into a database with its settings.
    try_once(&options, SQLITE_WRITER).await.map_err(open)?;
    let writer = writer.connect_with(options.clone()).await.map_err(open)?;
    let readers =
        sqlite_pool(SQLITE_READERS).after_connect(|connection, _| prepare(connection, SQLITE_READER));
    let readers = readers.connect_lazy_with(options.clone());
    let checkpoints = sqlite_pool(1).after_connect(|connection, _| prepare(connection, SQLITE_CHECKPOINTER));
    let checkpoints = Checkpoints {
        pool: checkpoints.connect_lazy_with(options),
        is_owed: Arc::new(AtomicBool::new(false)),
    };
    Ok(Pools { dialect: Dialect::Sqlite, writer, readers, checkpoints: Some(checkpoints), writes_through })
}

async fn postgres(location: &StoreLocation, url: &str) -> Result<Pools, StoreError> {
    let open = |source| StoreError::Open { location: location.to_string(), source };
    let options = url.parse::<AnyConnectOptions>().map_err(open)?.disable_statement_logging();
    try_once(&options, "").await.map_err(open)?;
    let pool = AnyPoolOptions::new().max_connections(POSTGRES_CONNECTIONS).acquire_timeout(ACQUIRE_TIMEOUT);
    let pool = pool.connect_with(options).await.map_err(open)?;
    let writes_through = Arc::new(AtomicBool::new(true));
    Ok(Pools {
        dialect: Dialect::Postgres,
        writer: pool.clone(),
        readers: pool,
        checkpoints: None,
        writes_through,
    })
}

/// Why: a pool repeats a connection that fails until its timeout; a wrong file or password should say so at once.
async fn try_once(options: &AnyConnectOptions, pragmas: &'static str) -> Result<(), sqlx::Error> {
    let mut connection = options.connect().await?;
    connection.execute(pragmas).await?;
    connection.close().await
}

/// Connections to a file neither age nor die: no lifetime, no ping before use.
fn sqlite_pool(max_connections: u32) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(max_connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

fn prepare<'c>(
    connection: &'c mut AnyConnection,
    pragmas: &'static str,
) -> futures::future::BoxFuture<'c, Result<(), sqlx::Error>> {
    Box::pin(async move {
        connection.execute(pragmas).await?;
        Ok(())
    })
}

/// Case texts are in the file: only its owner may read it. SQLite gives the files beside it the same rights.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Percent-encodes all but plain characters: the driver reads its options from a URL.
fn sqlite_url(path: &Path) -> String {
    let mut url = String::from("sqlite://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                url.push(char::from(*byte));
            }
            other => {
                url.push('%');
                for half in [other >> 4, other & 0xf] {
                    url.extend(char::from_digit(u32::from(half), 16));
                }
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_file_names_survive_the_url() {
        let check = |path: &str, expected: &str| assert_eq!(sqlite_url(Path::new(path)), expected);
        check("/tmp/a_b-c.db", "sqlite:///tmp/a_b-c.db");
        check("/tmp/a b?#%.db", "sqlite:///tmp/a%20b%3f%23%25.db");
        check("/tmp/ñ.db", "sqlite:///tmp/%c3%b1.db");
    }
}
