//! On whose account calls are made, and what may be spent: room is made for the worst case of a call before it is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use providers::chat::{ChatRequest, Usage};
use providers::tokens;
use tokio_util::sync::CancellationToken;

use super::ask::cost_microusd;
use super::budget::{Budget, Reservation};
use crate::access;
use crate::judge::Judge;
use crate::store::rows::{Record, SpendingRow};

/// What an answer without a cap is taken to need.
const UNCAPPED_ANSWER_TOKENS: u32 = 4096;

/// Where the money for calls comes from; the default is nobody's and without end.
#[derive(Debug, Clone, Default)]
pub struct Purse {
    /// Of the run or the command.
    pub cap: Option<Arc<Budget>>,
    /// Of whoever asks with a key.
    pub key: Option<KeyPurse>,
}

/// A key whose spending is counted.
#[derive(Debug, Clone)]
pub struct KeyPurse {
    /// Of the key.
    pub id: Arc<str>,
    /// `None`: it may spend without end.
    pub budget: Option<Arc<Budget>>,
}

/// Room for one call in every budget that it has to fit into.
#[derive(Debug, Default)]
pub(super) struct Room {
    cap: Option<Reservation>,
    key: Option<Reservation>,
}

/// Why there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoRoom {
    Recalled,
    OverBudget,
}

impl Purse {
    pub fn capped(cap: Option<Arc<Budget>>) -> Self {
        Self { cap, key: None }
    }

    /// Why the last call did not fit; `cap_name` is what the user calls the cap.
    pub fn explain(&self, cap_name: &str) -> Option<String> {
        let cap = self.cap.as_ref().filter(|cap| cap.is_exhausted());
        let of_key =
            || self.key.as_ref()?.budget.as_ref().map(|budget| budget.explain("the key's budget of"));
        cap.map(|cap| cap.explain(cap_name)).or_else(of_key)
    }

    /// Calls and what they are charged, on the account of the key if there is one.
    pub(super) fn spending(
        &self,
        project: &str,
        calls: i64,
        charged_microusd: u64,
        now_us: i64,
    ) -> Option<Record> {
        let key = self.key.as_ref()?;
        Some(Record::Spending(SpendingRow {
            project: project.to_owned(),
            key_id: key.id.to_string(),
            day: access::day(now_us),
            microusd: i64::try_from(charged_microusd).unwrap_or(i64::MAX),
            calls,
        }))
    }

    /// Room for the worst case of this request: a long prompt, and an answer up to its cap. Waits while calls under way
    /// may give some back; `waiting` counts who waits.
    pub(super) async fn room_for(
        &self,
        judge: &Judge,
        request: &ChatRequest,
        waiting: &AtomicUsize,
        cancel: &CancellationToken,
    ) -> Result<Room, NoRoom> {
        let key_budget = self.key.as_ref().and_then(|key| key.budget.as_ref());
        if self.cap.is_none() && key_budget.is_none() {
            return Ok(Room::default());
        }
        let completion_tokens = request.max_tokens.unwrap_or(UNCAPPED_ANSWER_TOKENS);
        let usage = Usage {
            prompt_tokens: u64::from(tokens::estimate(request).saturating_sub(completion_tokens)),
            completion_tokens: u64::from(completion_tokens),
            ..Usage::default()
        };
        let most_microusd = cost_microusd(judge, &usage).ok_or(NoRoom::OverBudget)?;
        // Always in this order: whoever holds the key's room waits for nothing more.
        waiting.fetch_add(1, Ordering::Relaxed);
        let room = cancel
            .run_until_cancelled(async {
                let cap = reserve(self.cap.as_ref(), most_microusd).await?;
                let key = reserve(key_budget, most_microusd).await?;
                Ok(Room { cap, key })
            })
            .await;
        waiting.fetch_sub(1, Ordering::Relaxed);
        room.unwrap_or(Err(NoRoom::Recalled))
    }
}

async fn reserve(budget: Option<&Arc<Budget>>, most_microusd: u64) -> Result<Option<Reservation>, NoRoom> {
    let Some(budget) = budget else { return Ok(None) };
    budget.reserve(most_microusd).await.map(Some).ok_or(NoRoom::OverBudget)
}

impl Room {
    /// What the call cost; `None`: unknown, so its worst case where there is a budget. Returns what the key is charged.
    pub(super) fn settle(self, cost_microusd: Option<u64>) -> u64 {
        if let Some(cap) = self.cap {
            cap.settle(cost_microusd);
        }
        self.key.map_or(cost_microusd.unwrap_or(0), |key| key.settle(cost_microusd))
    }
}
