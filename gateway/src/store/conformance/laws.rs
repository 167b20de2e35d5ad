//! The laws: true on every database.

use aggregation::vote::{Abstention, Exclusion, Order, UnparseableClass};

use super::on_each;
use super::rows::{PROJECT, RUN, judgment, judgments, run, run_case, text, triage, verdict, verdicts};
use crate::case::Mode;
use crate::store::StoreError;
use crate::store::rows::{
    FinishedCase, JudgmentRow, JudgmentSource, ModelFactsRow, Record, TextSelection, TriageRow, TriageStatus,
    VerdictRow, VersionKind, VersionRow,
};

#[tokio::test]
async fn a_judgment_returns_as_it_was_recorded() {
    on_each(|store| async move {
        let full = JudgmentRow {
            order: Order::Reversed,
            sample: 2,
            replaces: Some("j-old".to_owned()),
            source: JudgmentSource::Cache,
            origin_id: Some("j-origin".to_owned()),
            mode: Mode::Pairwise,
            model_replied: Some("model-0731".to_owned()),
            system_fingerprint: Some("fp_1".to_owned()),
            prompt_hash: Some("b3:prompt".to_owned()),
            repaired: true,
            cached_tokens: Some(3),
            reasoning_tokens: Some(i64::MAX),
            ..judgment("full", "a")
        };
        let bare = JudgmentRow {
            reply_hash: None,
            prompt_tokens: None,
            completion_tokens: None,
            cost_microusd: None,
            outcome: Err(Abstention::TimedOut),
            ..judgment("bare", "a")
        };
        // Nulls and values of one column alternate in one statement and across statements.
        store.append(&judgments([full.clone(), bare.clone()])).await.unwrap();
        store.append(&judgments([judgment("full", "b")])).await.unwrap();
        let of = |case_id: &'static str| store.judgments_of_case(PROJECT, RUN, case_id);
        assert_eq!(of("full").await.unwrap(), [full, judgment("full", "b")]);
        assert_eq!(of("bare").await.unwrap(), [bare]);
        assert_eq!(of("unknown").await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn abstentions_keep_their_class() {
    on_each(|store| async move {
        for abstention in [
            Abstention::Unparseable(UnparseableClass::Truncated),
            Abstention::Excluded(Exclusion::SameFamily),
        ] {
            let case_id = format!("{abstention:?}");
            let row = JudgmentRow { outcome: Err(abstention), ..judgment(&case_id, "a") };
            store.append(&judgments([row.clone()])).await.unwrap();
            assert_eq!(store.judgments_of_case(PROJECT, RUN, &case_id).await.unwrap(), [row]);
        }
    })
    .await;
}

#[tokio::test]
async fn the_first_judgment_of_its_place_stands() {
    on_each(|store| async move {
        let first = judgment("q1", "a");
        let second =
            JudgmentRow { id: "other".to_owned(), outcome: Err(Abstention::Refused), ..judgment("q1", "a") };
        store.append(&judgments([first.clone(), first.clone(), second.clone()])).await.unwrap();
        store.append(&judgments([second])).await.unwrap();
        assert_eq!(store.judgments_of_case(PROJECT, RUN, "q1").await.unwrap(), [first]);
    })
    .await;
}

#[tokio::test]
async fn each_part_of_the_place_tells_judgments_apart() {
    on_each(|store| async move {
        let other = |id: &str, change: fn(&mut JudgmentRow)| {
            let mut row = JudgmentRow { id: id.to_owned(), ..judgment("q1", "a") };
            change(&mut row);
            row
        };
        let rows = vec![
            judgment("q1", "a"),
            other("2", |row| row.order = Order::Reversed),
            other("3", |row| row.sample = 1),
            other("4", |row| row.criterion = "tone".to_owned()),
            other("5", |row| row.judge = "b".to_owned()),
        ];
        store.append(&judgments(rows.clone())).await.unwrap();
        let mut stored = store.judgments_of_case(PROJECT, RUN, "q1").await.unwrap();
        stored.sort_by(|x, y| x.id.cmp(&y.id));
        let mut expected = rows;
        expected.sort_by(|x, y| x.id.cmp(&y.id));
        assert_eq!(stored, expected);
    })
    .await;
}

#[tokio::test]
async fn a_correction_hides_the_row_that_it_names() {
    on_each(|store| async move {
        let error = JudgmentRow { outcome: Err(Abstention::Unavailable), ..judgment("q1", "a") };
        let retried = JudgmentRow {
            id: "j-2".to_owned(),
            revision: 1,
            replaces: Some(error.id.clone()),
            ..judgment("q1", "a")
        };
        store.append(&judgments([error, retried.clone()])).await.unwrap();
        assert_eq!(store.judged_cases(PROJECT, RUN, None, 10).await.unwrap(), ["q1"]);
        assert_eq!(store.judged_cases(PROJECT, RUN, Some("q1"), 10).await.unwrap(), [] as [&str; 0]);
        assert_eq!(store.judgments_of_case(PROJECT, RUN, "q1").await.unwrap(), [retried]);

        let old = verdict("q1");
        let new = VerdictRow {
            id: "v-2".to_owned(),
            revision: 1,
            replaces: Some(old.id.clone()),
            case_hash: "b3:new".to_owned(),
            ..verdict("q1")
        };
        store.append(&verdicts([old.clone(), new.clone()])).await.unwrap();
        assert_eq!(store.verdict(PROJECT, &old.id).await.unwrap(), Some(old));
        assert_eq!(store.verdicts_of_run(PROJECT, RUN, None, 10).await.unwrap(), std::slice::from_ref(&new));
        assert_eq!(store.verdict_of_case(PROJECT, RUN, "q1").await.unwrap(), Some(new));
        assert_eq!(store.verdict_of_case(PROJECT, RUN, "q2").await.unwrap(), None);
        let finished = [FinishedCase { case_id: "q1".to_owned(), case_hash: "b3:new".to_owned() }];
        assert_eq!(store.finished_cases(PROJECT, RUN, None, 10).await.unwrap(), finished);
        assert_eq!(store.finished_among(PROJECT, RUN, &["q1".to_owned()]).await.unwrap(), finished);
    })
    .await;
}

#[tokio::test]
async fn waiting_cases_are_counted_by_project() {
    on_each(|store| async move {
        assert_eq!(store.open_triage().await.unwrap(), []);
        let resolved = TriageRow { status: TriageStatus::Resolved, ..triage("q3") };
        let withdrawn = TriageRow { status: TriageStatus::Withdrawn, ..triage("q4") };
        let disputed = TriageRow { status: TriageStatus::Adjudication, ..triage("q5") };
        let of_another = TriageRow { project: "another".to_owned(), ..triage("q6") };
        let queue = [triage("q1"), triage("q2"), resolved, withdrawn, disputed, of_another];
        store.append(&queue.map(|row| Record::Triage(Box::new(row)))).await.unwrap();
        let expected = [("another".to_owned(), 1), (PROJECT.to_owned(), 3)];
        assert_eq!(store.open_triage().await.unwrap(), expected);
    })
    .await;
}

#[tokio::test]
async fn what_models_refuse_is_replaced_and_kept_by_project() {
    on_each(|store| async move {
        assert_eq!(store.model_facts(PROJECT).await.unwrap(), []);
        let row = |model: &str, learned: &str| ModelFactsRow {
            project: PROJECT.to_owned(),
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            dialect: "vllm".to_owned(),
            model: model.to_owned(),
            model_replied: None,
            learned: learned.to_owned(),
            updated_us: 1,
        };
        store.keep_model_facts(&[row("a", "{}"), row("b", "{}")]).await.unwrap();
        let newer = ModelFactsRow { model_replied: Some("b-2".to_owned()), updated_us: 2, ..row("b", "[]") };
        let of_another = ModelFactsRow { project: "another".to_owned(), ..row("c", "{}") };
        store.keep_model_facts(&[newer.clone(), of_another.clone()]).await.unwrap();
        assert_eq!(store.model_facts(PROJECT).await.unwrap(), [row("a", "{}"), newer]);
        assert_eq!(store.model_facts("another").await.unwrap(), [of_another]);
    })
    .await;
}

#[tokio::test]
async fn a_replaced_verdict_waits_for_nobody() {
    on_each(|store| async move {
        let old = verdict("q1");
        let waiting = TriageRow { verdict_id: old.id.clone(), ..triage("q1") };
        let mut records = verdicts([old.clone()]);
        records.push(Record::Triage(Box::new(waiting)));
        store.append(&records).await.unwrap();
        assert_eq!(store.open_triage().await.unwrap(), [(PROJECT.to_owned(), 1)]);
        let new = VerdictRow { id: "v-2".to_owned(), revision: 1, replaces: Some(old.id), ..verdict("q1") };
        store.append(&verdicts([new])).await.unwrap();
        assert_eq!(store.open_triage().await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn projects_do_not_see_each_other() {
    on_each(|store| async move {
        let keyed = JudgmentRow { cache_key: Some("key".to_owned()), ..judgment("q1", "a") };
        let mut records = judgments([keyed]);
        records.append(&mut verdicts([verdict("q1")]));
        records.push(Record::Text(text("q1", "reply")));
        store.append(&records).await.unwrap();
        store.create_run(&run(RUN)).await.unwrap();
        let other = "other";
        let ids = ["q1".to_owned()];
        assert_eq!(store.judgments_of_case(other, RUN, "q1").await.unwrap(), []);
        assert_eq!(store.cached_judgments(other, &["key".to_owned()], 0).await.unwrap(), []);
        assert_eq!(store.verdict(other, "v-q1").await.unwrap(), None);
        assert_eq!(store.verdicts_of_run(other, RUN, None, 10).await.unwrap(), []);
        assert_eq!(store.finished_cases(other, RUN, None, 10).await.unwrap(), []);
        assert_eq!(store.finished_among(other, RUN, &ids).await.unwrap(), []);
        assert_eq!(store.texts(other, "q1", &["b3:reply".to_owned()]).await.unwrap(), []);
        assert_eq!(store.erase_texts(other, &TextSelection::Case("q1".to_owned()), 1).await.unwrap(), 0);
        assert_eq!(store.run(other, RUN).await.unwrap(), None);
        assert_eq!(store.runs(other, 10).await.unwrap(), []);
        assert!(store.reopen_run(other, RUN).await.is_err());
        assert_eq!(store.version(other, VersionKind::Panel, "b3:x").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn the_cache_serves_the_newest_call_whole() {
    on_each(|store| async move {
        let keyed = |id: &str, call: &str, criterion: &str, created_us: i64| JudgmentRow {
            id: id.to_owned(),
            call_id: call.to_owned(),
            criterion: criterion.to_owned(),
            cache_key: Some("key".to_owned()),
            created_us,
            ..judgment(id, "a")
        };
        let old = keyed("1", "call-1", "tone", 10);
        let tone = keyed("2", "call-2", "tone", 20);
        let depth = keyed("3", "call-2", "depth", 20);
        let same_time = keyed("4", "call-0", "tone", 20);
        let error = JudgmentRow { outcome: Err(Abstention::Refused), ..judgment("5", "a") };
        store.append(&judgments([old, tone.clone(), depth.clone(), same_time, error])).await.unwrap();
        let keys = ["missing".to_owned(), "key".to_owned()];
        let found = |since_us| store.cached_judgments(PROJECT, &keys, since_us);
        assert_eq!(found(0).await.unwrap(), [depth.clone(), tone.clone()]);
        assert_eq!(found(20).await.unwrap(), [depth, tone]);
        assert_eq!(found(21).await.unwrap(), []);
        assert_eq!(store.cached_judgments(PROJECT, &[], 0).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_verdict_and_its_queue_row_return() {
    on_each(|store| async move {
        let row = VerdictRow {
            key_id: Some("key-1".to_owned()),
            escalated: true,
            degraded: true,
            score_ppm: Some(0),
            reasons_hash: Some("b3:reasons".to_owned()),
            cost_microusd: None,
            body: r#"{"note":"ñ – \u0000"}"#.to_owned(),
            ..verdict("q1")
        };
        let mut records = verdicts([row.clone()]);
        records.push(Record::Triage(Box::new(triage("q1"))));
        records.push(Record::RunCase(run_case("q1", 0)));
        store.append(&records).await.unwrap();
        store.append(&records).await.unwrap();
        assert_eq!(store.verdict(PROJECT, "v-q1").await.unwrap(), Some(row));
        assert_eq!(store.verdict(PROJECT, "v-q2").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_version_says_what_its_hash_stands_for() {
    on_each(|store| async move {
        let version = VersionRow {
            project: PROJECT.to_owned(),
            kind: VersionKind::Panel,
            hash: "b3:x".to_owned(),
            name: "default".to_owned(),
            body: "{}".to_owned(),
            created_us: 1,
        };
        let records = [Record::Version(version.clone())];
        store.append(&records).await.unwrap();
        store.append(&records).await.unwrap();
        assert_eq!(store.version(PROJECT, VersionKind::Panel, "b3:x").await.unwrap(), Some(version));
        assert_eq!(store.version(PROJECT, VersionKind::Judge, "b3:x").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_batch_takes_few_statements() {
    on_each(|store| async move {
        let mut records = Vec::new();
        for case in 0..16 {
            let case_id = format!("q{case}");
            records.extend(judgments((0..10).map(|judge| judgment(&case_id, &format!("judge-{judge}")))));
            records.extend(verdicts([verdict(&case_id)]));
        }
        let appended = store.append(&records).await.unwrap();
        // 160 judgments = 2 × 64 + 2 × 16; 16 verdicts = 1 × 16.
        assert_eq!(appended.statements, 5);
        assert_eq!(store.append(&[]).await.unwrap().statements, 0);
    })
    .await;
}

#[tokio::test]
async fn a_store_that_is_open_answers() {
    on_each(|store| async move {
        store.ping().await.unwrap();
        store.close().await;
        assert!(matches!(store.ping().await.unwrap_err(), StoreError::Unavailable { .. }));
    })
    .await;
}
