//! Whether judges, and the panel, say the same of a case when they are asked again: what a run with `--repeat` shows.
//!
//! Holds every answer of such a run, and nothing of any other.

use std::collections::BTreeMap;

use aggregation::bias::{label_repeats, score_repeats};
use aggregation::estimate::{Estimate, Undefined, UndefinedReason};
use serde::{Serialize, Serializer};

use crate::case::Mode;
use crate::verdict::CaseVerdict;

/// The answers of a run that judges its cases several times.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    answers: BTreeMap<Asked, BTreeMap<String, Vec<Answer>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    mode: Mode,
    criterion: String,
    /// `None`: the panel.
    judge: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Label(String),
    /// score01
    Score(f64),
}

/// How far repeats are apart, of one judge or of the panel, on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeatability {
    pub mode: Mode,
    pub criterion: String,
    /// Null: the panel.
    pub judge: Option<String>,
    pub measure: RepeatMeasure,
    /// Cases with at least two answers.
    pub cases: usize,
    /// 0 to 1; null where `undefined` says why.
    pub value: Option<f64>,
    /// The ends of its 95 % interval, as far as there is one.
    pub low: Option<f64>,
    pub high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<UndefinedReason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatMeasure {
    /// Share of pairs of repeats with different labels.
    RepeatRate,
    /// Mean distance of two repeats, as a share of the scale.
    MeanDistance,
}

impl Repeats {
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Keeps the answers of a verdict that is one of several.
    pub fn add(&mut self, verdict: &CaseVerdict) {
        if verdict.repeat_of.is_none() {
            return;
        }
        for (name, criterion) in verdict.criteria.iter().filter(|(_, criterion)| !criterion.is_check()) {
            let of_panel = criterion.value.as_ref().and_then(|value| Answer::of(value, criterion.score));
            self.add_answer(verdict, name, None, of_panel);
            for vote in &criterion.votes {
                let answer = Answer::of(&vote.value, vote.score);
                self.add_answer(verdict, name, Some(&vote.judge), answer);
            }
        }
    }

    fn add_answer(
        &mut self,
        verdict: &CaseVerdict,
        criterion: &str,
        judge: Option<&str>,
        answer: Option<Answer>,
    ) {
        let asked =
            Asked { mode: verdict.mode, criterion: criterion.to_owned(), judge: judge.map(str::to_owned) };
        let case =
            self.answers.entry(asked).or_default().entry(verdict.case_in_file().to_owned()).or_default();
        case.extend(answer);
    }

    /// Criterion by criterion, the panel before its judges.
    pub fn report(&self) -> Vec<Repeatability> {
        self.answers.iter().map(|(asked, cases)| asked.report(cases)).collect()
    }
}

impl Serialize for Repeats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

impl Answer {
    /// Numbers by their place on the scale; labels, and numbers without a place, as they are.
    fn of(value: &serde_json::Value, score: Option<f64>) -> Option<Self> {
        match (value, score) {
            (serde_json::Value::Null, _) => None,
            (serde_json::Value::Number(_), Some(score)) => Some(Self::Score(score)),
            (serde_json::Value::String(label), _) => Some(Self::Label(label.clone())),
            (other, _) => Some(Self::Label(other.to_string())),
        }
    }

    fn score(&self) -> Option<f64> {
        match self {
            Self::Score(score) => Some(*score),
            Self::Label(_) => None,
        }
    }
}

impl Asked {
    fn report(&self, cases: &BTreeMap<String, Vec<Answer>>) -> Repeatability {
        let are_scores = cases.values().flatten().all(|answer| answer.score().is_some());
        let (measure, found) = if are_scores {
            let scores: Vec<Vec<Option<f64>>> =
                cases.values().map(|answers| answers.iter().map(Answer::score).collect()).collect();
            (RepeatMeasure::MeanDistance, score_repeats(&scores, (0.0, 1.0)).map(|found| found.mean_distance))
        } else {
            let labels: Vec<Vec<Option<&Answer>>> =
                cases.values().map(|answers| answers.iter().map(Some).collect()).collect();
            (RepeatMeasure::RepeatRate, label_repeats(&labels).map(|found| found.repeat_rate))
        };
        self.filled(measure, found)
    }

    fn filled(&self, measure: RepeatMeasure, found: Result<Estimate, Undefined>) -> Repeatability {
        let (mode, criterion, judge) = (self.mode, self.criterion.clone(), self.judge.clone());
        match found {
            Ok(Estimate { value, interval, n, .. }) => Repeatability {
                mode,
                criterion,
                judge,
                measure,
                cases: n,
                value: Some(value),
                low: interval.map(|interval| interval.lo.max(0.0)),
                high: interval.map(|interval| interval.hi.min(1.0)),
                undefined: None,
            },
            Err(Undefined { reason, n, .. }) => Repeatability {
                mode,
                criterion,
                judge,
                measure,
                cases: n,
                value: None,
                low: None,
                high: None,
                undefined: Some(reason),
            },
        }
    }
}
