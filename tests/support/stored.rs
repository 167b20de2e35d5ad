//! What a gateway left in its store, read after it has ended.

use gateway::api::DEFAULT_PROJECT;
use gateway::store::rows::{AccessKeyRow, JudgmentRow, KeySpending, Record};
use gateway::store::{AccessKeys, SqlStore, Store, StoreLocation};
use tokio_util::task::TaskTracker;

use super::gateway::store_path;
use super::panel::Folder;

/// The store of a folder, opened by itself.
#[derive(Debug)]
pub struct Stored {
    pub folder: Folder,
    store: SqlStore,
}

impl Stored {
    pub async fn open(folder: Folder) -> Self {
        let location = StoreLocation::parse(&store_path(&folder).display().to_string()).expect("a location");
        let store = SqlStore::open(&location, &TaskTracker::new()).await.expect("a store");
        Self { folder, store }
    }

    /// The judgments of a case, sorted by judge, criterion, order and sample.
    pub async fn judgments(&self, run: &str, case: &str) -> Vec<JudgmentRow> {
        let mut rows = self.store.judgments_of_case(DEFAULT_PROJECT, run, case).await.expect("judgments");
        rows.sort_by(|a, b| {
            let key = |row: &JudgmentRow| (row.judge.clone(), row.criterion.clone(), row.order, row.sample);
            key(a).cmp(&key(b))
        });
        rows
    }

    /// The bodies of texts that these hashes name.
    pub async fn texts(&self, case: &str, hashes: &[String]) -> Vec<String> {
        let texts = self.store.texts(DEFAULT_PROJECT, case, hashes).await.expect("texts");
        texts.into_iter().filter_map(|text| text.body).collect()
    }

    /// The newest run's id.
    pub async fn last_run(&self) -> String {
        self.store.last_run(DEFAULT_PROJECT).await.expect("runs").expect("a run").run.id
    }

    pub async fn add_access_key(&self, key: &AccessKeyRow) {
        self.store.add_access_key(key).await.expect("the key is kept");
    }

    pub async fn append(&self, records: &[Record]) {
        self.store.append(records).await.expect("the records are kept");
    }

    /// What a key of the default project has spent at all.
    pub async fn key_spending(&self, key: &str) -> KeySpending {
        self.store.key_spending(DEFAULT_PROJECT, key, 0).await.expect("what a key spent")
    }

    /// Cases that wait for a person.
    pub async fn open_triage(&self) -> i64 {
        self.store.open_triage().await.expect("a queue").iter().map(|(_, open)| open).sum()
    }

    pub async fn close(self) -> Folder {
        self.store.close().await;
        self.folder
    }
}
