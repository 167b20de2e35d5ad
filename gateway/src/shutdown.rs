//! Signals: soft at the first one, hard at the second.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Tokens that the first and the second signal (SIGINT, SIGTERM) cancel.
#[derive(Debug, Clone)]
pub struct Signals {
    /// Begin nothing new; finish what is under way.
    pub soft: CancellationToken,
    /// Stop at once.
    pub hard: CancellationToken,
}

impl Signals {
    /// Listens from now on, until the process ends.
    pub fn listen() -> Self {
        let signals = Self { soft: CancellationToken::new(), hard: CancellationToken::new() };
        let listener = signals.clone();
        #[expect(clippy::disallowed_methods, reason = "lives as long as the process and owns nothing")]
        tokio::spawn(async move {
            // Without a handler the default action ends the process, which is the next best thing.
            let (Ok(mut interrupt), Ok(mut terminate)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
            else {
                return;
            };
            for token in [&listener.soft, &listener.hard] {
                // Losing either receive is fine: one signal is enough.
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                token.cancel();
            }
        });
        signals
    }
}
