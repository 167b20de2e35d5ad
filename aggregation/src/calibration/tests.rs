use super::{
    CalibrationError, CalibrationWarning, Ceiling, Rater, Status, Thresholds, calibrate, ceiling, lift,
    status,
};
use crate::agreement::{ConfusionError, IntervalMethod, Level, PositionsError};
use crate::estimate::{ConfidenceInterval, Estimate, Undefined, UndefinedReason};
use crate::numeric::Resampling;

type Pairs = Vec<(Option<usize>, Option<usize>)>;

fn pairs(cells: &[(usize, usize, usize)]) -> Pairs {
    cells.iter().flat_map(|&(a, b, n)| std::iter::repeat_n((Some(a), Some(b)), n)).collect()
}

fn fit_on(labels: usize, level: Level<'_>, pairs: &Pairs) -> super::Calibration {
    calibrate(labels, level, pairs, Thresholds::default(), Resampling::default()).unwrap()
}

fn fit(pairs: &Pairs) -> super::Calibration {
    fit_on(2, Level::Ordinal, pairs)
}

#[test]
fn the_worked_table_of_fifty_is_weak_with_a_wide_interval() {
    let fitted = fit(&pairs(&[(1, 1, 32), (1, 0, 8), (0, 1, 3), (0, 0, 7)]));
    let kappa = fitted.headline.unwrap();
    assert!((kappa.value - 8.0 / 19.0).abs() < 1e-12);
    let interval = kappa.interval.unwrap();
    assert!(interval.lo < 0.2 && interval.hi > 0.6, "{interval:?}");
    assert_eq!(fitted.status, Status::Weak);
    assert_eq!(fitted.interval_method, Some(IntervalMethod::Percentile));
    assert_eq!(fitted.accelerated.unwrap().1, IntervalMethod::Accelerated);
    assert!((fitted.classes[0].recall.unwrap() - 7.0 / 15.0).abs() < 1e-12);
    assert!((fitted.classes[1].precision.unwrap() - 0.8).abs() < 1e-12);
    let leniency = fitted.leniency.unwrap().unwrap();
    assert!((leniency.value - 0.1).abs() < 1e-12 && leniency.interval.is_some(), "{leniency:?}");
    assert_eq!(fitted.warnings, []);
}

#[test]
fn status_follows_the_kappa_and_its_lower_end() {
    let check = |value, lo, n, want| {
        let interval = Some(ConfidenceInterval { lo, hi: 1.0, confidence: 0.95 });
        let estimate = Ok(Estimate { value, interval, n, n_dropped: 0 });
        assert_eq!(status(estimate, &[20.0, 30.0], Thresholds::default()), want, "{value} {lo} {n}");
    };
    check(0.6, 0.4, 50, Status::Calibrated);
    check(0.9, 0.39, 50, Status::Weak);
    check(0.59, 0.5, 50, Status::Weak);
    check(0.39, 0.1, 50, Status::Failed);
    check(0.9, 0.8, 29, Status::Inconclusive);
}

#[test]
fn what_cannot_be_known_is_inconclusive() {
    let lazy = fit(&pairs(&[(1, 1, 38), (1, 0, 12)]));
    assert_eq!((lazy.headline.unwrap().value, lazy.status), (0.0, Status::Inconclusive));
    assert_eq!((lazy.interval_method, lazy.accelerated), (None, None));
    assert_eq!(lazy.warnings, [CalibrationWarning::OneLabel { rater: Rater::Judge }]);
    let thin = fit(&pairs(&[(0, 0, 4), (1, 1, 50), (0, 1, 1)]));
    assert_eq!(thin.status, Status::Inconclusive);
    assert_eq!(thin.warnings, [CalibrationWarning::FewOfLabel { label: 0, people: 4 }]);
    let undefined = Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 0 };
    assert_eq!(status(Err(undefined), &[], Thresholds::default()), Status::Inconclusive);
    assert!(!Status::Inconclusive.has_weight() && Status::Weak.has_weight());
    let none = fit(&Pairs::new());
    assert_eq!((none.status, none.warnings), (Status::Inconclusive, Vec::new()));
    assert_eq!(none.ac1, Err(UndefinedReason::Empty));
}

#[test]
fn a_judge_that_never_differs_is_calibrated_by_its_lower_bound() {
    let check = |cells: &[(usize, usize, usize)], labels, level, lo: f64, want| {
        let fitted = fit_on(labels, level, &pairs(cells));
        let interval = fitted.headline.unwrap().interval.unwrap();
        assert_eq!(fitted.interval_method, Some(IntervalMethod::Exact));
        assert!((interval.lo - lo).abs() < 5e-4 && interval.hi >= 1.0, "{interval:?}");
        assert_eq!(fitted.status, want, "{interval:?}");
    };
    check(&[(0, 0, 15), (1, 1, 15)], 2, Level::Nominal, 0.7686, Status::Calibrated);
    check(&[(0, 0, 15), (1, 1, 15)], 2, Level::Ordinal, 0.7686, Status::Calibrated);
    check(&[(0, 0, 45), (1, 1, 5)], 2, Level::Nominal, 0.6048, Status::Calibrated);
    check(&[(0, 0, 5), (1, 1, 10)], 2, Level::Nominal, 0.5094, Status::Inconclusive);
    let five: Vec<(usize, usize, usize)> = (0..5).map(|label| (label, label, 6)).collect();
    check(&five, 5, Level::Nominal, 0.8554, Status::Calibrated);
    // Each missed difference might be one from end to end.
    check(&five, 5, Level::Ordinal, 0.5373, Status::Calibrated);
    // Two neighbours of five labels: people's differences are so small that one across the scale would undo them.
    check(&[(2, 2, 15), (3, 3, 15)], 5, Level::Ordinal, -1.0, Status::Weak);
}

