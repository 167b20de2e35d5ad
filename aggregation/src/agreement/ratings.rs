//! How often each unit got each label: all that agreement of many raters needs.

use crate::agreement::confusion::Confusion;

/// One row of label counts a unit. Labels are indexes into the declared scale.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingCounts {
    labels: usize,
    rows: Vec<Vec<f64>>,
}

/// Why ratings make no counts. Indexes count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RatingsError {
    #[error("unit {unit} has a rating {label}, which is not one of the {labels} labels of the scale")]
    UnknownLabel { unit: usize, label: usize, labels: usize },
    #[error("unit {unit} has counts of {got} labels where the scale has {labels}")]
    UnequalLengths { unit: usize, got: usize, labels: usize },
}

impl RatingCounts {
    /// Counts the ratings of each unit; `None` is missing.
    pub fn from_ratings(labels: usize, units: &[Vec<Option<usize>>]) -> Result<Self, RatingsError> {
        let mut rows = Vec::with_capacity(units.len());
        for (unit, ratings) in units.iter().enumerate() {
            let mut row = vec![0.0; labels];
            for &label in ratings.iter().flatten() {
                let count = row.get_mut(label).ok_or(RatingsError::UnknownLabel { unit, label, labels })?;
                *count += 1.0;
            }
            rows.push(row);
        }
        Ok(Self { labels, rows })
    }

    /// From counts, one row a unit.
    pub fn from_counts(labels: usize, counts: &[Vec<u32>]) -> Result<Self, RatingsError> {
        let odd = counts.iter().enumerate().find(|(_, row)| row.len() != labels);
        if let Some((unit, row)) = odd {
            return Err(RatingsError::UnequalLengths { unit, got: row.len(), labels });
        }
        let rows = counts.iter().map(|row| row.iter().copied().map(f64::from).collect()).collect();
        Ok(Self { labels, rows })
    }

    /// The pairs of an unweighted table, one unit a pair.
    pub(crate) fn of_pairs(table: &Confusion) -> Self {
        let labels = table.labels();
        let mut rows = Vec::with_capacity(table.n());
        for (row, column, count) in table.cells() {
            let mut unit = vec![0.0; labels];
            for label in [row, column] {
                if let Some(own) = unit.get_mut(label) {
                    *own += 1.0;
                }
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "unweighted counts are whole"
            )]
            rows.extend(std::iter::repeat_n(unit, count as usize));
        }
        Self { labels, rows }
    }

    /// Labels of the scale, used or not.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Units with at least one rating: their counts and how many ratings they have.
    pub(crate) fn rated(&self) -> Vec<(&[f64], f64)> {
        let of = |row: &'_ Vec<f64>| row.iter().sum::<f64>();
        self.rows.iter().map(|row| (row.as_slice(), of(row))).filter(|(_, m)| *m > 0.0).collect()
    }

    /// The mean over rated units of each label's share: every unit counts alike, however often it was rated.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    pub(crate) fn shares(&self) -> Vec<f64> {
        let rated = self.rated();
        let mut shares = vec![0.0; self.labels];
        for (row, m) in &rated {
            for (share, count) in shares.iter_mut().zip(*row) {
                *share += count / m / rated.len() as f64;
            }
        }
        shares
    }
}

/// The standard error over units of a coefficient `(p_a - p_e) / (1 - p_e)`, units being a sample of more.
///
/// `parts`: for each unit its agreement (`None` with one rating) and its own chance agreement. Gwet 2008, without a
/// finite population. `None` below two units.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub(crate) fn standard_error(parts: &[(Option<f64>, f64)], coefficient: f64, p_e: f64) -> Option<f64> {
    let n = parts.len() as f64;
    let pairable = parts.iter().filter(|(agreement, _)| agreement.is_some()).count() as f64;
    if parts.len() < 2 || pairable <= 0.0 {
        return None;
    }
    let square = |&(agreement, chance): &(Option<f64>, f64)| {
        let own = agreement.map_or(0.0, |agreement| n / pairable * (agreement - p_e) / (1.0 - p_e));
        (own - 2.0 * (1.0 - coefficient) * (chance - p_e) / (1.0 - p_e) - coefficient).powi(2)
    };
    Some((parts.iter().map(square).sum::<f64>() / (n * (n - 1.0))).sqrt())
}

#[cfg(test)]
mod tests {
    use super::{RatingCounts, RatingsError};

    #[test]
    fn ratings_off_the_scale_are_refused_by_unit() {
        assert_eq!(
            RatingCounts::from_ratings(2, &[vec![Some(0)], vec![None, Some(2)]]),
            Err(RatingsError::UnknownLabel { unit: 1, label: 2, labels: 2 })
        );
        assert_eq!(
            RatingCounts::from_counts(2, &[vec![1, 0], vec![1]]),
            Err(RatingsError::UnequalLengths { unit: 1, got: 1, labels: 2 })
        );
    }
}
