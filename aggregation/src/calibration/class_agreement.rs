//! What stands beside a kappa: agreement label by label, agreement where one label prevails, kindness.

use crate::agreement::{CoefficientError, Confusion, Distance, GwetAc, Level, RatingCounts, gwet_ac};
use crate::estimate::{Estimate, Estimated, Undefined, UndefinedReason};
use crate::numeric::clustered_mean;

/// One label: how often judge and people gave it, and how often both. On two labels the recall of one is called
/// sensitivity, and that of the other specificity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassAgreement {
    /// Cases that people gave this label.
    pub people: f64,
    /// Cases that the judge gave it.
    pub judge: f64,
    /// Of people's cases, the share to which the judge gave it too; `None` without any.
    pub recall: Option<f64>,
    /// Of the judge's cases, the share to which people gave it too; `None` without any.
    pub precision: Option<f64>,
}

pub(super) fn class_agreement(table: &Confusion) -> Vec<ClassAgreement> {
    let both = table.cells().filter(|(row, column, _)| row == column).map(|(_, _, count)| count);
    both.zip(table.row_totals().into_iter().zip(table.column_totals()))
        .map(|(both, (judge, people))| ClassAgreement {
            people,
            judge,
            recall: (people > 0.0).then(|| both / people),
            precision: (judge > 0.0).then(|| both / judge),
        })
        .collect()
}

/// Gwet's AC1 of the two raters.
pub(super) fn ac1(table: &Confusion) -> Result<GwetAc, UndefinedReason> {
    let counts = RatingCounts::of_pairs(table);
    gwet_ac(&counts, Distance::Nominal, None).map_err(|error| match error {
        CoefficientError::Undefined(reason) => reason,
        // No positions were given.
        CoefficientError::Positions(_) => UndefinedReason::SingleValueDomain,
    })
}

/// Judge less person in score01, paired; `None` on labels without order.
pub(super) fn leniency(table: &Confusion, level: Level<'_>, confidence: f64) -> Option<Estimated> {
    let scores = level.scores01(table.labels())?;
    let differences: Vec<f64> = table
        .cells()
        .filter_map(|(row, column, count)| Some((scores.get(row)? - scores.get(column)?, count)))
        .flat_map(|(difference, count)| std::iter::repeat_n(difference, whole(count)))
        .collect();
    let n_dropped = table.n_dropped();
    Some(match clustered_mean(&differences, std::iter::repeat(None)).estimate(confidence) {
        Ok(estimate) => Ok(Estimate { n_dropped, ..estimate }),
        Err(undefined) => Err(Undefined { n_dropped, ..undefined }),
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "unweighted counts are whole")]
fn whole(count: f64) -> usize {
    count as usize
}
