//! Texts: kept byte for byte, for as long as they may be, and gone after that.

use super::on_each;
use super::rows::{PROJECT, RUN, judgment, judgments, text};
use crate::store::rows::{Record, TextKind, TextRow, TextSelection};

#[tokio::test]
async fn texts_return_byte_for_byte() {
    on_each(|store| async move {
        for (n, body) in
            ["", "plain", "NUL \0 inside \u{1} \"quoted\"\r\n", "🙂 ñ \u{feff}"].iter().enumerate()
        {
            let hash = format!("b3:{n}");
            let row = TextRow {
                hash: hash.clone(),
                kind: TextKind::Prompt,
                source: Some("doc".to_owned()),
                retained_until_us: Some(77),
                ..text("q1", body)
            };
            store.append(&[Record::Text(row)]).await.unwrap();
            let stored = store.texts(PROJECT, "q1", &[hash]).await.unwrap();
            assert_eq!(stored.len(), 1);
            assert_eq!(stored[0].body.as_deref(), Some(*body));
            assert_eq!((stored[0].kind, stored[0].retained_until_us), (TextKind::Prompt, Some(77)));
            assert_eq!((stored[0].source.as_deref(), stored[0].erased_us), (Some("doc"), None));
        }
    })
    .await;
}

#[tokio::test]
async fn a_text_that_comes_again_is_kept_for_the_longer_time() {
    on_each(|store| async move {
        let until = |retained_until_us| Record::Text(TextRow { retained_until_us, ..text("q1", "reply") });
        let stored = || async {
            let texts = store.texts(PROJECT, "q1", &["b3:reply".to_owned()]).await.unwrap();
            assert_eq!(texts.len(), 1);
            texts[0].retained_until_us
        };
        store.append(&[until(Some(20)), until(Some(50)), until(Some(30))]).await.unwrap();
        assert_eq!(stored().await, Some(50));
        store.append(&[until(Some(40))]).await.unwrap();
        assert_eq!(stored().await, Some(50));
        store.append(&[until(Some(60))]).await.unwrap();
        assert_eq!(stored().await, Some(60));
        store.append(&[until(None)]).await.unwrap();
        assert_eq!(stored().await, None);
    })
    .await;
}

#[tokio::test]
async fn erasing_leaves_a_tombstone_and_the_numbers() {
    on_each(|store| async move {
        let of = |case_id: &str, source: Option<&str>, recorded_us, retained_until_us| {
            let source = source.map(str::to_owned);
            Record::Text(TextRow { source, recorded_us, retained_until_us, ..text(case_id, "body") })
        };
        let mut records = judgments([judgment("by-case", "a")]);
        records.extend([
            of("by-case", None, 100, None),
            of("by-source", Some("doc-1"), 100, None),
            of("by-age", Some("doc-2"), 10, None),
            of("by-retention", None, 100, Some(500)),
            of("kept", Some("doc-3"), 100, Some(501)),
        ]);
        store.append(&records).await.unwrap();
        let erase = |selection, now_us| {
            let store = store.clone();
            async move { store.erase_texts(PROJECT, &selection, now_us).await.unwrap() }
        };
        assert_eq!(erase(TextSelection::Case("by-case".to_owned()), 501).await, 1);
        assert_eq!(erase(TextSelection::Case("by-case".to_owned()), 999).await, 0);
        assert_eq!(erase(TextSelection::Source("doc-1".to_owned()), 501).await, 1);
        assert_eq!(erase(TextSelection::RecordedBefore(100), 501).await, 1);
        assert_eq!(store.erase_expired_texts(501).await.unwrap(), 1);
        for (case_id, expected) in [
            ("by-case", None),
            ("by-source", None),
            ("by-age", None),
            ("by-retention", None),
            ("kept", Some("body")),
        ] {
            let texts = store.texts(PROJECT, case_id, &["b3:body".to_owned()]).await.unwrap();
            assert_eq!(texts[0].body.as_deref(), expected, "{case_id}");
            assert_eq!(texts[0].erased_us, expected.is_none().then_some(501), "{case_id}");
        }
        assert_eq!(
            store.judgments_of_case(PROJECT, RUN, "by-case").await.unwrap(),
            [judgment("by-case", "a")]
        );

        store.append(&[of("by-case", None, 600, None)]).await.unwrap();
        let again = store.texts(PROJECT, "by-case", &["b3:body".to_owned()]).await.unwrap();
        assert_eq!((again[0].body.as_deref(), again[0].erased_us), (Some("body"), Some(501)));
    })
    .await;
}
