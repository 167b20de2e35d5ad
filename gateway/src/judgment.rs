//! One parsed reply to one call, on one criterion.

use std::sync::Arc;

use aggregation::vote::{Abstention, JudgeId, Order, Pass, Rating};
use providers::chat::{Attempt, Usage};
use serde::{Deserialize, Serialize};

/// A judge's answer on one criterion in one order, with what it cost and what it said.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgment {
    pub judge: JudgeId,
    pub criterion: Arc<str>,
    pub order: Order,
    /// Index of a repeated answer, from 0.
    pub sample: u32,
    /// For pairs already in the case's own frame.
    pub outcome: Result<Rating, Abstention>,
    pub rationale: Option<String>,
    /// The first quote, as the judge wrote it.
    pub evidence: Option<String>,
    /// The visible text that decided, whatever it was.
    pub raw: Option<String>,
    /// The first reply, when it could not be read and the repair was asked for.
    pub unread_raw: Option<String>,
    /// What went wrong, for people: never a key, a host or the text of a case.
    pub detail: Option<String>,
    pub source: Source,
    /// The stored judgment that a cached one repeats.
    pub origin_id: Option<String>,
    pub call: CallFacts,
}

/// Where a judgment comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The judge was asked now.
    Asked,
    /// An earlier judgment with the same fingerprint and case.
    Cached,
    /// Stored by this very run before it was interrupted.
    Resumed,
    /// A recorded answer from a file.
    Replayed,
    /// Decided by the rubric without a call (`empty: fail`).
    Rule,
}

/// What the call to the judge took. Calls that ask for several criteria put their facts on the first one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallFacts {
    pub usage: Option<Usage>,
    /// Millionths of a US dollar; `None`: price or usage unknown.
    pub cost_microusd: Option<u64>,
    /// What the key of the request is charged: the cost, or the worst case where it is unknown and a budget holds.
    pub charged_microusd: u64,
    pub latency_us: u64,
    /// Requests on the wire, retries and the repair included.
    pub attempts: Vec<Attempt>,
    /// The model that the server says answered.
    pub model: Option<String>,
    pub system_fingerprint: Option<String>,
    /// The one repair re-ask was spent.
    pub repaired: bool,
}

impl Judgment {
    pub fn pass(&self) -> Pass {
        Pass { judge: self.judge.clone(), order: self.order, sample: self.sample, outcome: self.outcome }
    }

    /// A judgment without a call.
    pub fn uncalled(
        judge: JudgeId,
        criterion: Arc<str>,
        order: Order,
        sample: u32,
        outcome: Result<Rating, Abstention>,
        source: Source,
    ) -> Self {
        Self {
            judge,
            criterion,
            order,
            sample,
            outcome,
            rationale: None,
            evidence: None,
            raw: None,
            unread_raw: None,
            detail: None,
            source,
            origin_id: None,
            call: CallFacts::default(),
        }
    }
}
