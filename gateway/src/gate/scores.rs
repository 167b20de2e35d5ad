//! What each case counts on one requirement: the panel's score, a range while it waits for a person, or a person's.

use aggregation::gate::{GateCase, GateScore, SLACK};
use aggregation::scale::Value;

use super::held::Held;
use super::labels::{LabelFault, Labels};
use super::report::Measure;
use super::terms::Requirement;
use crate::engine::plan::asked_scale;
use crate::engine::value_of_json;
use crate::rubric::Criterion;
use crate::verdict::{AbstentionKind, CaseVerdict, CriterionVerdict};

/// The cases of one mode on one requirement.
#[derive(Debug, Default)]
pub(super) struct Scores {
    pub cases: Vec<GateCase>,
    /// Of the cases, where they are matched with those of another run.
    pub names: Vec<String>,
    /// Cases that people and judges scored: in step, with their design weights if there are any.
    pub human: Vec<f64>,
    pub judge: Vec<f64>,
    pub weights: Vec<f64>,
    /// The judges' scores of all others.
    pub unlabelled: Vec<f64>,
    /// Waiting cases whose range a person's label replaced.
    pub replaced: u64,
}

impl Scores {
    pub(super) fn add(
        &mut self,
        requirement: &Requirement,
        held: Held<'_>,
        verdict: &CaseVerdict,
        labels: Option<&Labels>,
    ) -> Result<(), LabelFault> {
        let (measure, least) = (requirement.measure, held.least_passing());
        let given = verdict.criteria.get(&requirement.criterion);
        // Whoever looks at the case, what code found of it stays.
        let pending = verdict.escalated && !held.is_check();
        let of_panel = given.map_or(GateScore::Missing, |given| score_of(measure, given, pending, least));
        let person = match (labels, held) {
            (Some(labels), Held::Judged(criterion)) => {
                person_score(labels, measure, criterion, verdict, least)?
            }
            (Some(_), Held::Check(_)) | (None, _) => None,
        };
        match (known(of_panel), person) {
            (Some(judge), Some((human, weight))) => {
                self.human.push(human);
                self.judge.push(judge);
                self.weights.extend(weight);
            }
            (Some(judge), None) => self.unlabelled.push(judge),
            (None, _) => {}
        }
        let score = match (of_panel, person) {
            (GateScore::Pending { .. }, Some((human, _))) => {
                self.replaced += 1;
                GateScore::Known(human)
            }
            (GateScore::Pending { .. } | GateScore::Known(_) | GateScore::Missing, _) => of_panel,
        };
        if measure == Measure::Difference {
            self.names.push(verdict.case.clone());
        }
        let source = verdict.source.as_deref().map(source_number);
        self.cases.push(GateCase { score, source, covered: given.is_some_and(is_covered) });
        Ok(())
    }
}

/// A score that is known, if only for now.
pub(super) fn known(score: GateScore) -> Option<f64> {
    match score {
        GateScore::Known(score) | GateScore::Pending { score, .. } => Some(score),
        GateScore::Missing => None,
    }
}

/// What the panel says; while the case waits for a person, anything between its lowest and its highest vote.
fn score_of(
    measure: Measure,
    given: &CriterionVerdict,
    pending: bool,
    least_passing: Option<f64>,
) -> GateScore {
    let own = match measure {
        Measure::Mean | Measure::WinRate | Measure::Difference => given.score,
        Measure::PassRate => given.passed.map(share),
    };
    let Some(score) = own else { return GateScore::Missing };
    if !pending {
        return GateScore::Known(score);
    }
    let votes = given.votes.iter().filter_map(|vote| counted(measure, vote.score?, least_passing));
    let (lowest, highest) = votes.fold((score, score), |(low, high), vote| (low.min(vote), high.max(vote)));
    GateScore::Pending { score, lowest, highest }
}

/// What a person's label counts, with its design weight; `None` without a label.
fn person_score(
    labels: &Labels,
    measure: Measure,
    criterion: &Criterion,
    verdict: &CaseVerdict,
    least_passing: Option<f64>,
) -> Result<Option<(f64, Option<f64>)>, LabelFault> {
    let Some(label) = labels.get(verdict.case_in_file(), &criterion.name) else { return Ok(None) };
    let scale = asked_scale(criterion, verdict.mode);
    let score = value_of_json(&scale, &label.value).and_then(|value| match value {
        Value::Preference(preference) => Some(preference.pref_a()),
        Value::Number(_) | Value::Category(_) | Value::Pass(_) => scale.score01(value),
    });
    let counted = score.and_then(|score| counted(measure, score, least_passing));
    counted
        .map(|score| Some((score, label.weight)))
        .ok_or_else(|| labels.off_scale(verdict.case_in_file(), &criterion.name))
}

/// A score as the measure counts it.
fn counted(measure: Measure, score: f64, least_passing: Option<f64>) -> Option<f64> {
    match measure {
        Measure::Mean | Measure::WinRate | Measure::Difference => Some(score),
        Measure::PassRate => least_passing.map(|least| share(score >= least - SLACK)),
    }
}

fn share(passed: bool) -> f64 {
    f64::from(u8::from(passed))
}

/// Whether every judge that may vote on the case did.
fn is_covered(given: &CriterionVerdict) -> bool {
    given.value.is_some() && given.abstentions.iter().all(|missing| missing.kind == AbstentionKind::Excluded)
}

/// A number that stands for a source, the same on every machine.
fn source_number(name: &str) -> u64 {
    let mut number = [0; 8];
    for (byte, hashed) in number.iter_mut().zip(blake3::hash(name.as_bytes()).as_bytes()) {
        *byte = *hashed;
    }
    u64::from_le_bytes(number)
}
