//! Scores of traffic in two windows: the first sign that traffic, system or judge changed; a sentinel says which.

use crate::estimate::UndefinedReason;
use crate::numeric::{MannWhitney, mann_whitney};

use super::{DriftError, SLACK, finite};

/// When to alarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoWindowsSettings {
    /// Fewer scores in either window say nothing.
    pub min_scores: usize,
    /// Alarm only below this p-value …
    pub level: f64,
    /// … and from this |Cliff's delta|: smaller shifts are negligible, however sure.
    pub least_delta: f64,
}

impl Default for TwoWindowsSettings {
    fn default() -> Self {
        Self { min_scores: 50, level: 0.01, least_delta: 0.147 }
    }
}

/// The comparison of the current window with the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoWindows {
    /// Current against reference: a negative delta is a fall. `TooFew` below the least scores.
    pub test: Result<MannWhitney, UndefinedReason>,
    pub n_reference: usize,
    pub n_current: usize,
    pub is_alarm: bool,
}

/// Compares two windows of scores. Source: specification 8, `mann_whitney.json`.
pub fn two_windows(
    reference: &[f64],
    current: &[f64],
    settings: TwoWindowsSettings,
) -> Result<TwoWindows, DriftError> {
    finite("the reference", reference)?;
    finite("the current window", current)?;
    let is_enough = reference.len().min(current.len()) >= settings.min_scores;
    let test = mann_whitney(current, reference)
        .map_err(|_| UndefinedReason::Empty)
        .and_then(|own| if is_enough { Ok(own) } else { Err(UndefinedReason::TooFew) });
    let is_alarm = test
        .is_ok_and(|own| own.p < settings.level && own.cliffs_delta.abs() >= settings.least_delta - SLACK);
    Ok(TwoWindows { test, n_reference: reference.len(), n_current: current.len(), is_alarm })
}

#[cfg(test)]
mod tests {
    use super::{TwoWindowsSettings, two_windows};
    use crate::drift::DriftError;
    use crate::estimate::UndefinedReason;

    fn scores(n: u16, shift: f64) -> Vec<f64> {
        (0..n).map(|i| f64::from(i % 50) / 50.0 + shift).collect()
    }

    #[test]
    fn a_sure_and_notable_shift_alarms() {
        let compare = |n, shift| {
            two_windows(&scores(n, 0.0), &scores(n, shift), TwoWindowsSettings::default()).unwrap()
        };
        let fall = compare(200, -0.2);
        assert!(fall.is_alarm && fall.test.unwrap().cliffs_delta < 0.0, "{fall:?}");
        assert!(!compare(200, 0.0).is_alarm);
        // Sure, but negligible.
        let small = compare(4000, 0.05);
        assert!(small.test.unwrap().p < 0.01 && !small.is_alarm, "{small:?}");
        let few = compare(49, -0.9);
        assert_eq!((few.test, few.is_alarm), (Err(UndefinedReason::TooFew), false));
    }

    #[test]
    fn what_is_not_finite_is_refused_and_nothing_is_empty() {
        let settings = TwoWindowsSettings::default();
        let error = two_windows(&[0.5], &[0.1, f64::NAN], settings).unwrap_err();
        assert!(matches!(error, DriftError::NotFinite { list: "the current window", index: 1, .. }));
        assert_eq!(two_windows(&[], &[0.1], settings).unwrap().test, Err(UndefinedReason::Empty));
    }
}
