//! What judges go by other than quality: place, length, kinship, mood.
//!
//! A judge whose model wrote a candidate is excluded before it is asked; that rule needs no statistics.

mod leniency;
mod position;
mod repeatability;
mod self_preference;
mod verbosity;

pub use leniency::{Leniency, leniency};
pub use position::{MOST_FLIPS, PositionBias, Shown, position_bias};
pub use repeatability::{LabelRepeats, ScoreRepeats, label_repeats, score_repeats};
pub use self_preference::{
    FamilyScores, MOST_EFFECT, SelfPreference, SelfPreferenceError, self_preference,
    self_preference_over_judges,
};
pub use verbosity::{LengthUnit, MOST_CORRELATION, Verbosity, verbosity};
