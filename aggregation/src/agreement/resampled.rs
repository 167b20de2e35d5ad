//! Kappa's bootstrap: cases drawn again from the table itself, without going back to the pairs.

use crate::agreement::cohen::{Distance, cohen_kappa, distances};
use crate::agreement::confusion::Confusion;
use crate::agreement::level::{CoefficientError, PositionsError};
use crate::draw::Draw;
use crate::estimate::{ConfidenceInterval, UndefinedReason};
use crate::numeric::{Distribution, Resampling};

/// Cases below which the accelerated interval is not trusted (specification 1.4).
pub const ACCELERATED_FROM: usize = 30;

/// How an interval was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalMethod {
    /// Estimate ± quantile times standard error.
    Analytic,
    /// Quantiles of the resamples.
    Percentile,
    /// Bias-corrected and accelerated quantiles of the resamples.
    Accelerated,
    /// From the exact bound of a share: no pair differs, so no resample would either.
    Exact,
}

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
) -> Result<Distribution, CoefficientError> {
    let mut kernel = Kernel::new(table.labels(), distance, positions)?;
    if table.n() == 0 {
        return Err(UndefinedReason::Empty.into());
    }
    if table.is_weighted() {
        return Err(UndefinedReason::NoPositiveWeight.into());
    }
    let cells = cells(table);
    let mut draw = Draw::new(resampling.seed, "bootstrap_kappa");
    let mut counts = vec![0.0; table.labels() * table.labels()];
    let mut resample = || {
        counts.fill(0.0);
        for _ in 0..cells.len() {
            let cell = cells.get(draw.below(cells.len())).copied().unwrap_or_default();
            add(&mut counts, cell, 1.0);
        }
        kernel.kappa(&counts)
    };
    Ok(Distribution::new((0..resampling.resamples).map(|_| resample()))?)
}

/// The accelerated interval of kappa, or the percentile one below [`ACCELERATED_FROM`] cases and where all cases weigh
/// alike in kappa, so that nothing can be accelerated; with which of the two it is. Undefined as
/// [`bootstrap_kappa`], and for a confidence outside 0 to 1.
pub fn kappa_interval(
    table: &Confusion,
    distance: Distance,
    positions: Option<&[f64]>,
    resampling: Resampling,
) -> Result<(ConfidenceInterval, IntervalMethod), CoefficientError> {
    let resampled = bootstrap_kappa(table, distance, positions, resampling)?;
    let interval = interval_of(&resampled, table, distance, positions, resampling.confidence)?;
    Ok(interval.ok_or(UndefinedReason::TooFew)?)
}

/// As [`kappa_interval`], from resamples that are already there.
pub(crate) fn interval_of(
    resampled: &Distribution,
    table: &Confusion,
    distance: Distance,
    positions: Option<&[f64]>,
    confidence: f64,
) -> Result<Option<(ConfidenceInterval, IntervalMethod)>, PositionsError> {
    if table.n() >= ACCELERATED_FROM
        && let Ok(kappa) = cohen_kappa(table, distance, positions)?.kappa
        && let Some(jackknife) = jackknife_kappa(table, distance, positions)?
        && let Some(interval) = resampled.bca(kappa.value, &jackknife, confidence)
    {
        return Ok(Some((interval, IntervalMethod::Accelerated)));
    }
    Ok(resampled.percentile(confidence).map(|interval| (interval, IntervalMethod::Percentile)))
}

/// Kappa of all pairs but one, once for each pair, as [`Distribution::bca`] asks; `None` when one of them has none.
pub fn jackknife_kappa(
    table: &Confusion,
    distance: Distance,
    positions: Option<&[f64]>,
) -> Result<Option<Vec<f64>>, PositionsError> {
    let mut kernel = Kernel::new(table.labels(), distance, positions)?;
    let mut counts: Vec<f64> = table.rows().flatten().copied().collect();
    let mut values = Vec::with_capacity(table.n());
    for (cell, (_, _, times)) in table.cells().enumerate().filter(|(_, (_, _, count))| *count > 0.0) {
        add(&mut counts, cell, -1.0);
        let Some(value) = kernel.kappa(&counts) else { return Ok(None) };
        values.extend(std::iter::repeat_n(value, whole(times)));
        add(&mut counts, cell, 1.0);
    }
    Ok(Some(values))
}

fn add(counts: &mut [f64], cell: usize, change: f64) {
    if let Some(count) = counts.get_mut(cell) {
        *count += change;
    }
}

/// The cell of every case.
fn cells(table: &Confusion) -> Vec<usize> {
    let counts = table.cells().enumerate();
    counts.flat_map(|(cell, (_, _, count))| std::iter::repeat_n(cell, whole(count))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "unweighted counts are whole")]
