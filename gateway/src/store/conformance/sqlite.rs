//! What is true of the SQLite file alone: durability, rights, erasure from the bytes, checkpoints.

use std::path::Path;
use std::sync::Arc;

use sqlx::Row;
use tokio_util::task::TaskTracker;

use super::rows::{
    PROJECT, RUN, access_key, judgment, judgments, reservation, run, text, triage, verdict, verdicts,
};
use crate::store::rows::{Record, TextRow, TextSelection};
use crate::store::sql_store::SqlStore;
use crate::store::statement::SelectIn;
use crate::store::{AccessKeys, MOST_KEYS, Store, StoreError, StoreLocation};

/// Answers of `PRAGMA synchronous`.
const NORMAL: i64 = 1;
const FULL: i64 = 2;

async fn open(path: &Path) -> Result<SqlStore, StoreError> {
    SqlStore::open(&StoreLocation::Sqlite(path.to_owned()), &TaskTracker::new()).await
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd name %?#.db");
    let crashed = open(&path).await;
    // A name with `?` is a name here: only the setting's text is parsed.
    let crashed = crashed.unwrap();
    crashed.append(&judgments([judgment("q1", "a")])).await.unwrap();
    // As `kill -9` leaves them: the database file and its log, without a last word.
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    let log = |path: &Path| std::path::PathBuf::from(format!("{}-wal", path.display()));
    std::fs::copy(log(&path), log(&copy)).unwrap();
    let reopened = open(&copy).await.unwrap();
    assert_eq!(reopened.judgments_of_case(PROJECT, RUN, "q1").await.unwrap(), [judgment("q1", "a")]);
}

#[tokio::test]
async fn closing_leaves_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let tasks = TaskTracker::new();
    let store = SqlStore::open(&StoreLocation::Sqlite(path.clone()), &tasks).await.unwrap();
    store.append(&verdicts([verdict("q1")])).await.unwrap();
    store.close().await;
    tasks.close();
    tasks.wait().await;
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.db"]);
    let reopened = open(&path).await.unwrap();
    assert_eq!(reopened.verdict(PROJECT, "v-q1").await.unwrap(), Some(verdict("q1")));
    let closed = store.append(&[]).await.unwrap_err();
    assert!(closed.is_transient(), "{closed:?}");
}

#[tokio::test]
async fn two_programs_may_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (first, second) = tokio::join!(open(&path), open(&path));
    let (first, second) = (first.unwrap(), second.unwrap());
    first.append(&judgments([judgment("q1", "a")])).await.unwrap();
    second.append(&judgments([judgment("q1", "b")])).await.unwrap();
    assert_eq!(first.judgments_of_case(PROJECT, RUN, "q1").await.unwrap().len(), 2);
}

#[tokio::test]
async fn erased_texts_are_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await.unwrap();
    let secret = "the patient is called ".repeat(2_000);
    let short = "short-secret";
    let row = |body: &str| Record::Text(TextRow { hash: "b3:1".to_owned(), ..text(body, body) });
    let long_row =
        Record::Text(TextRow { case_id: "long".to_owned(), hash: "b3:2".to_owned(), ..text("", &secret) });
    store.append(&[long_row, row(short)]).await.unwrap();
    let bytes = || {
        let mut bytes = Vec::new();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            bytes.extend(std::fs::read(entry.unwrap().path()).unwrap());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    assert!(bytes().contains("the patient") && bytes().contains(short));
    store.erase_texts(PROJECT, &TextSelection::RecordedBefore(i64::MAX), 5).await.unwrap();
    assert!(!bytes().contains("the patient"));
    // The short text is its case's id too, so only its column can be asked.
    assert!(store.texts(PROJECT, short, &["b3:1".to_owned()]).await.unwrap()[0].body.is_none());
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db")).await.unwrap();
    store.append(&judgments([judgment("q1", "a")])).await.unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
}

#[tokio::test]
async fn a_store_of_a_newer_program_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (99, 'later', TRUE, x'00', 0)";
    sqlx::query(newer).execute(store.write_pool()).await.unwrap();
    store.close().await;
    let error = open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 99, known: 6, .. }), "{error:?}");
    assert!(error.to_string().contains("has schema version 99, this program knows up to 6"), "{error}");
}

#[tokio::test]
async fn a_store_of_an_older_program_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await.unwrap();
    store.append(&[Record::Triage(Box::new(triage("q1")))]).await.unwrap();
    for newer in [
        "DROP TABLE sqlite_stat1",
        "DROP INDEX triage_waiting",
        "DROP TABLE model_facts",
        "ALTER TABLE run_cases DROP COLUMN text_hash",
        "DROP TABLE run_work",
        "DROP TABLE access_keys",
        "DROP TABLE key_spending",
    ] {
        sqlx::query(newer).execute(store.write_pool()).await.unwrap();
    }
    sqlx::query("DELETE FROM _sqlx_migrations WHERE version > 1").execute(store.write_pool()).await.unwrap();
    store.close().await;
    let reopened = open(&path).await.unwrap();
    assert_eq!(reopened.open_triage().await.unwrap(), [(PROJECT.to_owned(), 1)]);
    assert_eq!(reopened.model_facts(PROJECT).await.unwrap(), []);
}

