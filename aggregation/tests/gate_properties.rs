//! Laws of gates, for any scores.

#![expect(clippy::unwrap_used, reason = "test: a fault here fails it")]

use aggregation::Decision;
use aggregation::drift::{
    AuditedKappa, Cusum, CusumSettings, KappaAuditSettings, PageHinkley, PageHinkleySettings, Reference,
    SentinelCase, SentinelSettings, TwoWindowsSettings, kappa_audit, sentinel, two_windows,
};
use aggregation::gate::{
    BaselineError, BaselineGate, BaselineIdentity, Compared, GateCase, GateError, GateMeasure, GateOutcome,
    GateReason, GateRule, GateScore, PairedCase, PpiCases, PpiError, PpiGate, SkewGuard, ThresholdGate,
    difference_gate, ppi_gate, threshold_gate, win_rate_gate,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{
    BoxedStrategy, Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

fn any_number() -> BoxedStrategy<f64> {
    prop_oneof![6 => 0.0..1.0, 1 => any::<f64>(), 1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-0.1)]]
        .boxed()
}

fn score() -> BoxedStrategy<GateScore> {
    let fine = || prop_oneof![3 => (0..5_u8).prop_map(|step| f64::from(step) / 4.0), 1 => 0.0..1.0];
    prop_oneof![
        12 => fine().prop_map(GateScore::Known),
        1 => (fine(), fine(), fine()).prop_map(|(a, b, c)| {
            let mut three = [a, b, c];
            three.sort_by(f64::total_cmp);
            GateScore::Pending { lowest: three[0], score: three[1], highest: three[2] }
        }),
        1 => Just(GateScore::Missing),
    ]
    .boxed()
}

fn cases() -> BoxedStrategy<Vec<GateCase>> {
    let case = (score(), option::weighted(0.3, 0..8_u64), proptest::bool::weighted(0.9));
    vec(case.prop_map(|(score, source, covered)| GateCase { score, source, covered }), 0..80).boxed()
}

fn gates() -> BoxedStrategy<ThresholdGate> {
    (0.0..=1.0, any::<bool>(), any::<bool>(), any::<bool>(), prop_oneof![Just(0_usize), Just(30)])
        .prop_map(|(threshold, is_mean, is_point, is_bare, min_n)| ThresholdGate {
            rule: if is_point { GateRule::Point } else { GateRule::ThreeState },
            skew: if is_bare { SkewGuard::None } else { SkewGuard::OneMore },
            min_n,
            ..ThresholdGate::new(threshold, if is_mean { GateMeasure::Mean } else { GateMeasure::PassRate })
        })
        .boxed()
}

/// Fail, then inconclusive, then pass.
fn rank(decision: Decision) -> u8 {
    match decision {
        Decision::Fail => 0,
        Decision::Inconclusive => 1,
        Decision::Pass => 2,
    }
}

fn decide(gate: &ThresholdGate, cases: &[GateCase]) -> GateOutcome {
    threshold_gate(gate, cases).unwrap()
}

