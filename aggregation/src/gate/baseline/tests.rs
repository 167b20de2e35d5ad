use super::{
    BaselineError, BaselineGate, BaselineIdentity, BaselineOutcome, Claim, Compared, PairedCase,
    difference_gate, win_rate_gate,
};
use crate::estimate::{Decision, UndefinedReason};
use crate::gate::{GateCase, GateError, GateReason, GateScore};

fn identity() -> BaselineIdentity {
    BaselineIdentity::new("release 4", "9f2c").unwrap()
}

fn pair(candidate: f64, baseline: f64) -> PairedCase {
    PairedCase {
        candidate: GateScore::Known(candidate),
        baseline: GateScore::Known(baseline),
        source: None,
        covered: true,
    }
}

fn compare(claim: Claim, cases: &[PairedCase]) -> BaselineOutcome {
    let gate = BaselineGate { claim, ..BaselineGate::new(identity()) };
    difference_gate(&gate, &Compared { baseline: identity(), cases: cases.to_vec() }).unwrap()
}

const NEAR: Claim = Claim::NonInferior { margin: 0.05 };

fn check(claim: Claim, cases: &[PairedCase], decision: Decision, reason: GateReason) {
    let own = compare(claim, cases);
    assert_eq!((own.gate.decision, own.gate.reason), (decision, reason), "{own:?}");
}

#[test]
fn pairs_cancel_what_their_cases_share() {
    // Cases from very hard to very easy: two separate intervals would say nothing.
    let cases = |shift: f64| -> Vec<PairedCase> {
        (0..50_u32)
            .map(|i| {
                let base = 0.1 + f64::from(i) / 70.0;
                pair(base + shift + if i % 2 == 0 { 0.01 } else { -0.01 }, base)
            })
            .collect()
    };
    check(NEAR, &cases(0.0), Decision::Pass, GateReason::Decided);
    check(NEAR, &cases(-0.08), Decision::Fail, GateReason::Decided);
    check(Claim::Superior, &cases(0.02), Decision::Pass, GateReason::Decided);
    check(Claim::Superior, &cases(0.0), Decision::Inconclusive, GateReason::BoundsHoldThreshold);
    check(NEAR, &cases(0.0)[..29], Decision::Inconclusive, GateReason::TooFewCases);
    assert!((compare(NEAR, &cases(0.0)).detectable.unwrap() - 0.004).abs() < 0.001);
}

#[test]
fn equal_outputs_are_not_inferior_and_not_superior() {
    let same = [pair(0.7, 0.7); 40];
    check(NEAR, &same, Decision::Pass, GateReason::Decided);
    check(Claim::Superior, &same, Decision::Fail, GateReason::Decided);
    assert_eq!((compare(NEAR, &same).ties, compare(NEAR, &same).p_sign), (40, 1.0));
}

#[test]
fn a_case_without_either_score_is_missing_and_pending_ones_are_bounded() {
    let missing = PairedCase { baseline: GateScore::Missing, ..pair(0.9, 0.9) };
    let with = [vec![pair(0.9, 0.9); 95], vec![missing; 6]].concat();
    check(NEAR, &with, Decision::Inconclusive, GateReason::TooManyMissing);
    let pending = GateScore::Pending { score: 0.9, lowest: 0.0, highest: 1.0 };
    let open = PairedCase { candidate: pending, ..pair(0.9, 0.9) };
    let with = [vec![pair(0.9, 0.9); 40], vec![open; 10]].concat();
    check(NEAR, &with, Decision::Inconclusive, GateReason::PendingCouldChange);
    let (low, high) = compare(NEAR, &with).gate.pending_range.unwrap();
    assert!((low + 0.18).abs() < 1e-12 && (high - 0.02).abs() < 1e-12);
    let uncovered = PairedCase { covered: false, ..pair(0.9, 0.5) };
    let with = [vec![pair(0.5, 0.6); 10], vec![uncovered; 90]].concat();
    check(NEAR, &with, Decision::Inconclusive, GateReason::CoveredDecideOtherwise);
}

#[test]
fn binary_pairs_have_mc_nemar_and_superiority_must_pass_it() {
    let wins = |n: usize| [vec![pair(1.0, 0.0); n], vec![pair(1.0, 1.0); 100 - n]].concat();
    let own = compare(Claim::Superior, &wins(6));
    assert!((own.mc_nemar.unwrap().p_exact - 0.03125).abs() < 1e-12);
    check(Claim::Superior, &wins(6), Decision::Pass, GateReason::Decided);
    check(Claim::Superior, &wins(4), Decision::Inconclusive, GateReason::ExactTestDisagrees);
    assert_eq!(compare(NEAR, &[pair(0.5, 1.0); 30]).mc_nemar, None);
    let none = compare(NEAR, &[]);
    assert_eq!((none.mc_nemar, none.gate.estimate), (None, Err(UndefinedReason::Empty)));
}

#[test]
fn sources_widen_the_bounds() {
    let case = |i: u64, source: bool| {
        let preference = if (i / 10).is_multiple_of(2) { 1.0 } else { 0.25 };
        GateCase { score: GateScore::Known(preference), source: source.then_some(i / 10), covered: true }
    };
    let error = |source| {
        let cases = (0..100).map(|i| case(i, source)).collect();
        let compared = Compared { baseline: identity(), cases };
        let own = win_rate_gate(&BaselineGate::new(identity()), &compared).unwrap();
        assert_eq!((own.wins, own.losses), (50, 50));
        own.gate.bounds.unwrap().error
    };
    assert!(error(true) > 2.5 * error(false));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let gate = BaselineGate::new(identity());
    let other = BaselineIdentity::new("release 4", "aaaa").unwrap();
    let compared = Compared { baseline: other.clone(), cases: vec![pair(1.0, 1.0)] };
    let error = difference_gate(&gate, &compared).unwrap_err();
    assert_eq!(error, BaselineError::OtherBaseline { expected: identity(), got: other });
    assert!(error.to_string().contains("`release 4@aaaa`"), "{error}");
    assert_eq!(BaselineIdentity::new("", "9f2c").unwrap_err(), BaselineError::NoIdentity);
    let compared = Compared { baseline: identity(), cases: vec![pair(1.0, 1.0), pair(0.5, f64::NAN)] };
    let error = difference_gate(&gate, &compared).unwrap_err();
    assert!(matches!(error, BaselineError::Gate(GateError::Score { case: 1, .. })), "{error:?}");
    let bad = BaselineGate { claim: Claim::NonInferior { margin: -0.1 }, ..gate };
    let error = difference_gate(&bad, &compared).unwrap_err();
    assert!(matches!(error, BaselineError::Gate(GateError::Setting { name: "margin", .. })));
}