#[tokio::test]
async fn a_changed_migration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await.unwrap();
    sqlx::query("UPDATE _sqlx_migrations SET checksum = x'00'").execute(store.write_pool()).await.unwrap();
    store.close().await;
    assert!(matches!(open(&path).await.unwrap_err(), StoreError::Migrate { .. }));
}

#[tokio::test]
async fn what_is_no_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    std::fs::write(&path, "this is not a database, it is a text that somebody keeps").unwrap();
    assert!(matches!(open(&path).await.unwrap_err(), StoreError::Open { .. }));
    let missing = folder.path().join("missing").join("a.db");
    assert!(matches!(open(&missing).await.unwrap_err(), StoreError::Create { .. }));
}

#[tokio::test]
async fn a_busy_database_is_worth_another_try() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await.unwrap();
    let other = open(&path).await.unwrap();
    sqlx::query("PRAGMA busy_timeout = 0").execute(store.write_pool()).await.unwrap();
    let lock = other.write_pool().begin_with("BEGIN IMMEDIATE").await.unwrap();
    let busy = store.append(&judgments([judgment("q1", "a")])).await.unwrap_err();
    assert!(busy.is_transient(), "{busy:?}");
    lock.rollback().await.unwrap();
    store.append(&judgments([judgment("q1", "a")])).await.unwrap();
}

#[tokio::test]
async fn a_refused_batch_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db")).await.unwrap();
    sqlx::query("DROP TABLE triage").execute(store.write_pool()).await.unwrap();
    let mut records = judgments([judgment("q1", "a")]);
    records.push(Record::Triage(Box::new(triage("q1"))));
    let refused = store.append(&records).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused:?}");
    assert_eq!(store.judgments_of_case(PROJECT, RUN, "q1").await.unwrap(), []);
    store.append(&judgments([judgment("q1", "a")])).await.unwrap();
}

#[tokio::test]
async fn a_word_from_the_future_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db")).await.unwrap();
    store.append(&judgments([judgment("q1", "a")])).await.unwrap();
    sqlx::query("UPDATE judgments SET mode = 'listwise'").execute(store.write_pool()).await.unwrap();
    let error = store.judgments_of_case(PROJECT, RUN, "q1").await.unwrap_err();
    let message =
        "read judgments of a case: column `mode` holds `listwise`, which this program does not know";
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn readers_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db")).await.unwrap();
    assert!(sqlx::query("DELETE FROM texts").execute(store.read_pool()).await.is_err());
}

#[tokio::test]
async fn what_is_rare_is_written_through_and_the_rest_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db")).await.unwrap();
    let level = || async {
        sqlx::query_scalar::<_, i64>("PRAGMA synchronous").fetch_one(store.write_pool()).await.unwrap()
    };
    store.append(&judgments([judgment("q1", "a")])).await.unwrap();
    assert_eq!(level().await, NORMAL);
    store.create_run(&run(RUN)).await.unwrap();
    assert_eq!(level().await, FULL);
    store.append(&judgments([judgment("q2", "a")])).await.unwrap();
    assert_eq!(level().await, NORMAL);
    store.reserve_idempotency(&reservation("key")).await.unwrap();
    assert_eq!(level().await, FULL);
    store.append(&judgments([judgment("q3", "a")])).await.unwrap();
    store.add_access_key(&access_key("k")).await.unwrap();
    assert_eq!(level().await, FULL);
    store.append(&judgments([judgment("q4", "a")])).await.unwrap();
    store.revoke_access_key("k", 1).await.unwrap();
    assert_eq!(level().await, FULL);
}

#[tokio::test]
async fn a_store_takes_only_as_many_keys_as_gateways_hold() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db")).await.unwrap();
    store.add_access_key(&access_key("k")).await.unwrap();
    let fill = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9998) \
                INSERT INTO access_keys SELECT 'n' || n.i, project, name, role, may_ask, sensitivity, budget_microusd, \
                budget_window, secret_hash, created_us, expires_us, revoked_us FROM access_keys, n";
    sqlx::query(fill).execute(store.write_pool()).await.unwrap();
    store.add_access_key(&access_key("last")).await.unwrap();
    let refused = store.add_access_key(&access_key("one more")).await.unwrap_err();
    assert!(matches!(refused, StoreError::TooManyKeys { most: MOST_KEYS }), "{refused:?}");
    assert_eq!(store.access_keys().await.unwrap().len(), MOST_KEYS as usize);
}

