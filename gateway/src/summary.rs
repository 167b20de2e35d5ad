//! A run in constant memory: coverage beside every mean, abstentions by judge and kind.

use std::collections::BTreeMap;

use aggregation::verdict::EscalationReason;
use serde::Serialize;

use crate::case::Mode;
use crate::repeats::Repeats;
use crate::verdict::{AbstentionKind, AbstentionReport, CaseVerdict, CriterionVerdict};

/// Warnings that are kept word for word; more kinds are counted only.
const MAX_WARNINGS: usize = 100;

/// Failures of one judge that are kept word for word.
const MAX_FAILURES: usize = 5;

#[derive(Debug, Clone, Default, Serialize)]
pub struct RunSummary {
    pub cases: u64,
    /// Cases whose verdict could not be recorded.
    pub errors: u64,
    /// Cases that were finished before an interruption.
    pub stored: u64,
    pub escalated: u64,
    /// A case may have several reasons.
    pub escalation_reasons: BTreeMap<EscalationReason, u64>,
    /// Cases with a missing value on some criterion that judges are asked about.
    pub undecided: u64,
    /// Of these, cases that failed a required check, so that no judge was asked.
    pub failed_check: u64,
    pub criteria: Vec<CriterionSummary>,
    pub judges: BTreeMap<String, JudgeSummary>,
    /// US dollars; null when one verdict's cost is unknown.
    pub cost_usd: Option<f64>,
    pub calls_asked: u64,
    pub calls_reused: u64,
    pub calls_retried: u64,
    pub calls_repaired: u64,
    /// Each warning once, with how many verdicts carry it.
    pub warnings: BTreeMap<String, u64>,
    /// What a run that judges its cases several times shows of its judges.
    #[serde(rename = "repeatability", skip_serializing_if = "Repeats::is_empty")]
    pub repeats: Repeats,
}

/// One criterion in one mode: modes are never mixed in a mean.
#[derive(Debug, Clone, Serialize)]
pub struct CriterionSummary {
    pub mode: Mode,
    pub criterion: String,
    /// Whether code decides it, and no judge.
    pub is_check: bool,
    pub cases: u64,
    /// Cases that have a value; the mean is over these.
    pub with_value: u64,
    /// Cases without a value because a required check failed.
    pub failed_check: u64,
    /// Cases that have a score; nominal values have none.
    pub scored: u64,
    #[serde(skip)]
    score_sum: f64,
    /// Cases with a pass threshold and a value.
    pub rated_for_pass: u64,
    pub passed: u64,
    pub a: u64,
    pub b: u64,
    pub ties: u64,
    #[serde(skip)]
    disagreement_sum: f64,
    #[serde(skip)]
    disagreements: u64,
    pub order_inconsistent: u64,
}

/// One judge over the run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct JudgeSummary {
    pub votes: u64,
    pub expected: u64,
    pub fallbacks: u64,
    pub order_inconsistent: u64,
    pub order_measured: u64,
    pub abstentions: BTreeMap<AbstentionKind, u64>,
    /// What kept it from answering, each with how many votes are missing for it; the first few kinds only.
    pub failures: BTreeMap<String, u64>,
}

impl RunSummary {
    pub fn new() -> Self {
        Self { cost_usd: Some(0.0), ..Self::default() }
    }

    pub fn add(&mut self, verdict: &CaseVerdict, was_stored: bool) {
        self.cases += 1;
        self.stored += u64::from(was_stored);
        self.escalated += u64::from(verdict.escalated);
        for reason in &verdict.escalation_reasons {
            *self.escalation_reasons.entry(*reason).or_default() += 1;
        }
        self.repeats.add(verdict);
        self.undecided += u64::from(!verdict.is_decided());
        self.failed_check += u64::from(verdict.judged().any(CriterionVerdict::is_unasked));
        for (name, criterion) in &verdict.criteria {
            self.criterion(verdict.mode, name).add(criterion);
            self.add_judges(criterion);
        }
        self.cost_usd = self.cost_usd.zip(verdict.cost_usd).map(|(sum, cost)| sum + cost);
        self.calls_asked += u64::from(verdict.calls.asked);
        self.calls_reused += u64::from(verdict.calls.reused);
        self.calls_retried += u64::from(verdict.calls.retried);
        self.calls_repaired += u64::from(verdict.calls.repaired);
        for warning in &verdict.warnings {
            if let Some(count) = self.warnings.get_mut(warning) {
                *count += 1;
            } else if self.warnings.len() < MAX_WARNINGS {
                self.warnings.insert(warning.clone(), 1);
            }
        }
    }

    /// A case whose verdict could not be recorded.
    pub fn add_error(&mut self) {
        self.cases += 1;
        self.errors += 1;
        self.undecided += 1;
    }

    /// Votes of all judges together.
    pub fn votes(&self) -> u64 {
        self.judges.values().map(|judge| judge.votes).sum()
    }

