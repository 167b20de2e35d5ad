//! What a criterion's values may be. A scale is declared, never inferred from data.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The declared values of one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type", content = "values")]
pub enum Scale {
    /// Ordered numeric labels, such as 1 to 5.
    Ordinal(OrdinalLabels),
    /// Any number of a closed interval.
    Continuous(Interval),
    /// Unordered labels.
    Nominal(NominalLabels),
    /// Two labels, `fail` below `pass`.
    PassFail,
    /// Which of two candidates is better.
    Pairwise {
        /// Whether "neither is better" is an allowed answer.
        tie: bool,
    },
}

/// At least two finite numbers in strictly increasing order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct OrdinalLabels(Vec<f64>);

/// Two finite numbers, the first below the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(f64, f64)", into = "(f64, f64)")]
pub struct Interval {
    min: f64,
    max: f64,
}

/// At least two distinct labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct NominalLabels(Vec<String>);

/// Why a list of values is not a scale.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScaleError {
    #[error("a scale needs at least two values, got {0}")]
    TooFew(usize),
    #[error("scale value {0} is not a finite number")]
    NotFinite(f64),
    #[error("scale values must increase: {after} follows {before}")]
    NotIncreasing { before: f64, after: f64 },
    #[error("scale label `{0}` stands twice")]
    Repeated(String),
}

/// One value on a [`Scale`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Ordinal or continuous. An expected or panel value may lie between two ordinal labels.
    Number(f64),
    /// Index into the labels of a nominal scale.
    Category(usize),
    /// Pass or fail.
    Pass(bool),
    /// Which candidate, in the case's own frame (never the displayed one).
    Preference(Preference),
}

/// Which of two candidates is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    A,
    B,
    Tie,
}

impl Preference {
    /// A = 1, tie = ½, B = 0 (specification 4.4).
    pub fn pref_a(self) -> f64 {
        match self {
            Self::A => 1.0,
            Self::Tie => 0.5,
            Self::B => 0.0,
        }
    }

    /// The same opinion with the two candidates' names exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
            Self::Tie => Self::Tie,
        }
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "a",
            Self::B => "b",
            Self::Tie => "tie",
        })
    }
}

impl OrdinalLabels {
    /// The labels in increasing order.
    pub fn values(&self) -> &[f64] {
        &self.0
    }
    /// The lowest label.
    pub fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or_default()
    }
    /// The highest label.
    pub fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or_default()
    }
}

impl TryFrom<Vec<f64>> for OrdinalLabels {
    type Error = ScaleError;
    fn try_from(values: Vec<f64>) -> Result<Self, ScaleError> {
        if values.len() < 2 {
            return Err(ScaleError::TooFew(values.len()));
        }
        if let Some(&bad) = values.iter().find(|v| !v.is_finite()) {
            return Err(ScaleError::NotFinite(bad));
        }
        for pair in values.windows(2) {
            if let [before, after] = *pair
                && after <= before
            {
                return Err(ScaleError::NotIncreasing { before, after });
            }
        }
        Ok(Self(values))
    }
}

impl From<OrdinalLabels> for Vec<f64> {
    fn from(labels: OrdinalLabels) -> Self {
        labels.0
    }
}

impl Interval {
    pub fn min(self) -> f64 {
        self.min
    }
    pub fn max(self) -> f64 {
        self.max
    }
}

impl TryFrom<(f64, f64)> for Interval {
    type Error = ScaleError;
    fn try_from((min, max): (f64, f64)) -> Result<Self, ScaleError> {
        if let Some(bad) = [min, max].into_iter().find(|v| !v.is_finite()) {
            return Err(ScaleError::NotFinite(bad));
        }
        if max <= min {
            return Err(ScaleError::NotIncreasing { before: min, after: max });
        }
        Ok(Self { min, max })
    }
}

impl From<Interval> for (f64, f64) {
    fn from(i: Interval) -> Self {
        (i.min, i.max)
    }
}

impl NominalLabels {
    pub fn values(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for NominalLabels {
    type Error = ScaleError;
    fn try_from(labels: Vec<String>) -> Result<Self, ScaleError> {
        if labels.len() < 2 {
            return Err(ScaleError::TooFew(labels.len()));
        }
        for (i, label) in labels.iter().enumerate() {
            if labels.iter().take(i).any(|earlier| earlier == label) {
                return Err(ScaleError::Repeated(label.clone()));
            }
        }
        Ok(Self(labels))
    }
}

impl From<NominalLabels> for Vec<String> {
    fn from(labels: NominalLabels) -> Self {
        labels.0
    }
}

impl Scale {
    /// Lowest and highest number of a numeric scale; `None` for the others.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Ordinal(labels) => Some((labels.min(), labels.max())),
            Self::Continuous(interval) => Some((interval.min, interval.max)),
            Self::Nominal(_) | Self::PassFail | Self::Pairwise { .. } => None,
        }
    }

