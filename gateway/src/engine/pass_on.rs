//! A judge asked by itself: what a plain gateway does, with the same limits, retries, breaker, prices and counts.

use std::sync::Arc;

use aggregation::vote::Abstention;
use providers::chat::{ChatRequest, ChatResponse};
use providers::error::{ErrorKind, ProviderError};
use tokio::time::Instant;
use tower::ServiceExt;

use super::ask::{cost_microusd, micros_since};
use super::assemble::upstream_union;
use super::drop_in::judged;
use super::{Askers, Engine, millis};
use crate::judge::Judge;
use crate::judgment::CallFacts;
use crate::perimeter::Cleared;

/// An answer that is passed on.
#[derive(Debug)]
pub struct Passed {
    /// Of this call.
    pub id: String,
    pub response: ChatResponse,
    /// US dollars; `None`: price or usage unknown.
    pub cost_usd: Option<f64>,
    /// Time that was spent here and not on the wire.
    pub overhead_ms: f64,
}

impl Engine {
    /// Asks one judge. The call runs in a task of its own, so that it is counted whatever becomes of the caller.
    pub async fn pass_on(
        self: &Arc<Self>,
        askers: Arc<Askers>,
        judge: Arc<Judge>,
        request: Cleared<ChatRequest>,
    ) -> Result<Passed, ProviderError> {
        let stopped = || ProviderError::new(ErrorKind::Recalled);
        if self.tasks.is_closed() {
            return Err(stopped());
        }
        let engine = Arc::clone(self);
        let task = self.tasks.spawn(async move { engine.pass_on_here(&askers, &judge, request).await });
        task.await.map_err(|_| stopped())?
    }

    async fn pass_on_here(
        &self,
        askers: &Askers,
        judge: &Arc<Judge>,
        request: Cleared<ChatRequest>,
    ) -> Result<Passed, ProviderError> {
        let Some(provider) = askers.alone(&judge.id) else {
            let message = format!(
                "judge `{}` cannot be called: its key is missing, or it repeats a recording",
                judge.id
            );
            return Err(ProviderError::new(ErrorKind::BadRequest { status: 400, message }));
        };
        let started = Instant::now();
        let answered = provider.oneshot(request.into_inner()).await;
        let (attempts, usage, outcome) = match &answered {
            Ok(response) => (response.attempts.clone(), response.usage, Ok(())),
            Err(error) => (error.attempts.to_vec(), error.usage, Err(Abstention::Unavailable)),
        };
        let cost_microusd = usage.and_then(|usage| cost_microusd(judge, &usage));
        let facts = CallFacts {
            usage,
            cost_microusd,
            latency_us: micros_since(started),
            attempts,
            ..CallFacts::default()
        };
        let judgment = judged(judge, outcome, facts);
        self.metrics.observe_call(&judge.id, std::slice::from_ref(&judgment));
        let response = answered?;
        askers.note_reply(&judge.id, response.model.as_deref());
        let upstream = upstream_union(std::slice::from_ref(&judgment));
        #[expect(clippy::cast_precision_loss, reason = "exact below 9 billion dollars")]
        let cost_usd = cost_microusd.map(|micro| micro as f64 / 1e6);
        Ok(Passed {
            id: self.ids.draw(),
            response,
            cost_usd,
            overhead_ms: (millis(started.elapsed()) - millis(upstream)).max(0.0),
        })
    }
}
