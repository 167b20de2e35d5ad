//! Ridge logistic regression by Newton's method, for few features and any number of classes.
//!
//! The last class is the reference: its linear predictor is 0. The penalty is that of the symmetric form, in which
//! every class has its own coefficients that sum to 0, so renaming the classes does not change the fit:
//! `ridge / 2 · Σ_features (Σ_k γ_k² - (Σ_k γ_k)² / K)`. With two classes that is `ridge / 4 · γ²`. Feature 0 is the
//! intercept and is not penalised.
//!
//! Sources: McCullagh and Nelder 1989 (Newton, there iteratively reweighted least squares); Friedman, Hastie and
//! Tibshirani 2010 (symmetric multinomial); Rad and Maleki 2020 (leaving one out by one Newton step).

use std::collections::BTreeMap;

use super::linear::{Cholesky, solve_small};

/// The values of a case that are not 0, as `(feature, value)`. Feature 0, the intercept, is always 1.
pub(super) type Row = Vec<(usize, f64)>;

/// Newton steps before giving up on more digits. Penalised fits need about eight.
const MOST_STEPS: usize = 60;
/// Halvings of one step.
const MOST_HALVINGS: usize = 30;
/// The fit ends when no coefficient moves by more than this.
const STEP_TOLERANCE: f64 = 1e-11;
/// Keeps the intercept's curvature positive where a class has hardly any case.
const INTERCEPT_RIDGE: f64 = 1e-9;

/// Cases with classes `0..classes`, each of which occurs.
pub(super) struct Problem {
    /// Cases that are alike stand once, sorted: votes repeat often, and the fit must not depend on their order.
    cases: Vec<Alike>,
    features: usize,
    classes: usize,
    n: f64,
}

/// Cases with the same features and class.
struct Alike {
    row: Row,
    truth: usize,
    count: f64,
}

/// Coefficients of every class but the last, one list of `features` after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coefficients {
    pub(super) values: Vec<f64>,
    pub(super) features: usize,
}

impl Coefficients {
    /// The probability of each class, the reference last.
    pub(super) fn probabilities(&self, row: &Row) -> Vec<f64> {
        softmax(&self.predictors(row))
    }

    fn predictors(&self, row: &Row) -> Vec<f64> {
        self.values
            .chunks(self.features.max(1))
            .map(|own| row.iter().map(|&(feature, x)| own.get(feature).map_or(0.0, |c| c * x)).sum())
            .collect()
    }
}

/// Probabilities from the predictors of all classes but the last, whose predictor is 0.
fn softmax(predictors: &[f64]) -> Vec<f64> {
    let most = predictors.iter().copied().fold(0.0, f64::max);
    let mut shares: Vec<f64> = predictors.iter().map(|eta| (eta - most).exp()).collect();
    shares.push((-most).exp());
    let total: f64 = shares.iter().sum();
    for share in &mut shares {
        *share /= total;
    }
    shares
}

impl Problem {
    pub(super) fn new(rows: &[Row], truths: &[usize], features: usize, classes: usize) -> Self {
        let mut alike: BTreeMap<(Vec<(usize, u64)>, usize), Alike> = BTreeMap::new();
        for (row, &truth) in rows.iter().zip(truths) {
            let key = row.iter().map(|&(feature, x)| (feature, x.to_bits())).collect();
            let own = || Alike { row: row.clone(), truth, count: 0.0 };
            alike.entry((key, truth)).or_insert_with(own).count += 1.0;
        }
        let cases: Vec<Alike> = alike.into_values().collect();
        let n = cases.iter().map(|case| case.count).sum();
        Self { cases, features, classes, n }
    }

    fn size(&self) -> usize {
        self.features * (self.classes - 1)
    }

