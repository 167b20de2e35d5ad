//! The cases of a run that the gateways judge by themselves: kept before the first call, read again page by page.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use futures::Stream;

use super::{Engine, EngineError, plan, rows};
use crate::case::Case;
use crate::panel::Panel;
use crate::store::StoreError;
use crate::store::rows::{Record, RunRow};

/// Cases read from the store at once.
const PAGE: u32 = 64;

/// Why the cases of a run came to an end early; nothing: they did not.
pub type InputFault = Arc<Mutex<Option<EngineError>>>;

impl Engine {
    /// Keeps the run with its cases: from then on it is judged, whatever becomes of the caller. `options` is JSON.
    pub async fn begin_run(
        &self,
        run: &RunRow,
        panel: &Panel,
        seed: u64,
        options: &str,
        cases: &[Case],
    ) -> Result<(), StoreError> {
        let now_us = self.clock.now_us();
        let mut records = Vec::with_capacity(cases.len() * 2);
        for (position, case) in cases.iter().enumerate() {
            let text = rows::case_text(&run.project, case, panel, now_us);
            let is_drawn = plan::is_drawn_for_review(seed, panel, case);
            let position = i64::try_from(position).unwrap_or(i64::MAX);
            let place = rows::Place { project: &run.project, run: &run.id, position };
            let inclusion_ppb = rows::inclusion_ppb_of(panel, is_drawn);
            let row = rows::run_case(place, case, inclusion_ppb, text.hash.clone(), now_us);
            records.push(Record::Text(text));
            records.push(Record::RunCase(row));
        }
        self.store.begin_run(run, options, &records).await
    }

    /// The cases of a run in their order, at constant memory. A case whose text is gone is left out where it has its
    /// verdict, and else ends them, as any other failure does.
    pub fn input(
        self: &Arc<Self>,
        run: RunRow,
        fault: InputFault,
    ) -> impl Stream<Item = Case> + Send + use<> {
        let pages = Pages {
            engine: Arc::clone(self),
            run,
            after: -1,
            page: VecDeque::new(),
            is_last: false,
            fault: None,
        };
        futures::stream::unfold((pages, fault), |(mut pages, fault)| async move {
            match pages.next().await {
                Ok(case) => case.map(|case| (case, (pages, fault))),
                Err(error) => {
                    *fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    None
                }
            }
        })
    }
}

struct Pages {
    engine: Arc<Engine>,
    run: RunRow,
    after: i64,
    page: VecDeque<Case>,
    is_last: bool,
    /// What comes after the page: the cases before it are judged all the same.
    fault: Option<EngineError>,
}

impl Pages {
    async fn next(&mut self) -> Result<Option<Case>, EngineError> {
        while self.page.is_empty() && !self.is_last {
            self.turn().await?;
        }
        match (self.page.pop_front(), self.fault.take()) {
            (None, Some(fault)) => Err(fault),
            (case, fault) => {
                self.fault = fault;
                Ok(case)
            }
        }
    }

    async fn turn(&mut self) -> Result<(), EngineError> {
        let store = &self.engine.store;
        let cases = store.input_cases(&self.run, self.after, PAGE).await?;
        self.is_last = cases.len() < PAGE as usize;
        self.after = cases.last().map_or(self.after, |case| case.position);
        let erased: Vec<String> =
            cases.iter().filter(|case| case.body.is_none()).map(|case| case.case_id.clone()).collect();
        let finished = store.finished_among(&self.run.project, &self.run.id, &erased).await?;
        let finished: BTreeSet<String> = finished.into_iter().map(|case| case.case_id).collect();
        for case in cases {
            let read = match case.body {
                Some(body) => serde_json::from_str(&body)
                    .map_err(|source| EngineError::UnreadableCase { case: case.case_id, source }),
                None if finished.contains(&case.case_id) => continue,
                None => Err(EngineError::TextGone { case: case.case_id }),
            };
            match read {
                Ok(case) => self.page.push_back(case),
                Err(fault) => {
                    self.is_last = true;
                    self.fault = Some(fault);
                    break;
                }
            }
        }
        Ok(())
    }
}
