//! Recorded judgments in place of a judge: lines `{case, judge, order?, sample?, raw? | verdict? | score?}`.
//!
//! A file is read once into an index on disk, so a recording of any length needs constant memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aggregation::vote::Order;
use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{QueryBuilder, Sqlite};

use crate::judge::ReplayField;

/// Lines of one `INSERT`: three values each, far below SQLite's bound.
const ROWS_PER_INSERT: usize = 1000;
/// Rows of one transaction while the index is built.
const ROWS_PER_COMMIT: usize = 100_000;
/// A recorded answer is a judge's reply: at most 1 MiB, with room for its escapes.
const MAX_LINE_BYTES: usize = 8 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("read `{path}`", path = path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("`{path}` line {line}: {message}", path = path.display())]
    BadLine { path: PathBuf, line: u64, message: String },
    #[error("index of recorded judgments")]
    Index(#[from] sqlx::Error),
}

/// One recording, indexed by case.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    /// The lines as text: the file itself, or an unpacked copy.
    text: File,
    index: SqlitePool,
    /// Keeps index and copy until the recording is dropped.
    _folder: tempfile::TempDir,
}

/// One recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedLine {
    fields: Map<String, Value>,
}

/// What a line says, as the judge's server asks to read it.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded<'a> {
    /// The judge's own text, to be read by the one parser, and whether it was cut or blocked.
    Raw {
        text: &'a str,
        finish: Option<&'a str>,
    },
    /// Already read by whoever recorded it, in the case's own frame.
    Verdict(&'a Value),
    Score(&'a Value),
    /// The line has none of the fields asked for.
    Nothing,
}

impl Recording {
    /// Reads and checks the whole file.
    pub async fn open(path: &Path) -> Result<Self, ReplayError> {
        let read_error = |source| ReplayError::Read { path: path.to_owned(), source };
        let folder = tempfile::tempdir().map_err(read_error)?;
        let text = plain_text(path, folder.path()).map_err(read_error)?;
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("index.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Off)
            .synchronous(SqliteSynchronous::Off);
        let index = SqlitePoolOptions::new().max_connections(2).connect_with(options).await?;
        sqlx::query(
            "CREATE TABLE lines (case_key BIGINT NOT NULL, start BIGINT NOT NULL, bytes BIGINT NOT NULL)",
        )
        .execute(&index)
        .await?;
        let recording = Self { path: path.to_owned(), text, index, _folder: folder };
        recording.build_index().await?;
        Ok(recording)
    }

    /// All lines of a case, in the order of the file.
    pub async fn lines(&self, case: &str) -> Result<Vec<RecordedLine>, ReplayError> {
        let places: Vec<(i64, i64)> =
            sqlx::query_as("SELECT start, bytes FROM lines WHERE case_key = $1 ORDER BY start LIMIT 100000")
                .bind(case_key(case))
                .fetch_all(&self.index)
                .await?;
        let mut lines = Vec::with_capacity(places.len());
        for (start, bytes) in places {
            let mut buffer = vec![0_u8; usize::try_from(bytes).unwrap_or_default()];
            self.text
                .read_exact_at(&mut buffer, u64::try_from(start).unwrap_or_default())
                .map_err(|source| ReplayError::Read { path: self.path.clone(), source })?;
            let fields: Map<String, Value> = serde_json::from_slice(&buffer).map_err(|error| {
                ReplayError::BadLine { path: self.path.clone(), line: 0, message: error.to_string() }
            })?;
            // Two cases may share a key.
            if fields.get("case").and_then(Value::as_str) == Some(case) {
                lines.push(RecordedLine { fields });
            }
        }
        Ok(lines)
    }

    async fn build_index(&self) -> Result<(), ReplayError> {
        let mut reader = BufReader::with_capacity(
            1 << 20,
            self.text.try_clone().map_err(|source| self.read_error(source))?,
        );
        reader.rewind().map_err(|source| self.read_error(source))?;
        let (mut start, mut number) = (0_i64, 0_u64);
        let mut rows: Vec<(i64, i64, i64)> = Vec::with_capacity(ROWS_PER_INSERT);
        let mut transaction = self.index.begin().await?;
        let mut uncommitted = 0;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut reader)
                .take(MAX_LINE_BYTES as u64 + 1)
                .read_until(b'\n', &mut line)
                .map_err(|source| self.read_error(source))?;
            if read == 0 {
                break;
            }
            number += 1;
            if read > MAX_LINE_BYTES {
                return Err(self.bad_line(number, format!("longer than {MAX_LINE_BYTES} bytes")));
            }
            let bytes = i64::try_from(read).unwrap_or(i64::MAX);
            if !line.iter().all(u8::is_ascii_whitespace) {
                rows.push((case_key(&self.case_of(&line, number)?), start, bytes));
            }
            start += bytes;
            if rows.len() == ROWS_PER_INSERT {
                uncommitted += rows.len();
                insert(&mut transaction, &mut rows).await?;
                if uncommitted >= ROWS_PER_COMMIT {
                    transaction.commit().await?;
                    transaction = self.index.begin().await?;
                    uncommitted = 0;
                }
            }
        }
        insert(&mut transaction, &mut rows).await?;
        sqlx::query("CREATE INDEX by_case ON lines (case_key, start, bytes)")
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    fn case_of(&self, line: &[u8], number: u64) -> Result<String, ReplayError> {
        #[derive(serde::Deserialize)]
        struct CaseOnly<'a> {
            #[serde(borrow)]
            case: std::borrow::Cow<'a, str>,
        }
        let parsed: CaseOnly<'_> =
            serde_json::from_slice(line).map_err(|error| self.bad_line(number, error.to_string()))?;
        Ok(parsed.case.into_owned())
    }

    fn read_error(&self, source: std::io::Error) -> ReplayError {
        ReplayError::Read { path: self.path.clone(), source }
    }

    fn bad_line(&self, line: u64, message: String) -> ReplayError {
        ReplayError::BadLine { path: self.path.clone(), line, message }
    }
}

