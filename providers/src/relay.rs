//! Where the bytes of a streamed answer go while it is still coming.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::{Duration, timeout};

/// Who takes nothing for so long has gone: the server that waits meanwhile is not to be blamed for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Goes with a request that is forwarded as it stands; clones share one channel. No part of what is asked, so all are
/// equal.
///
/// Bytes come only from an answer with a success status and an event stream as its body, as they arrived. From the first
/// of them on the call is not retried. The channel ends when the request and all its clones are gone, which is with the
/// call. A receiver that is dropped, or takes nothing for ten seconds, ends the call: what was not sent never is, and
/// what has come of an answer is the answer.
#[derive(Debug, Clone)]
pub struct Relay {
    sender: mpsc::Sender<Bytes>,
    has_begun: Arc<AtomicBool>,
}

impl Relay {
    /// A relay that holds at most so many pieces (at least one) that nobody has taken yet. A server is read no faster
    /// than they are taken.
    pub fn new(pieces: usize) -> (Self, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(pieces.max(1));
        (Self { sender, has_begun: Arc::default() }, receiver)
    }

    /// Whether anything was passed on.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Waits until there is room; `false`: nobody listens any more.
    pub(crate) async fn pass_on(&self, piece: Bytes) -> bool {
        let Ok(Ok(place)) = timeout(PATIENCE, self.sender.reserve()).await else { return false };
        self.has_begun.store(true, Ordering::Relaxed);
        place.send(piece);
        true
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.sender.is_closed()
    }

    /// Resolves when nobody listens any more.
    pub(crate) async fn abandoned(&self) {
        self.sender.closed().await;
    }
}

impl PartialEq for Relay {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_has_gone() {
        let (relay, receiver) = Relay::new(1);
        assert!(relay.pass_on(Bytes::from_static(b"a")).await);
        let started = tokio::time::Instant::now();
        assert!(!relay.pass_on(Bytes::from_static(b"b")).await);
        assert_eq!((started.elapsed(), receiver.len()), (PATIENCE, 1));
    }

    #[tokio::test]
    async fn it_begins_with_the_first_piece_and_ends_with_its_receiver() {
        let (relay, mut receiver) = Relay::new(0);
        assert!(!relay.has_begun());
        assert!(relay.clone().pass_on(Bytes::from_static(b"a")).await);
        assert!(relay.has_begun());
        assert_eq!(receiver.recv().await.as_deref(), Some(&b"a"[..]));
        drop(receiver);
        relay.abandoned().await;
        assert!(relay.is_abandoned());
        assert!(!relay.pass_on(Bytes::from_static(b"b")).await);
    }
}
