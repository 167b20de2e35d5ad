//! Cohen's kappa: agreement of two raters beyond chance, plain or weighted by distance.
//!
//! Source: Cohen 1960 and 1968; standard error of Fleiss, Cohen and Everitt 1969; `cohen_kappa.json`.

use crate::agreement::confusion::Confusion;
use crate::agreement::level::{PositionsError, check_distinct};
use crate::estimate::{ConfidenceInterval, Estimate, Estimated, Undefined, UndefinedReason};
use crate::numeric::{clopper_pearson_lower, normal_quantile};

/// Standard errors below this are rounding of exactly 0.
const LEAST_ERROR: f64 = 1e-8;

/// How much a disagreement counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// All alike. The default for labels without order.
    Nominal,
    /// By distance.
    Linear,
    /// By squared distance. The default for ordered labels, and the most flattering of the three.
    Quadratic,
}

/// Cohen's kappa with what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CohenKappa {
    pub n: usize,
    pub n_dropped: usize,
    /// Observed agreement, 0 to 1, weighted by nearness under linear and quadratic distance; `None` without pairs.
    pub p_o: Option<f64>,
    /// Agreement expected by chance.
    pub p_e: Option<f64>,
    /// `Empty`, or `DegenerateMarginals` when both raters used one and the same label only.
    pub kappa: Result<Kappa, UndefinedReason>,
}

/// The value and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kappa {
    /// -1 to 1; exactly 0 if one rater is constant and the other is not.
    pub value: f64,
    /// The largest kappa that these marginals allow; nominal distance only.
    pub max: Option<f64>,
    /// `None` for design-weighted tables: use the bootstrap.
    pub error: Option<StandardError>,
    /// Where two raters never differ: the 95 % lower bound `(L - p_e) / (1 - p_e)`, with `L` the lower end of
    /// Clopper and Pearson's interval of the share of pairs that agree. It stands for the interval, which is then
    /// degenerate. Under linear and quadratic distance each difference that may have been missed counts as one across
    /// the whole scale, so the bound is low rather than high. `None` elsewhere and for design-weighted tables.
    pub perfect_lower: Option<f64>,
}

/// Large-sample standard errors. Below 100 cases the interval covers too little: show the bootstrap first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandardError {
    pub se: f64,
    /// Under the hypothesis that kappa is 0; for that test only.
    pub se_null: f64,
    /// 95 %, not clipped to -1 and 1.
    pub interval: ConfidenceInterval,
    /// The error is 0 (perfect agreement or a constant rater): the interval says nothing and must not be shown.
    pub degenerate: bool,
}

impl CohenKappa {
    /// The kappa as a report carries it; without an interval where that one is degenerate or unknown.
    pub fn estimate(&self) -> Estimated {
        match self.kappa {
            Ok(kappa) => Ok(Estimate {
                value: kappa.value,
                interval: kappa.error.filter(|error| !error.degenerate).map(|error| error.interval),
                n: self.n,
                n_dropped: self.n_dropped,
            }),
            Err(reason) => Err(Undefined { reason, n: self.n, n_dropped: self.n_dropped }),
        }
    }
}

/// Cohen's kappa of a table (specification 1.1 and 1.3).
///
/// `positions` gives each label a place for linear and quadratic distance, usually its value; without it the index
/// counts. They are finite, as many as labels, and no two the same, also where the nominal distance does not need
/// them.
pub fn cohen_kappa(
    table: &Confusion,
    distance: Distance,
    positions: Option<&[f64]>,
) -> Result<CohenKappa, PositionsError> {
    let distances = distances(table.labels(), distance, positions)?;
    let known = |p_o, p_e, kappa| CohenKappa { n: table.n(), n_dropped: table.n_dropped(), p_o, p_e, kappa };
    if table.n() == 0 {
        return Ok(known(None, None, Err(UndefinedReason::Empty)));
    }
    let shares = Shares::of(table, &distances);
    let (observed, expected) = (shares.observed(), shares.expected());
    let (p_o, p_e) = (1.0 - observed, 1.0 - expected);
    let one_constant = shares.one_constant();
    // Labels so near to each other that their squared distance is 0 have no chance agreement to correct for.
    if shares.same_constant() || (expected <= 0.0 && !one_constant) {
        return Ok(known(Some(p_o), Some(p_e), Err(UndefinedReason::DegenerateMarginals)));
    }
    let value = if one_constant { 0.0 } else { 1.0 - observed / expected };
    let is_perfect = !table.is_weighted() && !one_constant && shares.never_differs();
    let kappa = Kappa {
        value,
        max: (distance == Distance::Nominal).then(|| shares.largest_kappa(p_e)),
        error: (!table.is_weighted()).then(|| shares.error(value, p_e, table.n())),
        perfect_lower: is_perfect.then(|| perfect_lower(table.n(), p_e)).flatten(),
    };
    Ok(known(Some(p_o), Some(p_e), Ok(kappa)))
}

fn perfect_lower(n: usize, p_e: f64) -> Option<f64> {
    let n = u64::try_from(n).unwrap_or(u64::MAX);
    clopper_pearson_lower(n, n, 0.975).map(|least_agreeing| ((least_agreeing - p_e) / (1.0 - p_e)).max(-1.0))
}

