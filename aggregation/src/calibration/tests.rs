use super::{Ceiling, Status, Thresholds, calibrate, ceiling, lift, status};
use crate::agreement::{ConfusionError, Distance};
use crate::estimate::{ConfidenceInterval, Estimate, Undefined, UndefinedReason};
use crate::numeric::Resampling;

type Pairs = Vec<(Option<usize>, Option<usize>)>;

fn pairs(cells: &[(usize, usize, usize)]) -> Pairs {
    cells.iter().flat_map(|&(a, b, n)| std::iter::repeat_n((Some(a), Some(b)), n)).collect()
}

fn fit(pairs: &Pairs) -> super::Calibration {
    calibrate(2, false, None, pairs, Thresholds::default(), Resampling::default()).unwrap()
}

#[test]
fn the_worked_table_of_fifty_is_weak_with_a_wide_interval() {
    let fitted = fit(&pairs(&[(1, 1, 32), (1, 0, 8), (0, 1, 3), (0, 0, 7)]));
    let kappa = fitted.headline.unwrap();
    assert!((kappa.value - 8.0 / 19.0).abs() < 1e-12);
    let interval = kappa.interval.unwrap();
    assert!(interval.lo < 0.2 && interval.hi > 0.6, "{interval:?}");
    assert_eq!(fitted.status, Status::Weak);
    assert!((fitted.recall[0].unwrap() - 7.0 / 15.0).abs() < 1e-12);
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
    assert_eq!(fit(&pairs(&[(0, 0, 4), (1, 1, 50), (1, 0, 0), (0, 1, 1)])).status, Status::Inconclusive);
    let undefined = Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 0 };
    assert_eq!(status(Err(undefined), &[], Thresholds::default()), Status::Inconclusive);
    assert!(!Status::Inconclusive.has_weight() && Status::Weak.has_weight());
}

#[test]
fn a_label_off_the_scale_is_an_error() {
    let error = ConfusionError::UnknownLabel { label: 2, labels: 2 };
    let (thresholds, resampling) = (Thresholds::default(), Resampling::default());
    let bad = [(Some(2), None)];
    assert_eq!(calibrate(2, false, None, &bad, thresholds, resampling).unwrap_err(), error);
    let bad = [[None, Some(2), None]];
    let got = ceiling(2, Distance::Nominal, None, &bad, thresholds, resampling);
    assert_eq!(got.unwrap_err(), error);
}

#[test]
fn a_judge_as_good_as_people_is_at_the_ceiling() {
    let cases: Vec<[Option<usize>; 3]> = (0..60)
        .map(|i: usize| [0, 1, 2].map(|rater| Some((i % 2) ^ usize::from(i / 2 % 6 == rater))))
        .collect();
    let (thresholds, resampling) = (Thresholds::default(), Resampling::default());
    let known: Ceiling =
        ceiling(2, Distance::Nominal, None, &cases, thresholds, resampling).unwrap().unwrap();
    let interval = known.difference.unwrap();
    assert!(known.at_ceiling && interval.lo <= 0.0 && interval.hi >= 0.0, "{known:?}");
    assert_eq!(lift(Status::Weak, &known), Status::CalibratedAtCeiling);
    assert_eq!(lift(Status::Failed, &known), Status::Failed);
    let none = ceiling(2, Distance::Nominal, None, &[[None; 3]], thresholds, resampling).unwrap();
    assert_eq!(none, Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 1 }));
}
