//! Dawid and Skene's estimate of the truth and of every judge's errors, from votes alone.
//!
//! Opt-in, and never the only reason to trust a case: it takes judges as independent given the truth, so judges that
//! share their mistakes look certain together. Needs about 100 cases and three judges. With golden labels it uses
//! what people know; with all cases golden it is naive Bayes over the judges' confusion matrices.
//!
//! Source: Dawid and Skene 1979, Applied Statistics 28; `dawid_skene.json` (crowd-kit); specification 4.6.

use serde::{Deserialize, Serialize};

use crate::estimate::UndefinedReason;
use crate::scale::{Scale, Value};
use crate::stacked::most_probable;
use crate::vote::JudgeId;

/// Probabilities and counts below this count as this, so that one vote never rules a label out for good.
const LEAST: f64 = 1e-10;

/// Votes of workers on tasks, as indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskVotes {
    tasks: usize,
    workers: usize,
    labels: usize,
    classes: usize,
    /// Sorted by task; `starts[t]..starts[t + 1]` are those of task `t`.
    votes: Vec<(u32, u32)>,
    starts: Vec<usize>,
    golden: Vec<Option<usize>>,
}

/// Why indexes are no votes. Places count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TaskVotesError {
    #[error("vote {place} names task {task} of {tasks}")]
    UnknownTask { place: usize, task: usize, tasks: usize },
    #[error("vote {place} names worker {worker} of {workers}")]
    UnknownWorker { place: usize, worker: usize, workers: usize },
    #[error("vote {place} has label {label} of {labels}")]
    UnknownLabel { place: usize, label: usize, labels: usize },
    #[error("golden label {place} is {label} of {classes}")]
    UnknownGolden { place: usize, label: usize, classes: usize },
    #[error("{golden} golden labels stand for {tasks} tasks")]
    UnequalLengths { golden: usize, tasks: usize },
    #[error("{classes} classes do not fit {labels} labels: at least one class and no more than labels")]
    BadClasses { classes: usize, labels: usize },
}

/// How many tasks, workers and labels there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    pub tasks: usize,
    pub workers: usize,
    /// Labels that a vote may have.
    pub labels: usize,
    /// Labels that the truth may have: the first so many. A vote with one of the others favours no class.
    pub classes: usize,
}

/// When to stop, and how much is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub most_iterations: usize,
    /// Ends when the log-likelihood changes by less; `None`: always all iterations.
    pub tolerance: Option<f64>,
    /// Added to every count. 1 by default: on little data nobody is perfect.
    pub smoothing: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { most_iterations: 50, tolerance: Some(1e-8), smoothing: 1.0 }
    }
}

/// The estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// For each task, the probability of each class; `None` for a task with neither vote nor golden label.
    pub posteriors: Vec<Option<Vec<f64>>>,
    /// The probability of each class before any vote.
    pub prior: Vec<f64>,
    /// `errors[worker][label * classes + class]`: the probability of a label when the truth is a class.
    pub errors: Vec<Vec<f64>>,
    pub iterations: usize,
    pub log_likelihood: f64,
}

