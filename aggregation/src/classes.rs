//! The labels of a scale as indexes, for formulas that count labels.
//!
//! Pairs have three classes in this order: a, b, tie. A judge that contradicts itself says "tie" also where nobody
//! may answer so; therefore votes always have three, and truths two or three.

use crate::scale::{OrdinalLabels, Preference, Scale, Value};

impl Scale {
    /// How many labels a person may give; `None` on an interval, which has no labels.
    pub fn truth_classes(&self) -> Option<usize> {
        match self {
            Self::Pairwise { tie: false } => Some(2),
            Self::Ordinal(_)
            | Self::Continuous(_)
            | Self::Nominal(_)
            | Self::PassFail
            | Self::Pairwise { .. } => self.vote_classes(),
        }
    }

    /// How many labels a vote may have; `None` on an interval.
    pub fn vote_classes(&self) -> Option<usize> {
        match self {
            Self::Ordinal(labels) => Some(labels.values().len()),
            Self::Continuous(_) => None,
            Self::Nominal(labels) => Some(labels.values().len()),
            Self::PassFail => Some(2),
            Self::Pairwise { .. } => Some(3),
        }
    }

    /// The index of a value: that of the nearest label on ordinal scales (the lower one at equal distance, as
    /// specification 1.1 asks), fail 0 and pass 1, a 0, b 1, tie 2. `None` for a value that is not on the scale.
    pub fn class_of(&self, value: Value) -> Option<usize> {
        match (self, value) {
            (Self::Ordinal(labels), Value::Number(x)) => {
                self.contains(value).then(|| nearest_index(labels, x))
            }
            (Self::Nominal(labels), Value::Category(i)) => (i < labels.values().len()).then_some(i),
            (Self::PassFail, Value::Pass(passed)) => Some(usize::from(passed)),
            (Self::Pairwise { .. }, Value::Preference(preference)) => Some(match preference {
                Preference::A => 0,
                Preference::B => 1,
                Preference::Tie => 2,
            }),
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

    /// The value with this index; the inverse of [`Scale::class_of`] for labels.
    pub fn class_value(&self, class: usize) -> Option<Value> {
        match self {
            Self::Ordinal(labels) => labels.values().get(class).copied().map(Value::Number),
            Self::Continuous(_) => None,
            Self::Nominal(labels) => (class < labels.values().len()).then_some(Value::Category(class)),
            Self::PassFail => (class < 2).then_some(Value::Pass(class == 1)),
            Self::Pairwise { .. } => {
                let preference = [Preference::A, Preference::B, Preference::Tie].get(class).copied();
                preference.map(Value::Preference)
            }
        }
    }
}

/// The index of the label nearest to a number, the lower one at equal distance.
fn nearest_index(labels: &OrdinalLabels, x: f64) -> usize {
    let mut nearest = (0, f64::INFINITY);
    for (index, label) in labels.values().iter().enumerate() {
        let distance = (label - x).abs();
        if distance < nearest.1 {
            nearest = (index, distance);
        }
    }
    nearest.0
}

#[cfg(test)]
mod tests {
    use crate::scale::{Preference, Scale, Value};

    #[test]
    fn labels_and_indexes_are_inverse() {
        let scales = [
            Scale::Ordinal(vec![1.0, 2.0, 5.0].try_into().unwrap()),
            Scale::Nominal(vec!["x".to_owned(), "y".to_owned()].try_into().unwrap()),
            Scale::PassFail,
            Scale::Pairwise { tie: true },
        ];
        for scale in scales {
            let classes = scale.vote_classes().unwrap();
            for class in 0..classes {
                assert_eq!(scale.class_of(scale.class_value(class).unwrap()), Some(class), "{scale:?}");
            }
            assert_eq!(scale.class_value(classes), None);
        }
    }

    #[test]
    fn values_between_labels_take_the_nearest_and_the_lower_at_equal_distance() {
        let scale = Scale::Ordinal(vec![1.0, 2.0, 5.0].try_into().unwrap());
        let check = |x, class| assert_eq!(scale.class_of(Value::Number(x)), class, "{x}");
        check(1.5, Some(0));
        check(3.6, Some(2));
        check(5.5, None);
        check(f64::NAN, None);
    }

    #[test]
    fn an_interval_has_no_labels_and_a_pair_has_a_tie_among_votes_only() {
        let interval = Scale::Continuous((0.0, 1.0).try_into().unwrap());
        assert_eq!((interval.truth_classes(), interval.class_value(0)), (None, None));
        assert_eq!(interval.class_of(Value::Number(0.5)), None);
        let pair = Scale::Pairwise { tie: false };
        assert_eq!((pair.truth_classes(), pair.vote_classes()), (Some(2), Some(3)));
        assert_eq!(pair.class_of(Value::Preference(Preference::Tie)), Some(2));
    }
}