impl RecordedLine {
    /// Whether every wanted field has its value.
    pub fn matches(&self, only: &BTreeMap<String, String>) -> bool {
        only.iter().all(|(name, want)| match self.fields.get(name) {
            Some(Value::String(have)) => have == want,
            Some(Value::Number(have)) => have.to_string() == *want,
            Some(Value::Bool(have)) => want.parse() == Ok(*have),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
        })
    }

    /// A line without an order is about the case as given; `None` for an order that is not one of ours.
    pub fn order(&self) -> Option<Order> {
        match self.fields.get("order") {
            None | Some(Value::Null) => Some(Order::AsGiven),
            Some(Value::String(order)) => match order.as_str() {
                "ab" | "as_given" => Some(Order::AsGiven),
                "ba" | "reversed" => Some(Order::Reversed),
                _ => None,
            },
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => None,
        }
    }

    /// Index of a repeated answer, from 0.
    pub fn sample(&self) -> u32 {
        self.fields.get("sample").and_then(Value::as_u64).and_then(|s| u32::try_from(s).ok()).unwrap_or(0)
    }

    /// A line that names a criterion speaks of that one only.
    pub fn criterion(&self) -> Option<&str> {
        self.fields.get("criterion").and_then(Value::as_str)
    }

    pub fn recorded(&self, read: ReplayField) -> Recorded<'_> {
        let raw = || {
            let text = self.fields.get("raw").and_then(Value::as_str)?;
            Some(Recorded::Raw { text, finish: self.fields.get("finish").and_then(Value::as_str) })
        };
        let verdict = || self.fields.get("verdict").map(Recorded::Verdict);
        let score = || self.fields.get("score").map(Recorded::Score);
        match read {
            ReplayField::Raw => raw(),
            ReplayField::Verdict => verdict(),
            ReplayField::Score => score(),
            ReplayField::Auto => raw().or_else(verdict).or_else(score),
        }
        .unwrap_or(Recorded::Nothing)
    }
}

/// Opens each recording once, whatever number of judges read it.
pub async fn open_all(
    paths: impl IntoIterator<Item = PathBuf>,
) -> Result<BTreeMap<PathBuf, Arc<Recording>>, ReplayError> {
    let mut recordings = BTreeMap::new();
    for path in paths {
        if let Entry::Vacant(place) = recordings.entry(path) {
            let recording = Arc::new(Recording::open(place.key()).await?);
            place.insert(recording);
        }
    }
    Ok(recordings)
}

