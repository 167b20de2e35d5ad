//! Requests with a key: answered once, however often they are sent, by whichever gateway, across restarts.
//!
//! Owns reservations and their leases. Must not know HTTP, and of judging no more than its beginning and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::{Engine, EngineError, JudgeRequest, rows};
use crate::case::Case;
use crate::panel::Panel;
use crate::store::StoreError;
use crate::store::rows::{
    Endpoint, IdempotencyEnd, IdempotencyRow, Record, RequestKey, Reservation, ReservationRow, TextRow,
};
use crate::verdict::CaseVerdict;

/// How long an answer is given again; then the key is free.
pub const KEPT: Duration = Duration::from_hours(24);

/// A request whose gateway died is taken over after this time.
///
/// Invariant: clocks of gateways that share a store differ by less than `LEASE - RENEWED_EVERY`.
pub const LEASE: Duration = Duration::from_secs(30);
const RENEWED_EVERY: Duration = Duration::from_secs(10);

/// How often a duplicate looks whether another gateway has answered; one in this process wakes it.
pub(super) const LOOKS_EVERY: Duration = Duration::from_millis(500);

/// Least time between two deletions of expired keys.
const SWEPT_EVERY: Duration = Duration::from_hours(1);

const LONGEST_KEY: usize = 255;

/// A client's name for one request: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`Idempotency-Key` is not 1 to 255 visible ASCII characters")]
pub struct BadKey;

impl TryFrom<&[u8]> for IdempotencyKey {
    type Error = BadKey;

    fn try_from(bytes: &[u8]) -> Result<Self, BadKey> {
        let text = std::str::from_utf8(bytes).map_err(|_| BadKey)?;
        let is_key = (1..=LONGEST_KEY).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if is_key { Ok(Self(text.to_owned())) } else { Err(BadKey) }
    }
}

/// A key and what it was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    pub key: IdempotencyKey,
    /// Hash of all that the client sent and that can change the answer.
    pub body_hash: String,
}

/// What a request with a key comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyedAnswer {
    Judged(CaseVerdict),
    /// The answer to an earlier request of the same key and body.
    Replayed(CaseVerdict),
    /// The key stands for another request.
    OtherBody,
}

/// The engine's part that lives as long as the process.
#[derive(Debug)]
pub(crate) struct Keys {
    /// Names this process in leases.
    owner: String,
    /// Told when a request of this process has its answer, or has failed.
    ended: Notify,
    swept_us: AtomicI64,
}

impl Keys {
    pub(crate) fn new(owner: String) -> Self {
        Self { owner, ended: Notify::new(), swept_us: AtomicI64::new(i64::MIN) }
    }
}

impl Engine {
    /// The answer that is kept for this key; `None`: nobody has answered yet.
    pub async fn kept_answer(
        &self,
        project: &str,
        keyed: &Keyed,
    ) -> Result<Option<KeyedAnswer>, EngineError> {
        match self
            .store
            .idempotency(&request_key(Endpoint::Verdict, project, keyed), self.clock.now_us())
            .await?
        {
            Some(row) => self.answer_of(&row, keyed).await,
            None => Ok(None),
        }
    }

    /// Judges the case unless the key has an answer; while another request of the key is being answered, waits for
    /// it. Once judging has begun it goes on, whatever becomes of the caller; `request.cancel` is not listened to.
    ///
    /// The wait ends: an owner renews its lease only while it judges, and judging has a deadline.
    pub async fn judge_keyed(
        self: &Arc<Self>,
        keyed: Keyed,
        request: JudgeRequest,
    ) -> Result<KeyedAnswer, EngineError> {
        let request = JudgeRequest { cancel: CancellationToken::new(), ..request };
        loop {
            if self.tasks.is_closed() {
                return Err(EngineError::ShuttingDown);
            }
            let (engine, keyed_here, request_here) = (Arc::clone(self), keyed.clone(), request.clone());
            // Why a task: a reservation whose caller goes away must not be left without an owner.
            let attempt = self.tasks.spawn(async move { engine.attempt(&keyed_here, request_here).await });
            match attempt.await.map_err(|_| EngineError::TaskStopped)?? {
                Attempt::Answered(answer) => return Ok(*answer),
                Attempt::Taken => {
                    self.wait_for_owner(&request_key(Endpoint::Verdict, &request.project, &keyed)).await?;
                }
            }
        }
    }

