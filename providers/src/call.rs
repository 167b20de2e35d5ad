//! One call on its way through the stack: the request and what its attempts leave behind.
//!
//! Owns what has to survive from one attempt to the next (sent attempts, the encoded body, hints for the retry
//! layer). Knows no vendor and no limit.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use crate::chat::{Attempt, ChatRequest, Usage};

/// A [`ChatRequest`] inside the stack. Clones share one state, so cloning for a retry copies no text.
#[derive(Debug, Clone)]
pub struct Call(Arc<State>);

#[derive(Debug)]
struct State {
    request: ChatRequest,
    started: Instant,
    deadline: Option<Instant>,
    attempts: Mutex<Vec<Attempt>>,
    body: Mutex<Option<Body>>,
    paid: Mutex<Option<Usage>>,
    stage: AtomicU8,
    hints: AtomicU8,
    is_probe: AtomicBool,
    is_schema_refused: AtomicBool,
}

/// The request as it goes over the wire, kept so that a retry does not encode again.
#[derive(Debug, Clone)]
pub struct Body {
    /// Revision of the capabilities that it was encoded for.
    pub revision: u32,
    pub bytes: Bytes,
    /// Parameters of the request that are not in `bytes`.
    pub dropped: Vec<&'static str>,
}

/// What a call is waiting for; decides what an expired deadline is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// For a slot, a request or tokens of its server.
    Line,
    Answer,
    Backoff,
}

/// What the vendor knows about its last failure and an error kind cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Hint {
    /// The connection died before any byte of the answer: ask once more at once.
    DiedBeforeAnswer = 1,
    /// The server, or the nature of the failure, says that asking again is of no use.
    Final = 2,
    /// The server refused a parameter and the vendor now knows it: ask again with the other body.
    Learned = 4,
}

impl Call {
    /// A call that starts now. `deadline` counts from here.
    pub fn new(request: ChatRequest, deadline: Option<Duration>) -> Self {
        let started = Instant::now();
        Self(Arc::new(State {
            request,
            started,
            deadline: deadline.and_then(|allowed| started.checked_add(allowed)),
            attempts: Mutex::new(Vec::new()),
            body: Mutex::new(None),
            paid: Mutex::new(None),
            stage: AtomicU8::new(Stage::Answer as u8),
            hints: AtomicU8::new(0),
            is_probe: AtomicBool::new(false),
            is_schema_refused: AtomicBool::new(false),
        }))
    }

    pub fn request(&self) -> &ChatRequest {
        &self.0.request
    }

    pub fn started(&self) -> Instant {
        self.0.started
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// True when a wait of that length would reach the deadline.
    pub(crate) fn ends_within(&self, wait: Duration) -> bool {
        self.0
            .deadline
            .is_some_and(|deadline| Instant::now().checked_add(wait).is_none_or(|until| until >= deadline))
    }

    pub(crate) fn push_attempt(&self, attempt: Attempt) {
        locked(&self.0.attempts).push(attempt);
    }

    /// Hands the attempts over; a second call finds none.
    pub(crate) fn take_attempts(&self) -> Vec<Attempt> {
        std::mem::take(&mut *locked(&self.0.attempts))
    }

    /// The body for these capabilities: the kept one when the revision is the same, else a fresh one.
    pub fn body(&self, revision: u32, encode: impl FnOnce(&ChatRequest) -> Body) -> Body {
        let mut kept = locked(&self.0.body);
        match &*kept {
            Some(body) if body.revision == revision => body.clone(),
            Some(_) | None => kept.insert(encode(&self.0.request)).clone(),
        }
    }

    /// Remembers what an attempt without an answer was charged.
    pub(crate) fn pay(&self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            let mut paid = locked(&self.0.paid);
            *paid = Some(paid.map_or(usage, |before| before.plus(usage)));
        }
    }

    /// This usage and that of all attempts without an answer.
    pub(crate) fn paid_with(&self, usage: Option<Usage>) -> Option<Usage> {
        match (*locked(&self.0.paid), usage) {
            (Some(before), Some(now)) => Some(before.plus(now)),
            (before, now) => before.or(now),
        }
    }

    pub fn leave(&self, hint: Hint) {
        self.0.hints.fetch_or(hint as u8, Ordering::Relaxed);
    }

    /// Takes the hints of the last attempt.
    pub fn take_hints(&self) -> Hints {
        Hints(self.0.hints.swap(0, Ordering::Relaxed))
    }

    /// The caller's schema was refused: it goes into the prompt from now on.
    pub(crate) fn refuse_schema(&self) {
        self.0.is_schema_refused.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_schema_refused(&self) -> bool {
        self.0.is_schema_refused.load(Ordering::Relaxed)
    }

    /// Whether this attempt finds out for all others if the server is back.
    pub(crate) fn mark_probe(&self, is_probe: bool) {
        self.0.is_probe.store(is_probe, Ordering::Relaxed);
    }

    pub(crate) fn is_probe(&self) -> bool {
        self.0.is_probe.load(Ordering::Relaxed)
    }

    pub(crate) fn enter(&self, stage: Stage) {
        self.0.stage.store(stage as u8, Ordering::Relaxed);
    }

    pub(crate) fn stage(&self) -> Stage {
        let stage = self.0.stage.load(Ordering::Relaxed);
        [Stage::Line, Stage::Backoff].into_iter().find(|known| *known as u8 == stage).unwrap_or(Stage::Answer)
    }
}

/// The hints that one attempt left.
#[derive(Debug, Clone, Copy)]
pub struct Hints(u8);

impl Hints {
    pub fn has(self, hint: Hint) -> bool {
        self.0 & hint as u8 != 0
    }
}

/// The lock's content, also after a panic elsewhere: these sections leave no half-written state.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(revision: u32) -> Body {
        Body { revision, bytes: Bytes::from_static(b"{}"), dropped: vec![] }
    }

    #[test]
    fn body_is_encoded_once_per_revision() {
        let call = Call::new(ChatRequest::user("hi"), None);
        let mut encoded = 0;
        for revision in [1, 1, 1, 2, 2] {
            let kept = call.clone().body(revision, |_| {
                encoded += 1;
                body(revision)
            });
            assert_eq!(kept.revision, revision);
        }
        assert_eq!(encoded, 2);
    }

    #[test]
    fn hints_are_taken_once() {
        let call = Call::new(ChatRequest::user("hi"), None);
        call.leave(Hint::Learned);
        let hints = call.take_hints();
        assert!(hints.has(Hint::Learned) && !hints.has(Hint::Final));
        assert!(!call.take_hints().has(Hint::Learned));
    }

    #[test]
    fn stage_is_read_back() {
        let call = Call::new(ChatRequest::user("hi"), None);
        for stage in [Stage::Line, Stage::Answer, Stage::Backoff] {
            call.enter(stage);
            assert_eq!(call.stage(), stage);
        }
    }
}
