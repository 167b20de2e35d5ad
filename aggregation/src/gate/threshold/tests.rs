use super::{GateError, GateMeasure, ThresholdGate, threshold_gate};
use crate::estimate::Decision;
use crate::gate::{GateCase, GateReason, GateRule, GateScore, SkewGuard};

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

#[test]
fn scores_that_do_not_vary_decide_by_themselves() {
    // No variation leaves nothing to doubt: 0.85 however often, and however it was added up, reaches 0.85.
    check(&[known(0.85); 40], Decision::Pass, GateReason::Decided);
    check(&[known(0.1 + 0.2 + 0.55); 40], Decision::Pass, GateReason::Decided);
    check(&[known(0.849); 40], Decision::Fail, GateReason::Decided);
    // A mean of exactly 0.85 with variation is not known to reach it; the plain rule takes it as it is.
    let halves: Vec<GateCase> = (0..40).map(|i| known(if i % 2 == 0 { 0.8 } else { 0.9 })).collect();
    check(&halves, Decision::Inconclusive, GateReason::BoundsHoldThreshold);
    let gate = ThresholdGate { rule: GateRule::Point, ..ThresholdGate::new(0.85, GateMeasure::Mean) };
    assert_eq!(threshold_gate(&gate, &halves).unwrap().decision, Decision::Pass);
    // All at the end of the scale may be a share of passes without a failure so far: 40 do not show 0.95, 59 do.
    let gate = ThresholdGate::new(0.95, GateMeasure::Mean);
    let all = |n| threshold_gate(&gate, &vec![known(1.0); n]).unwrap();
    assert_eq!((all(40).reason, all(59).decision), (GateReason::OneMoreCouldChange, Decision::Pass));
}

#[test]
fn one_more_of_the_worst_may_not_change_a_decision() {
    let with = |n: usize| [around(0.869, n), vec![known(0.5)]].concat();
    check(&with(60), Decision::Inconclusive, GateReason::OneMoreCouldChange);
    check(&with(200), Decision::Pass, GateReason::Decided);
    let gate = ThresholdGate { skew: SkewGuard::None, ..ThresholdGate::new(0.85, GateMeasure::Mean) };
    assert_eq!(threshold_gate(&gate, &with(60)).unwrap().decision, Decision::Pass);
}

#[test]
fn no_number_of_cases_shows_that_all_pass() {
    let gate = ThresholdGate::new(1.0, GateMeasure::PassRate);
    let all = threshold_gate(&gate, &vec![known(1.0); 60]).unwrap();
    assert_eq!((all.decision, all.needed_more), (Decision::Inconclusive, None));
    let one_fails = [vec![known(1.0); 59], vec![known(0.0)]].concat();
    assert_eq!(threshold_gate(&gate, &one_fails).unwrap().decision, Decision::Fail);
}

#[test]
fn no_failure_leaves_about_three_in_n() {
    let rate = |passed: usize, failed: usize| {
        let cases = [vec![known(1.0); passed], vec![known(0.0); failed]].concat();
        threshold_gate(&ThresholdGate::new(0.95, GateMeasure::PassRate), &cases).unwrap()
    };
    let share = rate(100, 0).share.unwrap();
    assert_eq!((share.passed, share.failed), (100, 0));
    assert!((share.most_failures - 0.0295).abs() < 1e-4 && share.interval.lo > 0.95, "{share:?}");
    assert_eq!((rate(58, 0).decision, rate(59, 0).decision), (Decision::Inconclusive, Decision::Pass));
    assert_eq!(rate(58, 0).needed_more, Some(1));
    assert_eq!(rate(30, 0).needed_more, Some(29));
    assert!(rate(97, 3).needed_more.is_some_and(|more| (100..400).contains(&more)), "{:?}", rate(97, 3));
    let gate = ThresholdGate::new(0.95, GateMeasure::Mean);
    assert_eq!(threshold_gate(&gate, &[known(0.5)]).unwrap().share, None);
}

#[test]
fn passes_of_few_sources_are_as_sure_as_so_many_cases() {
    let of = |sources: u64| {
        let case = |i: u64| GateCase { source: Some(i % sources), ..known(1.0) };
        let cases: Vec<GateCase> = (0..100).map(case).collect();
        threshold_gate(&ThresholdGate::new(0.85, GateMeasure::PassRate), &cases).unwrap()
    };
    assert_eq!(of(5).decision, Decision::Inconclusive);
    assert!((of(5).bounds.unwrap().lower - 0.05_f64.powf(0.2)).abs() < 1e-12);
    assert_eq!(of(50).decision, Decision::Pass);
}
