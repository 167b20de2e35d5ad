//! Why a judge's kappa is low: the causes in the order in which they are likely, with their evidence (specification 2.4).
//!
//! The model is the last to be suspected. Where two people do not agree, the rubric is ambiguous and no judge can do
//! better; where they were not sure, it has a gap; where neither, the judge lacks examples of where the line is.

use serde::{Deserialize, Serialize};

use crate::estimate::UndefinedReason;
use crate::protocol::adjudication::{Disagreement, JudgeAgreement};

/// Slack of comparisons with a limit.
const SLACK: f64 = 1e-12;

/// What to change first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Rewrite the levels so that each is told by something observable, and add a rule for ties.
    RubricAmbiguous,
    /// Add the missing level or condition.
    RubricGap,
    /// Show the judge labelled cases from the grey zone.
    AddFewShot,
    /// Still low after a rewrite: several criteria pass for one. One judge each.
    SplitDimensions,
    /// Still low after that.
    ChangeModel,
    /// After a rewrite people agree hardly at all: there is no truth to measure against.
    TaskSubjective,
}

/// What the figures say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// The judge's kappa is not low.
    Enough,
    Low(Cause),
    /// Kappa is undefined, or rests on too few cases to be called low: `TooFew`.
    Unknown(UndefinedReason),
}

/// What was already tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct History {
    pub rewrites: u32,
    pub is_split: bool,
}

/// Where the branches part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeThresholds {
    /// Kappa of the judge from which it is not low.
    pub judge: f64,
    /// Kappa of two people from which the rubric is not ambiguous.
    pub people: f64,
    /// Kappa of two people below which, after a rewrite, the task is subjective.
    pub subjective: f64,
    /// Share of unsure cases from which the rubric has a gap.
    pub unsure: f64,
    pub least_cases: usize,
}

impl Default for TreeThresholds {
    fn default() -> Self {
        Self { judge: 0.6, people: 0.6, subjective: 0.3, unsure: 0.3, least_cases: 30 }
    }
}

/// The figures that the finding rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// `None`: undefined.
    pub judge: Option<f64>,
    pub people: Option<f64>,
    pub unsure_share: f64,
    pub history: History,
    /// Cases with a truth and a verdict.
    pub n: usize,
}

/// A finding with its evidence and the cases to read.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    pub finding: Finding,
    pub evidence: Evidence,
    /// The judge is as good as people are with each other: do not demand more of it than the task allows.
    pub is_at_task_ceiling: bool,
    /// The farthest first, then by id.
    pub disagreements: Vec<Disagreement>,
}

/// Seeks the cause of a low kappa.
pub fn diagnose(judge: &JudgeAgreement, history: History, thresholds: TreeThresholds) -> Diagnosis {
    let (own, people) = (judge.truth.headline, judge.people);
    let finding = match (own, people) {
        (Ok(own), _) if own.n < thresholds.least_cases => Finding::Unknown(UndefinedReason::TooFew),
        (Ok(own), _) if own.value >= thresholds.judge - SLACK => Finding::Enough,
        (Err(undefined), _) | (Ok(_), Err(undefined)) => Finding::Unknown(undefined.reason),
        (Ok(_), Ok(people)) => Finding::Low(cause(people.value, judge.unsure_share, history, thresholds)),
    };
    let people_are_low = people.is_ok_and(|known| known.value < thresholds.people - SLACK);
    let at_ceiling = judge.ceiling.is_ok_and(|known| known.at_ceiling);
    Diagnosis {
        finding,
        evidence: Evidence {
            judge: own.ok().map(|known| known.value),
            people: people.ok().map(|known| known.value),
            unsure_share: judge.unsure_share,
            history,
            n: judge.truth.confusion.n(),
        },
        is_at_task_ceiling: matches!(finding, Finding::Low(_)) && people_are_low && at_ceiling,
        disagreements: judge.disagreements.clone(),
    }
}

fn cause(people: f64, unsure_share: f64, history: History, thresholds: TreeThresholds) -> Cause {
    let is_rewritten = history.rewrites > 0;
    if is_rewritten && people < thresholds.subjective - SLACK {
        Cause::TaskSubjective
    } else if is_rewritten && history.is_split {
        Cause::ChangeModel
    } else if is_rewritten {
        Cause::SplitDimensions
    } else if people < thresholds.people - SLACK {
        Cause::RubricAmbiguous
    } else if unsure_share >= thresholds.unsure - SLACK {
        Cause::RubricGap
    } else {
        Cause::AddFewShot
    }
}
