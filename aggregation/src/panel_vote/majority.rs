//! Strict majority: more than half of the weight, or no winner. There is no tie-break, least of all list order.

use crate::estimate::UndefinedReason;

/// Slack above one half, so that rounding makes no majority out of exactly half.
const SLACK: f64 = 1e-12;

/// How the weight is spread over the labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally<L> {
    /// Share of the weight per label, 0 to 1, in order of first appearance.
    pub shares: Vec<(L, f64)>,
    /// The label with more than half of the weight.
    pub winner: Option<L>,
    /// Largest share less the second largest, 0 to 1; 1 when unanimous.
    pub margin: f64,
}

/// Counts weighted labels (specification 4.2, `panel_vote.json`). Abstentions are left out by the caller;
/// "tie" is a label like any other. `Empty` without votes; `NoPositiveWeight` if no vote has a positive weight.
pub fn tally<L: Copy + PartialEq>(
    votes: impl IntoIterator<Item = (L, f64)>,
) -> Result<Tally<L>, UndefinedReason> {
    let mut shares: Vec<(L, f64)> = Vec::new();
    let mut total = 0.0;
    for (label, weight) in votes {
        let weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        total += weight;
        match shares.iter_mut().find(|(known, _)| *known == label) {
            Some((_, sum)) => *sum += weight,
            None => shares.push((label, weight)),
        }
    }
    if shares.is_empty() {
        return Err(UndefinedReason::Empty);
    }
    if total <= 0.0 {
        return Err(UndefinedReason::NoPositiveWeight);
    }
    let (mut top, mut second) = (0.0_f64, 0.0_f64);
    let mut winner = None;
    for (label, share) in &mut shares {
        *share /= total;
        if *share > 0.5 + SLACK {
            winner = Some(*label);
        }
        if *share > top {
            (top, second) = (*share, top);
        } else {
            second = second.max(*share);
        }
    }
    Ok(Tally { shares, winner, margin: top - second })
}
