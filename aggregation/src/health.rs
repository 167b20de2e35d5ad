//! Whether a panel is worth its cost: how many independent judges it amounts to, what each adds, and whether it beats
//! its best judge.
//!
//! Source: specification 4.5, `n_eff.json`; Kohli 2026, arXiv 2605.29800 (nine frontier judges were about two).

use crate::estimate::{Estimated, UndefinedReason};
use crate::labelled::{LabelledCase, LabelledCases, agreement};
use crate::numeric::{Clustered, Resampling, clustered_mean, pearson};
use crate::panel_vote::Method;
use crate::recommend::{agreement_of, policy};
use crate::scale::Scale;
use crate::vote::JudgeId;

mod kappa_difference;

pub use kappa_difference::{KappaDifference, kappa_difference};

/// Effective judges below which a panel should be warned about.
pub const LEAST_EFFECTIVE: f64 = 2.0;

/// How many independent judges a panel amounts to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveJudges {
    /// Mean correlation of the judges' errors over all pairs of judges, -1 to 1.
    pub correlation: f64,
    /// `m / (1 + (m - 1) max(0, correlation))`, 1 to `m`.
    pub n_eff: f64,
    /// Pairs of judges whose errors both vary on the cases that they share.
    pub pairs: usize,
}

/// Why errors cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ErrorsError {
    #[error("judge {judge} has {got} errors where the first has {expected}")]
    UnequalLengths { judge: usize, expected: usize, got: usize },
    #[error("the error of judge {judge} in case {case} is {value}, not a finite number")]
    NotFinite { judge: usize, case: usize, value: f64 },
    #[error(transparent)]
    Undefined(#[from] UndefinedReason),
}

/// Measures errors, one list of all cases a judge; `None` is missing and leaves the case out of that judge's pairs.
/// A judge whose errors do not vary has no correlation, and its pairs are left out; `NoPairs` if none is left.
#[expect(clippy::cast_precision_loss, reason = "panels are small")]
pub fn effective_judges(errors: &[Vec<Option<f64>>]) -> Result<EffectiveJudges, ErrorsError> {
    check(errors)?;
    let (mut sum, mut pairs) = (0.0, 0_usize);
    for (i, first) in errors.iter().enumerate() {
        for second in errors.iter().skip(i + 1) {
            let (x, y): (Vec<f64>, Vec<f64>) =
                first.iter().zip(second).filter_map(|(x, y)| x.zip(*y)).unzip();
            if let Ok(correlation) = pearson(&x, &y) {
                sum += correlation.r;
                pairs += 1;
            }
        }
    }
    if pairs == 0 {
        return Err(UndefinedReason::NoPairs.into());
    }
    let (correlation, m) = (sum / pairs as f64, errors.len() as f64);
    Ok(EffectiveJudges { correlation, n_eff: m / (1.0 + (m - 1.0) * correlation.max(0.0)), pairs })
}

fn check(errors: &[Vec<Option<f64>>]) -> Result<(), ErrorsError> {
    let expected = errors.first().map_or(0, Vec::len);
    for (judge, own) in errors.iter().enumerate() {
        if own.len() != expected {
            return Err(ErrorsError::UnequalLengths { judge, expected, got: own.len() });
        }
        let bad =
            own.iter().enumerate().find_map(|(case, error)| Some((case, error.filter(|x| !x.is_finite())?)));
        if let Some((case, value)) = bad {
            return Err(ErrorsError::NotFinite { judge, case, value });
        }
    }
    Ok(())
}

/// The judges' errors on labelled cases: judge less person in score01; on nominal scales 1 for wrong and 0 for right.
pub fn errors(cases: &LabelledCases) -> Vec<Vec<Option<f64>>> {
    let scale = cases.scale();
    let error = |case: &LabelledCase, judge: &JudgeId| {
        let value = case.value_of(judge)?;
        match scale {
            Scale::Nominal(_) => Some(1.0 - agreement(scale, Some(value), case.label)),
            Scale::Ordinal(_) | Scale::Continuous(_) | Scale::PassFail | Scale::Pairwise { .. } => {
                Some(scale.score01(value)? - scale.score01(case.label)?)
            }
        }
    };
    cases.judges().iter().map(|judge| cases.cases().iter().map(|case| error(case, judge)).collect()).collect()
}

/// A panel under the rule without labels, and what its parts are worth. Shares are [`agreement`] with people.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelHealth {
    pub effective: Result<EffectiveJudges, UndefinedReason>,
    pub panel: Estimated,
    pub best_single: JudgeId,
    /// The panel less its best judge, case by case. The best judge is picked on the same cases, which flatters it:
    /// where that matters, read the cross-validated table of `recommend`.
    pub over_best_single: Estimated,
    /// For each judge: the panel with it less the panel without it, case by case. Negative: it does harm.
    pub gains: Vec<(JudgeId, Estimated)>,
    /// The panel's kappa less that of the judge with the highest one. `Empty` on intervals, which have no labels.
    pub kappa_over_best_single: Result<KappaDifference, UndefinedReason>,
    pub warnings: Vec<HealthWarning>,
}

/// What speaks against a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HealthWarning {
    /// The panel is hardly more than one judge: no weights mend mistakes that judges share.
    FewEffectiveJudges { n_eff: f64 },
    /// On these cases the panel's kappa is not above that of its best judge by more than chance explains. The best
    /// judge was picked on the same cases, which flatters it.
    NotShownBetter { difference: f64 },
}

