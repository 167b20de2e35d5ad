//! Whether values of one list tend to be greater than those of another.

use crate::estimate::UndefinedReason;
use crate::numeric::normal_cdf;

/// Values per list up to which the exact distribution is counted.
const MOST_EXACT: usize = 8;

/// The test of `x` against `y`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the value of `x` is the greater one, ties as half.
    pub u: f64,
    /// Two-sided, normal, corrected for ties and for continuity; 1 where all values are the same.
    pub p: f64,
    /// Two-sided and exact; only without ties and with at most 8 values on either side.
    pub p_exact: Option<f64>,
    /// `u / (n_x n_y)`: the chance that a value of `x` is greater, ties as half.
    pub a12: f64,
    /// `2 · a12 - 1`: -1 where all of `x` are lower, 1 where all are higher.
    pub cliffs_delta: f64,
}

/// Why two lists cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum MannWhitneyError {
    #[error("value {index} of the {list} list is {value}, which is not finite")]
    NotFinite { list: &'static str, index: usize, value: f64 },
    #[error(transparent)]
    Undefined(#[from] UndefinedReason),
}

/// Compares two independent lists (`mann_whitney.json`). `Empty` if either is.
///
/// `U = R_x - n_x (n_x + 1) / 2` with the rank sum `R_x` (mean ranks of ties),
/// `σ² = n_x n_y / 12 · (n + 1 - Σ (t³ - t) / (n (n - 1)))` over groups of `t` ties, `p = 2 (1 - Φ((|U - μ| - ½) / σ))`.
/// Source: Mann and Whitney 1947, Annals of Mathematical Statistics 18; Cliff 1993, Psychological Bulletin 114.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn mann_whitney(x: &[f64], y: &[f64]) -> Result<MannWhitney, MannWhitneyError> {
    for (list, values) in [("first", x), ("second", y)] {
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(MannWhitneyError::NotFinite { list, index, value: *value });
        }
    }
    if x.is_empty() || y.is_empty() {
        return Err(UndefinedReason::Empty.into());
    }
    let (n_x, n_y, n) = (x.len() as f64, y.len() as f64, (x.len() + y.len()) as f64);
    let (rank_sum, ties) = rank_sum(x, y);
    let u = rank_sum - n_x * (n_x + 1.0) / 2.0;
    let variance = n_x * n_y / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    let distance = (u - n_x * n_y / 2.0).abs() - 0.5;
    let tail = if variance > 0.0 { normal_cdf(-distance / variance.sqrt()).unwrap_or(1.0) } else { 1.0 };
    let is_exact = ties <= 0.0 && x.len() <= MOST_EXACT && y.len() <= MOST_EXACT;
    let a12 = u / (n_x * n_y);
    Ok(MannWhitney {
        u,
        p: (2.0 * tail).min(1.0),
        p_exact: is_exact.then(|| exact_p(u, x.len(), y.len())),
        a12,
        cliffs_delta: 2.0 * a12 - 1.0,
    })
}

/// The rank sum of `x` in both lists together, and `Σ (t³ - t)` over groups of ties.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn rank_sum(x: &[f64], y: &[f64]) -> (f64, f64) {
    let mut all: Vec<(f64, bool)> = x.iter().map(|value| (*value, true)).collect();
    all.extend(y.iter().map(|value| (*value, false)));
    all.sort_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let (mut sum, mut ties, mut before) = (0.0, 0.0, 0_usize);
    for group in all.chunk_by(|(a, _), (b, _)| a.partial_cmp(b).is_none_or(std::cmp::Ordering::is_eq)) {
        let t = group.len() as f64;
        let own = group.iter().filter(|(_, is_x)| *is_x).count() as f64;
        sum += own * (before as f64 + f64::midpoint(1.0, t));
        ties += t * t * t - t;
        before += group.len();
    }
    (sum, ties)
}

/// `min(1, 2 · P(U >= max(u, n_x n_y - u)))` over all ways to deal the ranks.
#[expect(clippy::cast_precision_loss, reason = "at most 12 870 ways")]
fn exact_p(u: f64, n_x: usize, n_y: usize) -> f64 {
    // ways[i][u]: of choosing i ranks so far with that many pairs won.
    let most = n_x * n_y;
    let mut ways = vec![vec![0_u64; most + 1]; n_x + 1];
    if let Some(first) = ways.first_mut().and_then(|row| row.first_mut()) {
        *first = 1;
    }
    for rank in 0..n_x + n_y {
        for chosen in (1..=n_x.min(rank + 1)).rev() {
            let won = rank + 1 - chosen;
            for total in (won..=most).rev() {
                let more = ways.get(chosen - 1).and_then(|row| row.get(total - won)).copied().unwrap_or(0);
                if let Some(own) = ways.get_mut(chosen).and_then(|row| row.get_mut(total)) {
                    *own += more;
                }
            }
        }
    }
    let counts = ways.pop().unwrap_or_default();
    let all: u64 = counts.iter().sum();
    let extreme = u.max(most as f64 - u);
    let hits: u64 = counts
        .iter()
        .enumerate()
        .filter(|(won, _)| *won as f64 >= extreme - 1e-9)
        .map(|(_, ways)| ways)
        .sum();
    (2.0 * hits as f64 / all as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::{MannWhitneyError, mann_whitney};
    use crate::estimate::UndefinedReason;

    #[test]
    fn what_is_not_finite_is_refused_by_its_index() {
        let error = mann_whitney(&[1.0], &[2.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error, MannWhitneyError::NotFinite { list: "second", index: 1, value: f64::INFINITY });
        assert!(mann_whitney(&[f64::NAN], &[2.0]).is_err());
        assert_eq!(mann_whitney(&[], &[1.0]).unwrap_err(), UndefinedReason::Empty.into());
    }

    #[test]
    fn both_sides_see_the_same_test() {
        let (x, y) = ([0.3, 0.7, 0.7, 0.9], [0.1, 0.7, 0.2]);
        let (one, other) = (mann_whitney(&x, &y).unwrap(), mann_whitney(&y, &x).unwrap());
        assert!((one.p - other.p).abs() < 1e-15 && (one.cliffs_delta + other.cliffs_delta).abs() < 1e-15);
        let zeros = mann_whitney(&[0.0, -0.0], &[0.0]).unwrap();
        assert_eq!((zeros.p, zeros.a12), (1.0, 0.5));
    }

    #[test]
    fn eight_apart_from_eight_is_two_of_12870() {
        let list = |from: u8| (0..8).map(|i| f64::from(from + i)).collect::<Vec<f64>>();
        let own = mann_whitney(&list(10), &list(0)).unwrap();
        assert!((own.p_exact.unwrap() - 2.0 / 12_870.0).abs() < 1e-15, "{own:?}");
    }
}
