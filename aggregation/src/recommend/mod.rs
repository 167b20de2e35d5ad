//! Which rule a panel should use on one criterion, by what each rule gets right on labelled cases that it has not
//! seen.
//!
//! Every rule is learned on all folds but one and decides the cases of that fold through [`decide`], exactly as it
//! would in use. The best rule has the highest mean agreement; the recommended one is the **simplest whose paired
//! difference to the best is within one standard error** (Breiman et al. 1984). So it is never worse than the best
//! single judge, or than the majority, by more than noise: both are among the rules.
//!
//! From simple to elaborate, [`SIMPLEST_FIRST`]: median, majority and mean need no label at all; one judge needs
//! labels only to be chosen, and one call a case; kappa weights have one number a judge, and log-odds the same number
//! made bolder; Dawid–Skene has a confusion matrix a judge; stacking has a weight for each judge, label and class.

mod rules;

use crate::estimate::{Estimated, Undefined, UndefinedReason};
use crate::folds::{Fold, folds};
use crate::labelled::{LabelledCase, LabelledCases, agreement};
use crate::numeric::{Clustered, clustered_mean};
use crate::panel_vote::{AppliedMethod, Method};
use crate::verdict::{EscalationPolicy, Policy, decide};

/// From simple to elaborate. Labels and pairs know no median and no mean.
pub const SIMPLEST_FIRST: [AppliedMethod; 8] = [
    AppliedMethod::Median,
    AppliedMethod::Majority,
    AppliedMethod::Mean,
    AppliedMethod::BestSingle,
    AppliedMethod::KappaWeighted,
    AppliedMethod::LogOdds,
    AppliedMethod::DawidSkene,
    AppliedMethod::Stacked,
];

/// Labels below which nothing is recommended (specification 1.5: inconclusive, whatever the figures).
pub const LEAST_LABELS: usize = 30;

/// How rules are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// At least two.
    pub folds: usize,
    /// Splits over which each case's agreement is averaged, at least one.
    pub repeats: usize,
    pub seed: u64,
    /// Of the intervals, between 0 and 1.
    pub confidence: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { folds: 10, repeats: 3, seed: 0, confidence: 0.95 }
    }
}

/// The comparison, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// One a rule that can be learned on this scale, simplest first.
    pub rows: Vec<Row>,
    /// The simplest rule within one standard error of the best.
    pub recommended: AppliedMethod,
    /// The recommended rule, learned from all cases: ready for a policy.
    pub method: Method,
    /// The highest mean agreement; the simplest among equals.
    pub best: AppliedMethod,
    /// Rules that could not be learned, with the reason.
    pub refused: Vec<(AppliedMethod, Refusal)>,
}

/// One rule, measured on cases it had not seen. The unit is [`agreement`]: the share of labels that are right, or
/// the mean nearness of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub method: AppliedMethod,
    pub agreement: Estimated,
    /// This rule less the rule without labels (median of numbers, majority of labels), case by case.
    pub over_unweighted: Estimated,
    /// This rule less the best single judge, case by case.
    pub over_best_single: Estimated,
    /// The best rule less this one, case by case, with the standard error of that mean.
    pub behind_best: f64,
    pub behind_best_error: f64,
}

/// Why a rule cannot be learned here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Stacked(#[from] crate::stacked::StackedError),
    #[error("numbers of an interval have no labels to count")]
    NoLabels,
}

/// Why nothing is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecommendError {
    #[error("{labels} labelled cases are too few to compare rules\nhint: label {more} more")]
    TooFewLabels { labels: usize, more: usize },
    #[error("all cases come from one source, so none can be held out\nhint: label cases of another source")]
    OneSource,
}

/// Compares the rules by cross-validation and recommends one. The same cases and settings give the same bits.
pub fn recommend(cases: &LabelledCases, settings: Settings) -> Result<Recommendation, RecommendError> {
    let n = cases.cases().len();
    if n < LEAST_LABELS {
        return Err(RecommendError::TooFewLabels { labels: n, more: LEAST_LABELS - n });
    }
    let all: Vec<&LabelledCase> = cases.cases().iter().collect();
    let (mut methods, mut refused) = (Vec::new(), Vec::new());
    for name in SIMPLEST_FIRST.into_iter().filter(|name| rules::is_on(*name, cases.scale())) {
        match rules::learn_checked(name, cases) {
            Ok(()) => methods.push(name),
            Err(refusal) => refused.push((name, refusal)),
        }
    }
    let shares = cross_validate(cases, &methods, settings).ok_or(RecommendError::OneSource)?;
    let (best, chosen) = choose(cases, &shares);
    let (Some(&best), Some(&recommended)) = (methods.get(best), methods.get(chosen)) else {
        return Err(RecommendError::OneSource);
    };
    let rows = rows(cases, &methods, &shares, best, settings.confidence);
    let method = rules::learn(recommended, cases, &all);
    Ok(Recommendation { rows, recommended, method, best, refused })
}

