//! Laws of keys and of what they spend.

use super::on_each;
use super::rows::{PROJECT, access_key, judgment, judgments, spending};
use crate::store::StoreError;
use crate::store::rows::{AccessKeyRow, KeySpending, Record, SpendingRow};

#[tokio::test]
async fn a_key_returns_as_it_was_kept() {
    on_each(|store| async move {
        let bare = AccessKeyRow {
            project: "another".to_owned(),
            may_ask: "[]".to_owned(),
            budget_microusd: None,
            budget_window: "never".to_owned(),
            created_us: 2_000,
            expires_us: None,
            revoked_us: Some(3_000),
            ..access_key("k0")
        };
        assert_eq!(store.access_keys().await.unwrap(), []);
        store.add_access_key(&bare).await.unwrap();
        store.add_access_key(&access_key("k2")).await.unwrap();
        store.add_access_key(&access_key("k1")).await.unwrap();
        let oldest_first = [access_key("k1"), access_key("k2"), bare.clone()];
        assert_eq!(store.access_keys().await.unwrap(), oldest_first);
        assert_eq!(store.access_key("k0").await.unwrap(), Some(bare));
        assert_eq!(store.access_key("k9").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn an_id_names_one_key() {
    on_each(|store| async move {
        store.add_access_key(&access_key("k1")).await.unwrap();
        let same = AccessKeyRow { secret_hash: "11ff".to_owned(), ..access_key("k1") };
        let refused = store.add_access_key(&same).await.unwrap_err();
        assert!(matches!(refused, StoreError::Refused { .. }), "{refused:?}");
        assert_eq!(store.access_keys().await.unwrap(), [access_key("k1")]);
    })
    .await;
}

#[tokio::test]
async fn a_key_is_revoked_once() {
    on_each(|store| async move {
        store.add_access_key(&access_key("k1")).await.unwrap();
        store.add_access_key(&access_key("k2")).await.unwrap();
        assert!(store.revoke_access_key("k1", 5_000).await.unwrap());
        assert!(!store.revoke_access_key("k1", 6_000).await.unwrap(), "it was revoked before");
        assert!(!store.revoke_access_key("k9", 6_000).await.unwrap(), "there is no such key");
        let revoked = AccessKeyRow { revoked_us: Some(5_000), ..access_key("k1") };
        assert_eq!(store.access_keys().await.unwrap(), [revoked, access_key("k2")]);
    })
    .await;
}

#[tokio::test]
async fn spending_adds_up_by_key_and_day() {
    on_each(|store| async move {
        let of_another = SpendingRow { project: "another".to_owned(), ..spending("k1", 10, 1_000) };
        let rows = [
            spending("k1", 10, 3),
            spending("k2", 10, 100),
            spending("k1", 10, 4),
            spending("k1", 9, 20),
            of_another,
        ];
        let mut records: Vec<Record> = rows.map(Record::Spending).into();
        records.extend(judgments([judgment("q1", "a")]));
        for _ in 0..2 {
            // Four rows of spending are one statement of four; the judgment is another one.
            assert_eq!(store.append(&records).await.unwrap().statements, 2);
        }
        let spent = |from_day| store.key_spending(PROJECT, "k1", from_day);
        let sums = |microusd, calls| KeySpending { microusd, calls, last_day: Some(10) };
        assert_eq!(spent(0).await.unwrap(), sums(54, 6));
        assert_eq!(spent(10).await.unwrap(), sums(14, 4));
        assert_eq!(spent(11).await.unwrap(), sums(0, 0));
        assert_eq!(store.key_spending("another", "k1", 0).await.unwrap(), sums(2_000, 2));
        assert_eq!(store.key_spending(PROJECT, "k9", 0).await.unwrap(), KeySpending::default());
    })
    .await;
}

#[tokio::test]
async fn many_keys_spend_in_one_batch() {
    on_each(|store| async move {
        let rows = (0..100).flat_map(|n| [spending(&format!("k{}", n % 70), n % 2, 1), spending("k0", 0, 1)]);
        let records: Vec<Record> = rows.map(Record::Spending).collect();
        store.append(&records).await.unwrap();
        let spent = store.key_spending(PROJECT, "k0", 0).await.unwrap();
        // 100 of its own, and cases 0 and 70 of the hundred.
        assert_eq!((spent.microusd, spent.calls), (102, 102));
        assert_eq!(store.key_spending(PROJECT, "k69", 0).await.unwrap().microusd, 1);
    })
    .await;
}