    async fn wait_for_owner(&self, key: &RequestKey) -> Result<(), EngineError> {
        loop {
            // Invariant: listens before it looks, so that no end is missed.
            let ended = self.keys.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            let now_us = self.clock.now_us();
            let row = self.store.idempotency(key, now_us).await?;
            let is_owned =
                row.is_some_and(|row| row.end.is_none() && row.reservation.lease_until_us > now_us);
            if !is_owned || self.tasks.is_closed() {
                return Ok(());
            }
            tokio::select! {
                () = ended => {}
                () = tokio::time::sleep(LOOKS_EVERY) => {}
            }
        }
    }

    async fn attempt(self: &Arc<Self>, keyed: &Keyed, request: JudgeRequest) -> Result<Attempt, EngineError> {
        let now_us = self.clock.now_us();
        let wish = ReservationRow {
            request: request_key(Endpoint::Verdict, &request.project, keyed),
            body_hash: keyed.body_hash.clone(),
            verdict_id: self.ids.draw(),
            lease_owner: self.keys.owner.clone(),
            lease_until_us: after(now_us, LEASE),
            created_us: now_us,
            expires_us: after(now_us, KEPT),
        };
        match self.store.reserve_idempotency(&wish).await? {
            Reservation::Theirs(row) => {
                let answer = self.answer_of(&row, keyed).await?;
                Ok(answer.map_or(Attempt::Taken, |answer| Attempt::Answered(Box::new(answer))))
            }
            Reservation::Ours(row) => {
                let is_taken_over = row.reservation.verdict_id != wish.verdict_id;
                let answer = self.own(&row, is_taken_over, request).await;
                if answer.is_err() {
                    // What was paid for stays under the verdict's id, for whoever asks next.
                    self.renew(&row, 0).await;
                }
                self.keys.ended.notify_waiters();
                self.sweep(now_us).await;
                answer.map(|answer| Attempt::Answered(Box::new(answer)))
            }
        }
    }

    /// `None`: the request is being answered, or its owner died.
    async fn answer_of(
        &self,
        row: &IdempotencyRow,
        keyed: &Keyed,
    ) -> Result<Option<KeyedAnswer>, EngineError> {
        if row.reservation.body_hash != keyed.body_hash {
            return Ok(Some(KeyedAnswer::OtherBody));
        }
        let Some(end) = &row.end else { return Ok(None) };
        let ReservationRow { request, verdict_id, .. } = &row.reservation;
        let gone = || EngineError::VerdictGone { id: verdict_id.clone() };
        let stored = self.store.verdict(&request.project, verdict_id).await?.ok_or_else(gone)?;
        let hashes: Vec<String> = end.response_hash.iter().cloned().collect();
        let texts = self.store.texts(&request.project, &stored.case_id, &hashes).await?;
        let verdict = match texts.into_iter().find_map(|text| text.body) {
            Some(body) => serde_json::from_str(&body)
                .map_err(|source| EngineError::Unreadable { id: verdict_id.clone(), source })?,
            // Erased: the numbers are still there.
            None => self.whole_verdict(&stored).await?,
        };
        Ok(Some(KeyedAnswer::Replayed(verdict)))
    }