/// What following the recommendation gives: the whole procedure is run on all folds but one, and its choice decides
/// the cases of that fold. Honest where the highest row of one table is not, which was picked for being highest.
pub fn measure_recommendation(cases: &LabelledCases, settings: Settings) -> Result<Measured, RecommendError> {
    let outer = folds(cases, settings.folds, settings.seed);
    if outer.is_empty() {
        return Err(RecommendError::OneSource);
    }
    let nothing = || vec![0.0; cases.cases().len()];
    let (mut shares, mut unweighted, mut best_single) = (nothing(), nothing(), nothing());
    let mut chosen = Vec::with_capacity(outer.len());
    for fold in &outer {
        let others = fold.others(cases);
        let learned = others.iter().map(|&case| case.clone()).collect();
        // A subset of valid cases fails only if nobody voted in it.
        let Ok(known) = LabelledCases::new(cases.scale().clone(), learned) else { continue };
        let recommendation = recommend(&known, settings)?;
        chosen.push(recommendation.recommended);
        decide_fold(cases, fold, recommendation.method, &mut shares);
        let plain = rules::learn(Method::unweighted_on(cases.scale()), cases, &others);
        decide_fold(cases, fold, plain, &mut unweighted);
        let single = rules::learn(AppliedMethod::BestSingle, cases, &others);
        decide_fold(cases, fold, single, &mut best_single);
    }
    let over = |other: &[f64]| paired(cases, &shares, other).estimate(settings.confidence);
    Ok(Measured {
        agreement: clustered(cases, &shares).estimate(settings.confidence),
        over_unweighted: over(&unweighted),
        over_best_single: over(&best_single),
        chosen,
    })
}

fn decide_fold(cases: &LabelledCases, fold: &Fold, method: Method, shares: &mut [f64]) {
    let policy = policy(cases, method);
    for &index in fold.held_out() {
        if let (Some(case), Some(share)) = (cases.cases().get(index), shares.get_mut(index)) {
            *share += agreement_of(case, &policy);
        }
    }
}

/// The recommendation, measured on cases that it had not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub agreement: Estimated,
    /// The recommendation less the rule without labels, case by case.
    pub over_unweighted: Estimated,
    /// The recommendation less the judge that was best in the other folds, case by case.
    pub over_best_single: Estimated,
    /// The rule that was recommended without each fold.
    pub chosen: Vec<AppliedMethod>,
}

/// For each rule, each case's agreement by rules that had not seen the case, averaged over the repeats.
fn cross_validate(
    cases: &LabelledCases,
    methods: &[AppliedMethod],
    settings: Settings,
) -> Option<Vec<Vec<f64>>> {
    let repeats = settings.repeats.max(1);
    let mut sums = vec![vec![0.0; cases.cases().len()]; methods.len()];
    for repeat in 0..repeats {
        let seed = settings.seed.wrapping_add(u64::try_from(repeat).unwrap_or_default());
        let split = folds(cases, settings.folds, seed);
        if split.is_empty() {
            return None;
        }
        for fold in &split {
            for (name, sums) in methods.iter().zip(&mut sums) {
                decide_fold(cases, fold, rules::learn(*name, cases, &fold.others(cases)), sums);
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "repeats are few")]
    let count = repeats as f64;
    for sums in &mut sums {
        for sum in sums.iter_mut() {
            *sum /= count;
        }
    }
    Some(sums)
}

/// How much of one case a policy has right, 0 to 1.
pub fn agreement_of(case: &LabelledCase, policy: &Policy) -> f64 {
    agreement(&policy.scale, decide(&case.votes, policy).outcome.value(), case.label)
}

/// A policy that decides whenever anybody voted, and sends nothing to people: what a comparison of rules needs.
pub fn policy(cases: &LabelledCases, method: Method) -> Policy {
    let escalate = EscalationPolicy { disagreement: None, near_threshold: None };
    Policy { scale: cases.scale().clone(), method, quorum: 1, pass: None, escalate }
}

/// Places of the best and of the simplest within one standard error of it.
fn choose(cases: &LabelledCases, shares: &[Vec<f64>]) -> (usize, usize) {
    let mean = |own: &[f64]| own.iter().sum::<f64>();
    let mut best = 0;
    for (place, own) in shares.iter().enumerate() {
        if shares.get(best).is_some_and(|most| mean(own) > mean(most) + 1e-9) {
            best = place;
        }
    }
    let Some(most) = shares.get(best) else { return (0, 0) };
    let near = shares.iter().position(|own| {
        let behind = paired(cases, most, own);
        behind.mean <= behind.error + 1e-12
    });
    (best, near.unwrap_or(best))
}

/// The mean of `a - b` over the cases, with a standard error that knows which cases share a source.
fn paired(cases: &LabelledCases, a: &[f64], b: &[f64]) -> Clustered {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    clustered(cases, &differences)
}

fn clustered(cases: &LabelledCases, values: &[f64]) -> Clustered {
    clustered_mean(values, cases.cases().iter().map(|case| case.source))
}

fn rows(
    cases: &LabelledCases,
    methods: &[AppliedMethod],
    shares: &[Vec<f64>],
    best: AppliedMethod,
    confidence: f64,
) -> Vec<Row> {
    let of = |wanted: AppliedMethod| {
        methods.iter().position(|name| *name == wanted).and_then(|place| shares.get(place))
    };
    let unweighted = of(Method::unweighted_on(cases.scale()));
    let against = |own: &Vec<f64>, other: Option<&Vec<f64>>| match other {
        Some(other) => paired(cases, own, other).estimate(confidence),
        None => Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 0 }),
    };
    methods
        .iter()
        .zip(shares)
        .map(|(&method, own)| {
            let behind = of(best).map(|best| paired(cases, best, own)).unwrap_or_default();
            Row {
                method,
                agreement: clustered(cases, own).estimate(confidence),
                over_unweighted: against(own, unweighted),
                over_best_single: against(own, of(AppliedMethod::BestSingle)),
                behind_best: behind.mean,
                behind_best_error: behind.error,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
