//! What a threshold may name: a criterion that judges are asked about, or a check, which counts as one of pass and fail.

use std::sync::Arc;

use aggregation::scale::{Scale, Value};

use super::report::Measure;
use super::terms::BadTerms;
use crate::checks::Check;
use crate::panel::Panel;
use crate::rubric::{Criterion, FailedCheck, Rubric};
use crate::settings::panel_version;

#[derive(Debug, Clone, Copy)]
pub(super) enum Held<'a> {
    Judged(&'a Criterion),
    Check(&'a Check),
}

impl<'a> Held<'a> {
    pub(super) fn named(rubric: &'a Rubric, name: &str) -> Option<Self> {
        let judged = rubric.criteria.iter().find(|criterion| criterion.name == name);
        let check = || rubric.checks.iter().find(|check| check.name == name);
        judged.map(|own| Self::Judged(own)).or_else(|| check().map(Self::Check))
    }

    pub(super) fn name(self) -> &'a str {
        match self {
            Self::Judged(criterion) => &criterion.name,
            Self::Check(check) => &check.name,
        }
    }

    pub(super) fn is_check(self) -> bool {
        match self {
            Self::Judged(_) => false,
            Self::Check(_) => true,
        }
    }

    /// The score from which a case passes.
    pub(super) fn least_passing(self) -> Option<f64> {
        let criterion = match self {
            Self::Judged(criterion) => criterion,
            Self::Check(_) => return Some(1.0),
        };
        match &criterion.scale {
            Scale::PassFail => Some(1.0),
            Scale::Ordinal(_) | Scale::Continuous(_) => {
                criterion.scale.score01(Value::Number(criterion.pass?))
            }
            Scale::Nominal(_) | Scale::Pairwise { .. } => None,
        }
    }

    /// Refuses a measure that it has no figure for.
    pub(super) fn check_measure(self, rubric: &Rubric, measure: Measure) -> Result<(), BadTerms> {
        let criterion = match (self, measure) {
            (Self::Judged(criterion), _) => criterion,
            (Self::Check(_), Measure::PassRate) => return Ok(()),
            (Self::Check(check), Measure::Mean | Measure::WinRate | Measure::Difference) => {
                return Err(BadTerms::MeanOfCheck { check: check.name.clone() });
            }
        };
        if matches!(criterion.scale, Scale::Nominal(_)) {
            return Err(BadTerms::NoScore { criterion: criterion.name.clone() });
        }
        if measure == Measure::PassRate && criterion.pass.is_none() && criterion.scale != Scale::PassFail {
            return Err(BadTerms::NoPass { criterion: criterion.name.clone(), rubric: rubric.name.clone() });
        }
        Ok(())
    }
}

/// The panel as it judges pairs with a baseline: a check reads one answer, and a pair has two. Its version is that of a
/// rubric without checks, since verdicts on pairs are the same as such a rubric's.
pub fn without_checks(panel: &Arc<Panel>) -> Arc<Panel> {
    if panel.rubric.checks.is_empty() {
        return Arc::clone(panel);
    }
    let mut bare = Panel::clone(panel);
    let rubric =
        Rubric { checks: Vec::new(), failed_check: FailedCheck::default(), ..Rubric::clone(&panel.rubric) };
    bare.rubric = Arc::new(rubric);
    bare.version = panel_version(&bare);
    Arc::new(bare)
}
