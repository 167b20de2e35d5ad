//! What judges said, folded into what the panel says.
//!
//! A [`Pass`] is one reply stripped to its rating; [`fold_orders`] makes one [`Vote`] of a judge's passes;
//! [`decide`] makes one [`Verdict`] of the votes. Everything is pure: same input, same bits.

pub mod agreement;
pub mod bias;
pub mod calibration;
mod classes;
pub mod dawid_skene;
pub mod disagreement;
mod draw;
pub mod drift;
pub mod escalation;
pub mod estimate;
pub mod expected_score;
mod folds;
pub mod gate;
pub mod health;
pub mod labelled;
pub mod numeric;
pub mod order;
pub mod panel_vote;
pub mod protocol;
pub mod recommend;
pub mod scale;
pub mod selective;
pub mod sequential;
pub mod stacked;
pub mod verdict;
pub mod vote;
pub mod weights;

pub use estimate::{ConfidenceInterval, Decision, Estimate, Estimated, Undefined, UndefinedReason};
pub use order::{ExpectedOrders, fold_orders};
pub use scale::{Preference, Scale, Value};
pub use verdict::{Outcome, Policy, Verdict, decide};
pub use vote::{Abstention, JudgeId, Order, Pass, Rating, Vote};
