//! What a panel's replies come to.

use aggregation::vote::Abstention;
use providers::chat::{FinishReason, TokenLogprobs};
use serde::Serialize;
use serde_json::Value;

/// The outcome with everything that it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    pub outcome: Outcome,
    /// Every value that was voted on, in the answer's order.
    pub leaves: Vec<LeafVote>,
    /// One per member, in order.
    pub readings: Vec<Reading>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Answer(Box<Answer>),
    /// No strict majority on these leaves: one more judge may settle it. In a final fold the policy refuses.
    Tied {
        paths: Vec<String>,
    },
    /// Too few answers, or a tie while votes are missing.
    BelowQuorum {
        answered: usize,
        needed: usize,
    },
    /// Every judge that replied declined; the first refusal's words.
    Refused {
        text: String,
    },
}

/// The one reply that goes out.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// `None` beside a tool call.
    pub content: Option<String>,
    /// Name and arguments. Never together with `content`.
    pub tool_call: Option<(String, String)>,
    /// Index of the member whose reply it is, or was.
    pub representative: usize,
    /// Whether it stands as that judge wrote it, but for fences and prose around JSON.
    pub verbatim: bool,
    /// Whether the lead judge settled what the panel could not.
    pub escalated: bool,
    /// Tokens that join to `content`; made of votes, not measured.
    pub logprobs: Option<Vec<TokenLogprobs>>,
    pub finish: FinishReason,
}

/// One voted value.
#[derive(Debug, Clone, PartialEq)]
pub struct LeafVote {
    /// Such as `score`, `claims[0].supported`; of a text form `verdict`, or the words before the colon.
    pub path: String,
    pub kind: LeafKind,
    /// All values that it may have, where that is known and finite.
    pub domain: Option<Vec<Value>>,
    pub value: Value,
    /// One per member; `None` where the member says nothing here.
    pub votes: Vec<Option<Value>>,
    /// The same of the exchanged candidates, exchanged back; `None` where nobody was asked that.
    pub reversed_votes: Vec<Option<Value>>,
    /// 0 (unanimous) to 1; `None` below two votes and where no scale is known.
    pub disagreement: Option<f64>,
    pub decided_by: DecidedBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeafKind {
    Bool,
    Category,
    Integer,
    Number,
    Rank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Majority,
    Median,
    Mean,
    /// Ranks by the sum of places.
    Borda,
    /// No majority; the contract has a label that says so.
    TieLabel,
    /// No majority; the lead judge's value stands.
    Lead,
    /// With the verdict beside it, from a judge that voted as the panel did.
    SameJudge,
    /// Nothing could be put together: one judge's whole list or reply.
    Whole,
}

/// How a member's reply was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    Accepted,
    Abstained(Abstention),
}

impl Folded {
    /// The largest disagreement on any leaf.
    pub fn disagreement(&self) -> Option<f64> {
        self.leaves.iter().filter_map(|leaf| leaf.disagreement).reduce(f64::max)
    }
}
