//! Whether a judge goes by length.
//!
//! Source: specification 5.2, `pearson_partial.json`.

use crate::estimate::Decision;
use crate::numeric::{Correlation, CorrelationError, partial, partial_spearman, pearson, spearman};

/// Correlation with length, positive or negative, from which a judge fails.
pub const MOST_CORRELATION: f64 = 0.3;
/// Answers below which nothing is decided.
const LEAST_ANSWERS: usize = 30;

/// How lengths enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthUnit {
    /// As given.
    Raw,
    /// `ln(1 + length)`: twice as long counts alike everywhere. The default.
    Logarithm,
}

/// Score against length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verbosity {
    pub pearson: Correlation,
    pub spearman: Correlation,
    /// With people's scores held constant; `None` without them, or where they leave nothing to vary.
    pub partial: Option<Correlation>,
    pub partial_spearman: Option<Correlation>,
    pub mean_length: f64,
    /// Pass if Fisher's interval of Pearson's lies within ±[`MOST_CORRELATION`], fail if it lies beyond.
    pub decision: Decision,
}

/// Measures one judge. Without `human` scores the answers must be of equal quality by people's word, or length and
/// quality are mixed up. Lengths are in tokens or characters, not negative.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn verbosity(
    scores: &[f64],
    lengths: &[f64],
    human: Option<&[f64]>,
    unit: LengthUnit,
) -> Result<Verbosity, CorrelationError> {
    if let Some((place, &value)) = lengths.iter().enumerate().find(|(_, length)| **length < 0.0) {
        return Err(CorrelationError::NotFinite { list: 1, place, value });
    }
    let measured: Vec<f64> = match unit {
        LengthUnit::Raw => lengths.to_vec(),
        LengthUnit::Logarithm => lengths.iter().map(|length| length.ln_1p()).collect(),
    };
    let pearson = pearson(scores, &measured)?;
    let decision = match pearson.fisher_interval(0.95) {
        Some(interval) if pearson.n >= LEAST_ANSWERS => {
            if interval.lo > -MOST_CORRELATION && interval.hi < MOST_CORRELATION {
                Decision::Pass
            } else if interval.lo >= MOST_CORRELATION || interval.hi <= -MOST_CORRELATION {
                Decision::Fail
            } else {
                Decision::Inconclusive
            }
        }
        Some(_) | None => Decision::Inconclusive,
    };
    // A list of another length or with holes is an error; people who do not vary are not.
    let controlled = |found: Result<Correlation, CorrelationError>| match found {
        Ok(correlation) => Ok(Some(correlation)),
        Err(CorrelationError::Undefined(_)) => Ok(None),
        Err(error @ (CorrelationError::UnequalLengths { .. } | CorrelationError::NotFinite { .. })) => {
            Err(error)
        }
    };
    let (by_value, by_rank) = match human {
        Some(human) => (
            controlled(partial(scores, &measured, human))?,
            controlled(partial_spearman(scores, &measured, human))?,
        ),
        None => (None, None),
    };
    Ok(Verbosity {
        spearman: spearman(scores, &measured)?,
        pearson,
        partial: by_value,
        partial_spearman: by_rank,
        mean_length: lengths.iter().sum::<f64>() / lengths.len() as f64,
        decision,
    })
}

#[cfg(test)]
mod tests {
    use super::{LengthUnit, verbosity};
    use crate::estimate::Decision;
    use crate::numeric::CorrelationError;

    #[test]
    fn the_interval_decides_and_few_answers_decide_nothing() {
        let check = |n: u32, score: &dyn Fn(u32) -> f64, decision| {
            let scores: Vec<f64> = (0..n).map(score).collect();
            let lengths: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % n)).collect();
            assert_eq!(
                verbosity(&scores, &lengths, None, LengthUnit::Raw).unwrap().decision,
                decision,
                "{n}"
            );
        };
        check(100, &|i| f64::from(i * 37 % 100), Decision::Fail);
        check(20, &|i| f64::from(i * 37 % 20), Decision::Inconclusive);
        check(100, &|i| f64::from(i), Decision::Pass);
        check(30, &|i| f64::from(i * 7 % 11), Decision::Inconclusive);
    }

    #[test]
    fn lists_that_do_not_fit_are_refused() {
        let error = verbosity(&[1.0; 3], &[1.0, -1.0, 2.0], None, LengthUnit::Logarithm).unwrap_err();
        assert_eq!(error, CorrelationError::NotFinite { list: 1, place: 1, value: -1.0 });
        let scores = [1.0, 2.0, 3.0, 1.0];
        let error = verbosity(&scores, &[1.0, 5.0, 2.0, 3.0], Some(&[1.0]), LengthUnit::Raw).unwrap_err();
        assert_eq!(error, CorrelationError::UnequalLengths { first: 4, second: 1 });
        let constant = verbosity(&scores, &[1.0, 5.0, 2.0, 3.0], Some(&[1.0; 4]), LengthUnit::Raw).unwrap();
        assert_eq!(constant.partial, None);
    }
}