impl TaskVotes {
    /// Votes as `(task, worker, label)`, and what people know: one entry a task, or none at all.
    pub fn new(
        dimensions: Dimensions,
        triples: &[(usize, usize, usize)],
        golden: &[Option<usize>],
    ) -> Result<Self, TaskVotesError> {
        let Dimensions { tasks, workers, labels, classes } = dimensions;
        if classes == 0 || classes > labels {
            return Err(TaskVotesError::BadClasses { classes, labels });
        }
        if !golden.is_empty() && golden.len() != tasks {
            return Err(TaskVotesError::UnequalLengths { golden: golden.len(), tasks });
        }
        for (place, label) in golden.iter().enumerate().filter_map(|(place, label)| Some((place, (*label)?)))
        {
            if label >= classes {
                return Err(TaskVotesError::UnknownGolden { place, label, classes });
            }
        }
        for (place, &(task, worker, label)) in triples.iter().enumerate() {
            if task >= tasks {
                return Err(TaskVotesError::UnknownTask { place, task, tasks });
            }
            if worker >= workers || u32::try_from(worker).is_err() {
                return Err(TaskVotesError::UnknownWorker { place, worker, workers });
            }
            if label >= labels || u32::try_from(label).is_err() {
                return Err(TaskVotesError::UnknownLabel { place, label, labels });
            }
        }
        let mut sorted: Vec<&(usize, usize, usize)> = triples.iter().collect();
        sorted.sort_unstable();
        let mut starts = vec![0; tasks + 1];
        for (task, _, _) in triples {
            if let Some(count) = starts.get_mut(task + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let narrow = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let votes = sorted.into_iter().map(|&(_, worker, label)| (narrow(worker), narrow(label))).collect();
        Ok(Self { tasks, workers, labels, classes, votes, starts, golden: golden.to_vec() })
    }

    fn of_task(&self, task: usize) -> &[(u32, u32)] {
        let range = self.starts.get(task).zip(self.starts.get(task + 1));
        range.and_then(|(&start, &end)| self.votes.get(start..end)).unwrap_or_default()
    }

    fn golden(&self, task: usize) -> Option<usize> {
        self.golden.get(task).copied().flatten()
    }
}

/// Expectation maximisation: starts at the votes' shares, then expects and maximises in turn.
/// `Empty` if there is neither a vote nor a golden label.
pub fn solve(votes: &TaskVotes, settings: Settings) -> Result<Solution, UndefinedReason> {
    let known: Vec<bool> = (0..votes.tasks)
        .map(|task| votes.golden(task).is_some() || !votes.of_task(task).is_empty())
        .collect();
    if !known.iter().any(|known| *known) {
        return Err(UndefinedReason::Empty);
    }
    let smoothing = if settings.smoothing.is_finite() { settings.smoothing.max(0.0) } else { 0.0 };
    let mut truth = vote_shares(votes);
    let mut tables = Tables::of(votes, &truth, &known, smoothing);
    let (mut likelihood, mut iterations) = (f64::NEG_INFINITY, 0);
    for _ in 0..settings.most_iterations {
        let reached = tables.expect(votes, &mut truth);
        tables.maximise(votes, &truth, &known, smoothing);
        iterations += 1;
        let change = (reached - likelihood).abs();
        likelihood = reached;
        if settings.tolerance.is_some_and(|tolerance| change < tolerance) {
            break;
        }
    }
    let posteriors = truth.chunks(votes.classes).zip(&known).map(|(row, known)| {
        // Never quite 0: no number of votes makes a label impossible.
        known.then(|| row.iter().map(|p| p.max(LEAST)).collect())
    });
    Ok(Solution {
        posteriors: posteriors.collect(),
        prior: tables.prior.clone(),
        errors: tables.errors_by_label(votes),
        iterations,
        log_likelihood: likelihood,
    })
}

/// The share of each class among the votes of each task; golden labels are certain.
fn vote_shares(votes: &TaskVotes) -> Vec<f64> {
    let classes = votes.classes;
    let mut truth = vec![0.0; votes.tasks * classes];
    for (task, row) in truth.chunks_mut(classes).enumerate() {
        if let Some(golden) = votes.golden(task) {
            clamp(row, golden);
            continue;
        }
        let own = votes.of_task(task);
        for &(_, label) in own {
            match row.get_mut(label as usize) {
                Some(count) => *count += 1.0,
                None => row.iter_mut().for_each(|count| *count += 1.0 / share(classes)),
            }
        }
        let total = share(own.len().max(1));
        for count in row.iter_mut() {
            *count /= total;
        }
    }
    truth
}

fn clamp(row: &mut [f64], golden: usize) {
    for (class, p) in row.iter_mut().enumerate() {
        *p = f64::from(u8::from(class == golden));
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(count: usize) -> f64 {
    count as f64
}

/// Prior and errors; `errors` and `logs` are `[(worker * labels + label) * classes + class]`.
struct Tables {
    prior: Vec<f64>,
    errors: Vec<f64>,
    logs: Vec<f64>,
}

impl Tables {
    fn of(votes: &TaskVotes, truth: &[f64], known: &[bool], smoothing: f64) -> Self {
        let cells = votes.workers * votes.labels * votes.classes;
        let mut tables =
            Self { prior: vec![0.0; votes.classes], errors: vec![0.0; cells], logs: vec![0.0; cells] };
        tables.maximise(votes, truth, known, smoothing);
        tables
    }

    /// The likeliest prior and errors, given the truth's probabilities.
    fn maximise(&mut self, votes: &TaskVotes, truth: &[f64], known: &[bool], smoothing: f64) {
        let classes = votes.classes;
        self.prior.fill(smoothing);
        self.errors.fill(0.0);
        for ((task, row), known) in truth.chunks(classes).enumerate().zip(known) {
            if !known {
                continue;
            }
            for (sum, p) in self.prior.iter_mut().zip(row) {
                *sum += p;
            }
            for &(worker, label) in votes.of_task(task) {
                let start = (worker as usize * votes.labels + label as usize) * classes;
                if let Some(cell) = self.errors.get_mut(start..start + classes) {
                    for (sum, p) in cell.iter_mut().zip(row) {
                        *sum += p;
                    }
                }
            }
        }
        let total: f64 = self.prior.iter().sum();
        self.prior.iter_mut().for_each(|p| *p /= total);
        for own in self.errors.chunks_mut(votes.labels * classes) {
            normalise(own, classes, smoothing);
        }
        for (log, p) in self.logs.iter_mut().zip(&self.errors) {
            *log = p.ln();
        }
    }

    /// The truth's probabilities, given prior and errors; the log-likelihood of the votes.
    fn expect(&self, votes: &TaskVotes, truth: &mut [f64]) -> f64 {
        let classes = votes.classes;
        let prior: Vec<f64> = self.prior.iter().map(|p| p.max(LEAST).ln()).collect();
        let mut likelihood = 0.0;
        for (task, row) in truth.chunks_mut(classes).enumerate() {
            row.copy_from_slice(&prior);
            for &(worker, label) in votes.of_task(task) {
                let start = (worker as usize * votes.labels + label as usize) * classes;
                if let Some(cell) = self.logs.get(start..start + classes) {
                    for (sum, log) in row.iter_mut().zip(cell) {
                        *sum += log;
                    }
                }
            }
            if let Some(golden) = votes.golden(task) {
                likelihood += row.get(golden).copied().unwrap_or_default();
                clamp(row, golden);
            } else {
                likelihood += to_probabilities(row);
            }
        }
        likelihood
    }

    fn errors_by_label(&self, votes: &TaskVotes) -> Vec<Vec<f64>> {
        self.errors.chunks(votes.labels * votes.classes).map(<[f64]>::to_vec).collect()
    }
}

/// Counts of `label × class` become the probability of a label under each class.
fn normalise(counts: &mut [f64], classes: usize, smoothing: f64) {
    for count in counts.iter_mut() {
        *count = (*count + smoothing).max(LEAST);
    }
    for class in 0..classes {
        let total: f64 = counts.iter().skip(class).step_by(classes).sum();
        counts.iter_mut().skip(class).step_by(classes).for_each(|p| *p /= total);
    }
}

/// Exponentiates and normalises in place; the log of the sum.
fn to_probabilities(logs: &mut [f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for log in logs.iter_mut() {
        *log = (*log - most).exp();
        total += *log;
    }
    for p in logs.iter_mut() {
        *p /= total;
    }
    total.ln() + most
}

/// The entropy of a posterior divided by `ln K`, 0 to 1. `SingleValueDomain` for one class.
pub fn posterior_entropy(posterior: &[f64]) -> Result<f64, UndefinedReason> {
    if posterior.len() < 2 {
        return Err(UndefinedReason::SingleValueDomain);
    }
    let entropy: f64 = posterior.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
    Ok((entropy / share(posterior.len()).ln()).max(0.0))
}

/// A solution by the judges' names: decides new cases by Bayes' rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorModel {
    /// Sorted.
    judges: Vec<JudgeId>,
    prior: Vec<f64>,
    /// As [`Solution::errors`], one list a judge.
    errors: Vec<Vec<f64>>,
}

impl ErrorModel {
    /// `judges[w]` is worker `w`; must be sorted and as many as workers, else `None`.
    pub fn new(judges: &[JudgeId], solution: &Solution) -> Option<Self> {
        let sorted = judges.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
        (sorted && judges.len() == solution.errors.len()).then(|| Self {
            judges: judges.to_vec(),
            prior: solution.prior.clone(),
            errors: solution.errors.clone(),
        })
    }

    /// The judges whose errors are known, sorted.
    pub fn judges(&self) -> &[JudgeId] {
        &self.judges
    }

    /// The probability of each class given the votes; `None` if no judge with known errors voted.
    pub fn posterior<'a>(
        &self,
        scale: &Scale,
        votes: impl IntoIterator<Item = (&'a JudgeId, Value)>,
    ) -> Option<Vec<f64>> {
        let classes = self.prior.len();
        let mut logs: Vec<f64> = self.prior.iter().map(|p| p.max(LEAST).ln()).collect();
        let mut any_known = false;
        for (judge, value) in votes {
            let known = self.judges.binary_search(judge).ok().and_then(|place| self.errors.get(place));
            let (Some(errors), Some(label)) = (known, scale.class_of(value)) else { continue };
            let Some(cell) = errors.get(label * classes..(label + 1) * classes) else { continue };
            for (log, p) in logs.iter_mut().zip(cell) {
                *log += p.max(f64::MIN_POSITIVE).ln();
            }
            any_known = true;
        }
        to_probabilities(&mut logs);
        any_known.then_some(logs)
    }

    /// The most probable label; `None` if nobody voted or two are equally probable.
    pub fn value<'a>(
        &self,
        scale: &Scale,
        votes: impl IntoIterator<Item = (&'a JudgeId, Value)>,
    ) -> Option<Value> {
        most_probable(&self.posterior(scale, votes)?).and_then(|class| scale.class_value(class))
    }
}

#[cfg(test)]
mod tests;