#[test]
fn warnings_say_what_a_status_does_not() {
    let check = |cells: &[(usize, usize, usize)], missing: usize, want: &[CalibrationWarning]| {
        let mut pairs = pairs(cells);
        pairs.extend(std::iter::repeat_n((None, Some(1)), missing));
        assert_eq!(fit(&pairs).warnings, want);
    };
    let usable = [(0, 0, 20), (1, 1, 20), (0, 1, 3)];
    check(&usable, 0, &[CalibrationWarning::SmallSample { n: 43 }]);
    let both =
        [CalibrationWarning::SmallSample { n: 43 }, CalibrationWarning::ManyMissing { n_dropped: 5, n: 43 }];
    check(&usable, 5, &both);
    check(&[(0, 0, 30), (1, 1, 24), (0, 1, 6)], 6, &[]);
    let fitted = fit(&pairs(&[(1, 1, 90), (1, 0, 5), (0, 1, 5)]));
    let [CalibrationWarning::Paradox { prevalence, p_o, kappa }] = fitted.warnings[..] else {
        panic!("{:?}", fitted.warnings)
    };
    assert!((prevalence - 0.9).abs() < 1e-12 && (p_o - 0.9).abs() < 1e-12 && kappa < 0.0);
    assert!(fitted.ac1.unwrap().coefficient > 0.85 && fitted.indexes.unwrap().pabak > 0.75);
    assert_eq!((fitted.classes[0].recall, fitted.status), (Some(0.0), Status::Failed));
}

#[test]
fn ordered_scales_show_all_three_kappas_and_kindness_by_value() {
    let cells = [(0, 0, 20), (1, 1, 20), (2, 2, 20), (1, 0, 20)];
    let fitted = fit_on(3, Level::Interval(&[1.0, 2.0, 5.0]), &pairs(&cells));
    let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    same(fitted.headline.unwrap().value, fitted.quadratic.unwrap().kappa.unwrap().value);
    assert!(fitted.linear.unwrap().kappa.unwrap().value > fitted.plain.kappa.unwrap().value);
    assert!((fitted.leniency.unwrap().unwrap().value - 0.25 * 0.25).abs() < 1e-12);
    let nominal = fit_on(3, Level::Nominal, &pairs(&cells));
    assert_eq!((nominal.leniency, nominal.linear), (None, None));
    same(nominal.headline.unwrap().value, nominal.plain.kappa.unwrap().value);
    assert_eq!(nominal.indexes, None);
}

#[test]
fn what_is_not_on_the_scale_is_an_error_with_its_place() {
    let (thresholds, resampling) = (Thresholds::default(), Resampling::default());
    let error = CalibrationError::Confusion(ConfusionError::UnknownLabel { pair: 1, label: 2, labels: 2 });
    let bad = [(Some(0), Some(0)), (Some(2), None)];
    assert_eq!(calibrate(2, Level::Nominal, &bad, thresholds, resampling).unwrap_err(), error);
    let bad = [[None; 3], [None, Some(2), None]];
    assert_eq!(ceiling(2, Level::Nominal, &bad, thresholds, resampling).unwrap_err(), error);
    let error =
        CalibrationError::Positions(PositionsError::NotIncreasing { label: 1, before: 2.0, after: 1.0 });
    let level = Level::Interval(&[2.0, 1.0]);
    assert_eq!(calibrate(2, level, &[], thresholds, resampling).unwrap_err(), error);
    assert_eq!(ceiling(2, level, &[], thresholds, resampling).unwrap_err(), error);
}

#[test]
fn a_judge_as_good_as_people_is_at_the_ceiling() {
    let cases: Vec<[Option<usize>; 3]> = (0..60)
        .map(|i: usize| [0, 1, 2].map(|rater| Some((i % 2) ^ usize::from(i / 2 % 6 == rater))))
        .collect();
    let (thresholds, resampling) = (Thresholds::default(), Resampling::default());
    let known: Ceiling = ceiling(2, Level::Nominal, &cases, thresholds, resampling).unwrap().unwrap();
    let interval = known.difference.unwrap();
    assert!(known.at_ceiling && interval.lo <= 0.0 && interval.hi >= 0.0, "{known:?}");
    assert_eq!(lift(Status::Weak, &known), Status::CalibratedAtCeiling);
    assert_eq!(lift(Status::Failed, &known), Status::Failed);
    let none = ceiling(2, Level::Nominal, &[[None; 3]], thresholds, resampling).unwrap();
    assert_eq!(none, Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 1 }));
}

#[test]
fn people_who_used_one_label_only_are_no_ceiling() {
    let cases = [[Some(0), Some(1), Some(1)]; 40];
    let none = ceiling(2, Level::Nominal, &cases, Thresholds::default(), Resampling::default()).unwrap();
    let reason = UndefinedReason::DegenerateMarginals;
    assert_eq!(none, Err(Undefined { reason, n: 40, n_dropped: 0 }));
}
