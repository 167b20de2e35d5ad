use std::sync::Arc;
use std::time::Duration;

use providers::Scripted;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::RunOptions;
use super::taken::{self, RunFault, Session};
use crate::access::{AccessKey, Refusal, Secret};
use crate::case::Case;
use crate::engine::EngineError;
use crate::engine::scripted::{Bench, PASSES};
use crate::store::rows::{
    Record, RunKind, RunRow, RunStatus, RunSummary, TextKind, TextRow, TextSelection, WorkStatus,
};

const PROJECT: &str = "p";
const RUN: &str = "run-1";

async fn bench() -> Bench {
    Bench::open(&Scripted::always(PASSES)).await
}

fn row(bench: &Bench) -> RunRow {
    let panel = bench.app.in_force().panel(None).unwrap();
    RunRow {
        id: RUN.to_owned(),
        project: PROJECT.to_owned(),
        kind: RunKind::Judge,
        panel: panel.name.clone(),
        panel_version: panel.version.clone(),
        input_hash: None,
        case_total: Some(2),
        settings: String::from("{}"),
        created_us: 1,
    }
}

fn options() -> String {
    paid_by(None)
}

fn paid_by(key: Option<&str>) -> String {
    RunOptions {
        seed: 0,
        use_cache: false,
        repeat: 1,
        allow_kin: false,
        concurrency: None,
        max_cost_usd: None,
        retry_errors: false,
        key: key.map(str::to_owned),
    }
    .to_json()
}

async fn begin(bench: &Bench, row: &RunRow, options: &str) {
    let case = |id: &str| Case::try_from(json!({"id": id, "input": "Who?", "output": "Me."})).unwrap();
    let panel = bench.app.in_force().panel(None).unwrap();
    bench.app.engine().begin_run(row, &panel, 0, options, &[case("q1"), case("q2")]).await.unwrap();
}

/// The run once it has ended.
async fn ended(bench: &Bench) -> RunSummary {
    bench.app.judge_waiting_runs(CancellationToken::new());
    loop {
        let run = bench.app.engine().find_run(PROJECT, RUN).await.unwrap().unwrap();
        if run.work.as_ref().is_some_and(|work| work.status == WorkStatus::Ended) {
            return run;
        }
        tokio::task::yield_now().await;
    }
}

#[track_caller]
fn check_stopped(run: &RunSummary, finished: i64, reason: &str) {
    let why = run.work.as_ref().and_then(|work| work.reason.clone()).unwrap_or_default();
    assert_eq!((run.status, run.totals.finished_cases), (RunStatus::Stopped, finished), "{why}");
    assert!(why.contains(reason), "{why}");
}

#[tokio::test]
async fn a_begun_run_is_judged_to_its_end() {
    let bench = bench().await;
    begin(&bench, &row(&bench), &options()).await;
    let run = ended(&bench).await;
    assert_eq!(
        (run.status, run.totals.finished_cases, run.totals.decided_cases),
        (RunStatus::Finished, 2, 2)
    );
    assert_eq!(run.work.unwrap().reason, None);
}

#[tokio::test]
async fn a_run_whose_texts_were_erased_stops_and_says_so() {
    let bench = bench().await;
    begin(&bench, &row(&bench), &options()).await;
    let selection = TextSelection::Case(String::from("q2"));
    bench.app.engine().store.erase_texts(PROJECT, &selection, 1).await.unwrap();
    let gone = EngineError::TextGone { case: String::from("q2") };
    check_stopped(&ended(&bench).await, 1, &gone.to_string());
}

#[tokio::test]
async fn a_run_whose_key_was_revoked_asks_nobody() {
    let bench = bench().await;
    let (ring, secret) = (bench.app.key_ring(), Secret::draw().unwrap());
    let key = AccessKey::of(&secret, "nightly", PROJECT);
    ring.add(&key).await.unwrap();
    begin(&bench, &row(&bench), &paid_by(Some(&key.id))).await;
    ring.revoke(&key.id).await.unwrap();
    let fault = RunFault::Key(Refusal::Revoked.into());
    check_stopped(&ended(&bench).await, 0, &fault.to_string());
}

