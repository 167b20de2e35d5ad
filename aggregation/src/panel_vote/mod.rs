//! How votes become one value.

use std::collections::BTreeMap;

use crate::vote::JudgeId;

/// The rule of a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// Numbers: the middle value; an even count gives the mean of the two middle ones.
    Median,
    /// Labels: more than half of the votes.
    Majority,
    /// Numbers: the arithmetic mean.
    Mean,
    /// Numbers: weighted mean; labels: weighted strict majority. `w = max(0, kappa)`.
    KappaWeighted(Weights),
    /// As `KappaWeighted` with `w = 2 atanh(min(kappa, 0.9))`.
    LogOdds(Weights),
}

/// Kappa per judge, from fresh calibrations whose status allows weight. A judge that is absent weighs 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weights(pub BTreeMap<JudgeId, f64>);
