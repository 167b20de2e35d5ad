//! Runs: their pages, totals and costs.

use super::on_each;
use super::rows::{PROJECT, RUN, judgment, judgments, run, verdict, verdicts};
use crate::store::StoreError;
use crate::store::rows::{JudgmentRow, RunEnd, RunStatus, RunTotals, VerdictRow};

#[tokio::test]
async fn cost_of_a_run_is_that_of_its_judgments() {
    on_each(|store| async move {
        assert_eq!(store.run_cost(PROJECT, RUN).await.unwrap(), 0);
        let costing = |judge: &str, cost| JudgmentRow { cost_microusd: cost, ..judgment("q1", judge) };
        let other_run = JudgmentRow { run: "another".to_owned(), ..costing("c", Some(100)) };
        store.append(&judgments([costing("a", Some(7)), costing("b", None), other_run])).await.unwrap();
        assert_eq!(store.run_cost(PROJECT, RUN).await.unwrap(), 7);
    })
    .await;
}

#[tokio::test]
async fn pages_of_a_run_meet_every_case_once() {
    on_each(|store| async move {
        let ids: Vec<String> = (0..25).map(|n| format!("q{n:02}")).collect();
        store.append(&verdicts(ids.iter().map(|id| verdict(id)))).await.unwrap();
        let mut seen: Vec<String> = Vec::new();
        loop {
            let after = seen.last().cloned();
            let page = store.verdicts_of_run(PROJECT, RUN, after.as_deref(), 10).await.unwrap();
            let cases = store.finished_cases(PROJECT, RUN, after.as_deref(), 10).await.unwrap();
            let of_page: Vec<&str> = page.iter().map(|row| row.case_id.as_str()).collect();
            let of_cases: Vec<&str> = cases.iter().map(|case| case.case_id.as_str()).collect();
            assert_eq!(of_page, of_cases);
            if page.is_empty() {
                break;
            }
            seen.extend(page.into_iter().map(|row| row.case_id));
        }
        assert_eq!(seen, ids);
    })
    .await;
}

#[tokio::test]
async fn finished_among_finds_them_in_a_long_list() {
    on_each(|store| async move {
        let asked: Vec<String> = (0..700).map(|n| format!("q{n}")).collect();
        let finished = asked.iter().step_by(3);
        store.append(&verdicts(finished.clone().map(|id| verdict(id)))).await.unwrap();
        let found = store.finished_among(PROJECT, RUN, &asked).await.unwrap();
        let mut found: Vec<&str> = found.iter().map(|case| case.case_id.as_str()).collect();
        let mut expected: Vec<&str> = finished.map(String::as_str).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(store.finished_among(PROJECT, RUN, &[]).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_run_counts_its_cases_until_it_keeps_its_totals() {
    on_each(|store| async move {
        store.create_run(&run(RUN)).await.unwrap();
        let read = || async { store.run(PROJECT, RUN).await.unwrap().unwrap() };
        let none =
            RunTotals { finished_cases: 0, decided_cases: 0, escalated_cases: 0, cost_microusd: Some(0) };
        assert_eq!(read().await.totals, none);

        let escalated = VerdictRow { escalated: true, decided: false, ..verdict("q2") };
        store.append(&verdicts([verdict("q1"), escalated])).await.unwrap();
        let two =
            RunTotals { finished_cases: 2, decided_cases: 1, escalated_cases: 1, cost_microusd: Some(820) };
        let running = read().await;
        assert_eq!((running.totals, running.status), (two, RunStatus::Running));
        assert_eq!(running.run, run(RUN));

        let end = RunEnd {
            status: RunStatus::Finished,
            finished_us: 9_000,
            outcome: Some(r#"{"decision":"pass"}"#.to_owned()),
        };
        let finished = store.finish_run(PROJECT, RUN, &end).await.unwrap();
        assert_eq!(finished, read().await);
        assert_eq!((finished.status, finished.finished_us, finished.totals), (end.status, Some(9_000), two));
        assert_eq!(finished.outcome, end.outcome);

        store.reopen_run(PROJECT, RUN).await.unwrap();
        let unpriced = VerdictRow { cost_microusd: None, ..verdict("q3") };
        store.append(&verdicts([unpriced])).await.unwrap();
        let again = read().await;
        assert_eq!((again.status, again.finished_us, again.outcome), (RunStatus::Running, None, None));
        assert_eq!((again.totals.finished_cases, again.totals.cost_microusd), (3, None));
    })
    .await;
}

#[tokio::test]
async fn the_newest_run_is_the_last_one() {
    on_each(|store| async move {
        assert_eq!(store.last_run(PROJECT).await.unwrap(), None);
        for id in ["run-2", "run-3", "run-1"] {
            store.create_run(&run(id)).await.unwrap();
        }
        let ids = |limit| {
            let store = store.clone();
            async move {
                let runs = store.runs(PROJECT, limit).await.unwrap();
                runs.into_iter().map(|summary| summary.run.id).collect::<Vec<_>>()
            }
        };
        assert_eq!(ids(10).await, ["run-3", "run-2", "run-1"]);
        assert_eq!(ids(2).await, ["run-3", "run-2"]);
        assert_eq!(store.last_run(PROJECT).await.unwrap().unwrap().run.id, "run-3");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_unknown_or_known_already_is_refused() {
    on_each(|store| async move {
        store.create_run(&run(RUN)).await.unwrap();
        let end = RunEnd { status: RunStatus::Stopped, finished_us: 1, outcome: None };
        let unknown = "no run `run-9` (hint: `tribunal runs` lists them)";
        assert_eq!(store.reopen_run(PROJECT, "run-9").await.unwrap_err().to_string(), unknown);
        assert_eq!(store.finish_run(PROJECT, "run-9", &end).await.unwrap_err().to_string(), unknown);
        let twice = store.create_run(&run(RUN)).await.unwrap_err();
        assert!(matches!(twice, StoreError::Refused { .. }), "{twice:?}");
    })
    .await;
}
