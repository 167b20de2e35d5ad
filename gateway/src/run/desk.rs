//! The runs that this gateway judges by itself: it takes waiting ones from the store, a few at once, until it stops.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::judging::RunProgress;
use super::taken;
use crate::app::App;
use crate::store::rows::TakenRun;

/// Runs judged at once by one gateway; further ones wait.
pub const RUNS_AT_ONCE: usize = 4;

/// Runs of all gateways that may wait or be judged; further ones are refused.
pub const MOST_WAITING: u64 = 64;

/// How long a run stays with a gateway that died.
pub const LEASE: Duration = Duration::from_secs(10);

/// How often the store is asked for a run that others left.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The runs under way here.
#[derive(Debug)]
pub struct Desk {
    /// Names this process in leases.
    owner: String,
    /// No further case is begun, and runs are left for the next gateway.
    stop: CancellationToken,
    look: Notify,
    /// Told when a run is begun here or ends here.
    changed: watch::Sender<()>,
    live: Mutex<HashMap<String, Live>>,
}

#[derive(Debug)]
struct Live {
    progress: watch::Receiver<Option<RunProgress>>,
    end: CancellationToken,
}

impl Desk {
    pub fn new(owner: String) -> Self {
        Self {
            owner,
            stop: CancellationToken::new(),
            look: Notify::new(),
            changed: watch::channel(()).0,
            live: Mutex::default(),
        }
    }

    /// Lets go of all runs: cases in flight finish.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Cancelled when this gateway judges no more.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Looks for waiting runs now.
    pub fn look(&self) {
        self.look.notify_one();
    }

    /// Changes when a run is begun here or ends here.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// How far a run is that is judged here, nothing before its first case; closed when it is not judged any more.
    pub fn progress(&self, run: &str) -> Option<watch::Receiver<Option<RunProgress>>> {
        self.live().get(run).map(|live| live.progress.clone())
    }

    /// Ends a run that is judged here: cases in flight finish.
    pub fn end(&self, run: &str) {
        if let Some(live) = self.live().get(run) {
            live.end.cancel();
        }
    }

    fn has_place(&self) -> bool {
        self.live().len() < RUNS_AT_ONCE
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Judges waiting runs until `stop`, or until the desk itself is stopped.
pub async fn judge_waiting(app: App, stop: CancellationToken) {
    let desk = Arc::clone(app.desk());
    let mut every = tokio::time::interval(LOOK_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Losing a tick or a call is fine: each look takes all that it finds.
        tokio::select! {
            () = stop.cancelled() => break,
            () = desk.stop.cancelled() => break,
            _ = every.tick() => {}
            () = desk.look.notified() => {}
        }
        take_all(&app, &desk).await;
    }
    desk.stop();
}

async fn take_all(app: &App, desk: &Arc<Desk>) {
    while !desk.stop.is_cancelled() {
        // A run that was asked to stop needs no place: it ends at once.
        let taken = app.engine().store.take_run(&desk.owner, LEASE, !desk.has_place()).await;
        match taken {
            Ok(Some(taken)) => judge_one(app, desk, taken),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "no look at the runs that wait");
                return;
            }
        }
    }
}

fn judge_one(app: &App, desk: &Arc<Desk>, taken: TakenRun) {
    let (progress, watched) = watch::channel(None);
    let end = CancellationToken::new();
    let run = taken.run.clone();
    desk.live().insert(run.clone(), Live { progress: watched, end: end.clone() });
    desk.changed.send_replace(());
    let (app, desk) = (app.clone(), Arc::clone(desk));
    app.engine().tasks.clone().spawn(async move {
        let session = taken::Session { taken, progress, end, stop: desk.stop.child_token() };
        Box::pin(taken::judge(&app, &session)).await;
        desk.live().remove(&run);
        // Only now: who watches it then finds in the store how it ended.
        drop(session);
        desk.changed.send_replace(());
        desk.look();
    });
}
