//! A judge asked by itself: what a plain gateway does, with the same limits, retries, breaker, prices and counts.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use aggregation::vote::Abstention;
use providers::chat::{ChatRequest, ChatResponse};
use providers::error::{ErrorKind, ProviderError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::ask::{cost_microusd, cost_of_failure, micros_since};
use super::assemble::upstream_union;
use super::drop_in::judged;
use super::{Askers, Engine, EngineError, Purse, millis};
use crate::judge::Judge;
use crate::judgment::CallFacts;
use crate::perimeter::Cleared;

/// A request for one judge.
#[derive(Debug)]
pub struct PassOn {
    pub askers: Arc<Askers>,
    pub judge: Arc<Judge>,
    pub project: Arc<str>,
    pub purse: Purse,
    pub request: Cleared<ChatRequest>,
}

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

/// Why nothing is passed on.
#[derive(Debug, thiserror::Error)]
pub enum NotPassed {
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What the judge failed with.
    #[error("{}", .0.kind)]
    Judge(Box<ProviderError>),
}

impl From<ProviderError> for NotPassed {
    fn from(error: ProviderError) -> Self {
        Self::Judge(Box::new(error))
    }
}

impl Engine {
    /// Asks one judge. The call runs in a task of its own, so that it is counted whatever becomes of the caller.
    pub async fn pass_on(self: &Arc<Self>, asked: PassOn) -> Result<Passed, NotPassed> {
        if self.tasks.is_closed() {
            return Err(EngineError::ShuttingDown.into());
        }
        let engine = Arc::clone(self);
        let task = self.tasks.spawn(async move { engine.pass_on_here(asked).await });
        task.await.map_err(|_| EngineError::TaskStopped)?
    }

    async fn pass_on_here(&self, asked: PassOn) -> Result<Passed, NotPassed> {
        let PassOn { askers, judge, project, purse, request } = asked;
        let Some(provider) = askers.alone(&judge.id) else {
            let message = format!(
                "judge `{}` cannot be called: its key is missing, or it repeats a recording",
                judge.id
            );
            return Err(ProviderError::new(ErrorKind::BadRequest { status: 400, message }).into());
        };
        let request = request.into_inner();
        // Whoever hangs up while it waits for room is noticed by the call itself.
        let room = purse.room_for(&judge, &request, &AtomicUsize::new(0), &CancellationToken::new()).await;
        let room = room.map_err(|_| EngineError::OverBudget)?;
        let started = Instant::now();
        let answered = provider.oneshot(request).await;
        let (attempts, usage, outcome) = match &answered {
            Ok(response) => (response.attempts.clone(), response.usage, Ok(())),
            Err(error) => (error.attempts.to_vec(), error.usage, Err(Abstention::Unavailable)),
        };
        let cost_microusd = usage.and_then(|usage| cost_microusd(&judge, &usage));
        let charged_microusd = room.settle(match &answered {
            Ok(_) => cost_microusd,
            Err(error) => cost_of_failure(&judge, error),
        });
        let spending = purse.spending(&project, 1, charged_microusd, self.clock.now_us());
        if let Some(spending) = spending {
            // Not waited for: the answer is not held up by what it cost.
            self.recorder.submit(vec![spending]).await.map_err(EngineError::from)?;
        }
        let facts = CallFacts {
            usage,
            cost_microusd,
            charged_microusd,
            latency_us: micros_since(started),
            attempts,
            ..CallFacts::default()
        };
        let judgment = judged(&judge, outcome, facts);
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
