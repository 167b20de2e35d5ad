//! Gwet's AC1 and AC2: agreement that stays stable where one label prevails. Stands beside kappa, never for it: a judge
//! that says the prevailing label always has a high AC1 and no kappa.

use crate::agreement::cohen::{Distance, distances};
use crate::agreement::level::CoefficientError;
use crate::agreement::ratings::{RatingCounts, standard_error};
use crate::estimate::UndefinedReason;

/// A coefficient with what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GwetAc {
    /// At most 1.
    pub coefficient: f64,
    /// Observed agreement, 0 to 1.
    pub p_a: f64,
    /// Agreement expected by chance.
    pub p_e: f64,
    /// Over units; `None` for a single one.
    pub se: Option<f64>,
    /// Units with at least one rating.
    pub n_units: usize,
}

/// AC1 under nominal distance, AC2 under the others (specification 1.9).
///
/// `p_a` is the mean over units with two ratings of `Σ_k n_ik (n*_ik - 1) / (m_i (m_i - 1))`, with
/// `n*_ik = Σ_l w_kl n_il` and `w = 1 - distance`; `p_e = Σw / (q (q - 1)) · Σ π_k (1 - π_k)` over all `q` declared
/// labels. `positions` as for [`crate::agreement::cohen_kappa`]. `Empty`, `NoPairableUnits`, or `SingleValueDomain`
/// for one label. Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61; `gwet.json`.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn gwet_ac(
    counts: &RatingCounts,
    distance: Distance,
    positions: Option<&[f64]>,
) -> Result<GwetAc, CoefficientError> {
    let (rated, q) = (counts.rated(), counts.labels());
    let apart = distances(q, distance, positions)?;
    if rated.is_empty() {
        return Err(UndefinedReason::Empty.into());
    }
    if q < 2 {
        return Err(UndefinedReason::SingleValueDomain.into());
    }
    let agreement = |(row, m): &(&[f64], f64)| {
        let near = |apart: &[f64]| row.iter().zip(apart).map(|(n, d)| n * (1.0 - d)).sum::<f64>();
        let agreeing: f64 = row.iter().zip(apart.chunks(q)).map(|(n, apart)| n * (near(apart) - 1.0)).sum();
        (*m > 1.0).then(|| agreeing / (m * (m - 1.0)))
    };
    let agreements: Vec<Option<f64>> = rated.iter().map(agreement).collect();
    let pairable = agreements.iter().flatten().count();
    if pairable == 0 {
        return Err(UndefinedReason::NoPairableUnits.into());
    }
    let p_a = agreements.iter().flatten().sum::<f64>() / pairable as f64;
    let shares = counts.shares();
    let weight = apart.iter().map(|d| 1.0 - d).sum::<f64>() / (q as f64 * (q as f64 - 1.0));
    let p_e = weight * shares.iter().map(|share| share * (1.0 - share)).sum::<f64>();
    if 1.0 - p_e <= 4.0 * f64::EPSILON {
        return Err(UndefinedReason::DegenerateMarginals.into());
    }
    let coefficient = (p_a - p_e) / (1.0 - p_e);
    let chance = |(row, m): &(&[f64], f64)| {
        weight * row.iter().zip(&shares).map(|(n, share)| n * (1.0 - share)).sum::<f64>() / m
    };
    let parts: Vec<_> = agreements.iter().copied().zip(rated.iter().map(chance)).collect();
    let se = standard_error(&parts, coefficient, p_e);
    Ok(GwetAc { coefficient, p_a, p_e, se, n_units: rated.len() })
}
