//! The drop-in endpoint's core: a client's own answer form, found, read and folded.
//!
//! A client keeps its prompt and its form; a panel answers in it. [`Contract::of`] says what is known of the form
//! before anyone is asked, [`fold`] reads the judges' replies under it and makes one reply of them:
//!
//! 1. `schema`, `prompt`, `domain`: what the caller's request says of the form. Of the prompt only the domain is taken;
//!    verdicts are looked for in replies alone.
//! 2. `candidates`, `repair`, `reading`, `text`, `panel`: one reply becomes a value, or an abstention.
//! 3. `leaf`, `tree`, `align`, `partition`, `ranking`: votes, leaf by leaf.
//! 4. `select`: the judge's reply that says what the panel says goes out as written; else the closest one with only
//!    the differing leaves replaced.
//! 5. `logprobs`: synthetic token probabilities for those who asked.
//!
//! Around it: `caller` reads what a client sent, `responses` and `chat` write what is `said` in the form of its route,
//! `decisions` makes one question of many and shares of votes.
//!
//! Pure: no I/O, no clock, no async. Knows nothing of HTTP, providers' stacks and stores.

mod align;
mod asked;
pub mod caller;
mod candidates;
pub mod chat;
mod contract;
pub mod decisions;
mod domain;
pub mod exchange;
mod fold;
mod folded;
mod infer;
mod leaf;
mod listing;
mod logprobs;
mod number;
mod panel;
mod partition;
mod prompt;
mod ranking;
mod reading;
mod repair;
pub mod responses;
pub mod said;
mod schema;
mod select;
mod shape;
mod text;
mod tree;
mod voters;
mod words;

#[cfg(test)]
mod tests;

pub use self::asked::{Asked, FoldPolicy, Member, OnTie, Reply, ToolCall};
pub use self::contract::{Contract, Plan};
pub use self::fold::{answered, fold};
pub use self::folded::{Answer, DecidedBy, Folded, LeafKind, LeafVote, Outcome, Reading};
