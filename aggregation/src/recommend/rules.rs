//! Each rule, learned from labelled cases.

use std::sync::Arc;

use super::Refusal;
use crate::agreement::level::distance_on;
use crate::agreement::{Confusion, cohen_kappa};
use crate::dawid_skene::{Dimensions, ErrorModel, Settings, TaskVotes, solve};
use crate::labelled::{LabelledCase, LabelledCases, agreement};
use crate::panel_vote::{AppliedMethod, Method, Weights};
use crate::scale::Scale;
use crate::stacked::Stacked;
use crate::vote::JudgeId;

/// Whether a rule has a meaning of its own on a scale.
pub(super) fn is_on(name: AppliedMethod, scale: &Scale) -> bool {
    match name {
        AppliedMethod::Median | AppliedMethod::Mean => scale.range().is_some(),
        AppliedMethod::Majority => !matches!(scale, Scale::Continuous(_)),
        AppliedMethod::BestSingle
        | AppliedMethod::KappaWeighted
        | AppliedMethod::LogOdds
        | AppliedMethod::DawidSkene
        | AppliedMethod::Stacked => true,
    }
}

/// Learns from all cases, with the refusals that a user should see.
pub(super) fn learn_checked(name: AppliedMethod, cases: &LabelledCases) -> Result<(), Refusal> {
    let has_labels = cases.scale().truth_classes().is_some();
    match name {
        AppliedMethod::Median | AppliedMethod::Majority | AppliedMethod::Mean | AppliedMethod::BestSingle => {
            Ok(())
        }
        AppliedMethod::KappaWeighted | AppliedMethod::LogOdds | AppliedMethod::DawidSkene => {
            if has_labels {
                Ok(())
            } else {
                Err(Refusal::NoLabels)
            }
        }
        AppliedMethod::Stacked => Ok(Stacked::fit(cases).map(|_| ())?),
    }
}

/// Learns from some of the cases. What cannot be learned from them decides without labels.
pub(super) fn learn(name: AppliedMethod, cases: &LabelledCases, known: &[&LabelledCase]) -> Method {
    let (scale, judges) = (cases.scale(), cases.judges());
    match name {
        AppliedMethod::Median => Method::Median,
        AppliedMethod::Majority => Method::Majority,
        AppliedMethod::Mean => Method::Mean,
        AppliedMethod::BestSingle => {
            best_judge(scale, judges, known).map_or(Method::Majority, Method::BestSingle)
        }
        AppliedMethod::KappaWeighted => Method::KappaWeighted(kappas(scale, judges, known)),
        AppliedMethod::LogOdds => Method::LogOdds(kappas(scale, judges, known)),
        AppliedMethod::DawidSkene => error_model(scale, judges, known)
            .map_or(Method::unweighted(scale), |model| Method::DawidSkene(Arc::new(model))),
        AppliedMethod::Stacked => Stacked::fit_any(scale, judges, known)
            .map_or(Method::unweighted(scale), |model| Method::Stacked(Arc::new(model))),
    }
}

/// The judge with the highest mean agreement; a missing vote counts as a toss. The first by name among equals.
fn best_judge(scale: &Scale, judges: &[JudgeId], known: &[&LabelledCase]) -> Option<JudgeId> {
    let share = |judge: &JudgeId| -> f64 {
        known.iter().map(|case| agreement(scale, case.value_of(judge), case.label)).sum()
    };
    let mut best: Option<(&JudgeId, f64)> = None;
    for judge in judges {
        let own = share(judge);
        if best.is_none_or(|(_, most)| own > most + 1e-9) {
            best = Some((judge, own));
        }
    }
    best.map(|(judge, _)| judge.clone())
}

/// Each judge's kappa with the labels: plain on labels, quadratic on ordinal scales, linear on pairs with the tie
/// half-way, so that a judge that contradicts itself is half right. An undefined kappa weighs nothing.
fn kappas(scale: &Scale, judges: &[JudgeId], known: &[&LabelledCase]) -> Weights {
    let (distance, positions) = distance_on(scale);
    let kappa = |judge: &JudgeId| {
        let class = |value| scale.class_of(value);
        let pairs = known.iter().map(|case| (case.value_of(judge).and_then(class), class(case.label)));
        let table = Confusion::from_pairs(scale.vote_classes()?, pairs).ok()?;
        cohen_kappa(&table, distance, positions).ok()?.kappa.ok().map(|kappa| kappa.value)
    };
    Weights(judges.iter().filter_map(|judge| Some((judge.clone(), kappa(judge)?))).collect())
}

/// Dawid–Skene with every label golden: the confusion matrix of each judge, smoothed, and the labels' shares.
fn error_model(scale: &Scale, judges: &[JudgeId], known: &[&LabelledCase]) -> Option<ErrorModel> {
    let dimensions = Dimensions {
        tasks: known.len(),
        workers: judges.len(),
        labels: scale.vote_classes()?,
        classes: scale.truth_classes()?,
    };
    let mut triples = Vec::new();
    for (task, case) in known.iter().enumerate() {
        for (worker, judge) in judges.iter().enumerate() {
            if let Some(label) = case.value_of(judge).and_then(|value| scale.class_of(value)) {
                triples.push((task, worker, label));
            }
        }
    }
    let golden: Vec<Option<usize>> = known.iter().map(|case| scale.class_of(case.label)).collect();
    let votes = TaskVotes::new(dimensions, &triples, &golden).ok()?;
    ErrorModel::new(judges, &solve(&votes, Settings::default()).ok()?)
}

impl Method {
    /// The rule that needs no label: the median of numbers, the majority of labels.
    fn unweighted(scale: &Scale) -> Self {
        if scale.range().is_some() { Self::Median } else { Self::Majority }
    }
}
