//! Laws of agreement that hold for any labels, and what happens to input that is none.

#![expect(clippy::unwrap_used, reason = "test: a fault here fails it")]

use aggregation::UndefinedReason;
use aggregation::agreement::{
    CoefficientError, CohenKappa, Confusion, ConfusionError, Distance, Level, PositionsError, RatingCounts,
    bootstrap_alpha, bootstrap_kappa, cohen_kappa, fleiss_kappa, gwet_ac, jackknife_kappa, kappa_interval,
    krippendorff_alpha, landis_koch,
};
use aggregation::calibration::{Thresholds, calibrate, ceiling};
use aggregation::numeric::Resampling;
use aggregation::protocol::{Allocation, Candidate, Stratification, draw_sample};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{
    BoxedStrategy, Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

type Pair = (Option<usize>, Option<usize>);
const LABELS: usize = 4;
const DISTANCES: [Distance; 3] = [Distance::Nominal, Distance::Linear, Distance::Quadratic];

fn label() -> BoxedStrategy<Option<usize>> {
    option::weighted(0.9, 0..LABELS).boxed()
}

fn pairs() -> BoxedStrategy<Vec<Pair>> {
    vec((label(), label()), 0..40).boxed()
}

/// Units of up to four ratings.
fn units() -> BoxedStrategy<Vec<Vec<Option<usize>>>> {
    vec(vec(label(), 0..5), 0..20).boxed()
}

fn any_number() -> BoxedStrategy<f64> {
    prop_oneof![
        3 => -5.0..=5.0,
        1 => any::<f64>(),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::MAX), Just(f64::MIN), Just(0.0), Just(-0.0)],
    ]
    .boxed()
}

fn permutation() -> BoxedStrategy<Vec<usize>> {
    Just((0..LABELS).collect::<Vec<_>>()).prop_shuffle().boxed()
}

fn from_pairs(labels: usize, pairs: &[Pair]) -> Confusion {
    Confusion::from_pairs(labels, pairs.iter().copied()).unwrap()
}

fn cohen(table: &Confusion, distance: Distance) -> CohenKappa {
    cohen_kappa(table, distance, None).unwrap()
}

fn value(table: &Confusion, distance: Distance) -> Result<f64, UndefinedReason> {
    cohen(table, distance).kappa.map(|kappa| kappa.value)
}

fn counts(labels: usize, units: &[Vec<Option<usize>>]) -> RatingCounts {
    RatingCounts::from_ratings(labels, units).unwrap()
}

fn undefined(error: CoefficientError) -> Option<UndefinedReason> {
    match error {
        CoefficientError::Undefined(reason) => Some(reason),
        CoefficientError::Positions(_) => None,
    }
}

/// Every coefficient of labels without order.
fn nominal(labels: usize, units: &[Vec<Option<usize>>]) -> [Result<f64, Option<UndefinedReason>>; 3] {
    let counts = counts(labels, units);
    [
        krippendorff_alpha(&counts, Level::Nominal).map(|known| known.alpha).map_err(undefined),
        fleiss_kappa(&counts).map(|known| known.kappa).map_err(Some),
        gwet_ac(&counts, Distance::Nominal, None).map(|known| known.coefficient).map_err(undefined),
    ]
}

