//! A small lasting shift of a mean, from daily means: the two-sided cumulative sum.

use super::page_hinkley::Direction;
use super::{DriftError, Reference, positive};

/// When to alarm. The default finds a shift of one standard deviation in about 10 values, at one false alarm in about 465.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CusumSettings {
    /// Deviations that a value may lie off the mean without counting.
    pub k: f64,
    /// Sum above which it alarms.
    pub h: f64,
}

impl Default for CusumSettings {
    fn default() -> Self {
        Self { k: 0.5, h: 5.0 }
    }
}

/// What one value did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CusumStep {
    /// The value in deviations from the reference's mean.
    pub z: f64,
    /// The sums with this value; both begin anew after an alarm.
    pub above: f64,
    pub below: f64,
    pub alarm: Option<Direction>,
}

/// `C+ = max(0, C+ + z - k)`, `C- = max(0, C- - z - k)`, an alarm above `h` (`cusum.json`). Source: Page 1954,
/// Biometrika 41.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cusum {
    settings: CusumSettings,
    reference: Reference,
    above: f64,
    below: f64,
    seen: usize,
}

impl Cusum {
    /// `k` must not be negative, `h` must be positive.
    pub fn new(reference: Reference, settings: CusumSettings) -> Result<Self, DriftError> {
        if !(settings.k >= 0.0 && settings.k.is_finite()) {
            return Err(DriftError::Setting { name: "allowance k", value: settings.k });
        }
        positive("limit h", settings.h)?;
        Ok(Self { settings, reference, above: 0.0, below: 0.0, seen: 0 })
    }

    /// Takes the next value. One that is not finite is refused and changes nothing.
    pub fn update(&mut self, x: f64) -> Result<CusumStep, DriftError> {
        let z = self.reference.standardise(x);
        if !x.is_finite() || !z.is_finite() {
            return Err(DriftError::NotFinite { list: "the stream", index: self.seen, value: x });
        }
        self.seen += 1;
        let above = (self.above + z - self.settings.k).max(0.0);
        let below = (self.below - z - self.settings.k).max(0.0);
        let alarm = if above > self.settings.h {
            Some(Direction::Up)
        } else if below > self.settings.h {
            Some(Direction::Down)
        } else {
            None
        };
        (self.above, self.below) = if alarm.is_some() { (0.0, 0.0) } else { (above, below) };
        Ok(CusumStep { z, above, below, alarm })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cusum, CusumSettings};
    use crate::drift::{Direction, DriftError, Reference};

    #[test]
    fn a_shift_of_one_deviation_is_found_in_about_ten_values() {
        let reference = Reference::new(0.8, 0.1).unwrap();
        let mut chart = Cusum::new(reference, CusumSettings::default()).unwrap();
        let alarms: Vec<_> = (0..20).map(|_| chart.update(0.7).unwrap().alarm).collect();
        let first = alarms.iter().position(Option::is_some);
        assert!(matches!(first, Some(9 | 10)), "{alarms:?}");
        assert_eq!(alarms[first.unwrap()], Some(Direction::Down));
    }

    #[test]
    fn what_is_not_finite_changes_nothing() {
        let reference = Reference::new(0.8, 0.1).unwrap();
        let mut chart = Cusum::new(reference, CusumSettings::default()).unwrap();
        chart.update(0.9).unwrap();
        let before = chart;
        assert!(matches!(chart.update(f64::NAN), Err(DriftError::NotFinite { index: 1, .. })));
        assert!(chart.update(f64::MAX).is_err());
        assert_eq!(chart, before);
        for (k, h) in [(-1.0, 5.0), (f64::NAN, 5.0), (0.5, 0.0)] {
            assert!(Cusum::new(reference, CusumSettings { k, h }).is_err());
        }
    }
}
