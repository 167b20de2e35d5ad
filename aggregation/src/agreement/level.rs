//! What the labels of a scale are to each other, and the refusal of positions that make no distance.

use crate::agreement::cohen::Distance;
use crate::estimate::UndefinedReason;
use crate::scale::Scale;

/// What the labels are, which decides how far two of them are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level<'a> {
    /// Without order.
    Nominal,
    /// In order. Alpha counts the ratings that lie between two labels, kappa the labels.
    Ordinal,
    /// In order, and the differences of their values mean something. One value a label.
    Interval(&'a [f64]),
}

/// Why positions make no distances. Labels count from 0.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum PositionsError {
    #[error("{got} positions were given for {labels} labels")]
    WrongLength { got: usize, labels: usize },
    #[error("the position of label {label} is {value}, not a finite number")]
    NotFinite { label: usize, value: f64 },
    #[error("labels {earlier} and {label} have the same position {value}")]
    Repeated { earlier: usize, label: usize, value: f64 },
    #[error("positions of ordered labels must increase: label {label} has {after} after {before}")]
    NotIncreasing { label: usize, before: f64, after: f64 },
}

/// Why a coefficient of many raters, or a resampling, has no value.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum CoefficientError {
    #[error(transparent)]
    Positions(#[from] PositionsError),
    #[error(transparent)]
    Undefined(#[from] UndefinedReason),
}

/// The places of labels without order: none at infinity, no two the same.
pub(crate) fn check_distinct(labels: usize, positions: &[f64]) -> Result<(), PositionsError> {
    check_finite(labels, positions)?;
    let mut sorted: Vec<(usize, f64)> = positions.iter().copied().enumerate().collect();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    for pair in sorted.windows(2) {
        // 0 and -0 are one place.
        if let [(earlier, before), (label, value)] = *pair
            && value <= before
        {
            return Err(PositionsError::Repeated {
                earlier: earlier.min(label),
                label: label.max(earlier),
                value,
            });
        }
    }
    Ok(())
}

/// The places of ordered labels: strictly increasing.
pub(crate) fn check_increasing(labels: usize, positions: &[f64]) -> Result<(), PositionsError> {
    check_finite(labels, positions)?;
    for (label, pair) in (1..).zip(positions.windows(2)) {
        if let [before, after] = *pair
            && after <= before
        {
            return Err(PositionsError::NotIncreasing { label, before, after });
        }
    }
    Ok(())
}

fn check_finite(labels: usize, positions: &[f64]) -> Result<(), PositionsError> {
    if positions.len() != labels {
        return Err(PositionsError::WrongLength { got: positions.len(), labels });
    }
    match positions.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((label, &value)) => Err(PositionsError::NotFinite { label, value }),
        None => Ok(()),
    }
}

impl<'a> Level<'a> {
    /// The distance that decides: quadratic on ordered scales, plain on others. On two labels all three are the same,
    /// and the plain one knows more about itself.
    pub(crate) fn distance(self, labels: usize) -> (Distance, Option<&'a [f64]>) {
        match self {
            Self::Nominal => (Distance::Nominal, None),
            Self::Ordinal | Self::Interval(_) if labels == 2 => (Distance::Nominal, None),
            Self::Ordinal => (Distance::Quadratic, None),
            Self::Interval(values) => (Distance::Quadratic, Some(values)),
        }
    }

    /// The places of the labels of an ordered scale, and of nothing else.
    pub(crate) fn positions(self) -> Option<&'a [f64]> {
        match self {
            Self::Nominal | Self::Ordinal => None,
            Self::Interval(values) => Some(values),
        }
    }

    pub(crate) fn is_ordered(self) -> bool {
        match self {
            Self::Nominal => false,
            Self::Ordinal | Self::Interval(_) => true,
        }
    }

    /// The labels from 0 to 1; `None` without order. Values increase: see [`Level::check`].
    #[expect(clippy::cast_precision_loss, reason = "scales have few labels")]
    pub(crate) fn scores01(self, labels: usize) -> Option<Vec<f64>> {
        let steps = labels.saturating_sub(1).max(1) as f64;
        match self {
            Self::Nominal => None,
            Self::Ordinal => Some((0..labels).map(|label| label as f64 / steps).collect()),
            Self::Interval(values) => {
                let (least, most) = (*values.first()?, *values.last()?);
                // Halved first: the width of the widest scale is not a finite number.
                let width = most / 2.0 - least / 2.0;
                let score = |value: &f64| if width > 0.0 { (value / 2.0 - least / 2.0) / width } else { 0.0 };
                Some(values.iter().map(score).collect())
            }
        }
    }

    /// How far two labels are apart, in their values or places; 1 on labels without order.
    #[expect(clippy::cast_precision_loss, reason = "scales have few labels")]
    pub(crate) fn label_distance(self, one: usize, other: usize) -> f64 {
        match self {
            Self::Nominal => f64::from(u8::from(one != other)),
            Self::Ordinal => one.abs_diff(other) as f64,
            Self::Interval(values) => {
                let value = |label: usize| values.get(label).copied().unwrap_or_default();
                (value(one) - value(other)).abs()
            }
        }
    }

    /// Refuses values that are not those of an ordered scale.
    pub(crate) fn check(self, labels: usize) -> Result<(), PositionsError> {
        self.positions().map_or(Ok(()), |values| check_increasing(labels, values))
    }
}

/// The places of a, b and tie: a judge that contradicts itself is half right.
const PAIR_POSITIONS: [f64; 3] = [0.0, 1.0, 0.5];

/// How far labels of a scale are apart: plain on labels, quadratic on ordinal scales, linear on pairs with the tie
/// half-way.
pub(crate) fn distance_on(scale: &Scale) -> (Distance, Option<&[f64]>) {
    match scale {
        Scale::Ordinal(labels) => (Distance::Quadratic, Some(labels.values())),
        Scale::Pairwise { .. } => (Distance::Linear, Some(&PAIR_POSITIONS)),
        Scale::Continuous(_) | Scale::Nominal(_) | Scale::PassFail => (Distance::Nominal, None),
    }
}

#[cfg(test)]
mod tests {
    use super::{PositionsError, check_distinct, check_increasing};

    #[test]
    fn positions_that_make_no_distance_are_refused_by_label() {
        let check = |positions: &[f64], want: Result<(), PositionsError>| {
            assert_eq!(check_distinct(3, positions), want, "{positions:?}");
        };
        check(&[0.0, 1.0, 0.5], Ok(()));
        check(&[0.0, 1.0], Err(PositionsError::WrongLength { got: 2, labels: 3 }));
        check(&[2.0, 1.0, 2.0], Err(PositionsError::Repeated { earlier: 0, label: 2, value: 2.0 }));
        let infinite = PositionsError::NotFinite { label: 1, value: f64::INFINITY };
        check(&[0.0, f64::INFINITY, 1.0], Err(infinite));
        assert!(matches!(check_distinct(2, &[0.0, -0.0]), Err(PositionsError::Repeated { .. })));
        assert!(matches!(check_distinct(1, &[f64::NAN]), Err(PositionsError::NotFinite { label: 0, .. })));
    }

    #[test]
    fn ordered_labels_increase() {
        assert_eq!(check_increasing(3, &[0.0, 1.0, 5.0]), Ok(()));
        let error = PositionsError::NotIncreasing { label: 2, before: 1.0, after: 0.5 };
        assert_eq!(check_increasing(3, &[0.0, 1.0, 0.5]), Err(error));
        assert_eq!(error.to_string(), "positions of ordered labels must increase: label 2 has 0.5 after 1");
    }
}