#[tokio::test]
async fn a_reader_that_stays_does_not_stop_writing() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<SqlStore> = Arc::new(open(&folder.path().join("a.db")).await.unwrap());
    store.append(&judgments([judgment("q1", "a")])).await.unwrap();
    let mut reader = store.read_pool().begin().await.unwrap();
    sqlx::query("SELECT id FROM judgments").fetch_all(&mut *reader).await.unwrap();
    store.append(&judgments([judgment("q2", "a")])).await.unwrap();
    assert_eq!(store.judgments_of_case(PROJECT, RUN, "q2").await.unwrap().len(), 1);
    reader.rollback().await.unwrap();
}

#[tokio::test]
async fn no_query_reads_a_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db")).await.unwrap();
    let check = async |name: &str, sql: &str| {
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows = sqlx::query(explain).fetch_all(store.read_pool()).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get::<String, _>("detail")).collect();
        assert!(
            !plan.iter().any(|step| step.contains("SCAN") || step.contains("TEMP B-TREE FOR ORDER BY")),
            "{name}: {plan:?}"
        );
        plan.join("; ")
    };
    let waiting = check("open_triage", include_str!("../sql/open_triage.sql")).await;
    assert!(waiting.contains("COVERING INDEX triage_waiting"), "{waiting}");
    // `project` alone leaves the whole table.
    for (name, sql, index) in [
        (
            "cached_judgments",
            include_str!("../sql/cached_judgments.sql"),
            "judgments_cached (project=? AND cache_key=?",
        ),
        ("finished_among", include_str!("../sql/finished_among.sql"), "(project=? AND run=? AND case_id=?"),
        ("texts", include_str!("../sql/texts.sql"), "(project=? AND case_id=?"),
    ] {
        for text in SelectIn::of(sql).texts() {
            let plan = check(name, text).await;
            assert!(plan.contains(index), "{text}: {plan}");
        }
    }
    check("erase_expired_texts", include_str!("../sql/erase_expired_texts.sql")).await;
    check("erase_texts_of_case", include_str!("../sql/erase_texts_of_case.sql")).await;
    let of_source = check("erase_texts_of_source", include_str!("../sql/erase_texts_of_source.sql")).await;
    assert!(of_source.contains("texts_by_source (project=? AND source=?)"), "{of_source}");
    check("complete_idempotency", include_str!("../sql/complete_idempotency.sql")).await;
    check("delete_expired_idempotency", include_str!("../sql/delete_expired_idempotency.sql")).await;
    check("finished_cases", include_str!("../sql/finished_cases.sql")).await;
    check("idempotency", include_str!("../sql/idempotency.sql")).await;
    check("model_facts", include_str!("../sql/model_facts.sql")).await;
    check("answered_calls", include_str!("../sql/answered_calls.sql")).await;
    check("run_cost", include_str!("../sql/run_cost.sql")).await;
    check("judged_cases", include_str!("../sql/judged_cases.sql")).await;
    check("judgments_of_case", include_str!("../sql/judgments_of_case.sql")).await;
    for (name, sql) in [
        ("access_keys", include_str!("../sql/access_keys.sql")),
        ("access_key", include_str!("../sql/access_key.sql")),
        ("count_access_keys", include_str!("../sql/count_access_keys.sql")),
        ("revoke_access_key", include_str!("../sql/revoke_access_key.sql")),
        ("key_spending", include_str!("../sql/key_spending.sql")),
        ("take_run", include_str!("../sql/take_run.sql")),
        ("renew_run", include_str!("../sql/renew_run.sql")),
        ("end_run_work", include_str!("../sql/end_run_work.sql")),
        ("queue_run_again", include_str!("../sql/queue_run_again.sql")),
        ("ask_run_to_stop", include_str!("../sql/ask_run_to_stop.sql")),
        ("waiting_runs", include_str!("../sql/waiting_runs.sql")),
        ("input_cases", include_str!("../sql/input_cases.sql")),
    ] {
        check(name, sql).await;
    }
    check("renew_idempotency", include_str!("../sql/renew_idempotency.sql")).await;
    check("run", include_str!("../sql/run.sql")).await;
    check("runs", include_str!("../sql/runs.sql")).await;
    check("verdict", include_str!("../sql/verdict.sql")).await;
    check("verdict_of_case", include_str!("../sql/verdict_of_case.sql")).await;
    check("verdicts_of_run", include_str!("../sql/verdicts_of_run.sql")).await;
    check("version", include_str!("../sql/version.sql")).await;
    let totals = check("run_totals", include_str!("../sql/run_totals.sql")).await;
    assert!(totals.contains("COVERING INDEX verdicts_totals"), "{totals}");
}