    /// The minimum of log loss plus penalty, from `start` (zeros if of another size).
    pub(super) fn fit(&self, ridge: f64, start: Option<&Coefficients>) -> Coefficients {
        let zeros = || Coefficients { values: vec![0.0; self.size()], features: self.features };
        let mut fitted =
            start.filter(|start| start.values.len() == self.size()).cloned().unwrap_or_else(zeros);
        let mut objective = self.objective(&fitted, ridge);
        for _ in 0..MOST_STEPS {
            let (gradient, curvature) = self.derivatives(&fitted, ridge);
            let Some(step) = Cholesky::of(curvature, self.size()).map(|factor| factor.solve(gradient)) else {
                break;
            };
            let Some((next, next_objective)) = self.shorten(&fitted, &step, objective, ridge) else { break };
            let moved =
                next.values.iter().zip(&fitted.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            (fitted, objective) = (next, next_objective);
            if moved < STEP_TOLERANCE {
                break;
            }
        }
        fitted
    }

    /// The step, or the largest of its halves that does not raise the objective.
    fn shorten(
        &self,
        from: &Coefficients,
        step: &[f64],
        objective: f64,
        ridge: f64,
    ) -> Option<(Coefficients, f64)> {
        let mut share = 1.0;
        for _ in 0..MOST_HALVINGS {
            let values = from.values.iter().zip(step).map(|(value, step)| value - share * step).collect();
            let next = Coefficients { values, features: self.features };
            let reached = self.objective(&next, ridge);
            if reached <= objective + 1e-12 * objective.abs() {
                return Some((next, reached));
            }
            share /= 2.0;
        }
        None
    }

    fn objective(&self, at: &Coefficients, ridge: f64) -> f64 {
        let losses =
            self.cases.iter().map(|case| case.count * log_loss(&at.predictors(&case.row), case.truth));
        losses.sum::<f64>() + self.penalty(at, ridge)
    }

    fn penalty(&self, at: &Coefficients, ridge: f64) -> f64 {
        let mut penalty = 0.0;
        for feature in 0..self.features {
            let own = || at.values.iter().skip(feature).step_by(self.features);
            let (sum, squares) = own().fold((0.0, 0.0), |(s, q), c| (s + c, q + c * c));
            penalty += ridge_of(feature, ridge) / 2.0 * (squares - sum * sum / self.class_count());
        }
        penalty
    }

    #[expect(clippy::cast_precision_loss, reason = "scales have few labels")]
    fn class_count(&self) -> f64 {
        self.classes as f64
    }

    /// Gradient and Hessian of the objective.
    fn derivatives(&self, at: &Coefficients, ridge: f64) -> (Vec<f64>, Vec<f64>) {
        let (size, free) = (self.size(), self.classes - 1);
        let (mut gradient, mut curvature) = (vec![0.0; size], vec![0.0; size * size]);
        for Alike { row, truth, count } in &self.cases {
            let shares = at.probabilities(row);
            for (a, &p) in shares.iter().enumerate().take(free) {
                let residual = count * (p - f64::from(u8::from(a == *truth)));
                for &(feature, x) in row {
                    add(&mut gradient, a * self.features + feature, residual * x);
                }
                for (b, &q) in shares.iter().enumerate().take(a + 1) {
                    let weight = if a == b { p * (1.0 - p) } else { -p * q };
                    self.add_block(&mut curvature, (a, b), row, count * weight);
                }
            }
        }
        self.add_penalty(at, ridge, &mut gradient, &mut curvature);
        (gradient, curvature)
    }

    /// Adds `weight · x xᵀ` to one block; only the lower triangle of the whole is read later.
    fn add_block(&self, curvature: &mut [f64], (a, b): (usize, usize), row: &Row, weight: f64) {
        let size = self.size();
        for &(i, x) in row {
            let start = (a * self.features + i) * size + b * self.features;
            let scaled = weight * x;
            for &(j, y) in row {
                add(curvature, start + j, scaled * y);
            }
        }
    }

    fn add_penalty(&self, at: &Coefficients, ridge: f64, gradient: &mut [f64], curvature: &mut [f64]) {
        let (size, free) = (self.size(), self.classes - 1);
        for feature in 0..self.features {
            let strength = ridge_of(feature, ridge);
            let sum: f64 = at.values.iter().skip(feature).step_by(self.features).sum();
            for a in 0..free {
                let place = a * self.features + feature;
                let own = at.values.get(place).copied().unwrap_or_default();
                add(gradient, place, strength * (own - sum / self.class_count()));
                for b in 0..=a {
                    let bend = f64::from(u8::from(a == b)) - 1.0 / self.class_count();
                    add(curvature, place * size + b * self.features + feature, strength * bend);
                }
            }
        }
    }

    /// Mean log loss of each case under the fit without it, by one Newton step from the fit with it. `None` if
    /// the curvature cannot be inverted.
    pub(super) fn loss_left_out(&self, at: &Coefficients, ridge: f64) -> Option<f64> {
        let free = self.classes - 1;
        let (_, curvature) = self.derivatives(at, ridge);
        let inverse = Cholesky::of(curvature, self.size())?.inverse();
        let mut total = 0.0;
        for Alike { row, truth, count } in &self.cases {
            let mut predictors = at.predictors(row);
            let shares = softmax(&predictors);
            let leverage = self.leverage(&inverse, row);
            let lever = |a: usize, b: usize| leverage.get(a * free + b).copied().unwrap_or_default();
            let share = |a: usize| shares.get(a).copied().unwrap_or_default();
            let residual = |a: usize| f64::from(u8::from(a == *truth)) - share(a);
            // (I - A W) shift = A residual, with W = diag(p) - p pᵀ.
            let mut system = vec![0.0; free * free];
            let mut shift = vec![0.0; free];
            for a in 0..free {
                let mean: f64 = (0..free).map(|c| lever(a, c) * share(c)).sum();
                for b in 0..free {
                    let unit = f64::from(u8::from(a == b));
                    add(&mut system, a * free + b, unit - (lever(a, b) - mean) * share(b));
                    add(&mut shift, a, lever(a, b) * residual(b));
                }
            }
            solve_small(&mut system, &mut shift)?;
            for (predictor, shift) in predictors.iter_mut().zip(&shift) {
                *predictor -= shift;
            }
            total += count * log_loss(&predictors, *truth);
        }
        let mean = total / self.n;
        mean.is_finite().then_some(mean)
    }

    /// `xᵀ H⁻¹ x` for every pair of free classes.
    fn leverage(&self, inverse: &[f64], row: &Row) -> Vec<f64> {
        let (size, free) = (self.size(), self.classes - 1);
        let mut leverage = vec![0.0; free * free];
        for a in 0..free {
            for b in 0..free {
                let mut sum = 0.0;
                for &(i, x) in row {
                    let start = (a * self.features + i) * size + b * self.features;
                    for &(j, y) in row {
                        sum += x * y * inverse.get(start + j).copied().unwrap_or_default();
                    }
                }
                add(&mut leverage, a * free + b, sum);
            }
        }
        leverage
    }
}

fn ridge_of(feature: usize, ridge: f64) -> f64 {
    if feature == 0 { INTERCEPT_RIDGE } else { ridge }
}

fn log_loss(predictors: &[f64], truth: usize) -> f64 {
    let most = predictors.iter().copied().fold(0.0, f64::max);
    let total: f64 = predictors.iter().map(|eta| (eta - most).exp()).sum::<f64>() + (-most).exp();
    total.ln() + most - predictors.get(truth).copied().unwrap_or_default()
}

fn add(list: &mut [f64], place: usize, value: f64) {
    if let Some(sum) = list.get_mut(place) {
        *sum += value;
    }
}

#[cfg(test)]
mod tests;
