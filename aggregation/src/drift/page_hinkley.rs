//! A change of a stream's mean, one value at a time: the test of Page and Hinkley.

use super::{DriftError, positive, share};

/// Where a mean went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Up,
    Down,
}

/// When to alarm. The default is for standardised scores, see [`super::Reference::standardise`]: 3 to 5 % of streams of
/// 1000 values without a change alarm, and a fall by one deviation is found in 18 values (median).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageHinkleySettings {
    /// No alarm before this many values since the last one.
    pub min_values: usize,
    /// Change of the mean that is let go.
    pub delta: f64,
    /// Height above which it alarms.
    pub lambda: f64,
    /// What the sums keep at each value, 0 to 1; 1 forgets nothing.
    pub keep: f64,
    /// The change looked for; `None` for either.
    pub direction: Option<Direction>,
}

impl Default for PageHinkleySettings {
    fn default() -> Self {
        Self { min_values: 30, delta: 0.25, lambda: 15.0, keep: 1.0, direction: Some(Direction::Down) }
    }
}

/// What one value did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageHinkleyStep {
    /// The mean since the last alarm.
    pub mean: f64,
    /// Heights over the lowest sum and under the highest.
    pub up: f64,
    pub down: f64,
    pub alarm: Option<Direction>,
}

/// `S = keep · S + (x - mean ∓ δ)`; an alarm when `S` lies more than `λ` above its minimum (up) or below its maximum
/// (down). Everything begins anew after an alarm (`page_hinkley.json`). Source: Page 1954, Biometrika 41; Hinkley 1971,
/// Biometrika 58; the recurrence is that of river.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageHinkley {
    settings: PageHinkleySettings,
    sums: Sums,
    seen: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sums {
    n: usize,
    mean: f64,
    increase: f64,
    decrease: f64,
    least: f64,
    most: f64,
}

const START: Sums =
    Sums { n: 0, mean: 0.0, increase: 0.0, decrease: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY };

impl PageHinkley {
    /// `delta` must not be negative, `lambda` must be positive, `keep` a share.
    pub fn new(settings: PageHinkleySettings) -> Result<Self, DriftError> {
        if !(settings.delta >= 0.0 && settings.delta.is_finite()) {
            return Err(DriftError::Setting { name: "delta", value: settings.delta });
        }
        positive("lambda", settings.lambda)?;
        share("share kept", settings.keep)?;
        Ok(Self { settings, sums: START, seen: 0 })
    }

    /// Takes the next value. One that is not finite, or makes a sum so, is refused and changes nothing.
    #[expect(clippy::cast_precision_loss, reason = "streams are far shorter than 2^52")]
    pub fn update(&mut self, x: f64) -> Result<PageHinkleyStep, DriftError> {
        let PageHinkleySettings { min_values, delta, lambda, keep, direction } = self.settings;
        let mut own = self.sums;
        own.n += 1;
        own.mean += (x - own.mean) / own.n as f64;
        let off = x - own.mean;
        own.increase = keep * own.increase + off - delta;
        own.decrease = keep * own.decrease + off + delta;
        if !(own.mean.is_finite() && own.increase.is_finite() && own.decrease.is_finite()) {
            return Err(DriftError::NotFinite { list: "the stream", index: self.seen, value: x });
        }
        own.least = own.least.min(own.increase);
        own.most = own.most.max(own.decrease);
        let (up, down) = (own.increase - own.least, own.most - own.decrease);
        let alarm = if own.n < min_values {
            None
        } else if up > lambda && direction != Some(Direction::Down) {
            Some(Direction::Up)
        } else if down > lambda && direction != Some(Direction::Up) {
            Some(Direction::Down)
        } else {
            None
        };
        self.seen += 1;
        self.sums = if alarm.is_some() { START } else { own };
        Ok(PageHinkleyStep { mean: own.mean, up, down, alarm })
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, PageHinkley, PageHinkleySettings};
    use crate::draw::Draw;
    use crate::drift::DriftError;

    /// Sum of twelve uniforms less 6: nearly standard normal.
    fn normal(draw: &mut Draw) -> f64 {
        let uniform =
            |draw: &mut Draw| f64::from(u32::try_from(draw.below(1 << 20)).unwrap()) / f64::from(1 << 20);
        (0..12).map(|_| uniform(draw)).sum::<f64>() - 6.0
    }

    #[test]
    fn a_fall_by_a_deviation_is_found_and_calm_streams_are_left_alone() {
        let mut draw = Draw::new(5, "page hinkley");
        let (mut false_alarms, mut delays) = (0, Vec::new());
        for _ in 0..100 {
            let mut own = PageHinkley::new(PageHinkleySettings::default()).unwrap();
            let calm = (0..300).any(|_| own.update(normal(&mut draw)).unwrap().alarm.is_some());
            false_alarms += i32::from(calm);
            let found = (0..200)
                .position(|_| own.update(normal(&mut draw) - 1.0).unwrap().alarm == Some(Direction::Down));
            delays.push(found.unwrap_or(200));
        }
        delays.sort_unstable();
        assert!(false_alarms <= 6, "{false_alarms}");
        assert!((10..=30).contains(&delays[50]), "{}", delays[50]);
    }

    #[test]
    fn what_is_not_finite_changes_nothing() {
        let mut own = PageHinkley::new(PageHinkleySettings::default()).unwrap();
        own.update(0.5).unwrap();
        let before = own;
        assert!(matches!(own.update(f64::INFINITY), Err(DriftError::NotFinite { index: 1, .. })));
        assert!(own.update(f64::NAN).is_err());
        assert_eq!(own, before);
        let settings = PageHinkleySettings { lambda: f64::NAN, ..PageHinkleySettings::default() };
        assert!(matches!(PageHinkley::new(settings), Err(DriftError::Setting { name: "lambda", .. })));
        let settings = PageHinkleySettings { delta: -1.0, ..PageHinkleySettings::default() };
        assert!(PageHinkley::new(settings).is_err());
        let settings = PageHinkleySettings { keep: 2.0, ..PageHinkleySettings::default() };
        assert!(PageHinkley::new(settings).is_err());
    }
}