fn whole(count: f64) -> usize {
    count as usize
}

/// Kappa as a function of counts only.
pub(crate) struct Kernel {
    labels: usize,
    distances: Vec<f64>,
    /// Column totals: room that every call uses again.
    columns: Vec<f64>,
}

impl Kernel {
    pub(crate) fn new(
        labels: usize,
        distance: Distance,
        positions: Option<&[f64]>,
    ) -> Result<Self, PositionsError> {
        let distances = distances(labels, distance, positions)?;
        Ok(Self { labels, distances, columns: vec![0.0; labels] })
    }

    /// `None` where kappa is undefined; exactly 0 if one rater is constant and the other is not.
    pub(crate) fn kappa(&mut self, counts: &[f64]) -> Option<f64> {
        let Self { labels, distances, columns } = self;
        let width = (*labels).max(1);
        columns.fill(0.0);
        let (mut total, mut observed) = (0.0, 0.0);
        for (row, apart) in counts.chunks(width).zip(distances.chunks(width)) {
            for ((column, count), d) in columns.iter_mut().zip(row).zip(apart) {
                *column += count;
                total += count;
                observed += count * d;
            }
        }
        let (mut expected, mut constant) = (0.0, false);
        for (row, apart) in counts.chunks(width).zip(distances.chunks(width)) {
            let own: f64 = row.iter().sum();
            constant |= is_whole(own, total);
            expected += own * columns.iter().zip(apart).map(|(column, d)| column * d).sum::<f64>();
        }
        if expected <= 0.0 {
            return None;
        }
        constant |= columns.iter().any(|column| is_whole(*column, total));
        Some(if constant { 0.0 } else { 1.0 - observed * total / expected })
    }
}

/// Whether a part is all of it, up to the rounding of sums of weights.
fn is_whole(part: f64, total: f64) -> bool {
    part >= total * (1.0 - 1e-14)
}

#[cfg(test)]
mod tests {
    use super::{IntervalMethod, Kernel, bootstrap_kappa, jackknife_kappa, kappa_interval};
    use crate::agreement::{CoefficientError, Confusion, Distance, PositionsError, cohen_kappa};
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
            let long = cohen_kappa(&table, distance, None).unwrap().kappa.unwrap().value;
            let mut kernel = Kernel::new(3, distance, None).unwrap();
            assert!((kernel.kappa(&counts).unwrap() - long).abs() < 1e-12);
            assert_eq!(kernel.kappa(&counts), kernel.kappa(&counts));
        }
    }

    #[test]
    fn tables_that_cannot_be_resampled_say_why() {
        let check = |table: &Confusion, reason| {
            let got = bootstrap_kappa(table, Distance::Nominal, None, Resampling::default());
            assert_eq!(got, Err(CoefficientError::Undefined(reason)));
        };
        check(&table(&[]), UndefinedReason::Empty);
        check(&table(&[(1, 1), (1, 1)]), UndefinedReason::TooFew);
        let weighted = Confusion::from_weighted_pairs(2, [((Some(0), Some(1)), 2.0)]).unwrap();
        check(&weighted, UndefinedReason::NoPositiveWeight);
        let short = bootstrap_kappa(&table(&[(0, 1)]), Distance::Linear, Some(&[1.0]), Resampling::default());
        assert_eq!(short, Err(PositionsError::WrongLength { got: 1, labels: 3 }.into()));
    }

    #[test]
    fn the_jackknife_leaves_out_each_pair_once() {
        let table = table(&[(0, 0), (1, 2), (2, 2), (1, 1), (0, 1), (2, 2)]);
        assert_eq!(jackknife_kappa(&table, Distance::Linear, None).unwrap().unwrap().len(), 6);
    }

    #[test]
    fn an_interval_says_how_it_was_found() {
        let pairs = |n: usize| {
            (0..n).map(|i| (i % 3, if i.is_multiple_of(5) { 0 } else { i % 3 })).collect::<Vec<_>>()
        };
        let method = |pairs: &[(usize, usize)]| {
            kappa_interval(&table(pairs), Distance::Nominal, None, Resampling::default()).unwrap().1
        };
        assert_eq!(method(&pairs(30)), IntervalMethod::Accelerated);
        assert_eq!(method(&pairs(29)), IntervalMethod::Percentile);
        // No pair differs: kappa is 1 whichever is left out.
        let perfect: Vec<(usize, usize)> = (0..60).map(|i| (i % 3, i % 3)).collect();
        assert_eq!(method(&perfect), IntervalMethod::Percentile);
    }
}
