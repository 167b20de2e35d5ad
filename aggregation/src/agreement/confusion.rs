//! The table of two raters' labels.

/// Counts of label pairs: rows are the first rater (the judge), columns the second (the human).
///
/// Labels are indexes into the declared scale, so that labels nobody used keep their place: inferring the labels
/// from the data moves the used ones together and raises weighted kappas (specification 1.2).
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion {
    labels: usize,
    counts: Vec<f64>,
    n: usize,
    n_dropped: usize,
    weighted: bool,
}

/// Why pairs of labels make no table. Pairs and labels count from 0.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ConfusionError {
    #[error("label {label} of pair {pair} is not one of the {labels} labels of the scale")]
    UnknownLabel { pair: usize, label: usize, labels: usize },
    #[error("weight {weight} of pair {pair} is not a positive finite number")]
    BadWeight { pair: usize, weight: f64 },
}

impl Confusion {
    /// Counts pairs over a scale of `labels` labels. A pair with a missing side is dropped and counted as such.
    pub fn from_pairs(
        labels: usize,
        pairs: impl IntoIterator<Item = (Option<usize>, Option<usize>)>,
    ) -> Result<Self, ConfusionError> {
        let mut table = Self::empty(labels);
        for (place, pair) in pairs.into_iter().enumerate() {
            table.add(place, pair, 1.0)?;
        }
        Ok(table)
    }

    /// As [`Confusion::from_pairs`], each case with its design weight. Such a table has no analytic standard error.
    pub fn from_weighted_pairs(
        labels: usize,
        pairs: impl IntoIterator<Item = ((Option<usize>, Option<usize>), f64)>,
    ) -> Result<Self, ConfusionError> {
        let mut table = Self { weighted: true, ..Self::empty(labels) };
        for (place, (pair, weight)) in pairs.into_iter().enumerate() {
            if !(weight.is_finite() && weight > 0.0) {
                return Err(ConfusionError::BadWeight { pair: place, weight });
            }
            table.add(place, pair, weight)?;
        }
        Ok(table)
    }

    fn empty(labels: usize) -> Self {
        Self { labels, counts: vec![0.0; labels * labels], n: 0, n_dropped: 0, weighted: false }
    }

    fn add(
        &mut self,
        place: usize,
        (row, column): (Option<usize>, Option<usize>),
        weight: f64,
    ) -> Result<(), ConfusionError> {
        let labels = self.labels;
        if let (Some(row), Some(column)) = (row, column)
            && row < labels
            && column < labels
            && let Some(count) = self.counts.get_mut(row * labels + column)
        {
            *count += weight;
            self.n += 1;
            return Ok(());
        }
        if let Some(label) = [row, column].into_iter().flatten().find(|label| *label >= labels) {
            return Err(ConfusionError::UnknownLabel { pair: place, label, labels });
        }
        self.n_dropped += 1;
        Ok(())
    }

    /// Labels of the scale, used or not.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Pairs counted.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Pairs left out because a side was missing.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// Whether cases carry design weights.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// One row per label of the first rater.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.counts.chunks(self.labels.max(1))
    }

    /// Every cell as `(row, column, count)`.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.rows().enumerate().flat_map(|(row, counts)| {
            counts.iter().enumerate().map(move |(column, &count)| (row, column, count))
        })
    }

    /// Sum of all cells: `n`, or the sum of the design weights.
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The first rater's label counts.
    pub fn row_totals(&self) -> Vec<f64> {
        self.rows().map(|row| row.iter().sum()).collect()
    }

    /// The second rater's label counts.
    pub fn column_totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.labels];
        for row in self.rows() {
            for (total, count) in totals.iter_mut().zip(row) {
                *total += count;
            }
        }
        totals
    }

    /// Prevalence, bias and PABAK of a two-label table; `None` for others and for an empty one.
    pub fn binary_indexes(&self) -> Option<BinaryIndexes> {
        let &[a, b, c, d] = self.counts.as_slice() else { return None };
        let total = self.total();
        (total > 0.0).then(|| BinaryIndexes {
            prevalence: (a - d).abs() / total,
            bias: (b - c).abs() / total,
            pabak: 2.0 * (a + d) / total - 1.0,
        })
    }
}

/// What makes a binary kappa low in spite of much agreement (specification 1.7; Byrt 1993).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinaryIndexes {
    /// `|a - d| / n`, 0 to 1: how unequal the two labels are.
    pub prevalence: f64,
    /// `|b - c| / n`, 0 to 1: how differently the two raters use them.
    pub bias: f64,
    /// `2 p_o - 1`: kappa if both were equal, -1 to 1.
    pub pabak: f64,
}

#[cfg(test)]
mod tests {
    use super::{Confusion, ConfusionError};

    #[test]
    fn a_label_off_the_scale_is_an_error_not_a_dropped_pair() {
        let error = Confusion::from_pairs(2, [(Some(0), Some(1)), (None, Some(2))]).unwrap_err();
        assert_eq!(error, ConfusionError::UnknownLabel { pair: 1, label: 2, labels: 2 });
        assert_eq!(error.to_string(), "label 2 of pair 1 is not one of the 2 labels of the scale");
    }

    #[test]
    fn a_weight_that_is_no_positive_number_is_an_error() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let pairs = [((Some(0), Some(1)), 1.0), ((None, None), weight)];
            let error = Confusion::from_weighted_pairs(2, pairs).unwrap_err();
            assert!(matches!(error, ConfusionError::BadWeight { pair: 1, .. }), "{weight}");
        }
    }

    #[test]
    fn missing_sides_are_counted() {
        let table = Confusion::from_pairs(2, [(Some(0), None), (None, None), (Some(1), Some(0))]).unwrap();
        assert_eq!((table.n(), table.n_dropped(), table.total()), (1, 2, 1.0));
    }
}
