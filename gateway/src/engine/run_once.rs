//! Runs that are begun once, however often the request is sent.

use std::sync::Arc;

use super::keyed::{KEPT, Keyed, LEASE, LOOKS_EVERY, after, request_key};
use super::{Engine, EngineError};
use crate::case::Case;
use crate::panel::Panel;
use crate::store::rows::{Endpoint, IdempotencyEnd, IdempotencyRow, Reservation, ReservationRow, RunRow};

/// What a request to begin a run comes to; with the run's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotentRun {
    Begun(String),
    /// An earlier request of the same key and body began it.
    Known(String),
    /// The key stands for another request.
    OtherBody,
}

/// A run that is still to be kept.
#[derive(Debug)]
pub struct NewRun {
    pub row: RunRow,
    pub panel: Arc<Panel>,
    pub seed: u64,
    /// JSON.
    pub options: String,
    pub cases: Vec<Case>,
}

impl Engine {
    /// The run that this key stands for; `None`: nobody has begun one yet.
    pub async fn kept_run(&self, project: &str, keyed: &Keyed) -> Result<Option<IdempotentRun>, EngineError> {
        let key = request_key(Endpoint::Run, project, keyed);
        match self.store.idempotency(&key, self.clock.now_us()).await? {
            Some(row) => self.known_run(&row, keyed).await,
            None => Ok(None),
        }
    }

    /// Keeps the run, unless its key stands for one. Once it has begun to be kept it is, whatever becomes of the caller.
    pub async fn begin_run_once(
        self: &Arc<Self>,
        keyed: Option<Keyed>,
        new: NewRun,
    ) -> Result<IdempotentRun, EngineError> {
        let engine = Arc::clone(self);
        let task = self.tasks.spawn(async move {
            match keyed {
                Some(keyed) => Box::pin(engine.begin_keyed(&keyed, new)).await,
                None => engine.keep_run(new).await,
            }
        });
        task.await.map_err(|_| EngineError::TaskStopped)?
    }

    async fn keep_run(&self, new: NewRun) -> Result<IdempotentRun, EngineError> {
        if self.tasks.is_closed() {
            return Err(EngineError::ShuttingDown);
        }
        self.begin_run(&new.row, &new.panel, new.seed, &new.options, &new.cases).await?;
        Ok(IdempotentRun::Begun(new.row.id))
    }

    /// The wait for another owner ends: its lease does.
    async fn begin_keyed(&self, keyed: &Keyed, mut new: NewRun) -> Result<IdempotentRun, EngineError> {
        let key = request_key(Endpoint::Run, &new.row.project, keyed);
        loop {
            if self.tasks.is_closed() {
                return Err(EngineError::ShuttingDown);
            }
            let now_us = self.clock.now_us();
            let wish = ReservationRow {
                request: key.clone(),
                body_hash: keyed.body_hash.clone(),
                verdict_id: new.row.id.clone(),
                lease_owner: new.row.id.clone(),
                lease_until_us: after(now_us, LEASE),
                created_us: now_us,
                expires_us: after(now_us, KEPT),
            };
            match self.store.reserve_idempotency(&wish).await? {
                Reservation::Theirs(row) => match self.known_run(&row, keyed).await? {
                    Some(known) => return Ok(known),
                    None => tokio::time::sleep(LOOKS_EVERY).await,
                },
                Reservation::Ours(row) => {
                    // A former owner may have died after it kept the run.
                    new.row.id.clone_from(&row.reservation.verdict_id);
                    let begun = match self.known_run(&row, keyed).await? {
                        Some(known) => Ok(known),
                        None => self.keep_run(new).await,
                    };
                    if begun.is_ok() {
                        let end = IdempotencyEnd { http_status: 202, response_hash: None };
                        self.store.complete_idempotency(&key, row.fencing_token, &end).await?;
                    } else {
                        self.store.renew_idempotency(&key, row.fencing_token, 0).await?;
                    }
                    return begun;
                }
            }
        }
    }

    async fn known_run(
        &self,
        row: &IdempotencyRow,
        keyed: &Keyed,
    ) -> Result<Option<IdempotentRun>, EngineError> {
        let ReservationRow { request, body_hash, verdict_id, .. } = &row.reservation;
        if *body_hash != keyed.body_hash {
            return Ok(Some(IdempotentRun::OtherBody));
        }
        let run = self.store.run(&request.project, verdict_id).await?;
        Ok(run.map(|run| IdempotentRun::Known(run.run.id)))
    }
}
