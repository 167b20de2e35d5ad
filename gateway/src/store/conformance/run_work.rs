//! Laws of runs that gateways judge by themselves.

use std::sync::Arc;
use std::time::Duration;

use super::on_each;
use super::rows::{PROJECT, RUN, run, run_case, text};
use crate::store::Store;
use crate::store::rows::{
    Record, RunCaseRow, RunEnd, RunStatus, TakenRun, TextKind, TextRow, TextSelection, WorkState, WorkStatus,
};

const LEASE: Duration = Duration::from_mins(10);
const OPTIONS: &str = r#"{"seed":7}"#;

fn end() -> RunEnd {
    RunEnd { status: RunStatus::Stopped, finished_us: 9_000, outcome: None }
}

async fn begin(store: &Arc<dyn Store>, id: &str) {
    store.begin_run(&run(id), OPTIONS, &[]).await.unwrap();
}

async fn take(store: &Arc<dyn Store>, lease: Duration) -> Option<TakenRun> {
    store.take_run("gateway-1", lease, false).await.unwrap()
}

async fn work(store: &Arc<dyn Store>, id: &str) -> WorkState {
    store.run(PROJECT, id).await.unwrap().unwrap().work.unwrap()
}

#[tokio::test]
async fn a_begun_run_is_kept_whole_and_read_in_order() {
    on_each(|store| async move {
        let record = |n: i64| {
            let (id, body) = (format!("q{}", 9 - n), format!("case {n}"));
            let text =
                TextRow { kind: TextKind::Case, source: Some("doc-12".to_owned()), ..text(&id, &body) };
            let case = RunCaseRow { text_hash: Some(text.hash.clone()), ..run_case(&id, n) };
            // The same case of another panel is another text.
            let other = TextRow { panel: "other".to_owned(), ..text.clone() };
            [Record::Text(text), Record::Text(other), Record::RunCase(case)]
        };
        let records: Vec<Record> = (0..7).flat_map(record).collect();
        store.begin_run(&run(RUN), OPTIONS, &records).await.unwrap();
        let stored = store.run(PROJECT, RUN).await.unwrap().unwrap();
        assert_eq!((stored.run, stored.status), (run(RUN), RunStatus::Running));
        let waiting = WorkState {
            status: WorkStatus::Waiting,
            is_begun: false,
            reason: None,
            options: OPTIONS.to_owned(),
        };
        assert_eq!(stored.work, Some(waiting));
        assert_eq!(store.waiting_runs().await.unwrap(), 1);

        let first = store.input_cases(&run(RUN), -1, 4).await.unwrap();
        let rest = store.input_cases(&run(RUN), 3, 4).await.unwrap();
        assert_eq!((first.len(), rest.len()), (4, 3));
        for (n, case) in (0..7).zip(first.iter().chain(&rest)) {
            assert_eq!((case.position, case.body.clone()), (n, Some(format!("case {n}"))));
        }
        store.erase_texts(PROJECT, &TextSelection::Case("q9".to_owned()), 9).await.unwrap();
        let erased = store.input_cases(&run(RUN), -1, 2).await.unwrap();
        assert_eq!((&erased[0].body, erased[1].body.is_some()), (&None, true));
    })
    .await;
}