/// The file itself, or its unpacked copy when it is a gzip.
fn plain_text(path: &Path, folder: &Path) -> std::io::Result<File> {
    let mut file = File::open(path)?;
    let mut magic = [0_u8; 2];
    let is_gzip = file.read(&mut magic)? == 2 && magic == [0x1f, 0x8b];
    file.rewind()?;
    if !is_gzip {
        return Ok(file);
    }
    let copy_path = folder.join("lines.jsonl");
    let mut copy = BufWriter::new(File::create(&copy_path)?);
    std::io::copy(&mut MultiGzDecoder::new(BufReader::new(file)), &mut copy)?;
    copy.flush()?;
    File::open(copy_path)
}

async fn insert(
    transaction: &mut sqlx::Transaction<'_, Sqlite>,
    rows: &mut Vec<(i64, i64, i64)>,
) -> Result<(), sqlx::Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut statement = QueryBuilder::<Sqlite>::new("INSERT INTO lines (case_key, start, bytes) ");
    statement.push_values(rows.drain(..), |mut row, (key, start, bytes)| {
        row.push_bind(key).push_bind(start).push_bind(bytes);
    });
    statement.build().execute(&mut **transaction).await?;
    Ok(())
}

fn case_key(case: &str) -> i64 {
    let mut bytes = [0_u8; 8];
    bytes.copy_from_slice(blake3::hash(case.as_bytes()).as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]));
    i64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn recording(lines: &str) -> Result<Recording, ReplayError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        std::fs::write(&path, lines).unwrap();
        Recording::open(&path).await
    }

    #[tokio::test]
    async fn finds_the_lines_of_a_case_in_file_order() {
        let r = recording("{\"case\":\"x\",\"judge\":\"j\",\"raw\":\"1\"}\n\n{\"case\":\"y\"}\n{\"case\":\"x\",\"order\":\"ba\"}")
            .await
            .unwrap();
        let lines = r.lines("x").await.unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].order(), Some(Order::AsGiven));
        assert_eq!(lines[0].recorded(ReplayField::Auto), Recorded::Raw { text: "1", finish: None });
        assert_eq!(lines[1].order(), Some(Order::Reversed));
        assert_eq!(lines[1].recorded(ReplayField::Auto), Recorded::Nothing);
        assert!(r.lines("nobody").await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn unpacks_gzip() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl.gz");
        let mut gz = flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
        gz.write_all(b"{\"case\":\"x\",\"score\":3}\n").unwrap();
        gz.finish().unwrap();
        let r = Recording::open(&path).await.unwrap();
        assert_eq!(
            r.lines("x").await.unwrap()[0].recorded(ReplayField::Score),
            Recorded::Score(&Value::from(3))
        );
    }

    #[tokio::test]
    async fn a_bad_line_is_named_by_its_number() {
        let error = recording("{\"case\":\"x\"}\n{\"kase\":1}\n").await.unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
        let error = Recording::open(Path::new("/nowhere/r.jsonl")).await.unwrap_err();
        assert!(matches!(error, ReplayError::Read { .. }), "{error}");
    }

    #[tokio::test]
    async fn an_index_that_is_gone_is_an_error_of_the_index() {
        let r = recording("{\"case\":\"x\"}\n").await.unwrap();
        r.index.close().await;
        let error = crate::engine::EngineError::from(r.lines("x").await.unwrap_err());
        assert!(matches!(error, crate::engine::EngineError::Replay(ReplayError::Index(_))), "{error}");
    }

    #[test]
    fn only_compares_text_and_numbers() {
        let line =
            RecordedLine { fields: serde_json::from_str(r#"{"judge":"gpt","step":2,"list":[1]}"#).unwrap() };
        let only = |k: &str, v: &str| BTreeMap::from([(k.to_owned(), v.to_owned())]);
        assert!(line.matches(&only("judge", "gpt")));
        assert!(line.matches(&only("step", "2")));
        assert!(!line.matches(&only("judge", "claude")));
        assert!(!line.matches(&only("list", "1")));
        assert!(!line.matches(&only("none", "1")));
    }
}
