use super::{GateCase, GateError, GateMeasure, GateRule, GateScore, ThresholdGate, threshold_gate};
use crate::draw::Draw;
use crate::estimate::Decision;
use crate::gate::GateReason;

fn known(score: f64) -> GateCase {
    GateCase { score: GateScore::Known(score), source: None, covered: true }
}

const MISSING: GateCase = GateCase { score: GateScore::Missing, source: None, covered: false };

fn around(centre: f64, n: usize) -> Vec<GateCase> {
    (0..n).map(|i| known(centre + if i % 2 == 0 { 0.02 } else { -0.02 })).collect()
}

fn check(cases: &[GateCase], decision: Decision, reason: GateReason) {
    let outcome = threshold_gate(&ThresholdGate::new(0.85, GateMeasure::Mean), cases).unwrap();
    assert_eq!((outcome.decision, outcome.reason), (decision, reason), "{outcome:?}");
}

#[test]
fn guards_make_a_decision_inconclusive() {
    check(&around(0.9, 100), Decision::Pass, GateReason::Decided);
    check(&around(0.8, 100), Decision::Fail, GateReason::Decided);
    check(&around(0.851, 100), Decision::Inconclusive, GateReason::BoundsHoldThreshold);
    check(&around(0.9, 29), Decision::Inconclusive, GateReason::TooFewCases);
    check(&[MISSING; 3], Decision::Inconclusive, GateReason::NothingScored);
    let with = |more: usize| [around(0.9, 95), vec![MISSING; more]].concat();
    check(&with(5), Decision::Pass, GateReason::Decided);
    check(&with(6), Decision::Inconclusive, GateReason::TooManyMissing);
    let one = |score| GateCase { source: Some(1), ..known(score) };
    check(&[one(0.9); 40], Decision::Inconclusive, GateReason::NoVarianceEstimate);
    check(&[known(0.85); 40], Decision::Pass, GateReason::Decided);
}

#[test]
fn pending_cases_and_uncovered_ones_may_not_decide() {
    let pending = |lowest| GateCase {
        score: GateScore::Pending { score: 0.9, lowest, highest: 1.0 },
        source: None,
        covered: true,
    };
    let with = |lowest| [around(0.9, 90), vec![pending(lowest); 10]].concat();
    check(&with(0.8), Decision::Pass, GateReason::Decided);
    check(&with(0.0), Decision::Inconclusive, GateReason::PendingCouldChange);
    let uncovered = |score| GateCase { covered: false, ..known(score) };
    check(
        &[around(0.7, 10), vec![uncovered(0.95); 90]].concat(),
        Decision::Inconclusive,
        GateReason::CoveredDecideOtherwise,
    );
}

#[test]
fn bad_input_is_refused_by_its_index() {
    let gate = ThresholdGate::new(0.85, GateMeasure::Mean);
    let error = threshold_gate(&gate, &[known(0.5), known(1.5)]).unwrap_err();
    assert_eq!(error, GateError::Score { case: 1, value: 1.5 });
    let score = GateScore::Pending { score: 0.5, lowest: 0.6, highest: 0.4 };
    let error = threshold_gate(&gate, &[GateCase { score, ..MISSING }]).unwrap_err();
    assert_eq!(error, GateError::PendingRange { case: 0 });
    let error = threshold_gate(&ThresholdGate::new(85.0, GateMeasure::Mean), &[]).unwrap_err();
    assert_eq!(error, GateError::Setting { name: "threshold", value: 85.0 });
}

#[test]
fn the_plain_rule_compares_the_estimate_and_still_counts_missing_cases() {
    let gate = ThresholdGate { rule: GateRule::Point, ..ThresholdGate::new(0.85, GateMeasure::Mean) };
    assert_eq!(threshold_gate(&gate, &[known(0.85)]).unwrap().decision, Decision::Pass);
    assert_eq!(threshold_gate(&gate, &[known(0.84)]).unwrap().decision, Decision::Fail);
    assert_eq!(threshold_gate(&gate, &[known(0.9), MISSING]).unwrap().reason, GateReason::TooManyMissing);
}

/// Scores that are 0.7 or 1.0, so that their mean is 0.85 exactly; sources of four share theirs.
fn false_passes(measure: GateMeasure, clustered: bool, outages: bool) -> usize {
    let mut draw = Draw::new(7, "false passes");
    let gate = ThresholdGate::new(if measure == GateMeasure::Mean { 0.85 } else { 0.5 }, measure);
    let mut one_run = || {
        let mut cases = Vec::new();
        let mut high = false;
        for i in 0..200_u64 {
            if !clustered || i % 4 == 0 {
                high = draw.below(2) == 1;
            }
            let score = match (measure, high) {
                (GateMeasure::Mean | GateMeasure::PassRate, true) => 1.0,
                (GateMeasure::Mean, false) => 0.7,
                (GateMeasure::PassRate, false) => 0.0,
            };
            let lost = outages && draw.below(25) == 0;
            let score = if lost { GateScore::Missing } else { GateScore::Known(score) };
            cases.push(GateCase { score, source: clustered.then_some(i / 4), covered: !lost });
        }
        threshold_gate(&gate, &cases).unwrap().decision == Decision::Pass
    };
    (0..2000).filter(|_| one_run()).count()
}

#[test]
fn at_the_threshold_it_passes_in_one_of_twenty_draws_at_most() {
    // 5 % of 2000 and three standard deviations of the draw.
    let most = 100 + 30;
    for measure in [GateMeasure::Mean, GateMeasure::PassRate] {
        for clustered in [false, true] {
            for outages in [false, true] {
                let passes = false_passes(measure, clustered, outages);
                assert!(passes <= most, "{measure:?} {clustered} {outages}: {passes}");
            }
        }
    }
}