fn same<E: PartialEq>(a: Result<f64, E>, b: Result<f64, E>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => (a - b).abs() < 1e-9,
        (Err(a), Err(b)) => a == b,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

proptest! {
    #[test]
    fn the_order_of_pairs_changes_no_bit(pairs in pairs(), seed in any::<u64>()) {
        let mut turned = pairs.clone();
        turned.reverse();
        let (a, b) = (from_pairs(LABELS, &pairs), from_pairs(LABELS, &turned));
        prop_assert_eq!(&a, &b);
        let resampling = Resampling { seed, resamples: 20, ..Resampling::default() };
        for distance in DISTANCES {
            prop_assert_eq!(cohen(&a, distance), cohen(&b, distance));
            let resampled = |table| bootstrap_kappa(table, distance, None, resampling);
            prop_assert_eq!(resampled(&a), resampled(&b));
        }
    }

    #[test]
    fn raters_may_change_places(pairs in pairs()) {
        let turned: Vec<Pair> = pairs.iter().map(|&(a, b)| (b, a)).collect();
        for distance in DISTANCES {
            prop_assert!(same(value(&from_pairs(LABELS, &pairs), distance), value(&from_pairs(LABELS, &turned), distance)));
        }
    }

    #[test]
    fn names_of_labels_without_order_do_not_matter(pairs in pairs(), units in units(), names in permutation()) {
        let rename = |label: Option<usize>| label.map(|label| names[label]);
        let renamed: Vec<Pair> = pairs.iter().map(|&(a, b)| (rename(a), rename(b))).collect();
        let (before, after) = (from_pairs(LABELS, &pairs), from_pairs(LABELS, &renamed));
        prop_assert!(same(value(&before, Distance::Nominal), value(&after, Distance::Nominal)));
        let renamed: Vec<Vec<_>> = units.iter().map(|unit| unit.iter().map(|l| rename(*l)).collect()).collect();
        for (before, after) in nominal(LABELS, &units).into_iter().zip(nominal(LABELS, &renamed)) {
            prop_assert!(same(before, after), "{before:?} {after:?}");
        }
    }

    #[test]
    fn ordered_scales_may_be_turned_round(pairs in pairs(), units in units()) {
        let turn = |label: Option<usize>| label.map(|label| LABELS - 1 - label);
        let turned: Vec<Pair> = pairs.iter().map(|&(a, b)| (turn(a), turn(b))).collect();
        for distance in DISTANCES {
            prop_assert!(same(value(&from_pairs(LABELS, &pairs), distance), value(&from_pairs(LABELS, &turned), distance)));
        }
        let turned: Vec<Vec<_>> = units.iter().map(|unit| unit.iter().map(|l| turn(*l)).collect()).collect();
        let (before, after) = (counts(LABELS, &units), counts(LABELS, &turned));
        let alpha = |counts| krippendorff_alpha(counts, Level::Ordinal).map(|known| known.alpha);
        prop_assert!(same(alpha(&before), alpha(&after)));
        for distance in DISTANCES {
            let ac = |counts| gwet_ac(counts, distance, None).map(|known| known.coefficient);
            prop_assert!(same(ac(&before), ac(&after)));
        }
    }

    #[test]
    fn an_unused_label_changes_nothing_without_order(pairs in pairs(), units in units(), more in 1..4_usize) {
        let (few, many) = (from_pairs(LABELS, &pairs), from_pairs(LABELS + more, &pairs));
        prop_assert!(same(value(&few, Distance::Nominal), value(&many, Distance::Nominal)));
        // Gwet's coefficients count the declared labels, so theirs does change.
        let [alpha, fleiss, _] = nominal(LABELS, &units);
        let [more_alpha, more_fleiss, _] = nominal(LABELS + more, &units);
        prop_assert!(same(alpha, more_alpha) && same(fleiss, more_fleiss));
    }

    #[test]
    fn a_wider_scale_in_the_same_proportions_is_the_same(pairs in pairs(), shift in -1e3..1e3_f64, unit in 1e-3..1e3_f64) {
        let table = from_pairs(LABELS, &pairs);
        let positions: Vec<f64> = [1.0, 2.0, 4.0, 9.0].map(|place| shift + unit * place).to_vec();
        for distance in DISTANCES {
            let at = |positions: &[f64]| {
                cohen_kappa(&table, distance, Some(positions)).unwrap().kappa.map(|kappa| kappa.value)
            };
            let (own, moved) = (at(&[1.0, 2.0, 4.0, 9.0]), at(&positions));
            prop_assert!(own.is_ok() == moved.is_ok());
            if let (Ok(own), Ok(moved)) = (own, moved) {
                prop_assert!((own - moved).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn values_stay_in_their_range_and_bounds_round_them(pairs in pairs()) {
        let table = from_pairs(LABELS, &pairs);
        for distance in DISTANCES {
            let Ok(kappa) = cohen(&table, distance).kappa else { continue };
            prop_assert!((-1.0 - 1e-9..=1.0 + 1e-9).contains(&kappa.value), "{kappa:?}");
            prop_assert!(kappa.max.is_none_or(|max| max >= kappa.value - 1e-9 && max <= 1.0 + 1e-9));
            prop_assert!(kappa.perfect_lower.is_none_or(|lo| (-1.0..1.0).contains(&lo) && kappa.value > 1.0 - 1e-9));
            let error = kappa.error.unwrap();
            prop_assert!(error.se.is_finite() && error.se_null.is_finite() && error.se >= 0.0);
            prop_assert!(error.interval.lo <= kappa.value && kappa.value <= error.interval.hi);
            prop_assert!(landis_koch(kappa.value).is_some());
        }
    }

    #[test]
    fn agreement_with_oneself_is_whole_or_degenerate(labels in vec(0..LABELS, 0..40)) {
        let own: Vec<Pair> = labels.iter().map(|label| (Some(*label), Some(*label))).collect();
        let varies = labels.windows(2).any(|pair| pair[0] != pair[1]);
        for distance in DISTANCES {
            match value(&from_pairs(LABELS, &own), distance) {
                Ok(kappa) => prop_assert!(varies && (kappa - 1.0).abs() < 1e-9),
                Err(UndefinedReason::Empty) => prop_assert!(labels.is_empty()),
                Err(reason) => prop_assert!(!varies && reason == UndefinedReason::DegenerateMarginals),
            }
        }
        let units: Vec<Vec<_>> = labels.iter().map(|label| vec![Some(*label); 3]).collect();
        for coefficient in nominal(LABELS, &units) {
            prop_assert!(coefficient.map_or(!varies, |known| (known - 1.0).abs() < 1e-9), "{coefficient:?}");
        }
    }

    #[test]
    fn the_jackknife_is_kappa_without_each_pair(pairs in pairs()) {
        let table = from_pairs(LABELS, &pairs);
        let Some(values) = jackknife_kappa(&table, Distance::Linear, None).unwrap() else { return Ok(()) };
        let mut complete: Vec<Pair> = pairs.iter().copied().filter(|(a, b)| a.is_some() && b.is_some()).collect();
        complete.sort_unstable();
        prop_assert_eq!(values.len(), complete.len());
        for (left_out, kappa) in values.iter().enumerate() {
            let mut others = complete.clone();
            others.remove(left_out);
            let direct = value(&from_pairs(LABELS, &others), Distance::Linear);
            prop_assert!(same(direct, Ok(*kappa)));
        }
    }

    /// Whatever comes in: a finite number, a reason, or an error that names the place. No panic.
    #[test]
    fn calibrations_take_anything(
        pairs in vec((option::of(0..6_usize), option::of(0..6_usize)), 0..70),
        labels in 0..6_usize,
        positions in vec(any_number(), 0..6),
        confidence in any_number(),
        resamples in 0..30_usize,
    ) {
        let resampling = Resampling { seed: 3, resamples, confidence };
        let bad = pairs.iter().position(|&(a, b)| a.into_iter().chain(b).any(|label| label >= labels));
        let table = Confusion::from_pairs(labels, pairs.iter().copied());
        match (&table, bad) {
            (Err(ConfusionError::UnknownLabel { pair, .. }), Some(first)) => prop_assert_eq!(*pair, first),
            (Ok(_), None) => {}
            (table, bad) => prop_assert!(false, "{table:?} {bad:?}"),
        }
        for level in [Level::Nominal, Level::Ordinal, Level::Interval(&positions)] {
            let Ok(known) = calibrate(labels, level, &pairs, Thresholds::default(), resampling) else { continue };
            if let Ok(estimate) = known.headline {
                prop_assert!((-1.0 - 1e-9..=1.0 + 1e-9).contains(&estimate.value));
                prop_assert!(estimate.interval.is_none_or(|known| known.lo.is_finite() && known.lo <= known.hi));
            }
            prop_assert!(known.leniency.is_none_or(|own| own.map_or(true, |e| (-1.0..=1.0).contains(&e.value))));
        }
        let cases: Vec<[Option<usize>; 3]> = pairs.iter().map(|&(a, b)| [a, b, a]).collect();
        if let Ok(Ok(known)) = ceiling(labels, Level::Ordinal, &cases, Thresholds::default(), resampling) {
            prop_assert!(known.people.is_finite() && known.judge.is_finite());
        }
        let Ok(table) = table else { return Ok(()) };
        for distance in DISTANCES {
            let _ = kappa_interval(&table, distance, None, resampling);
            if let Ok(cohen) = cohen_kappa(&table, distance, Some(&positions)) {
                prop_assert!(cohen.kappa.map_or(true, |kappa| kappa.value.is_finite()));
                prop_assert!(positions.len() == labels);
            }
        }
    }

    #[test]
    fn positions_are_refused_by_label_or_make_numbers(positions in vec(any_number(), LABELS), units in units()) {
        let counts = counts(LABELS, &units);
        let distinct = positions.iter().enumerate().all(|(i, a)| positions.iter().skip(i + 1).all(|b| a < b || b < a));
        let usable = distinct && positions.iter().all(|place| place.is_finite());
        for distance in DISTANCES {
            let found = gwet_ac(&counts, distance, Some(&positions));
            prop_assert_eq!(matches!(found, Err(CoefficientError::Positions(_))), !usable);
            prop_assert!(found.map_or(true, |known| known.coefficient.is_finite()));
        }
        match krippendorff_alpha(&counts, Level::Interval(&positions)) {
            Ok(known) => prop_assert!(usable && known.alpha.is_finite() && known.alpha <= 1.0 + 1e-9),
            Err(CoefficientError::Positions(PositionsError::NotFinite { label, .. })) => {
                prop_assert!(!positions[label].is_finite());
            }
            Err(CoefficientError::Positions(PositionsError::Repeated { earlier, label, .. })) => {
                prop_assert!((positions[earlier] - positions[label]).abs() <= 0.0 && earlier < label);
            }
            Err(error) => prop_assert!(usable, "{error}"),
        }
        let resampling = Resampling { resamples: 10, ..Resampling::default() };
        if let Ok(known) = bootstrap_alpha(&counts, Level::Ordinal, resampling) {
            prop_assert!(known.values().iter().all(|alpha| alpha.is_finite()));
        }
    }

    #[test]
    fn weights_that_are_none_are_refused_by_their_pair(weights in vec(any_number(), 0..10)) {
        let bad = weights.iter().position(|weight| !(weight.is_finite() && *weight > 0.0));
        let pairs = weights.iter().map(|weight| ((Some(0), Some(1)), *weight));
        match (Confusion::from_weighted_pairs(2, pairs), bad) {
            (Err(ConfusionError::BadWeight { pair, .. }), Some(first)) => prop_assert_eq!(pair, first),
            (Ok(_), None) => {}
            (table, bad) => prop_assert!(false, "{table:?} {bad:?}"),
        }
    }

    #[test]
    fn weights_of_a_sample_stand_for_what_it_was_drawn_from(
        scores in vec(0.0..=1.0_f64, 1..80),
        wanted in 0..80_usize,
        threshold in 0.0..=1.0_f64,
        seed in any::<u64>(),
    ) {
        let candidate = |(place, score): (usize, &f64)| Candidate {
            id: format!("{place:02}"),
            score01: Some(*score),
            disagreement: None,
            is_order_inconsistent: false,
        };
        let candidates: Vec<Candidate> = scores.iter().enumerate().map(candidate).collect();
        let n = wanted.min(scores.len());
        let stratification = Stratification::new(threshold).unwrap();
        let sample = draw_sample(candidates, n, stratification, Allocation::default(), seed).unwrap();
        prop_assert_eq!(sample.cases.len(), n);
        prop_assert!(sample.cases.windows(2).all(|pair| pair[0].id < pair[1].id));
        for count in sample.strata {
            let weights = sample.cases.iter().filter(|case| case.stratum == count.stratum).map(|case| case.weight);
            let available: f64 = (0..count.available).map(|_| 1.0).sum();
            prop_assert!(count.drawn == 0 || (weights.sum::<f64>() - available).abs() < 1e-9);
            prop_assert!(count.drawn <= count.available);
        }
    }
}
