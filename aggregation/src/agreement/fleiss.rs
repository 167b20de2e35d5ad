//! Fleiss' kappa: agreement of many raters on labels without order. With missing ratings or ordered labels use alpha.

use crate::agreement::ratings::{RatingCounts, standard_error};
use crate::estimate::UndefinedReason;

/// Fleiss' kappa with what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct FleissKappa {
    /// At most 1.
    pub kappa: f64,
    /// Mean agreement of the units with at least two ratings, 0 to 1.
    pub p_bar: f64,
    /// Agreement expected by chance.
    pub p_e: f64,
    /// Over units; `None` for a single one.
    pub se: Option<f64>,
    /// Units with at least one rating; those with only one count for the marginals alone.
    pub n_units: usize,
    /// For each of them the share of its pairs of ratings that agree; `None` with one rating.
    pub unit_agreement: Vec<Option<f64>>,
}

/// Fleiss' kappa (specification 1.8): `P_i = Σ_k n_ik (n_ik - 1) / (m_i (m_i - 1))`, `p_k` the mean of the units'
/// shares, `(P̄ - Σ p_k²) / (1 - Σ p_k²)`.
///
/// `Empty` without ratings, `NoPairableUnits` when no unit has two, `DegenerateMarginals` when all are one label.
/// Source: Fleiss 1971, Psychological Bulletin 76; `fleiss.json`.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn fleiss_kappa(counts: &RatingCounts) -> Result<FleissKappa, UndefinedReason> {
    let rated = counts.rated();
    if rated.is_empty() {
        return Err(UndefinedReason::Empty);
    }
    let agreement = |(row, m): &(&[f64], f64)| {
        (*m > 1.0).then(|| row.iter().map(|n| n * (n - 1.0)).sum::<f64>() / (m * (m - 1.0)))
    };
    let unit_agreement: Vec<Option<f64>> = rated.iter().map(agreement).collect();
    let pairable = unit_agreement.iter().flatten().count();
    if pairable == 0 {
        return Err(UndefinedReason::NoPairableUnits);
    }
    let is_one_label = |label: usize| rated.iter().all(|(row, m)| row.get(label).is_some_and(|n| n >= m));
    if (0..counts.labels()).any(is_one_label) {
        return Err(UndefinedReason::DegenerateMarginals);
    }
    let p_bar = unit_agreement.iter().flatten().sum::<f64>() / pairable as f64;
    let shares = counts.shares();
    let p_e: f64 = shares.iter().map(|p| p * p).sum();
    let kappa = (p_bar - p_e) / (1.0 - p_e);
    let chance =
        |(row, m): &(&[f64], f64)| row.iter().zip(&shares).map(|(n, share)| n * share).sum::<f64>() / m;
    let parts: Vec<_> = unit_agreement.iter().copied().zip(rated.iter().map(chance)).collect();
    let se = standard_error(&parts, kappa, p_e);
    Ok(FleissKappa { kappa, p_bar, p_e, se, n_units: rated.len(), unit_agreement })
}