fn numbers(own: &GateOutcome) -> Vec<f64> {
    let bounds = own.bounds.map(|own| vec![own.error, own.lower, own.upper]).unwrap_or_default();
    let range = own.pending_range.map(|(low, high)| vec![low, high]).unwrap_or_default();
    own.estimate.into_iter().chain(bounds).chain(range).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_higher_threshold_never_turns_fail_into_pass(gate in gates(), cases in cases(), more in 0.0..=1.0) {
        let higher = ThresholdGate { threshold: gate.threshold + more * (1.0 - gate.threshold), ..gate };
        let (low, high) = (decide(&gate, &cases), decide(&higher, &cases));
        prop_assert!(low.decision != Decision::Fail || high.decision != Decision::Pass);
        // Stronger where no pending or uncovered case takes part: the decision never rises.
        let is_plain = cases.iter().all(|case| case.covered && !matches!(case.score, GateScore::Pending { .. }));
        prop_assert!(!is_plain || rank(high.decision) <= rank(low.decision), "{low:?} {high:?}");
    }

    #[test]
    fn a_perfect_case_never_lowers_the_estimate(gate in gates(), cases in cases()) {
        let perfect = GateCase { score: GateScore::Known(1.0), source: None, covered: true };
        let with = decide(&gate, &[cases.clone(), vec![perfect]].concat());
        let without = decide(&gate, &cases);
        prop_assert!(without.estimate.is_err() || with.estimate.unwrap() >= without.estimate.unwrap() - 1e-12);
        // The lower bound of a share rises with it as well; a mean's may fall, since the scores then vary more.
        let is_apart = cases.iter().all(|case| case.source.is_none());
        if let (GateMeasure::PassRate, true, Ok(before), Ok(after)) = (gate.measure, is_apart, without.bounds, with.bounds) {
            prop_assert!(after.lower >= before.lower - 1e-9, "{before:?} {after:?}");
        }
    }

    #[test]
    fn the_order_of_cases_moves_no_more_than_rounding(gate in gates(), cases in cases(), turn in 0..80_usize) {
        let mut turned = cases.clone();
        let middle = turn.min(turned.len());
        turned.rotate_left(middle);
        turned.reverse();
        let (one, other) = (decide(&gate, &cases), decide(&gate, &turned));
        prop_assert_eq!((one.n, one.clusters, one.n_missing), (other.n, other.clusters, other.n_missing));
        for (a, b) in numbers(&one).into_iter().zip(numbers(&other)) {
            prop_assert!((a - b).abs() <= 1e-9, "{one:?} {other:?}");
        }
    }

    #[test]
    fn losing_cases_moves_the_estimate_by_no_more_than_their_share(
        gate in gates(), cases in cases(), lost in vec(any::<bool>(), 80),
    ) {
        let hide = |(case, is_lost): (&GateCase, &bool)| {
            if *is_lost { GateCase { score: GateScore::Missing, covered: false, ..*case } } else { *case }
        };
        let fewer: Vec<GateCase> = cases.iter().zip(&lost).map(hide).collect();
        let (all, some) = (decide(&gate, &cases), decide(&gate, &fewer));
        if let (Ok(before), Ok(after)) = (all.estimate, some.estimate) {
            let share = f64::from(u32::try_from(all.n - some.n).unwrap()) / f64::from(u32::try_from(all.n).unwrap());
            prop_assert!((after - before).abs() <= share + 1e-12, "{before} {after} {share}");
        }
        // And beyond a twentieth they decide nothing.
        if some.n_missing * 20 > cases.len() {
            prop_assert_eq!(some.decision, Decision::Inconclusive);
        }
    }

    #[test]
    fn decided_means_decided(gate in gates(), cases in cases()) {
        let own = decide(&gate, &cases);
        prop_assert_eq!(own.decision == Decision::Inconclusive, own.reason != GateReason::Decided);
        prop_assert!(own.decision == Decision::Inconclusive || own.needed_more.is_none());
        prop_assert!(numbers(&own).iter().all(|number| number.is_finite()), "{own:?}");
        if let Ok(bounds) = own.bounds {
            let mean = own.estimate.unwrap();
            prop_assert!(bounds.lower <= mean + 1e-12 && mean <= bounds.upper + 1e-12, "{own:?}");
        }
    }

    #[test]
    fn bad_scores_are_refused_by_the_first_index(scores in vec(any_number(), 0..40), threshold in any_number()) {
        let cases: Vec<GateCase> = scores
            .iter()
            .map(|score| GateCase { score: GateScore::Known(*score), source: None, covered: true })
            .collect();
        let bad = scores.iter().position(|score| !(0.0..=1.0).contains(score));
        let refused = |error: GateError| match error {
            GateError::Score { case, .. } => Some(case) == bad,
            GateError::Setting { name, .. } => name == "threshold" && !(0.0..=1.0).contains(&threshold),
            GateError::PendingRange { .. } => false,
        };
        for measure in [GateMeasure::Mean, GateMeasure::PassRate] {
            match threshold_gate(&ThresholdGate::new(threshold, measure), &cases) {
                Ok(own) => prop_assert!(bad.is_none() && numbers(&own).iter().all(|number| number.is_finite())),
                Err(error) => prop_assert!(refused(error), "{error:?}"),
            }
        }
        let baseline = BaselineIdentity::new("pinned", "1").unwrap();
        let gate = BaselineGate::new(baseline.clone());
        let paired = cases.iter().map(|case| PairedCase {
            candidate: GateScore::Known(0.5), baseline: case.score, source: None, covered: true,
        });
        let compared = Compared { baseline: baseline.clone(), cases: paired.collect() };
        for outcome in [win_rate_gate(&gate, &Compared { baseline, cases }), difference_gate(&gate, &compared)] {
            match outcome {
                Ok(own) => prop_assert!(bad.is_none() && numbers(&own.gate).iter().all(|number| number.is_finite())),
                Err(BaselineError::Gate(error)) => prop_assert!(refused(error), "{error:?}"),
                Err(error) => prop_assert!(false, "{error:?}"),
            }
        }
    }

    #[test]
    fn corrected_means_are_finite_or_refused(
        pairs in vec((any_number(), any_number(), any_number()), 0..40),
        unlabelled in vec(any_number(), 0..40), weighted in any::<bool>(), missing in 0..5_usize,
    ) {
        let list = |part: fn(&(f64, f64, f64)) -> f64| pairs.iter().map(part).collect::<Vec<f64>>();
        let (human, judge, weights) = (list(|p| p.0), list(|p| p.1), list(|p| p.2));
        let cases = PpiCases { human: &human, judge: &judge, unlabelled: &unlabelled, weights: weighted.then_some(&weights) };
        match ppi_gate(&PpiGate::new(0.5), &cases, missing) {
            Ok(own) => {
                if let Ok(bounds) = own.bounds {
                    prop_assert!(bounds.lower <= bounds.upper, "{own:?}");
                }
                prop_assert!(own.bounds.is_ok() || own.decision == Decision::Inconclusive);
            }
            Err(PpiError::BadValue { value, .. }) => prop_assert!(!value.is_finite() || value <= 0.0),
            Err(error) => prop_assert!(false, "{error:?}"),
        }
    }

    #[test]
    fn watching_for_drift_never_panics_and_computes_no_nan(
        x in vec(any_number(), 0..120), y in vec(any_number(), 0..120), kappas in vec(any_number(), 4),
    ) {
        let is_fine = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let windows = two_windows(&x, &y, TwoWindowsSettings { min_scores: 1, ..TwoWindowsSettings::default() });
        prop_assert_eq!(windows.is_ok(), is_fine(&x) && is_fine(&y));
        if let Ok(test) = windows.map_or(Err(aggregation::UndefinedReason::Empty), |own| own.test) {
            prop_assert!((0.0..=1.0).contains(&test.p) && test.cliffs_delta.abs() <= 1.0 + 1e-12);
        }
        let reference = Reference::new(0.8, 0.1).unwrap();
        let mut cusum = Cusum::new(reference, CusumSettings::default()).unwrap();
        let mut test = PageHinkley::new(PageHinkleySettings::default()).unwrap();
        for value in &x {
            prop_assert!(value.is_finite() || (cusum.update(*value).is_err() && test.update(*value).is_err()));
            if let Ok(step) = cusum.update(*value) {
                prop_assert!(step.above >= 0.0 && step.below >= 0.0);
            }
            if let Ok(step) = test.update(*value) {
                prop_assert!(step.up >= 0.0 && step.down >= 0.0, "{step:?}");
            }
        }
        let cases: Vec<SentinelCase> = x.iter().zip(&y)
            .map(|(a, b)| SentinelCase { reference: Some(*a), now: Some(*b), has_flipped: Some(a > b) })
            .collect();
        if let Ok(own) = sentinel(&cases, SentinelSettings::new(Some(0.1))) {
            prop_assert!((0.0..=1.0).contains(&own.p));
        }
        let kappa = |place: usize| AuditedKappa { kappa: kappas[place], error: kappas[place + 1], n: 60 };
        if let Ok(own) = kappa_audit(kappa(0), kappa(2), KappaAuditSettings::default()) {
            prop_assert!(own.z.is_err() || !own.z.unwrap().is_nan());
        }
    }
}
