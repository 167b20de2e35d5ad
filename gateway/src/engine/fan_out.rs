//! Asks all judges at once and waits for quorum, grace and deadline.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use aggregation::vote::Abstention;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::ask::{Asked, Unsent};
use super::plan::{self, Call};
use super::recorder::Ack;
use super::work::Work;
use super::{Engine, EngineError, ask, known, rows};
use crate::judge::Judge;
use crate::judgment::{Judgment, Source};

/// What the judges said within the time that the panel gives.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub judgments: Vec<Judgment>,
    /// Each resolves when its judgments are durable.
    pub acks: Vec<Ack>,
}

/// One call's answer on its way back to the case.
struct Arrival {
    index: usize,
    judgments: Vec<Judgment>,
    ack: Result<Ack, EngineError>,
}

/// Asks these judges. A call that is sent but late finishes by itself and is recorded; here it counts as timed out.
pub(super) async fn ask_all(
    engine: &Arc<Engine>,
    work: &Arc<Work>,
    judges: &[Arc<Judge>],
) -> Result<Collected, EngineError> {
    let calls: Vec<Call> =
        judges.iter().flat_map(|judge| plan::calls(&work.panel, &work.case, judge)).collect();
    let known = known::find(engine, work, &calls).await?;
    let mut progress = Progress::new(work, &calls);
    let mut collected = Collected::default();
    let mut known_rows = Vec::new();
    // Bounded by the calls themselves: one message each.
    let (sender, mut arrivals) = mpsc::channel::<Arrival>(calls.len().max(1));
    for (index, (call, known)) in calls.iter().zip(known).enumerate() {
        if let Some(judgments) = known {
            progress.arrived(index, &judgments);
            known_rows.extend(rows::of_judgments(engine, work, call, &judgments, None));
            collected.judgments.extend(judgments);
        } else {
            spawn_call(engine, work, call.clone(), index, sender.clone());
        }
    }
    drop(sender);
    if !known_rows.is_empty() {
        collected.acks.push(engine.recorder.submit(known_rows).await?);
    }
    while progress.is_waiting() {
        tokio::select! {
            // Losing the receive is fine: nothing is taken from the channel unless it completes.
            arrival = arrivals.recv() => {
                let Some(Arrival { index, judgments, ack }) = arrival else { break };
                let ack = ack?;
                progress.arrived(index, &judgments);
                collected.acks.push(ack);
                collected.judgments.extend(judgments);
            }
            () = tokio::time::sleep_until(progress.until()) => {
                // A call that waits for money is not late: the case is left for a run that may spend more.
                if work.waits_for_budget.load(Ordering::Relaxed) > 0 {
                    return Err(EngineError::OverBudget);
                }
                break;
            }
            () = work.cancel.cancelled() => return Err(EngineError::Cancelled),
        }
    }
    collected.judgments.extend(progress.late());
    Ok(collected)
}

fn spawn_call(
    engine: &Arc<Engine>,
    work: &Arc<Work>,
    call: Call,
    index: usize,
    sender: mpsc::Sender<Arrival>,
) {
    let (engine, work) = (Arc::clone(engine), Arc::clone(work));
    let tasks = engine.tasks.clone();
    tasks.spawn(async move {
        let Asked { judgments, prompt } = match ask::ask(&work, &call).await {
            Ok(asked) => asked,
            Err(Unsent::Recalled) => return,
            Err(Unsent::OverBudget) => {
                let ack = Err(EngineError::OverBudget);
                let _ = sender.send(Arrival { index, judgments: Vec::new(), ack }).await;
                return;
            }
        };
        let prompt = prompt.map(|prompt| prompt.text());
        let rows = rows::of_judgments(&engine, &work, &call, &judgments, prompt.as_deref());
        let ack = engine.recorder.submit(rows).await.map_err(EngineError::from);
        engine.metrics.observe_call(&call.judge.id, &judgments);
        // The case may have gone on without this answer; it is recorded all the same.
        let _ = sender.send(Arrival { index, judgments, ack }).await;
    });
}

/// Which calls have arrived, and until when it is worth waiting for the others.
struct Progress<'a> {
    calls: &'a [Call],
    /// Per call: `None` while it is out, then whether every criterion has a rating.
    arrived: Vec<Option<bool>>,
    quorum: usize,
    grace: std::time::Duration,
    until: Instant,
    has_quorum: bool,
}

impl<'a> Progress<'a> {
    fn new(work: &Work, calls: &'a [Call]) -> Self {
        Self {
            calls,
            arrived: vec![None; calls.len()],
            quorum: work.panel.quorum,
            grace: work.panel.deadline.grace,
            until: work.deadline,
            has_quorum: false,
        }
    }

    fn arrived(&mut self, index: usize, judgments: &[Judgment]) {
        if let Some(slot) = self.arrived.get_mut(index) {
            *slot = Some(judgments.iter().all(|judgment| judgment.outcome.is_ok()));
        }
        if !self.has_quorum && self.judges_with_votes() >= self.quorum {
            self.has_quorum = true;
            self.until = self.until.min(Instant::now() + self.grace);
        }
    }

    fn is_waiting(&self) -> bool {
        self.arrived.iter().any(Option::is_none)
    }

    fn until(&self) -> Instant {
        self.until
    }

    /// Judges all of whose calls arrived with ratings. Calls stand judge by judge.
    fn judges_with_votes(&self) -> usize {
        let mut voted = 0;
        let mut rest = self.calls.iter().zip(&self.arrived).peekable();
        while let Some((call, first)) = rest.next() {
            let mut complete = *first == Some(true);
            while let Some((_, next)) = rest.next_if(|(next, _)| next.judge.id == call.judge.id) {
                complete &= *next == Some(true);
            }
            voted += usize::from(complete);
        }
        voted
    }

    /// One `timed_out` per criterion of each call that has not arrived.
    fn late(&self) -> Vec<Judgment> {
        let late = self.calls.iter().zip(&self.arrived).filter(|(_, arrived)| arrived.is_none());
        late.flat_map(|(call, _)| {
            call.criteria.iter().map(|criterion| Judgment {
                detail: Some(String::from("no answer within the panel's deadline")),
                ..Judgment::uncalled(
                    call.judge.id.clone(),
                    Arc::from(criterion.name.as_str()),
                    call.order,
                    call.sample,
                    Err(Abstention::TimedOut),
                    Source::Asked,
                )
            })
        })
        .collect()
    }
}
