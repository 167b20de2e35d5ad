//! The panel's kappa beside that of its best judge, with an interval of the difference.

use crate::agreement::Kernel;
use crate::agreement::level::distance_on;
use crate::estimate::{Estimate, UndefinedReason};
use crate::labelled::{LabelledCase, LabelledCases};
use crate::numeric::{Resampling, bootstrap};
use crate::panel_vote::Method;
use crate::recommend::policy;
use crate::scale::Scale;
use crate::verdict::decide;
use crate::vote::JudgeId;

/// The panel against its best judge, both measured on the cases that both have a label for.
///
/// The best judge was picked on these very cases, and every resample keeps it: its kappa is flattered, so the panel
/// looks somewhat worse beside it than it would on new cases.
#[derive(Debug, Clone, PartialEq)]
pub struct KappaDifference {
    /// The judge with the highest kappa; the first by name among equals.
    pub best: JudgeId,
    /// Kappa of the panel with people.
    pub panel: f64,
    /// Kappa of the best judge with people.
    pub single: f64,
    /// Panel less judge. The interval is the percentile bootstrap's over whole sources of cases; `None` where too many
    /// resamples have no kappa.
    pub difference: Estimate,
}

impl KappaDifference {
    /// The whole interval lies above 0.
    pub fn is_better(&self) -> bool {
        self.difference.interval.is_some_and(|interval| interval.lo > 0.0)
    }
}

/// Measures the rule without labels (median of numbers, majority of labels) against the best single judge.
///
/// Kappa is quadratic on ordinal scales, linear on pairs with the tie half-way, plain on others. `Empty` where no case
/// has both labels, also on intervals; `DegenerateMarginals` where no judge, or not the panel, has a kappa.
pub fn kappa_difference(
    cases: &LabelledCases,
    resampling: Resampling,
) -> Result<KappaDifference, UndefinedReason> {
    let scale = cases.scale();
    let labels = scale.vote_classes().ok_or(UndefinedReason::Empty)?;
    let (distance, positions) = distance_on(scale);
    // The places of a scale's labels are finite and differ.
    let mut kernel = Kernel::new(labels, distance, positions).map_err(|_| UndefinedReason::Empty)?;
    let mut counts = vec![0.0; labels * labels];
    let mut kappa = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        counts.fill(0.0);
        for (row, column) in pairs {
            if let Some(count) = counts.get_mut(row * labels + column) {
                *count += 1.0;
            }
        }
        kernel.kappa(&counts)
    };
    let (best, triples) = best_and_panel(cases, &mut kappa)?;
    let sources: Vec<Option<u64>> = triples.iter().map(|triple| triple.source).collect();
    let mut both = |places: &[usize]| {
        let drawn = || places.iter().filter_map(|place| triples.get(*place));
        let panel = kappa(&mut drawn().map(|triple| (triple.panel, triple.person)))?;
        Some((panel, kappa(&mut drawn().map(|triple| (triple.judge, triple.person)))?))
    };
    let all: Vec<usize> = (0..triples.len()).collect();
    let (panel, single) = both(&all).ok_or(UndefinedReason::DegenerateMarginals)?;
    let resampled = bootstrap(triples.len(), &sources, "kappa_over_best_single", resampling, |places| {
        both(places).map(|(panel, single)| panel - single)
    });
    let difference = Estimate {
        value: panel - single,
        interval: resampled.ok().and_then(|known| known.percentile(resampling.confidence)),
        n: triples.len(),
        n_dropped: cases.cases().len() - triples.len(),
    };
    Ok(KappaDifference { best, panel, single, difference })
}

/// One case as indexes of labels.
struct Triple {
    panel: usize,
    judge: usize,
    person: usize,
    source: Option<u64>,
}

type KappaOf<'a> = &'a mut dyn FnMut(&mut dyn Iterator<Item = (usize, usize)>) -> Option<f64>;