/// The table as proportions, with the distance of each cell.
struct Shares {
    /// `(row, column, observed share, expected share, distance)`.
    cells: Vec<(usize, usize, f64, f64, f64)>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Shares {
    fn of(table: &Confusion, distances: &[f64]) -> Self {
        let total = table.total();
        let share = |totals: Vec<f64>| -> Vec<f64> { totals.iter().map(|count| count / total).collect() };
        let (rows, columns) = (share(table.row_totals()), share(table.column_totals()));
        let at = |list: &[f64], label: usize| list.get(label).copied().unwrap_or_default();
        let cells = table
            .cells()
            .zip(distances)
            .map(|((row, column, count), distance)| {
                (row, column, count / total, at(&rows, row) * at(&columns, column), *distance)
            })
            .collect();
        Self { cells, rows, columns }
    }

    fn observed(&self) -> f64 {
        self.cells.iter().map(|(_, _, observed, _, d)| d * observed).sum()
    }

    fn expected(&self) -> f64 {
        self.cells.iter().map(|(_, _, _, expected, d)| d * expected).sum()
    }

    fn never_differs(&self) -> bool {
        self.cells.iter().all(|(row, column, observed, _, _)| row == column || *observed <= 0.0)
    }

    fn same_constant(&self) -> bool {
        self.rows.iter().zip(&self.columns).any(|(row, column)| is_all(*row) && is_all(*column))
    }

    fn one_constant(&self) -> bool {
        self.rows.iter().chain(&self.columns).any(|share| is_all(*share))
    }

    fn largest_kappa(&self, p_e: f64) -> f64 {
        let most: f64 = self.rows.iter().zip(&self.columns).map(|(row, column)| row.min(*column)).sum();
        (most - p_e) / (1.0 - p_e)
    }

    fn error(&self, kappa: f64, p_e: f64, n: usize) -> StandardError {
        // `v = 1 - d`; its mean over the columns' distribution for each row, and the other way round.
        let mut row_means = vec![0.0; self.rows.len()];
        let mut column_means = vec![0.0; self.columns.len()];
        for &(row, column, _, _, d) in &self.cells {
            if let (Some(mean), Some(share)) = (row_means.get_mut(row), self.columns.get(column)) {
                *mean += share * (1.0 - d);
            }
            if let (Some(mean), Some(share)) = (column_means.get_mut(column), self.rows.get(row)) {
                *mean += share * (1.0 - d);
            }
        }
        let mean = |row: usize, column: usize| {
            row_means.get(row).copied().unwrap_or_default()
                + column_means.get(column).copied().unwrap_or_default()
        };
        let (mut spread, mut spread_null) = (0.0, 0.0);
        for &(row, column, observed, expected, d) in &self.cells {
            let (v, means) = (1.0 - d, mean(row, column));
            spread += observed * (v - means * (1.0 - kappa)).powi(2);
            spread_null += expected * (v - means).powi(2);
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
        let scale = n as f64 * (1.0 - p_e) * (1.0 - p_e);
        let se = root(spread, (kappa - p_e * (1.0 - kappa)).powi(2), scale);
        let half = normal_quantile(0.975) * se;
        StandardError {
            se,
            se_null: root(spread_null, p_e * p_e, scale),
            interval: ConfidenceInterval { lo: kappa - half, hi: kappa + half, confidence: 0.95 },
            degenerate: se <= 0.0,
        }
    }
}

/// The distance of every cell, row by row: 0 for the same label, at most 1.
pub(crate) fn distances(
    labels: usize,
    distance: Distance,
    positions: Option<&[f64]>,
) -> Result<Vec<f64>, PositionsError> {
    let places: Vec<f64> = match positions {
        Some(given) => {
            check_distinct(labels, given)?;
            // Halved where the width would not be a finite number; distances are relative to it.
            let widest = given.iter().fold(0.0_f64, |most, place| most.max(place.abs()));
            let unit = if widest > f64::MAX / 2.0 { 0.5 } else { 1.0 };
            given.iter().map(|place| place * unit).collect()
        }
        #[expect(clippy::cast_precision_loss, reason = "scales have few labels")]
        None => (0..labels).map(|label| label as f64).collect(),
    };
    let width = places.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        - places.iter().copied().fold(f64::INFINITY, f64::min);
    let apart = |a: f64, b: f64| if width > 0.0 { (a - b).abs() / width } else { 0.0 };
    let of = |row: usize, column: usize, a: f64, b: f64| match distance {
        Distance::Nominal => f64::from(u8::from(row != column)),
        Distance::Linear => apart(a, b),
        Distance::Quadratic => apart(a, b) * apart(a, b),
    };
    let columns = || places.iter().enumerate();
    Ok(columns().flat_map(|(row, a)| columns().map(move |(column, b)| of(row, column, *a, *b))).collect())
}

/// Whether a share is the whole, up to the rounding of one division.
fn is_all(share: f64) -> bool {
    share >= 1.0 - 4.0 * f64::EPSILON
}

/// `sqrt((a - b) / scale)`, where a difference within rounding of 0 is 0.
fn root(a: f64, b: f64, scale: f64) -> f64 {
    let difference = a - b;
    if difference <= 8.0 * f64::EPSILON * a.max(1.0) {
        return 0.0;
    }
    let error = (difference / scale).sqrt();
    if error < LEAST_ERROR { 0.0 } else { error }
}

#[cfg(test)]
mod tests {
    use super::{Distance, cohen_kappa};
    use crate::agreement::Confusion;
    use crate::estimate::UndefinedReason;

    fn table(labels: usize, pairs: &[(usize, usize)]) -> Confusion {
        Confusion::from_pairs(labels, pairs.iter().map(|&(a, b)| (Some(a), Some(b)))).unwrap()
    }

    #[test]
    fn a_lazy_rater_has_exactly_no_kappa() {
        let pairs: Vec<(usize, usize)> = (0..7).map(|i| (1, usize::from(i % 3 == 0))).collect();
        for distance in [Distance::Nominal, Distance::Linear, Distance::Quadratic] {
            let kappa = cohen_kappa(&table(3, &pairs), distance, None).unwrap().kappa.unwrap();
            assert!(kappa.value.abs() <= 0.0, "{kappa:?}");
            assert!(kappa.error.unwrap().degenerate);
        }
    }

    #[test]
    fn unused_labels_keep_their_distance() {
        let pairs = [(0, 0), (0, 2), (2, 0), (2, 2), (3, 3), (4, 4), (4, 3), (3, 4)];
        let declared = cohen_kappa(&table(5, &pairs), Distance::Quadratic, None).unwrap();
        assert!((declared.kappa.unwrap().value - 5.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn one_and_the_same_label_throughout_is_undefined() {
        let cohen = cohen_kappa(&table(1, &[(0, 0), (0, 0)]), Distance::Linear, None).unwrap();
        assert_eq!(cohen.kappa, Err(UndefinedReason::DegenerateMarginals));
        assert_eq!((cohen.p_o, cohen.p_e), (Some(1.0), Some(1.0)));
        let undefined = cohen.estimate().unwrap_err();
        assert_eq!((undefined.n, undefined.reason), (2, UndefinedReason::DegenerateMarginals));
        let empty = cohen_kappa(&table(2, &[]), Distance::Nominal, None).unwrap();
        assert_eq!(empty.estimate().unwrap_err().reason, UndefinedReason::Empty);
    }

    #[test]
    fn perfect_agreement_shows_no_interval() {
        let perfect =
            cohen_kappa(&table(2, &[(0, 0), (1, 1)]), Distance::Nominal, None).unwrap().estimate().unwrap();
        assert_eq!((perfect.value, perfect.interval), (1.0, None));
    }

    #[test]
    fn positions_that_make_no_distance_are_refused() {
        let table = table(3, &[(0, 0), (1, 2), (2, 2), (1, 1)]);
        for distance in [Distance::Nominal, Distance::Linear, Distance::Quadratic] {
            for positions in [vec![1.0, 1.0, 2.0], vec![1.0, 2.0], vec![0.0, 1.0, f64::NAN], vec![]] {
                assert!(cohen_kappa(&table, distance, Some(&positions)).is_err(), "{positions:?}");
            }
        }
    }

    #[test]
    fn positions_at_the_ends_of_the_numbers_still_make_distances() {
        let table = table(3, &[(0, 0), (1, 2), (2, 2), (1, 1)]);
        let value = |positions: &[f64]| {
            cohen_kappa(&table, Distance::Linear, Some(positions)).unwrap().kappa.unwrap().value
        };
        assert!((value(&[f64::MIN, 0.0, f64::MAX]) - value(&[0.0, 1.0, 2.0])).abs() < 1e-12);
        // The middle label lies on the first as far as squares can tell.
        let near = [0.0, 1e-300, 1.0];
        let cohen = cohen_kappa(&super::tests::table(3, &[(0, 1), (1, 0)]), Distance::Quadratic, Some(&near));
        assert_eq!(cohen.unwrap().kappa, Err(UndefinedReason::DegenerateMarginals));
    }

    #[test]
    fn perfect_agreement_has_a_lower_bound_that_grows_with_the_cases() {
        let lower = |n: usize, distance| {
            let pairs: Vec<(usize, usize)> = (0..n).map(|i| (i % 2, i % 2)).collect();
            cohen_kappa(&table(2, &pairs), distance, None).unwrap().kappa.unwrap().perfect_lower.unwrap()
        };
        assert!((lower(30, Distance::Nominal) - (2.0 * 0.025_f64.powf(1.0 / 30.0) - 1.0)).abs() < 1e-12);
        assert!(lower(2, Distance::Nominal) < 0.0 && lower(1000, Distance::Nominal) > 0.99);
        assert!((lower(30, Distance::Quadratic) - lower(30, Distance::Nominal)).abs() < 1e-12);
        let one_apart = cohen_kappa(&table(2, &[(0, 0), (1, 1), (1, 0)]), Distance::Nominal, None).unwrap();
        assert_eq!(one_apart.kappa.unwrap().perfect_lower, None);
    }
}