    /// The value as 0 to 1: `(s - min) / (max - min)` for numbers, pass = 1, fail = 0, and `pref_a` for pairs.
    /// `None` for a nominal label, which has no order, and for a value of another scale.
    pub fn score01(&self, value: Value) -> Option<f64> {
        match (self, value) {
            (Self::Ordinal(_) | Self::Continuous(_), Value::Number(x)) => {
                let (min, max) = self.range()?;
                // Halved first: the width of the widest interval is not a finite number.
                Some((x / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0))
            }
            (Self::PassFail, Value::Pass(passed)) => Some(if passed { 1.0 } else { 0.0 }),
            (Self::Pairwise { .. }, Value::Preference(p)) => Some(p.pref_a()),
            (
                Self::Ordinal(_)
                | Self::Continuous(_)
                | Self::Nominal(_)
                | Self::PassFail
                | Self::Pairwise { .. },
                Value::Number(_) | Value::Category(_) | Value::Pass(_) | Value::Preference(_),
            ) => None,
        }
    }

    /// Whether the value lies on this scale. A number between two ordinal labels does (expected scores, medians).
    pub fn contains(&self, value: Value) -> bool {
        match (self, value) {
            (Self::Ordinal(_) | Self::Continuous(_), Value::Number(x)) => {
                self.range().is_some_and(|(min, max)| x >= min && x <= max)
            }
            (Self::Nominal(labels), Value::Category(i)) => i < labels.0.len(),
            (Self::PassFail, Value::Pass(_)) => true,
            (Self::Pairwise { tie }, Value::Preference(p)) => *tie || p != Preference::Tie,
            (
                Self::Ordinal(_)
                | Self::Continuous(_)
                | Self::Nominal(_)
                | Self::PassFail
                | Self::Pairwise { .. },
                Value::Number(_) | Value::Category(_) | Value::Pass(_) | Value::Preference(_),
            ) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, NominalLabels, OrdinalLabels, Preference, Scale, ScaleError, Value};

    #[test]
    fn lists_that_are_no_scale_are_refused() {
        let ordinal = |values: &[f64]| OrdinalLabels::try_from(values.to_vec()).map(|_| ());
        let nominal = |labels: &[&str]| {
            NominalLabels::try_from(labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>()).map(|_| ())
        };
        assert_eq!(ordinal(&[1.0]), Err(ScaleError::TooFew(1)));
        assert_eq!(ordinal(&[1.0, f64::INFINITY]), Err(ScaleError::NotFinite(f64::INFINITY)));
        assert_eq!(ordinal(&[1.0, 1.0]), Err(ScaleError::NotIncreasing { before: 1.0, after: 1.0 }));
        assert_eq!(nominal(&["a"]), Err(ScaleError::TooFew(1)));
        assert_eq!(nominal(&["a", "b", "a"]), Err(ScaleError::Repeated("a".to_owned())));
        assert_eq!(
            Interval::try_from((2.0, 1.0)),
            Err(ScaleError::NotIncreasing { before: 2.0, after: 1.0 })
        );
        assert!(matches!(Interval::try_from((f64::NAN, 1.0)), Err(ScaleError::NotFinite(_))));
    }

    #[test]
    fn scales_are_read_from_json_as_declared() {
        let check = |json: &str, known: bool| {
            assert_eq!(serde_json::from_str::<OrdinalLabels>(json).is_ok(), known, "{json}");
        };
        check("[1, 2, 5]", true);
        check("[1]", false);
        check("[2, 1]", false);
    }

    #[test]
    fn values_belong_to_their_own_scale_only() {
        let ordinal = Scale::Ordinal(vec![1.0, 5.0].try_into().unwrap());
        let check = |scale: &Scale, value: Value, contained: bool, score: Option<f64>| {
            assert_eq!(scale.contains(value), contained, "{scale:?} {value:?}");
            assert_eq!(scale.score01(value), score, "{scale:?} {value:?}");
        };
        check(&ordinal, Value::Number(2.0), true, Some(0.25));
        check(&ordinal, Value::Pass(true), false, None);
        check(&Scale::PassFail, Value::Pass(false), true, Some(0.0));
        check(&Scale::Pairwise { tie: false }, Value::Preference(Preference::Tie), false, Some(0.5));
        check(&Scale::Pairwise { tie: true }, Value::Preference(Preference::Tie), true, Some(0.5));
        assert!(!ordinal.contains(Value::Number(5.1)));
        assert!(!ordinal.contains(Value::Number(f64::NAN)));
    }
}
