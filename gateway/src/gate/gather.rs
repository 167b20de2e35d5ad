//! The verdicts of a run, taken one by one: all that a report says of them and the scores that a decision needs.

use std::collections::BTreeMap;

use aggregation::gate::{GateCase, GateScore};

use super::agreement::Agreement;
use super::extremes::Extremes;
use super::held::Held;
use super::labels::{LabelFault, Labels};
use super::report::{CaseLine, CriterionReport, FailedCheckLine, Slice};
use super::scores::Scores;
use super::terms::Requirement;
use crate::case::Mode;
use crate::engine::plan::asked_scale;
use crate::panel::Panel;
use crate::summary::RunSummary;
use crate::verdict::{CaseVerdict, CriterionVerdict};

/// Properties that slices are kept of; a run with more of them is not sliced further.
const MOST_SLICES: usize = 2000;
/// Slices that a report shows of one kind, lowest mean first.
const SHOWN_SLICES: usize = 20;
const BINS: usize = 10;

type Place = (Mode, String);

/// What one criterion gave in one mode, beside the sums of the summary.
#[derive(Debug)]
struct Detail {
    histogram: [u64; BINS],
    agreement: Option<Agreement>,
    calibration: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SliceSum {
    cases: u64,
    scored: u64,
    sum: f64,
}

#[derive(Debug)]
pub(super) struct Gathered<'a> {
    panel: &'a Panel,
    requirements: &'a [Requirement],
    labels: Option<&'a Labels>,
    pub(super) summary: RunSummary,
    /// By requirement and mode: modes are never mixed in a mean.
    pub(super) scores: BTreeMap<(usize, Mode), Scores>,
    details: BTreeMap<Place, Detail>,
    slices: BTreeMap<(&'static str, String, String, Mode), SliceSum>,
    worst: Extremes<CaseLine>,
    failed_checks: Extremes<FailedCheckLine>,
    disputed: Extremes<CaseLine>,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(panel: &'a Panel, requirements: &'a [Requirement], labels: Option<&'a Labels>) -> Self {
        Self {
            panel,
            requirements,
            labels,
            summary: RunSummary::new(),
            scores: BTreeMap::new(),
            details: BTreeMap::new(),
            slices: BTreeMap::new(),
            worst: Extremes::new(),
            failed_checks: Extremes::new(),
            disputed: Extremes::new(),
        }
    }

    pub(super) fn add(&mut self, verdict: &CaseVerdict) -> Result<(), LabelFault> {
        self.summary.add(verdict, false);
        for (index, requirement) in self.requirements.iter().enumerate() {
            if let Some(held) = Held::named(&self.panel.rubric, &requirement.criterion) {
                let scores = self.scores.entry((index, verdict.mode)).or_default();
                scores.add(requirement, held, verdict, self.labels)?;
            }
        }
        for (name, given) in &verdict.criteria {
            self.add_detail(verdict, name, given);
            self.add_slices(verdict, name, given);
            let (place, line) = ((verdict.case.as_str(), name.as_str()), || case_line(verdict, name, given));
            if given.is_check() {
                self.add_check(verdict, name, given);
            } else if let Some(score) = given.score {
                self.worst.offer(score, place, line);
            }
            if let Some(disagreement) = given.disagreement.filter(|value| *value > 0.0) {
                self.disputed.offer(-disagreement, place, line);
            }
        }
        Ok(())
    }

    /// Cases of the input that have no verdict: missing in every mode, as theirs is not known.
    pub(super) fn add_unfinished(&mut self, cases: u64) {
        let missing = GateCase { score: GateScore::Missing, source: None, covered: false };
        for scores in self.scores.values_mut() {
            scores.cases.extend((0..cases).map(|_| missing));
        }
    }

    fn add_detail(&mut self, verdict: &CaseVerdict, name: &str, given: &CriterionVerdict) {
        let scale = || {
            let criterion = self.panel.rubric.criteria.iter().find(|criterion| criterion.name == name);
            criterion.map(|criterion| asked_scale(criterion, verdict.mode))
        };
        let detail = self.details.entry((verdict.mode, name.to_owned())).or_insert_with(|| Detail {
            histogram: [0; BINS],
            agreement: scale().as_ref().and_then(Agreement::of),
            calibration: BTreeMap::new(),
        });
        if let Some(count) = given.score.and_then(|score| detail.histogram.get_mut(bin(score))) {
            *count += 1;
        }
        if let Some(agreement) = &mut detail.agreement {
            agreement.add(&given.votes);
        }
        for vote in &given.votes {
            if let Some(count) = detail.calibration.get_mut(&vote.calibration) {
                *count += 1;
            } else {
                detail.calibration.insert(vote.calibration.clone(), 1);
            }
        }
    }

    fn add_check(&mut self, verdict: &CaseVerdict, name: &str, given: &CriterionVerdict) {
        if given.passed == Some(false) {
            let line = || FailedCheckLine {
                check: name.to_owned(),
                case: verdict.case.clone(),
                detail: given.detail.clone(),
            };
            self.failed_checks.offer(0.0, (name, verdict.case.as_str()), line);
        }
    }

    fn add_slices(&mut self, verdict: &CaseVerdict, name: &str, given: &CriterionVerdict) {
        for (by, value) in [("model", &verdict.model), ("source", &verdict.source)] {
            let Some(value) = value else { continue };
            let key = (by, value.clone(), name.to_owned(), verdict.mode);
            if self.slices.len() >= MOST_SLICES && !self.slices.contains_key(&key) {
                continue;
            }
            let slice = self.slices.entry(key).or_default();
            slice.cases += 1;
            if let Some(score) = given.score {
                slice.scored += 1;
                slice.sum += score;
            }
        }
    }

    pub(super) fn into_lists(self) -> Lists {
        let mut details = self.details;
        let criteria = self.summary.criteria.iter().map(|own| {
            let detail = details.remove(&(own.mode, own.criterion.clone()));
            let (histogram, agreement, calibration) = detail.map_or_else(
                || (vec![0; BINS], Vec::new(), BTreeMap::new()),
                |own| {
                    (
                        own.histogram.to_vec(),
                        own.agreement.map(Agreement::report).unwrap_or_default(),
                        own.calibration,
                    )
                },
            );
            CriterionReport {
                criterion: own.criterion.clone(),
                mode: own.mode,
                is_check: own.is_check,
                cases: own.cases,
                coverage: own.coverage(),
                mean: own.mean_score(),
                pass_rate: own.pass_rate(),
                a: own.a,
                b: own.b,
                ties: own.ties,
                mean_disagreement: own.mean_disagreement(),
                histogram,
                agreement,
                calibration,
            }
        });
        Lists {
            criteria: criteria.collect(),
            worst: self.worst.into_lines(),
            failed_checks: self.failed_checks.into_lines(),
            disputed: self.disputed.into_lines(),
            slices: shown_slices(self.slices),
        }
    }
}

/// The parts of a report that are lists.
pub(super) struct Lists {
    pub criteria: Vec<CriterionReport>,
    pub worst: Vec<CaseLine>,
    pub failed_checks: Vec<FailedCheckLine>,
    pub disputed: Vec<CaseLine>,
    pub slices: Vec<Slice>,
}

fn shown_slices(sums: BTreeMap<(&'static str, String, String, Mode), SliceSum>) -> Vec<Slice> {
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    let slice = |((by, name, criterion, mode), own): (_, SliceSum)| {
        let mean = (own.scored > 0).then(|| own.sum / own.scored as f64);
        let by: &'static str = by;
        Slice { by: by.to_owned(), name, criterion, mode, cases: own.cases, scored: own.scored, mean }
    };
    let mut slices: Vec<Slice> = sums.into_iter().map(slice).collect();
    let lowest = |slice: &Slice| slice.mean.unwrap_or(f64::INFINITY);
    slices.sort_by(|a, b| a.by.cmp(&b.by).then_with(|| lowest(a).total_cmp(&lowest(b))));
    let (mut models, mut sources): (Vec<Slice>, Vec<Slice>) =
        slices.into_iter().partition(|own| own.by == "model");
    models.truncate(SHOWN_SLICES);
    sources.truncate(SHOWN_SLICES);
    models.append(&mut sources);
    models
}

fn case_line(verdict: &CaseVerdict, name: &str, given: &CriterionVerdict) -> CaseLine {
    CaseLine {
        case: verdict.case.clone(),
        criterion: name.to_owned(),
        mode: verdict.mode,
        value: given.value.clone(),
        score: given.score,
        disagreement: given.disagreement,
        votes: given.votes.iter().map(|vote| (vote.judge.clone(), vote.value.clone())).collect(),
        escalated: verdict.escalated,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to 10, and a share is no smaller than 0"
)]
fn bin(score: f64) -> usize {
    ((score * 10.0) as usize).min(BINS - 1)
}