/// The best judge, and the cases that it, the panel and people have a label for.
fn best_and_panel(
    cases: &LabelledCases,
    kappa: KappaOf<'_>,
) -> Result<(JudgeId, Vec<Triple>), UndefinedReason> {
    let scale: &Scale = cases.scale();
    let rule = if scale.range().is_some() { Method::Median } else { Method::Majority };
    let unweighted = policy(cases, rule);
    let panel = |case: &LabelledCase| scale.class_of(decide(&case.votes, &unweighted).outcome.value()?);
    let mut best: Option<(&JudgeId, f64)> = None;
    for judge in cases.judges() {
        let mut pairs = cases
            .cases()
            .iter()
            .filter_map(|case| Some((scale.class_of(case.value_of(judge)?)?, scale.class_of(case.label)?)));
        if let Some(own) = kappa(&mut pairs)
            && best.is_none_or(|(_, most)| own > most + 1e-12)
        {
            best = Some((judge, own));
        }
    }
    let (best, _) = best.ok_or(UndefinedReason::DegenerateMarginals)?;
    let triple = |case: &LabelledCase| {
        Some(Triple {
            panel: panel(case)?,
            judge: scale.class_of(case.value_of(best)?)?,
            person: scale.class_of(case.label)?,
            source: case.source,
        })
    };
    let triples: Vec<Triple> = cases.cases().iter().filter_map(triple).collect();
    if triples.is_empty() { Err(UndefinedReason::Empty) } else { Ok((best.clone(), triples)) }
}

#[cfg(test)]
mod tests {
    use super::kappa_difference;
    use crate::estimate::UndefinedReason;
    use crate::labelled::{LabelledCase, LabelledCases};
    use crate::numeric::Resampling;
    use crate::scale::{Scale, Value};
    use crate::vote::{JudgeId, Rating, Scoring, Vote};

    fn cases(scale: Scale, n: usize, value: impl Fn(usize, usize) -> Value) -> LabelledCases {
        let vote = |case: usize, judge: usize| Vote {
            judge: JudgeId::new(&format!("judge {judge}")),
            outcome: Ok(Rating {
                value: value(case, judge),
                scoring: Scoring::Discrete,
                distribution: None,
                fallback: false,
            }),
            pair: None,
        };
        let case = |case: usize| LabelledCase {
            votes: (0..3).map(|judge| vote(case, judge)).collect(),
            label: value(case, usize::MAX),
            source: Some(u64::try_from(case / 2).unwrap()),
        };
        LabelledCases::new(scale, (0..n).map(case).collect()).unwrap()
    }

    /// Each judge is wrong on cases of its own.
    fn apart(case: usize, judge: usize) -> Value {
        Value::Pass(case.is_multiple_of(2) ^ (case / 2 % 5 == judge))
    }

    #[test]
    fn judges_that_err_apart_make_a_panel_that_is_better_than_the_best() {
        let known = kappa_difference(&cases(Scale::PassFail, 120, apart), Resampling::default()).unwrap();
        assert!(known.is_better() && known.panel > 0.999, "{known:?}");
        assert!((known.difference.value - (known.panel - known.single)).abs() < 1e-12);
        assert_eq!(known.best.as_str(), "judge 0");
        let again = kappa_difference(&cases(Scale::PassFail, 120, apart), Resampling::default());
        assert_eq!(again.unwrap(), known);
    }

    #[test]
    fn what_has_no_kappa_says_why() {
        let check = |cases: &LabelledCases, reason| {
            assert_eq!(kappa_difference(cases, Resampling::default()), Err(reason));
        };
        let interval = Scale::Continuous((0.0, 1.0).try_into().unwrap());
        check(&cases(interval, 9, |_, _| Value::Number(0.5)), UndefinedReason::Empty);
        check(&cases(Scale::PassFail, 9, |_, _| Value::Pass(true)), UndefinedReason::DegenerateMarginals);
    }
}
