//! Stacking: how much each judge's word is worth, learned label by label from cases that people have labelled.
//!
//! A kappa gives a judge one weight. Here a judge that is right when it says "b" and useless when it says "a" gets
//! both facts, judges that repeat each other share one weight, and a judge below chance counts against what it says.
//! The model is a ridge logistic regression with intercept over the votes (see [`coding`](self) for the features):
//!
//! - **Labels and pairs**: multinomial, `P(class k) ∝ exp(α_k + Σ_judges β_k,judge,vote)`; with two classes the usual
//!   binary form.
//! - **Ordered numbers**: one binary regression for each cut between neighbouring labels, `P(label > cut)`, made
//!   monotone by a running minimum; the value is the expected label, `x_1 + Σ_k (x_k+1 - x_k) P(label > cut_k)`. Cuts
//!   use the order and assume nothing else: not equal steps, and not that a judge shifts all cuts alike, as a
//!   proportional-odds model would.
//!
//! **The strength of the penalty** is chosen for each regression from a fixed list: the one with the least mean log
//! loss when each case is left out (by one Newton step from the full fit, which needs no random split); between
//! equals the stronger. The same cases give the same bits in any order of cases and votes.
//!
//! Sources: Wolpert 1992 (stacking); Le Cessie and van Houwelingen 1992 (ridge logistic regression); Frank and Hall
//! 2001 (cuts); Rad and Maleki 2020 (approximate leave-one-out).

mod coding;
mod linear;
mod logistic;

use serde::{Deserialize, Serialize};

use crate::folds::folds;
use crate::labelled::{LabelledCase, LabelledCases};
use crate::scale::{Preference, Scale, Value};
use crate::vote::{JudgeId, Vote};
use logistic::{Coefficients, Problem, Row};

/// Labels below which no weights are learned: 13 parameters of a small panel need some cases each.
pub const LEAST_LABELS: usize = 50;

/// Penalties that are tried, weakest first. With two classes 2 is scikit-learn's `C=1`.
const RIDGES: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Probabilities nearer than this are equal: then no label wins.
const SLACK: f64 = 1e-12;

/// Weights of a panel's judges on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stacked {
    /// Sorted. Votes of other judges are not looked at.
    judges: Vec<JudgeId>,
    /// Labels that a vote may have.
    levels: usize,
    /// Labels that the truth may have.
    classes: usize,
    /// One on labels and pairs; one a cut on ordinal scales.
    equations: Vec<Equation>,
    /// Cases that it was learned from.
    n: usize,
}

/// One logistic regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Equation {
    /// The classes that occurred, the reference last. Others have probability 0.
    seen: Vec<usize>,
    /// For each class that occurred but the last: intercept, then one block of `levels` a judge.
    coefficients: Vec<f64>,
    ridge: f64,
}

/// What a stacked panel says of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Of each class of the truth, in the order of [`Scale::class_value`]; sums to 1.
    pub probabilities: Vec<f64>,
    /// The most probable label, or the expected one on ordinal scales. `None` if two labels are equally probable.
    pub value: Option<Value>,
}

/// A model, and what models that had not seen a case say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossFitted {
    /// Learned from all cases: the one to use.
    pub model: Stacked,
    /// In the order of the cases; each by a model that saw no case of the same source. `None` where no judge voted.
    /// Measure on these: predictions for the cases a model has learned from flatter it.
    pub predictions: Vec<Option<Prediction>>,
}

/// Why no weights can be learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StackedError {
    #[error("{labels} labelled cases with a vote are too few\nhint: label {more} more")]
    TooFewLabels { labels: usize, more: usize },
    #[error("all labels are the same\nhint: label cases of another kind")]
    OneLabelOnly,
    #[error("numbers of an interval have no labels to learn\nhint: declare an ordinal scale")]
    NoLabels,
}

impl Stacked {
    /// Learns from at least [`LEAST_LABELS`] cases in which somebody voted.
    pub fn fit(cases: &LabelledCases) -> Result<Self, StackedError> {
        let voted =
            cases.cases().iter().filter(|case| case.votes.iter().any(|vote| vote.outcome.is_ok())).count();
        if cases.scale().truth_classes().is_none() {
            return Err(StackedError::NoLabels);
        }
        if voted < LEAST_LABELS {
            return Err(StackedError::TooFewLabels { labels: voted, more: LEAST_LABELS - voted });
        }
        let all: Vec<&LabelledCase> = cases.cases().iter().collect();
        Self::fit_any(cases.scale(), cases.judges(), &all)
    }

    /// As [`Stacked::fit`], from however few cases: for folds of a set that is large enough.
    pub(crate) fn fit_any(
        scale: &Scale,
        judges: &[JudgeId],
        cases: &[&LabelledCase],
    ) -> Result<Self, StackedError> {
        let (Some(levels), Some(classes)) = (scale.vote_classes(), scale.truth_classes()) else {
            return Err(StackedError::NoLabels);
        };
        let (mut rows, mut truths) = (Vec::new(), Vec::new());
        for case in cases {
            let (row, any_known) = coding::row(scale, judges, levels, &case.votes);
            if let Some(truth) = scale.class_of(case.label)
                && any_known
            {
                rows.push(row);
                truths.push(truth);
            }
        }
        if truths.windows(2).all(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(StackedError::OneLabelOnly);
        }
        let features = coding::features(scale, judges.len(), levels);
        let equations = if scale.range().is_some() {
            (1..classes)
                .map(|cut| {
                    let sides: Vec<usize> = truths.iter().map(|&truth| usize::from(truth < cut)).collect();
                    Equation::fit(&rows, &sides, 2, features)
                })
                .collect()
        } else {
            vec![Equation::fit(&rows, &truths, classes, features)]
        };
        Ok(Self { judges: judges.to_vec(), levels, classes, equations, n: rows.len() })
    }

