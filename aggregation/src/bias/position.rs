//! Whether a judge goes by the place of a candidate.
//!
//! Source: Zheng et al. 2023; specification 5.1, `position_bias.json`.

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::estimate::{Decision, Estimate, Estimated};
use crate::numeric::wilson;

/// Flip rate from which a judge fails.
pub const MOST_FLIPS: f64 = 0.1;
/// Pairs below which nothing is decided.
const LEAST_PAIRS: u64 = 30;

/// What a judge named, by place as displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shown {
    First,
    Second,
    Tie,
}

/// Flips between the two orders of pairs, and their direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionBias {
    /// Share of pairs whose verdict about the candidates changes with the order, with Wilson's interval. It includes
    /// plain unsteadiness: see the repeat rate.
    pub flip_rate: Estimate,
    pub flips: u64,
    /// Pairs in which the first candidate displayed won both times.
    pub primacy: u64,
    /// Pairs in which the second candidate displayed won both times.
    pub recency: u64,
    /// `(primacy - recency) / n`, -1 to 1: the part of the flips that is about the place.
    pub direction_index: f64,
    /// Exact two-sided test of equal primacy and recency (McNemar's).
    pub p_direction: f64,
    /// Mean over both orders of candidate a's wins, ties counting half.
    pub win_rate_a: f64,
    /// Share of the first place among the verdicts that are not ties; 0 if all are.
    pub first_shown_rate: f64,
    /// Pass if the interval lies below [`MOST_FLIPS`], fail if it does not reach below.
    pub decision: Decision,
}

/// Measures pairs as `(with a first, with b first)`. A pair with a missing pass is left out and counted.
/// `Empty` if none is left.
pub fn position_bias(
    pairs: &[(Option<Shown>, Option<Shown>)],
) -> Result<PositionBias, crate::estimate::Undefined> {
    let complete: Vec<(Shown, Shown)> = pairs.iter().filter_map(|&(a, b)| Some((a?, b?))).collect();
    let count =
        |wanted: &dyn Fn(&(Shown, Shown)) -> bool| wide(complete.iter().filter(|pair| wanted(pair)).count());
    let n = wide(complete.len());
    let flips = count(&|&(a_first, b_first)| a_first != b_first.turned());
    let flip_rate = share_of(flips, n, pairs.len() - complete.len())?;
    let primacy = count(&|pair| *pair == (Shown::First, Shown::First));
    let recency = count(&|pair| *pair == (Shown::Second, Shown::Second));
    let shown = |wanted: Shown| count(&|pair| pair.0 == wanted) + count(&|pair| pair.1 == wanted);
    let (first, second) = (shown(Shown::First), shown(Shown::Second));
    let wins: f64 = complete.iter().map(|(a_first, b_first)| a_first.wins() + b_first.turned().wins()).sum();
    Ok(PositionBias {
        flip_rate,
        flips,
        primacy,
        recency,
        direction_index: (number(primacy) - number(recency)) / number(n),
        p_direction: sign_test(primacy, recency),
        win_rate_a: wins / (2.0 * number(n)),
        first_shown_rate: number(first) / number((first + second).max(1)),
        decision: decide(&flip_rate, n),
    })
}

impl Shown {
    /// The same candidate's place in the other order.
    fn turned(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Tie => Self::Tie,
        }
    }

    fn wins(self) -> f64 {
        match self {
            Self::First => 1.0,
            Self::Tie => 0.5,
            Self::Second => 0.0,
        }
    }
}

fn share_of(part: u64, n: u64, n_dropped: usize) -> Estimated {
    match wilson(part, n, 0.95) {
        Ok(estimate) => Ok(Estimate { n_dropped, ..estimate }),
        Err(undefined) => Err(crate::estimate::Undefined { n_dropped, ..undefined }),
    }
}

fn decide(flip_rate: &Estimate, n: u64) -> Decision {
    match flip_rate.interval {
        Some(interval) if n >= LEAST_PAIRS && interval.hi < MOST_FLIPS => Decision::Pass,
        Some(interval) if n >= LEAST_PAIRS && interval.lo >= MOST_FLIPS => Decision::Fail,
        Some(_) | None => Decision::Inconclusive,
    }
}

/// Two-sided exact test of `a ~ Bin(a + b, ½)`; 1 without any.
fn sign_test(a: u64, b: u64) -> f64 {
    Binomial::new(0.5, a + b).map_or(1.0, |binomial| (2.0 * binomial.cdf(a.min(b))).min(1.0))
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{Shown, position_bias};
    use crate::estimate::{Decision, UndefinedReason};

    #[test]
    fn flips_that_still_pass_by_number_of_pairs() {
        let steady = (Some(Shown::First), Some(Shown::Second));
        let flip = (Some(Shown::First), Some(Shown::First));
        let check = |pairs: usize, flips: usize, decision| {
            let all = [vec![flip; flips], vec![steady; pairs - flips]].concat();
            assert_eq!(position_bias(&all).unwrap().decision, decision, "{flips} of {pairs}");
        };
        for (pairs, most) in [(50, 0), (100, 4), (200, 11), (300, 19)] {
            check(pairs, most, Decision::Pass);
            check(pairs, most + 1, Decision::Inconclusive);
        }
        check(29, 0, Decision::Inconclusive);
        check(100, 40, Decision::Fail);
    }

    #[test]
    fn nothing_complete_is_undefined() {
        let undefined = position_bias(&[(Some(Shown::Tie), None)]).unwrap_err();
        assert_eq!((undefined.reason, undefined.n_dropped), (UndefinedReason::Empty, 1));
    }
}
