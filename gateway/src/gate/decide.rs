//! One requirement on the scores of one mode, by the gate that suits its measure.

use aggregation::gate::{
    BaselineError, BaselineGate, BaselineIdentity, BaselineOutcome, Claim, Compared, GateBounds, GateCase,
    GateError, GateMeasure, GateOutcome, GateScore, PairedCase, PpiCases, PpiError, PpiGate, SkewGuard,
    ThresholdGate, difference_gate, ppi_gate, threshold_gate, win_rate_gate,
};

use super::explain::explain;
use super::extremes::Extremes;
use super::report::{Claimed, Comparison, Correction, Measure, Regression, RequirementReport};
use super::scores::{Scores, known};
use super::terms::{GateTerms, Requirement};
use crate::case::Mode;

/// One-sided, of each bound by itself.
const CONFIDENCE: f64 = 0.95;

/// Why scores make no gate.
#[derive(Debug, thiserror::Error)]
pub enum ScoreFault {
    #[error(transparent)]
    Threshold(#[from] GateError),
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    #[error(transparent)]
    Correction(#[from] PpiError),
}

/// What was decided, and on which cases the candidate does worse than its baseline.
pub(super) struct Decided {
    pub report: RequirementReport,
    pub regressions: Vec<Regression>,
}

/// The scores of a candidate, with those of its baseline where outputs were judged by themselves.
pub(super) struct Evidence<'a> {
    pub scores: &'a Scores,
    pub baseline: Option<&'a Scores>,
    pub identity: Option<&'a BaselineIdentity>,
    /// Whether code decides it, so that there is nothing that people could correct.
    pub is_check: bool,
}

pub(super) fn decide(
    requirement: &Requirement,
    mode: Mode,
    terms: &GateTerms,
    evidence: &Evidence<'_>,
) -> Result<Decided, ScoreFault> {
    let scores = evidence.scores;
    let measure = match requirement.measure {
        Measure::PassRate => GateMeasure::PassRate,
        Measure::Mean | Measure::WinRate | Measure::Difference => GateMeasure::Mean,
    };
    let (mut comparison, mut correction, mut regressions) = (None, None, Vec::new());
    let outcome = match requirement.measure {
        Measure::Mean | Measure::PassRate if terms.correct && !evidence.is_check => {
            let (outcome, own) = corrected(requirement, scores)?;
            correction = own;
            outcome
        }
        Measure::Mean | Measure::PassRate => {
            let gate = ThresholdGate {
                rule: terms.rule,
                min_n: terms.min_cases,
                confidence: CONFIDENCE,
                ..ThresholdGate::new(requirement.threshold, measure)
            };
            threshold_gate(&gate, &scores.cases)?
        }
        Measure::WinRate => {
            let gate = baseline_gate(terms, evidence)?;
            let cases = Compared { baseline: gate.baseline.clone(), cases: scores.cases.clone() };
            let outcome = win_rate_gate(&gate, &cases)?;
            comparison = Some(compared(terms, &outcome));
            outcome.gate
        }
        Measure::Difference => {
            let gate = baseline_gate(terms, evidence)?;
            let pairs = matched(requirement, evidence, &mut regressions);
            let outcome =
                difference_gate(&gate, &Compared { baseline: gate.baseline.clone(), cases: pairs })?;
            comparison = Some(compared(terms, &outcome));
            outcome.gate
        }
    };
    let outcome = within_range(requirement.measure, outcome);
    let report = RequirementReport {
        criterion: requirement.criterion.clone(),
        mode,
        measure: requirement.measure,
        threshold: requirement.threshold,
        decision: outcome.decision,
        reason: outcome.reason,
        explanation: explain(requirement, terms, &outcome),
        estimate: outcome.estimate.ok(),
        undefined: outcome.estimate.err().map(|reason| reason.to_string()),
        lower: outcome.bounds.ok().map(|bounds| bounds.lower),
        upper: outcome.bounds.ok().map(|bounds| bounds.upper),
        confidence: CONFIDENCE,
        n: outcome.n,
        clusters: outcome.clusters,
        n_pending: outcome.n_pending,
        n_missing: outcome.n_missing,
        pending_range: outcome.pending_range,
        needed_more: outcome.needed_more,
        failures: outcome.share.map(|share| share.failed),
        most_failures: outcome.share.map(|share| share.most_failures),
        comparison,
        correction,
    };
    Ok(Decided { report, regressions })
}

/// The bounds as they are shown: what lies outside the measure's range cannot be.
fn within_range(measure: Measure, outcome: GateOutcome) -> GateOutcome {
    let least = if measure == Measure::Difference { -1.0 } else { 0.0 };
    let bounds = outcome.bounds.map(|own| GateBounds {
        lower: own.lower.clamp(least, 1.0),
        upper: own.upper.clamp(least, 1.0),
        ..own
    });
    GateOutcome { bounds, ..outcome }
}

fn baseline_gate(terms: &GateTerms, evidence: &Evidence<'_>) -> Result<BaselineGate, BaselineError> {
    let identity = evidence.identity.cloned().ok_or(BaselineError::NoIdentity)?;
    Ok(BaselineGate {
        claim: terms.claim,
        rule: terms.rule,
        confidence: CONFIDENCE,
        min_n: terms.min_cases,
        skew: SkewGuard::OneMore,
        ..BaselineGate::new(identity)
    })
}

fn compared(terms: &GateTerms, outcome: &BaselineOutcome) -> Comparison {
    Comparison {
        claim: match terms.claim {
            Claim::NonInferior { .. } => Claimed::NonInferior,
            Claim::Superior => Claimed::Superior,
        },
        wins: outcome.wins,
        ties: outcome.ties,
        losses: outcome.losses,
        p_sign: outcome.p_sign,
        detectable: outcome.detectable,
    }
}

/// Both scores of each case; one that only one of the runs has is missing.
fn matched(
    requirement: &Requirement,
    evidence: &Evidence<'_>,
    regressions: &mut Vec<Regression>,
) -> Vec<PairedCase> {
    let missing = GateCase { score: GateScore::Missing, source: None, covered: false };
    let mut pinned: std::collections::HashMap<&str, GateCase> = evidence
        .baseline
        .map(|scores| scores.names.iter().map(String::as_str).zip(scores.cases.iter().copied()).collect())
        .unwrap_or_default();
    let mut worse = Extremes::new();
    let mut pairs = Vec::with_capacity(evidence.scores.cases.len());
    for (place, own) in evidence.scores.cases.iter().enumerate() {
        // Unfinished cases have no name.
        let name = evidence.scores.names.get(place).map(String::as_str);
        let other = name.and_then(|name| pinned.remove(name)).unwrap_or(missing);
        if let (Some(name), Some(candidate), Some(baseline)) = (name, known(own.score), known(other.score))
            && candidate < baseline
        {
            let line = || Regression {
                case: name.to_owned(),
                criterion: requirement.criterion.clone(),
                candidate,
                baseline,
            };
            worse.offer(candidate - baseline, (name, &requirement.criterion), line);
        }
        let covered = own.covered && other.covered;
        pairs.push(PairedCase { candidate: own.score, baseline: other.score, source: own.source, covered });
    }
    *regressions = worse.into_lines();
    pairs
}

/// The mean of the judges' scores, corrected by people's.
fn corrected(
    requirement: &Requirement,
    scores: &Scores,
) -> Result<(GateOutcome, Option<Correction>), PpiError> {
    let n = scores.human.len() + scores.unlabelled.len();
    let n_missing = scores.cases.len() - n.min(scores.cases.len());
    let cases = PpiCases {
        human: &scores.human,
        judge: &scores.judge,
        unlabelled: &scores.unlabelled,
        weights: (!scores.weights.is_empty()).then_some(scores.weights.as_slice()),
    };
    let gate = PpiGate { confidence: CONFIDENCE, ..PpiGate::new(requirement.threshold) };
    let own = ppi_gate(&gate, &cases, n_missing)?;
    let outcome = GateOutcome {
        decision: own.decision,
        reason: own.reason,
        estimate: own.estimate.map(|known| known.corrected.estimate),
        bounds: own.bounds,
        n,
        clusters: n,
        n_pending: 0,
        n_missing,
        pending_range: None,
        needed_more: None,
        share: None,
    };
    let correction = own.estimate.ok().map(|known| Correction {
        judge_only: known.judge_only,
        human_only: known.human_only.estimate,
        lambda: known.lambda,
        labelled: known.n_labelled,
        unlabelled: known.n_unlabelled,
    });
    Ok((outcome, correction))
}