    /// Whether any case has a value on a criterion that judges are asked about, or failed a check that spared the question.
    pub fn has_values(&self) -> bool {
        let mut judged = self.criteria.iter().filter(|criterion| !criterion.is_check);
        judged.any(|criterion| criterion.with_value > 0 || criterion.failed_check > 0)
    }

    /// Whether every missing vote is one that a working judge would have given: nobody answered at all.
    pub fn is_silent(&self) -> bool {
        let asked_in_vain = self.judges.values().flat_map(|judge| &judge.abstentions).any(|(kind, count)| {
            *count > 0
                && matches!(
                    kind,
                    AbstentionKind::Unavailable | AbstentionKind::TimedOut | AbstentionKind::RateLimited
                )
        });
        let any_reply = self.judges.values().any(|judge| {
            judge.votes > 0
                || judge.abstentions.keys().any(|kind| {
                    matches!(
                        kind,
                        AbstentionKind::Refused | AbstentionKind::Unparseable | AbstentionKind::Unsupported
                    )
                })
        });
        asked_in_vain && !any_reply
    }

    fn criterion(&mut self, mode: Mode, name: &str) -> &mut CriterionSummary {
        let place = self.criteria.iter().position(|c| c.mode == mode && c.criterion == name);
        let index = place.unwrap_or_else(|| {
            self.criteria.push(CriterionSummary::new(mode, name));
            self.criteria.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the index was found or pushed just above")]
        &mut self.criteria[index]
    }

    fn add_judges(&mut self, criterion: &CriterionVerdict) {
        for vote in &criterion.votes {
            let judge = self.judges.entry(vote.judge.clone()).or_default();
            judge.votes += 1;
            judge.expected += u64::from(vote.scoring == aggregation::vote::Scoring::Expected);
            judge.fallbacks += u64::from(vote.fallback);
            if let Some(is_consistent) = vote.order_consistent {
                judge.order_measured += 1;
                judge.order_inconsistent += u64::from(!is_consistent);
            }
        }
        for abstention in &criterion.abstentions {
            let judge = self.judges.entry(abstention.judge.clone()).or_default();
            *judge.abstentions.entry(abstention.kind).or_default() += 1;
            judge.add_failure(abstention);
        }
    }
}

impl JudgeSummary {
    fn add_failure(&mut self, abstention: &AbstentionReport) {
        let is_failure = match abstention.kind {
            AbstentionKind::Unavailable | AbstentionKind::RateLimited | AbstentionKind::TimedOut => true,
            AbstentionKind::Refused
            | AbstentionKind::Unparseable
            | AbstentionKind::Unsupported
            | AbstentionKind::TooLong
            | AbstentionKind::OverBudget
            | AbstentionKind::Excluded => false,
        };
        let Some(detail) = abstention.detail.as_ref().filter(|_| is_failure) else { return };
        if let Some(count) = self.failures.get_mut(detail) {
            *count += 1;
        } else if self.failures.len() < MAX_FAILURES {
            self.failures.insert(detail.clone(), 1);
        }
    }
}

impl CriterionSummary {
    fn new(mode: Mode, criterion: &str) -> Self {
        Self {
            mode,
            criterion: criterion.to_owned(),
            is_check: false,
            cases: 0,
            with_value: 0,
            failed_check: 0,
            scored: 0,
            score_sum: 0.0,
            rated_for_pass: 0,
            passed: 0,
            a: 0,
            b: 0,
            ties: 0,
            disagreement_sum: 0.0,
            disagreements: 0,
            order_inconsistent: 0,
        }
    }

    fn add(&mut self, criterion: &CriterionVerdict) {
        use aggregation::scale::Preference;
        self.cases += 1;
        self.is_check = criterion.is_check();
        self.failed_check += u64::from(criterion.is_unasked());
        if criterion.value.is_some() {
            self.with_value += 1;
        }
        if let Some(score) = criterion.score {
            self.scored += 1;
            self.score_sum += score;
        }
        if let Some(passed) = criterion.passed {
            self.rated_for_pass += 1;
            self.passed += u64::from(passed);
        }
        match criterion.preference {
            Some(Preference::A) => self.a += 1,
            Some(Preference::B) => self.b += 1,
            Some(Preference::Tie) => self.ties += 1,
            None => {}
        }
        if let Some(disagreement) = criterion.disagreement {
            self.disagreements += 1;
            self.disagreement_sum += disagreement;
        }
        self.order_inconsistent += u64::from(criterion.order_consistent == Some(false));
    }

    /// Share of cases that have a value; `None` without cases.
    pub fn coverage(&self) -> Option<f64> {
        share(self.with_value, self.cases)
    }

    /// Mean of score01 over the cases that have one.
    pub fn mean_score(&self) -> Option<f64> {
        mean(self.score_sum, self.scored)
    }

    pub fn mean_disagreement(&self) -> Option<f64> {
        mean(self.disagreement_sum, self.disagreements)
    }

    pub fn pass_rate(&self) -> Option<f64> {
        share(self.passed, self.rated_for_pass)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn mean(sum: f64, n: u64) -> Option<f64> {
    (n > 0).then(|| sum / n as f64)
}