#[tokio::test]
async fn erased_texts_of_finished_cases_are_not_missed() {
    let bench = bench().await;
    begin(&bench, &row(&bench), &options()).await;
    ended(&bench).await;
    let selection = TextSelection::Case(String::from("q1"));
    let engine = bench.app.engine();
    engine.store.erase_texts(PROJECT, &selection, 1).await.unwrap();
    assert!(engine.queue_run_again(PROJECT, RUN, &options()).await.unwrap());
    bench.app.desk().look();
    let run = ended(&bench).await;
    assert_eq!((run.status, run.totals.finished_cases), (RunStatus::Finished, 2));
}

#[tokio::test]
async fn a_stored_case_that_cannot_be_read_stops_its_run() {
    let bench = bench().await;
    let run = row(&bench);
    let case = Case::try_from(json!({"id": "q1", "output": "Me."})).unwrap();
    let text = TextRow {
        project: PROJECT.to_owned(),
        case_id: String::from("q1"),
        kind: TextKind::Case,
        hash: String::from("h"),
        source: None,
        panel: run.panel.clone(),
        body: String::from("no JSON"),
        recorded_us: 1,
        retained_until_us: None,
    };
    let place = crate::engine::Place { project: PROJECT, run: RUN, position: 0 };
    let row = crate::engine::run_case(place, &case, None, String::from("h"), 1);
    let records = [Record::Text(text), Record::RunCase(row)];
    bench.app.engine().store.begin_run(&run, &options(), &records).await.unwrap();
    let source = serde_json::from_str::<Case>("no JSON").unwrap_err();
    let unreadable = EngineError::UnreadableCase { case: String::from("q1"), source };
    check_stopped(&ended(&bench).await, 0, &unreadable.to_string());
}

#[tokio::test]
async fn a_run_of_another_panel_version_stops_and_says_so() {
    let bench = bench().await;
    begin(&bench, &RunRow { panel_version: String::from("b3:old"), ..row(&bench) }, &options()).await;
    check_stopped(&ended(&bench).await, 0, "was version b3:old when the run was begun and is b3:");
    let gone = RunRow { panel: String::from("gone"), ..row(&bench) };
    let fault = RunFault::check(&bench.app.in_force(), &gone).unwrap_err();
    assert!(matches!(&fault, RunFault::PanelChanged { now, .. } if now == "not there any more"), "{fault}");
}

#[tokio::test]
async fn a_run_whose_options_make_no_sense_stops() {
    let bench = bench().await;
    begin(&bench, &row(&bench), "{}").await;
    check_stopped(&ended(&bench).await, 0, "the options of the run cannot be read");
}

#[tokio::test]
async fn a_run_whose_judges_lost_their_keys_is_not_gone_on_with() {
    let panel = "panels: {default: {rubric: safety, judges: [openai/gpt-5-mini, mistral/m1, ollama/phi4]}}";
    let bench = Bench::of(panel, &Scripted::always(PASSES)).await;
    let fault = RunFault::check(&bench.app.in_force(), &row(&bench)).unwrap_err();
    assert!(matches!(fault, RunFault::MissingKey(_)), "{fault}");
}

#[tokio::test]
async fn who_lost_the_lease_records_no_end() {
    let bench = bench().await;
    begin(&bench, &row(&bench), &options()).await;
    let store = &bench.app.engine().store;
    let lost = store.take_run("first", Duration::ZERO, false).await.unwrap().unwrap();
    let held = store.take_run("second", Duration::from_mins(10), false).await.unwrap().unwrap();
    let (progress, watched) = watch::channel(None);
    let session =
        Session { taken: lost, progress, end: CancellationToken::new(), stop: CancellationToken::new() };
    taken::judge(&bench.app, &session).await;
    assert_eq!(watched.borrow().map(|told| told.done), Some(2), "what it asked is recorded all the same");
    let run = bench.app.engine().find_run(PROJECT, RUN).await.unwrap().unwrap();
    assert_eq!((run.status, run.totals.finished_cases), (RunStatus::Running, 2));
    assert!(Arc::clone(store).renew_run(&held, Duration::from_mins(10)).await.unwrap().is_some());
}
