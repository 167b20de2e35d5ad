//! What judges said, folded into what the panel says.
//!
//! A [`Pass`] is one reply stripped to its rating; `fold_orders` makes one [`Vote`] of a judge's passes;
//! `decide` makes one [`Verdict`] of the votes. Everything is pure: same input, same bits.

pub mod panel_vote;
pub mod scale;
pub mod verdict;
pub mod vote;