    /// From the reservation to the answer that is kept.
    async fn own(
        self: &Arc<Self>,
        row: &IdempotencyRow,
        is_taken_over: bool,
        request: JudgeRequest,
    ) -> Result<KeyedAnswer, EngineError> {
        let ReservationRow { request: key, verdict_id, .. } = &row.reservation;
        let (case, panel) = (Arc::clone(&request.case), Arc::clone(&request.panel));
        if is_taken_over && let Some(verdict) = self.verdict(&key.project, verdict_id).await? {
            // The former owner died between the verdict and the answer.
            self.keep(row, &case, &panel, &verdict).await;
            return Ok(KeyedAnswer::Replayed(verdict));
        }
        let request = JudgeRequest { resumed: is_taken_over, ..request };
        let verdict = self.judge_leased(row, request).await?;
        if self.keep(row, &case, &panel, &verdict).await {
            return Ok(KeyedAnswer::Judged(verdict));
        }
        // Another owner took over meanwhile. Of two verdicts of one id the first one stands.
        let first = self.verdict(&key.project, verdict_id).await?;
        Ok(KeyedAnswer::Replayed(first.unwrap_or(verdict)))
    }

    /// Judges under the reservation's id, renewing its lease meanwhile.
    async fn judge_leased(
        self: &Arc<Self>,
        row: &IdempotencyRow,
        request: JudgeRequest,
    ) -> Result<CaseVerdict, EngineError> {
        let mut renewal = tokio::time::interval_at(Instant::now() + RENEWED_EVERY, RENEWED_EVERY);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let judging = self.judge_as(request, Some(row.reservation.verdict_id.clone()));
        tokio::pin!(judging);
        loop {
            tokio::select! {
                verdict = &mut judging => return verdict,
                // Losing the tick is fine: the next one comes.
                _ = renewal.tick() => self.renew(row, after(self.clock.now_us(), LEASE)).await,
            }
        }
    }

    /// A lease that is lost or not renewed costs nothing but a repeated call: the fencing token guards the answer.
    async fn renew(&self, row: &IdempotencyRow, lease_until_us: i64) {
        let key = &row.reservation.request;
        match self.store.renew_idempotency(key, row.fencing_token, lease_until_us).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("another gateway took over a keyed request"),
            Err(error) => tracing::warn!(error = %error, "the lease of a keyed request was not renewed"),
        }
    }

    /// Keeps the answer word for word. False: the caller is not the owner any more.
    async fn keep(&self, row: &IdempotencyRow, case: &Case, panel: &Panel, verdict: &CaseVerdict) -> bool {
        let key = &row.reservation.request;
        let text = rows::response_text(&key.project, case, panel, verdict, self.clock.now_us());
        match self.keep_text(row, text).await {
            Ok(is_owner) => is_owner,
            Err(error) => {
                // The verdict is durable, so the next request of this key finds it when the lease has ended.
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the answer to a keyed request was not kept"
                );
                true
            }
        }
    }

    async fn keep_text(&self, row: &IdempotencyRow, text: TextRow) -> Result<bool, EngineError> {
        let end = IdempotencyEnd { http_status: 200, response_hash: Some(text.hash.clone()) };
        self.recorder.record(vec![Record::Text(text)]).await?;
        Ok(self.store.complete_idempotency(&row.reservation.request, row.fencing_token, &end).await?)
    }

    /// Deletes expired keys now and then, so that the table does not grow for ever.
    async fn sweep(&self, now_us: i64) {
        let swept_us = self.keys.swept_us.load(Ordering::Relaxed);
        if now_us < after(swept_us, SWEPT_EVERY) {
            return;
        }
        self.keys.swept_us.store(now_us, Ordering::Relaxed);
        let deleted: Result<u64, StoreError> = self.store.delete_expired_idempotency(now_us).await;
        if let Err(error) = deleted {
            tracing::warn!(error = %error, "expired idempotency keys were not deleted");
        }
    }
}

/// One try for the key.
enum Attempt {
    Answered(Box<KeyedAnswer>),
    /// Another request of the key is being answered.
    Taken,
}

pub(super) fn request_key(endpoint: Endpoint, project: &str, keyed: &Keyed) -> RequestKey {
    RequestKey { project: project.to_owned(), endpoint, key: keyed.key.0.clone() }
}

pub(super) fn after(now_us: i64, duration: Duration) -> i64 {
    now_us.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
