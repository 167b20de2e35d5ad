//! What a reader of a calibration must know before trusting it, though it has a status.

use super::Thresholds;
use crate::agreement::{CohenKappa, Confusion};

/// Share of missing labels above which they may be missing because the cases are hard.
const MOST_MISSING: f64 = 0.1;
/// The paradox: one label prevails, agreement is high, and kappa is low for that reason.
const PREVALENT: f64 = 0.8;
const MUCH_AGREEMENT: f64 = 0.85;
const LOW_KAPPA: f64 = 0.4;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rater {
    Judge,
    People,
}

/// Why a calibration is to be read with care.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CalibrationWarning {
    /// Enough cases for a status, and few enough for a wide interval.
    SmallSample { n: usize },
    /// More than one case in ten has no pair of labels. Judges fail on hard cases, so the others flatter.
    ManyMissing { n_dropped: usize, n: usize },
    /// One label prevails, so that kappa is low though the two mostly agree: read AC1, PABAK and the classes beside.
    Paradox { prevalence: f64, p_o: f64, kappa: f64 },
    /// Nothing can be said about how a rater tells labels apart who used one only.
    OneLabel { rater: Rater },
    /// People gave one of two labels so seldom that kappa rests on a handful of cases.
    FewOfLabel { label: usize, people: usize },
}

pub(super) fn warnings(
    table: &Confusion,
    plain: &CohenKappa,
    thresholds: Thresholds,
) -> Vec<CalibrationWarning> {
    let (n, n_dropped) = (table.n(), table.n_dropped());
    let mut warnings = Vec::new();
    if n >= thresholds.least_cases && n < thresholds.enough_cases {
        warnings.push(CalibrationWarning::SmallSample { n });
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    if n_dropped as f64 > MOST_MISSING * (n + n_dropped) as f64 {
        warnings.push(CalibrationWarning::ManyMissing { n_dropped, n });
    }
    if let (Some(indexes), Some(p_o), Ok(kappa)) = (table.binary_indexes(), plain.p_o, plain.kappa)
        && indexes.prevalence > PREVALENT
        && p_o > MUCH_AGREEMENT
        && kappa.value < LOW_KAPPA
    {
        let prevalence = indexes.prevalence;
        warnings.push(CalibrationWarning::Paradox { prevalence, p_o, kappa: kappa.value });
    }
    for (rater, totals) in [(Rater::Judge, table.row_totals()), (Rater::People, table.column_totals())] {
        if n > 0 && totals.iter().filter(|count| **count > 0.0).count() == 1 {
            warnings.push(CalibrationWarning::OneLabel { rater });
        }
    }
    let in_class = table.column_totals();
    if n > 0 && in_class.len() == 2 {
        warnings.extend(few_of_label(&in_class, thresholds.least_in_class));
    }
    warnings
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "unweighted counts are whole")]
fn few_of_label(in_class: &[f64], least: usize) -> impl Iterator<Item = CalibrationWarning> {
    let counts = in_class.iter().map(|count| *count as usize).enumerate();
    counts
        .filter(move |(_, people)| *people < least)
        .map(|(label, people)| CalibrationWarning::FewOfLabel { label, people })
}