#[tokio::test]
async fn a_run_that_a_command_began_is_nobodys_work() {
    on_each(|store| async move {
        store.create_run(&run(RUN)).await.unwrap();
        assert_eq!(store.run(PROJECT, RUN).await.unwrap().unwrap().work, None);
        assert_eq!(take(&store, LEASE).await, None);
        assert!(!store.ask_run_to_stop(PROJECT, RUN).await.unwrap());
        assert!(!store.queue_run_again(PROJECT, RUN, "{}").await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn one_of_many_gateways_takes_a_run() {
    on_each(|store| async move {
        begin(&store, RUN).await;
        let takers = (0..8).map(|_| take(&store, LEASE));
        let taken: Vec<TakenRun> = futures::future::join_all(takers).await.into_iter().flatten().collect();
        let [only] = taken.as_slice() else { panic!("{taken:?}") };
        assert_eq!((only.run.as_str(), only.options.as_str(), only.fencing_token), (RUN, OPTIONS, 1));
        assert!(work(&store, RUN).await.is_begun);
        assert!(store.renew_run(only, LEASE).await.unwrap().is_some());
        assert_eq!(take(&store, LEASE).await, None);
    })
    .await;
}

#[tokio::test]
async fn runs_are_taken_in_the_order_of_their_beginning() {
    on_each(|store| async move {
        for id in ["run-2", "run-1", "run-3"] {
            begin(&store, id).await;
        }
        for id in ["run-1", "run-2", "run-3"] {
            assert_eq!(take(&store, LEASE).await.unwrap().run, id);
        }
    })
    .await;
}

#[tokio::test]
async fn who_lost_a_run_can_neither_renew_nor_end_it() {
    on_each(|store| async move {
        begin(&store, RUN).await;
        let first = take(&store, Duration::ZERO).await.unwrap();
        let second = take(&store, LEASE).await.unwrap();
        assert_eq!((first.fencing_token, second.fencing_token), (1, 2));
        assert_eq!(store.renew_run(&first, LEASE).await.unwrap(), None);
        assert!(!store.end_taken_run(&first, &end(), Some("mine")).await.unwrap());
        assert_eq!(store.run(PROJECT, RUN).await.unwrap().unwrap().status, RunStatus::Running);

        assert!(store.end_taken_run(&second, &end(), Some("why")).await.unwrap());
        let ended = store.run(PROJECT, RUN).await.unwrap().unwrap();
        assert_eq!((ended.status, ended.finished_us), (RunStatus::Stopped, Some(9_000)));
        let work = ended.work.unwrap();
        assert_eq!((work.status, work.reason.as_deref()), (WorkStatus::Ended, Some("why")));
        assert_eq!(store.renew_run(&second, LEASE).await.unwrap(), None, "it has ended");
        assert_eq!((take(&store, LEASE).await, store.waiting_runs().await.unwrap()), (None, 0));
    })
    .await;
}

#[tokio::test]
async fn letting_go_leaves_the_run_to_the_next_one() {
    on_each(|store| async move {
        begin(&store, RUN).await;
        let first = take(&store, LEASE).await.unwrap();
        assert!(store.renew_run(&first, Duration::ZERO).await.unwrap().is_some());
        assert_eq!(take(&store, LEASE).await.unwrap().fencing_token, 2);
    })
    .await;
}

#[tokio::test]
async fn a_wish_to_stop_reaches_who_holds_the_run_or_takes_it() {
    on_each(|store| async move {
        begin(&store, "run-1").await;
        begin(&store, "run-2").await;
        let held = take(&store, LEASE).await.unwrap();
        assert!(!held.lease.is_asked_to_stop);
        assert_eq!(store.take_run("full", LEASE, true).await.unwrap(), None, "nobody was asked to stop");
        for id in ["run-1", "run-2"] {
            assert!(store.ask_run_to_stop(PROJECT, id).await.unwrap());
        }
        assert!(store.renew_run(&held, LEASE).await.unwrap().unwrap().is_asked_to_stop);
        let stopping = store.take_run("full", LEASE, true).await.unwrap().unwrap();
        assert_eq!((stopping.run.as_str(), stopping.lease.is_asked_to_stop), ("run-2", true));
    })
    .await;
}

#[tokio::test]
async fn an_ended_run_waits_again_when_it_is_asked_to() {
    on_each(|store| async move {
        begin(&store, RUN).await;
        assert!(!store.queue_run_again(PROJECT, RUN, "{}").await.unwrap(), "it has not ended");
        let taken = take(&store, LEASE).await.unwrap();
        store.ask_run_to_stop(PROJECT, RUN).await.unwrap();
        store.end_taken_run(&taken, &end(), Some("why")).await.unwrap();
        assert!(!store.ask_run_to_stop(PROJECT, RUN).await.unwrap(), "it has ended");
        assert!(store.queue_run_again(PROJECT, RUN, r#"{"retry_errors":true}"#).await.unwrap());
        let stored = store.run(PROJECT, RUN).await.unwrap().unwrap();
        assert_eq!((stored.status, stored.finished_us), (RunStatus::Running, None));
        assert_eq!(stored.work.unwrap().reason, None);
        let again = take(&store, LEASE).await.unwrap();
        assert_eq!((again.fencing_token, again.lease.is_asked_to_stop), (2, false));
        assert_eq!(again.options, r#"{"retry_errors":true}"#);
    })
    .await;
}