/// Examines a panel on labelled cases, under the median of numbers or the majority of labels.
pub fn panel_health(cases: &LabelledCases, resampling: Resampling) -> PanelHealth {
    let confidence = resampling.confidence;
    let scale = cases.scale();
    let rule = || if scale.range().is_some() { Method::Median } else { Method::Majority };
    let measure = |of: &dyn Fn(&LabelledCase) -> f64| cases.cases().iter().map(of).collect::<Vec<f64>>();
    let unweighted = policy(cases, rule());
    let panel = measure(&|case| agreement_of(case, &unweighted));
    let singles: Vec<Vec<f64>> = cases
        .judges()
        .iter()
        .map(|judge| measure(&|case| agreement(scale, case.value_of(judge), case.label)))
        .collect();
    let best = best_place(&singles);
    let less = |other: &[f64]| {
        let differences: Vec<f64> = panel.iter().zip(other).map(|(with, without)| with - without).collect();
        over_cases(cases, &differences).estimate(confidence)
    };
    let without = |judge: &JudgeId| {
        measure(&|case| {
            let mut fewer = case.clone();
            fewer.votes.retain(|vote| vote.judge != *judge);
            agreement_of(&fewer, &unweighted)
        })
    };
    let effective = effective_judges(&errors(cases)).map_err(|error| match error {
        ErrorsError::Undefined(reason) => reason,
        // Errors of valid cases are finite and as many as cases.
        ErrorsError::UnequalLengths { .. } | ErrorsError::NotFinite { .. } => UndefinedReason::NoPairs,
    });
    let kappas = kappa_difference(cases, resampling);
    PanelHealth {
        warnings: warnings(&effective, &kappas),
        effective,
        best_single: cases.judges().get(best).cloned().unwrap_or_else(|| JudgeId::new("")),
        over_best_single: less(singles.get(best).map_or(&[], Vec::as_slice)),
        gains: cases.judges().iter().map(|judge| (judge.clone(), less(&without(judge)))).collect(),
        panel: over_cases(cases, &panel).estimate(confidence),
        kappa_over_best_single: kappas,
    }
}

fn warnings(
    effective: &Result<EffectiveJudges, UndefinedReason>,
    kappas: &Result<KappaDifference, UndefinedReason>,
) -> Vec<HealthWarning> {
    let few = effective.as_ref().ok().filter(|known| known.n_eff < LEAST_EFFECTIVE);
    let no_better = kappas.as_ref().ok().filter(|known| !known.is_better());
    let few = few.map(|known| HealthWarning::FewEffectiveJudges { n_eff: known.n_eff });
    let no_better =
        no_better.map(|known| HealthWarning::NotShownBetter { difference: known.difference.value });
    few.into_iter().chain(no_better).collect()
}

/// The first of the highest.
fn best_place(singles: &[Vec<f64>]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, own) in singles.iter().enumerate() {
        let sum: f64 = own.iter().sum();
        if sum > best.1 + 1e-9 {
            best = (place, sum);
        }
    }
    best.0
}

fn over_cases(cases: &LabelledCases, values: &[f64]) -> Clustered {
    clustered_mean(values, cases.cases().iter().map(|case| case.source))
}

#[cfg(test)]
mod tests {
    use super::{ErrorsError, HealthWarning, effective_judges, panel_health};
    use crate::estimate::UndefinedReason;
    use crate::labelled::{LabelledCase, LabelledCases};
    use crate::numeric::Resampling;
    use crate::scale::{Scale, Value};
    use crate::vote::{JudgeId, Rating, Scoring, Vote};

    #[test]
    fn lists_that_do_not_fit_are_refused_by_their_index() {
        let error = effective_judges(&[vec![Some(0.0)], vec![]]).unwrap_err();
        assert_eq!(error, ErrorsError::UnequalLengths { judge: 1, expected: 1, got: 0 });
        let error = effective_judges(&[vec![None, Some(f64::INFINITY)]]).unwrap_err();
        assert_eq!(error, ErrorsError::NotFinite { judge: 0, case: 1, value: f64::INFINITY });
        assert_eq!(effective_judges(&[]).unwrap_err(), UndefinedReason::NoPairs.into());
    }

    #[test]
    fn a_judge_that_is_always_wrong_does_harm_and_the_best_beats_the_panel() {
        let rating =
            |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
        let vote = |judge, passed| Vote {
            judge: JudgeId::new(judge),
            outcome: Ok(rating(Value::Pass(passed))),
            pair: None,
        };
        let case = |i: usize| LabelledCase {
            votes: vec![
                vote("bad", i.is_multiple_of(2)),
                vote("good", i % 2 == 1),
                vote("noisy", i.is_multiple_of(3)),
            ],
            label: Value::Pass(i % 2 == 1),
            source: None,
        };
        let cases = LabelledCases::new(Scale::PassFail, (0..60).map(case).collect()).unwrap();
        let health = panel_health(&cases, Resampling::default());
        assert_eq!(health.best_single.as_str(), "good");
        assert!(health.over_best_single.unwrap().interval.unwrap().hi < 0.0);
        let gain = |judge: &str| {
            health.gains.iter().find(|(own, _)| own.as_str() == judge).unwrap().1.unwrap().value
        };
        assert!(gain("bad") < 0.0 && gain("good") > 0.0, "{health:?}");
        assert!(health.effective.unwrap().n_eff >= 1.0);
        let kappas = health.kappa_over_best_single.unwrap();
        assert_eq!((kappas.best.as_str(), kappas.difference.n), ("good", 60));
        assert!(kappas.single > 0.999 && kappas.difference.interval.unwrap().hi < 0.0, "{kappas:?}");
        let shown = |warning: &HealthWarning| matches!(warning, HealthWarning::NotShownBetter { .. });
        assert!(health.warnings.iter().any(shown), "{:?}", health.warnings);
    }
}
