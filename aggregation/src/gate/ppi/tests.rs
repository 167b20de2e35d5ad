use super::{Lambda, PpiCases, PpiError, PpiGate, ppi_gate, prediction_powered};
use crate::draw::Draw;
use crate::estimate::{Decision, UndefinedReason};
use crate::gate::{GateError, GateReason};

fn cases<'a>(human: &'a [f64], judge: &'a [f64], unlabelled: &'a [f64]) -> PpiCases<'a> {
    PpiCases { human, judge, unlabelled, weights: None }
}

/// People's scores around 0.8, the judges' 0.1 kinder, with noise from a seed.
fn biased(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut draw = Draw::new(seed, "biased judges");
    let mut share = || f64::from(u32::try_from(draw.below(1000)).unwrap()) / 1000.0;
    (0..n)
        .map(|_| {
            let human = 0.7 + 0.2 * share();
            (human, human + 0.1 + 0.02 * (share() - 0.5))
        })
        .unzip()
}

#[test]
fn the_judges_bias_is_taken_out_and_their_certainty_kept() {
    let (human, judge) = biased(60, 1);
    let (_, unlabelled) = biased(2000, 2);
    let own = prediction_powered(&cases(&human, &judge, &unlabelled), Lambda::Tuned).unwrap();
    assert!((own.judge_only - 0.9).abs() < 0.01 && (own.corrected.estimate - 0.8).abs() < 0.01, "{own:?}");
    assert!(own.corrected.error < own.human_only.error / 3.0, "{own:?}");
    let decide =
        |threshold| ppi_gate(&PpiGate::new(threshold), &cases(&human, &judge, &unlabelled), 0).unwrap();
    assert_eq!(decide(0.85).decision, Decision::Fail);
    assert_eq!(decide(0.78).decision, Decision::Pass);
    assert_eq!(decide(0.8).reason, GateReason::BoundsHoldThreshold);
}

#[test]
fn guards_make_a_decision_inconclusive() {
    let (human, judge) = biased(60, 1);
    let (_, unlabelled) = biased(200, 2);
    let reason = |n: usize, missing| {
        let cases = cases(&human[..n], &judge[..n], &unlabelled);
        let own = ppi_gate(&PpiGate::new(0.5), &cases, missing).unwrap();
        assert_eq!(own.decision == Decision::Inconclusive, own.reason != GateReason::Decided);
        own.reason
    };
    assert_eq!(reason(60, 0), GateReason::Decided);
    assert_eq!(reason(29, 0), GateReason::TooFewLabels);
    assert_eq!(reason(60, 14), GateReason::TooManyMissing);
    let none = ppi_gate(&PpiGate::new(0.5), &cases(&[], &[], &[]), 0).unwrap();
    assert_eq!((none.reason, none.estimate), (GateReason::NothingScored, Err(UndefinedReason::TooFew)));
    let alone = ppi_gate(&PpiGate::new(0.5), &cases(&human, &judge, &[]), 0).unwrap();
    assert_eq!(alone.reason, GateReason::NoVarianceEstimate);
}

#[test]
fn few_labels_widen_the_bounds() {
    let (human, judge) = biased(100, 1);
    let half = |n: usize| {
        let own =
            prediction_powered(&cases(&human[..n], &judge[..n], &[0.9, 0.8]), Lambda::Fixed(0.0)).unwrap();
        let bounds = own.bounds(0.95).unwrap();
        (bounds.upper - bounds.lower) / 2.0 / bounds.error
    };
    assert!((half(10) - 1.833_112_933).abs() < 1e-6 && (half(100) - 1.644_853_627).abs() < 1e-6);
    let own = prediction_powered(&cases(&human, &judge, &[0.9]), Lambda::Tuned).unwrap();
    assert_eq!((own.bounds(0.5), own.bounds(f64::NAN)), (None, None));
}

#[test]
fn weights_restore_the_mix_and_equal_ones_change_nothing() {
    let (human, judge) = ([1.0, 1.0, 0.0, 0.0], [0.9, 1.0, 0.1, 0.0]);
    let all = [0.9, 0.9, 0.95, 0.1];
    let with = |weights: Option<&[f64]>| {
        prediction_powered(&PpiCases { weights, ..cases(&human, &judge, &all) }, Lambda::Tuned).unwrap()
    };
    let (plain, equal) = (with(None), with(Some(&[2.0; 4])));
    assert!((plain.corrected.estimate - equal.corrected.estimate).abs() < 1e-15);
    assert!((plain.corrected.error - equal.corrected.error).abs() < 1e-15);
    assert!((with(Some(&[3.0, 3.0, 1.0, 1.0])).human_only.estimate - 0.75).abs() < 1e-15);
}

#[test]
fn bad_input_is_refused_by_its_index() {
    let refused = |cases: PpiCases<'_>| prediction_powered(&cases, Lambda::Tuned).unwrap_err();
    let error = refused(cases(&[0.5, 0.5], &[0.5], &[0.5]));
    assert_eq!(error, PpiError::UnequalLengths { list: "judge's score", human: 2, got: 1 });
    let error = refused(cases(&[0.5, f64::INFINITY], &[0.5, 0.5], &[0.5]));
    assert_eq!(error, PpiError::BadValue { list: "person's score", case: 1, value: f64::INFINITY });
    let weights: &[f64] = &[1.0, 0.0];
    let error = refused(PpiCases { weights: Some(weights), ..cases(&[0.5, 0.5], &[0.5, 0.5], &[0.5]) });
    assert_eq!(error, PpiError::BadValue { list: "weight", case: 1, value: 0.0 });
    assert_eq!(refused(cases(&[0.5], &[0.5], &[0.5])), UndefinedReason::TooFew.into());
    let own = cases(&[0.5, 0.6], &[0.5, 0.5], &[0.5]);
    let error = prediction_powered(&own, Lambda::Fixed(2.0)).unwrap_err();
    assert_eq!(error, PpiError::Gate(GateError::Setting { name: "lambda", value: 2.0 }));
    let error = ppi_gate(&PpiGate::new(f64::NAN), &own, 0).unwrap_err();
    assert!(matches!(error, PpiError::Gate(GateError::Setting { name: "threshold", .. })));
}