    /// Cases that the weights were learned from.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The judges that have weights, sorted.
    pub fn judges(&self) -> &[JudgeId] {
        &self.judges
    }

    /// What the votes of one case mean together; `None` if no judge with weights voted.
    ///
    /// A model of another scale gives what its numbers say: keep a model with the scale it was learned on.
    pub fn predict<'a>(
        &self,
        scale: &Scale,
        votes: impl IntoIterator<Item = &'a Vote>,
    ) -> Option<Prediction> {
        let (row, any_known) = coding::row(scale, &self.judges, self.levels, votes);
        if !any_known {
            return None;
        }
        let features = coding::features(scale, self.judges.len(), self.levels);
        let probabilities = if scale.range().is_some() {
            self.ordered_probabilities(&row, features)
        } else {
            self.equations.first()?.probabilities(&row, features, self.classes)
        };
        let value = match scale {
            Scale::Ordinal(labels) => {
                let expected: f64 = labels.values().iter().zip(&probabilities).map(|(x, p)| x * p).sum();
                Some(Value::Number(expected.clamp(labels.min(), labels.max())))
            }
            Scale::Continuous(_) | Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. } => {
                most_probable(&probabilities).and_then(|class| scale.class_value(class))
            }
        };
        Some(Prediction { probabilities, value })
    }

    fn ordered_probabilities(&self, row: &Row, features: usize) -> Vec<f64> {
        let (mut above, mut probabilities) = (1.0, Vec::with_capacity(self.classes));
        for equation in &self.equations {
            let shares = equation.probabilities(row, features, 2);
            let beyond = shares.first().copied().unwrap_or_default().min(above);
            probabilities.push(above - beyond);
            above = beyond;
        }
        probabilities.push(above);
        probabilities
    }
}

impl Equation {
    fn fit(rows: &[Row], truths: &[usize], classes: usize, features: usize) -> Self {
        let seen: Vec<usize> = (0..classes).filter(|class| truths.contains(class)).collect();
        if seen.len() < 2 {
            return Self { seen, coefficients: Vec::new(), ridge: 0.0 };
        }
        let places: Vec<usize> =
            truths.iter().filter_map(|truth| seen.iter().position(|class| class == truth)).collect();
        let problem = Problem::new(rows, &places, features, seen.len());
        let mut best: Option<(f64, f64, Coefficients)> = None;
        let mut start: Option<Coefficients> = None;
        // The strongest first: its fit is near the start, and each next one is near the one before.
        for &ridge in RIDGES.iter().rev() {
            let fitted = problem.fit(ridge, start.as_ref());
            let loss = problem.loss_left_out(&fitted, ridge).unwrap_or(f64::INFINITY);
            if best.as_ref().is_none_or(|(least, _, _)| loss < *least) {
                best = Some((loss, ridge, fitted.clone()));
            }
            start = Some(fitted);
        }
        let (ridge, coefficients) =
            best.map_or((0.0, Vec::new()), |(_, ridge, fitted)| (ridge, fitted.values));
        Self { seen, coefficients, ridge }
    }

    fn probabilities(&self, row: &Row, features: usize, classes: usize) -> Vec<f64> {
        let mut spread = vec![0.0; classes];
        let own = Coefficients { values: self.coefficients.clone(), features }.probabilities(row);
        for (&class, p) in self.seen.iter().zip(own) {
            if let Some(slot) = spread.get_mut(class) {
                *slot = p;
            }
        }
        spread
    }
}

/// Learns from all cases, and in `fold_count` folds (at least two) to say of each case what is known without it.
/// The seed draws the folds.
pub fn cross_fit(cases: &LabelledCases, fold_count: usize, seed: u64) -> Result<CrossFitted, StackedError> {
    let model = Stacked::fit(cases)?;
    let mut predictions = vec![None; cases.cases().len()];
    for fold in folds(cases, fold_count, seed) {
        let learned = Stacked::fit_any(cases.scale(), cases.judges(), &fold.others(cases));
        for &index in fold.held_out() {
            if let (Ok(learned), Some(case), Some(slot)) =
                (&learned, cases.cases().get(index), predictions.get_mut(index))
            {
                *slot = learned.predict(cases.scale(), &case.votes);
            }
        }
    }
    Ok(CrossFitted { model, predictions })
}

/// `None` when the two most probable are equal.
pub(crate) fn most_probable(probabilities: &[f64]) -> Option<usize> {
    let (best, most) = probabilities.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let equal = probabilities.iter().filter(|p| (**p - most).abs() <= SLACK).count();
    (equal == 1).then_some(best)
}

/// How much the probabilities prefer a, counting a tie as half.
pub(crate) fn pref_a(probabilities: &[f64]) -> f64 {
    let weighed = [Preference::A, Preference::B, Preference::Tie].iter().zip(probabilities);
    weighed.map(|(preference, p)| preference.pref_a() * p).sum()
}

#[cfg(test)]
mod tests;
