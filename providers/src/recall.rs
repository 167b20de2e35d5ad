//! A caller takes a call back: nothing is sent any more, and what is on the wire may finish.

use tokio_util::sync::CancellationToken;

/// Goes with a request; clones speak for the same caller. No part of what is asked, so all are equal.
#[derive(Debug, Clone, Default)]
pub struct Recall(Option<CancellationToken>);

impl Recall {
    /// Taken back when the token is cancelled.
    pub fn on(token: CancellationToken) -> Self {
        Self(Some(token))
    }

    pub fn is_called(&self) -> bool {
        self.0.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Never resolves for a call that cannot be taken back.
    pub(crate) async fn called(&self) {
        match &self.0 {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

impl PartialEq for Recall {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
