//! Whether judges, or what they judge, are no longer what they were.
//!
//! Every evaluation returns what it computed, to be logged; an alarm is one part of it. Knows nothing of schedules and
//! incidents. Source: specification 8.

mod cusum;
mod kappa_audit;
mod page_hinkley;
mod sentinel;
mod two_windows;

pub use cusum::{Cusum, CusumSettings, CusumStep};
pub use kappa_audit::{AuditedKappa, KappaAlarm, KappaAudit, KappaAuditSettings, kappa_audit};
pub use page_hinkley::{Direction, PageHinkley, PageHinkleySettings, PageHinkleyStep};
pub use sentinel::{Sentinel, SentinelAlarm, SentinelCase, SentinelSettings, sentinel};
pub use two_windows::{TwoWindows, TwoWindowsSettings, two_windows};

use crate::estimate::UndefinedReason;

/// Slack of every comparison with a limit.
const SLACK: f64 = 1e-12;

/// Why a change cannot be looked for.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum DriftError {
    #[error("value {index} of {list} is {value}, which is not finite")]
    NotFinite { list: &'static str, index: usize, value: f64 },
    #[error("the {name} is {value}, not in its range")]
    Setting { name: &'static str, value: f64 },
}

/// Standing of a mean and its standard deviation under no change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    mean: f64,
    deviation: f64,
}

impl Reference {
    /// The mean must be finite, the deviation finite and positive.
    pub fn new(mean: f64, deviation: f64) -> Result<Self, DriftError> {
        if !mean.is_finite() {
            return Err(DriftError::Setting { name: "reference mean", value: mean });
        }
        positive("reference deviation", deviation)?;
        Ok(Self { mean, deviation })
    }

    /// From the scores of a reference window. `Empty` without any, `NoVariation` if all are the same.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    pub fn of(scores: &[f64]) -> Result<Result<Self, UndefinedReason>, DriftError> {
        finite("the reference", scores)?;
        let n = scores.len() as f64;
        if scores.is_empty() {
            return Ok(Err(UndefinedReason::Empty));
        }
        let mean = scores.iter().sum::<f64>() / n;
        let squares = scores.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        let deviation = (squares / (n - 1.0).max(1.0)).sqrt();
        Ok(if deviation > SLACK {
            Self::new(mean, deviation).map(Ok)?
        } else {
            Err(UndefinedReason::NoVariation)
        })
    }

    /// How many standard deviations `x` lies above the mean.
    pub fn standardise(&self, x: f64) -> f64 {
        (x - self.mean) / self.deviation
    }
}

fn finite(list: &'static str, values: &[f64]) -> Result<(), DriftError> {
    match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((index, value)) => Err(DriftError::NotFinite { list, index, value: *value }),
        None => Ok(()),
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), DriftError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(DriftError::Setting { name, value }) }
}

fn share(name: &'static str, value: f64) -> Result<(), DriftError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(DriftError::Setting { name, value }) }
}

#[cfg(test)]
mod tests {
    use super::{DriftError, Reference};
    use crate::estimate::UndefinedReason;

    #[test]
    fn a_reference_needs_a_spread() {
        let known = Reference::of(&[0.7, 0.9]).unwrap().unwrap();
        assert!((known.standardise(0.8 + 0.02_f64.sqrt()) - 1.0).abs() < 1e-12, "{known:?}");
        assert_eq!(Reference::of(&[0.7, 0.7]).unwrap(), Err(UndefinedReason::NoVariation));
        assert_eq!(Reference::of(&[]).unwrap(), Err(UndefinedReason::Empty));
        assert!(matches!(Reference::of(&[0.1, f64::NAN]), Err(DriftError::NotFinite { index: 1, .. })));
        for (mean, deviation) in [(f64::NAN, 1.0), (0.5, 0.0), (0.5, f64::INFINITY)] {
            assert!(matches!(Reference::new(mean, deviation), Err(DriftError::Setting { .. })));
        }
    }
}
