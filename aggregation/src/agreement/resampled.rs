//! Kappa's bootstrap: cases drawn again from the table itself, without going back to the pairs.

use crate::agreement::cohen::{Distance, distances};
use crate::agreement::confusion::Confusion;
use crate::draw::Draw;
use crate::estimate::UndefinedReason;
use crate::numeric::{Distribution, Resampling};

/// Kappa of every resample of a table (specification 1.4). The same seed and table give the same bits.
///
/// Cases count alike: for design weights and clusters use [`crate::numeric::bootstrap`], since a table does not hold
/// which weight belongs to which case (`NoPositiveWeight` for a weighted table). `Empty` without pairs; `TooFew` when
/// more than 5 % of the resamples have no kappa.
pub fn bootstrap_kappa(
    table: &Confusion,
    distance: Distance,
    positions: Option<&[f64]>,
    resampling: Resampling,
) -> Result<Distribution, UndefinedReason> {
    if table.n() == 0 {
        return Err(UndefinedReason::Empty);
    }
    if table.is_weighted() {
        return Err(UndefinedReason::NoPositiveWeight);
    }
    let kernel = Kernel::new(table.labels(), distance, positions);
    let cells = cells(table);
    let mut draw = Draw::new(resampling.seed, "bootstrap_kappa");
    let mut counts = vec![0.0; table.labels() * table.labels()];
    let mut resample = || {
        counts.fill(0.0);
        for _ in 0..cells.len() {
            let cell = cells.get(draw.below(cells.len())).copied().unwrap_or_default();
            if let Some(count) = counts.get_mut(cell) {
                *count += 1.0;
            }
        }
        kernel.kappa(&counts)
    };
    Distribution::new((0..resampling.resamples).map(|_| resample()))
}

/// Kappa of all pairs but one, once for each pair, as [`Distribution::bca`] asks; `None` when one of them has none.
pub fn jackknife_kappa(table: &Confusion, distance: Distance, positions: Option<&[f64]>) -> Option<Vec<f64>> {
    let kernel = Kernel::new(table.labels(), distance, positions);
    let mut counts: Vec<f64> = table.rows().flatten().copied().collect();
    let mut values = Vec::with_capacity(table.n());
    for cell in cells(table) {
        *counts.get_mut(cell)? -= 1.0;
        values.push(kernel.kappa(&counts)?);
        *counts.get_mut(cell)? += 1.0;
    }
    Some(values)
}

/// The cell of every case.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "unweighted counts are whole")]
fn cells(table: &Confusion) -> Vec<usize> {
    let counts = table.cells().enumerate();
    counts.flat_map(|(cell, (_, _, count))| std::iter::repeat_n(cell, count as usize)).collect()
}

/// Kappa as a function of counts only.
pub(crate) struct Kernel {
    labels: usize,
    distances: Vec<f64>,
}

impl Kernel {
    pub(crate) fn new(labels: usize, distance: Distance, positions: Option<&[f64]>) -> Self {
        Self { labels, distances: distances(labels, distance, positions) }
    }

    /// `None` where kappa is undefined; exactly 0 if one rater is constant and the other is not.
    pub(crate) fn kappa(&self, counts: &[f64]) -> Option<f64> {
        let mut columns = vec![0.0; self.labels];
        let (mut total, mut observed) = (0.0, 0.0);
        for (row, apart) in counts.chunks(self.labels.max(1)).zip(self.distances.chunks(self.labels.max(1))) {
            for ((column, count), d) in columns.iter_mut().zip(row).zip(apart) {
                *column += count;
                total += count;
                observed += count * d;
            }
        }
        let (mut expected, mut constant) = (0.0, false);
        for (row, apart) in counts.chunks(self.labels.max(1)).zip(self.distances.chunks(self.labels.max(1))) {
            let own: f64 = row.iter().sum();
            constant |= own >= total;
            expected += own * columns.iter().zip(apart).map(|(column, d)| column * d).sum::<f64>();
        }
        if expected <= 0.0 {
            return None;
        }
        constant |= columns.iter().any(|column| *column >= total);
        Some(if constant { 0.0 } else { 1.0 - observed * total / expected })
    }
}

#[cfg(test)]
mod tests {
    use super::{Kernel, bootstrap_kappa, jackknife_kappa};
    use crate::agreement::{Confusion, Distance, cohen_kappa};
    use crate::estimate::UndefinedReason;
    use crate::numeric::Resampling;

    fn table(pairs: &[(usize, usize)]) -> Confusion {
        Confusion::from_pairs(3, pairs.iter().map(|&(a, b)| (Some(a), Some(b)))).unwrap()
    }

    #[test]
    fn the_short_form_is_the_kappa_of_the_table() {
        let table = table(&[(0, 0), (1, 2), (2, 2), (1, 1), (0, 1), (2, 2)]);
        let counts: Vec<f64> = table.rows().flatten().copied().collect();
        for distance in [Distance::Nominal, Distance::Linear, Distance::Quadratic] {
            let long = cohen_kappa(&table, distance, None).kappa.unwrap().value;
            assert!((Kernel::new(3, distance, None).kappa(&counts).unwrap() - long).abs() < 1e-12);
        }
    }

    #[test]
    fn tables_that_cannot_be_resampled_say_why() {
        let check = |table: &Confusion, reason| {
            let got = bootstrap_kappa(table, Distance::Nominal, None, Resampling::default());
            assert_eq!(got, Err(reason));
        };
        check(&table(&[]), UndefinedReason::Empty);
        check(&table(&[(1, 1), (1, 1)]), UndefinedReason::TooFew);
        let weighted = Confusion::from_weighted_pairs(2, [((Some(0), Some(1)), 2.0)]).unwrap();
        check(&weighted, UndefinedReason::NoPositiveWeight);
    }

    #[test]
    fn the_jackknife_leaves_out_each_pair_once() {
        let table = table(&[(0, 0), (1, 2), (2, 2), (1, 1), (0, 1), (2, 2)]);
        assert_eq!(jackknife_kappa(&table, Distance::Linear, None).unwrap().len(), 6);
    }
}
