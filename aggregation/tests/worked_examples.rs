//! The worked examples of two widely read introductions to judging with language models, and where they slip: what they
//! print, and what is right. `docs/reference/statistics.md` explains each.

#![expect(clippy::unwrap_used, reason = "test: a fault here fails it")]

use aggregation::agreement::{Band, Confusion, Distance, Level, bootstrap_kappa, cohen_kappa, landis_koch};
use aggregation::bias::{Shown, label_repeats, position_bias};
use aggregation::calibration::{Status, Thresholds, calibrate, status};
use aggregation::estimate::{ConfidenceInterval, Estimate};
use aggregation::expected_score::{MassStatus, ScorePosition, Spellings, label_distribution};
use aggregation::health::effective_judges;
use aggregation::numeric::{Correlation, Resampling, sign_test};
use aggregation::panel_vote::tally;
use aggregation::scale::OrdinalLabels;
use aggregation::weights::Scheme;
use aggregation::{Decision, UndefinedReason};

fn near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "got {got}, want {want}");
}

/// Rows are the judge, columns people.
fn table(rows: &[&[usize]]) -> Confusion {
    Confusion::from_pairs(rows.len(), pairs(rows)).unwrap()
}

fn pairs(rows: &[&[usize]]) -> Vec<(Option<usize>, Option<usize>)> {
    let cells =
        rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, n)| (i, j, *n)));
    cells.flat_map(|(i, j, n)| std::iter::repeat_n((Some(i), Some(j)), n)).collect()
}

fn kappa(table: &Confusion, distance: Distance) -> f64 {
    cohen_kappa(table, distance, None).unwrap().kappa.unwrap().value
}

/// Fifty cases on a scale of five.
const FIVE: [&[usize]; 5] =
    [&[3, 1, 0, 0, 0], &[1, 4, 2, 0, 0], &[0, 1, 6, 2, 0], &[0, 0, 1, 12, 3], &[0, 0, 0, 2, 12]];
/// Fifty cases of a judge that accepts (0) or not (1).
const BINARY: [&[usize]; 2] = [&[32, 8], &[3, 7]];

#[test]
fn fifty_cases_on_a_scale_of_five() {
    let five = table(&FIVE);
    let same = |got: Vec<f64>, want: [f64; 5]| assert_eq!(got, want);
    same(five.row_totals(), [4.0, 7.0, 9.0, 16.0, 14.0]);
    same(five.column_totals(), [4.0, 6.0, 9.0, 16.0, 15.0]);
    let plain = cohen_kappa(&five, Distance::Nominal, None).unwrap();
    near(plain.p_o.unwrap(), 0.74, 1e-12);
    near(plain.p_e.unwrap(), 605.0 / 2500.0, 1e-12);
    near(plain.kappa.unwrap().value, 0.656_992, 5e-7);
    assert_eq!(landis_koch(plain.kappa.unwrap().value), Some(Band::Substantial));
}

#[test]
fn quadratic_kappa_is_further_above_linear_than_said_where_all_errors_are_adjacent() {
    let five = table(&FIVE);
    let (linear, quadratic) = (kappa(&five, Distance::Linear), kappa(&five, Distance::Quadratic));
    near(linear, 0.809_830, 5e-7);
    near(quadratic, 0.916_603, 5e-7);
    // Said: 0.05 to 0.10 above linear.
    assert!(quadratic - linear > 0.10, "{}", quadratic - linear);
    near(quadratic - kappa(&five, Distance::Nominal), 0.260, 5e-4);
    // The error by two places that the text contrasts with does not occur.
    assert!(five.cells().all(|(row, column, count)| row.abs_diff(column) < 2 || count < 1.0));
    // With a single one moved two places away, the flattery shrinks.
    let mut far = FIVE.map(<[usize]>::to_vec);
    far[1][2] -= 1;
    far[1][3] += 1;
    let far: Vec<&[usize]> = far.iter().map(Vec::as_slice).collect();
    assert!(kappa(&table(&far), Distance::Quadratic) < quadratic);
}

#[test]
fn fifty_cases_of_a_judge_that_accepts_or_not() {
    let binary = table(&BINARY);
    let plain = cohen_kappa(&binary, Distance::Nominal, None).unwrap();
    near(plain.p_o.unwrap(), 0.78, 1e-12);
    near(plain.p_e.unwrap(), 0.62, 1e-12);
    near(plain.kappa.unwrap().value, 0.421_053, 5e-7);
    assert_eq!(landis_koch(plain.kappa.unwrap().value), Some(Band::Moderate));
    let fitted =
        calibrate(2, Level::Nominal, &pairs(&BINARY), Thresholds::default(), Resampling::default()).unwrap();
    assert_eq!(fitted.status, Status::Weak);
    // The interval spans four bands.
    let interval = fitted.plain.kappa.unwrap().error.unwrap().interval;
    near(interval.lo, 0.14, 0.005);
    near(interval.hi, 0.70, 0.005);
}

#[test]
fn sixteen_in_a_hundred_is_not_the_share_of_bad_ones_among_the_accepted() {
    let fitted =
        calibrate(2, Level::Nominal, &pairs(&BINARY), Thresholds::default(), Resampling::default()).unwrap();
    let accepted_bad = fitted.confusion.rows().next().unwrap()[1];
    // Said: 16 % bad ones would be published. That is their share of all cases.
    near(accepted_bad / fitted.confusion.total(), 0.16, 1e-12);
    near(1.0 - fitted.classes[0].precision.unwrap(), 0.20, 1e-12);
    near(1.0 - fitted.classes[1].recall.unwrap(), 8.0 / 15.0, 1e-12);
}

#[test]
fn ninety_percent_agreement_may_be_a_third_beyond_chance() {
    let both = f64::midpoint(1.0, 0.7_f64.sqrt()) - 0.05;
    let cells = [((0, 0), both), ((0, 1), 0.05), ((1, 0), 0.05), ((1, 1), 0.9 - both)];
    let pairs = cells.map(|((a, b), weight)| ((Some(a), Some(b)), weight));
    let cohen =
        cohen_kappa(&Confusion::from_weighted_pairs(2, pairs).unwrap(), Distance::Nominal, None).unwrap();
    near(cohen.p_o.unwrap(), 0.9, 1e-12);
    near(cohen.p_e.unwrap(), 0.85, 1e-12);
    near(cohen.kappa.unwrap().value, 1.0 / 3.0, 1e-12);
}

#[test]
fn a_judge_that_always_accepts_is_right_in_95_of_100_and_has_no_kappa() {
    let rows: [&[usize]; 2] = [&[95, 5], &[0, 0]];
    let lazy =
        calibrate(2, Level::Nominal, &pairs(&rows), Thresholds::default(), Resampling::default()).unwrap();
    near(lazy.plain.p_o.unwrap(), 0.95, 1e-12);
    assert!(lazy.headline.unwrap().value.abs() <= 0.0);
    assert_eq!(lazy.status, Status::Inconclusive);
    // The paradox's remedy does not see through it.
    near(lazy.ac1.unwrap().coefficient, 0.947, 5e-4);
}

#[test]
fn between_four_and_five_lies_not_quite_what_was_said() {
    let labels = OrdinalLabels::try_from(vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let expected = |listed: &[(&str, f64)]| {
        let top: Vec<(&str, f64)> = listed.iter().map(|(token, p)| (*token, p.ln())).collect();
        let position = ScorePosition { top: &top, next: None };
        label_distribution(&position, &Spellings::ordinal(&labels)).expected(labels.values()).unwrap()
    };
    // Said: 4.55, which is 4.1 / 0.9 cut off; and a tenth of the probability is on no label.
    let own = expected(&[("4", 0.4), ("5", 0.5)]);
    near(own.score, 4.1 / 0.9, 1e-9);
    assert_eq!((format!("{:.2}", own.score), own.status), ("4.56".to_owned(), MassStatus::LowMass));
    near(expected(&[("4", 0.4), ("5", 0.5), ("3", 0.1)]).score, 4.40, 1e-9);
}

#[test]
fn labels_read_off_the_data_raise_kappa() {
    // Nobody gave the second of five labels.
    let used = [(0, 0), (0, 2), (2, 0), (2, 2), (3, 3), (4, 4), (4, 3), (3, 4)];
    let declared = Confusion::from_pairs(5, used.map(|(a, b)| (Some(a), Some(b)))).unwrap();
    let place = |label: usize| Some(label.saturating_sub(1));
    let inferred = Confusion::from_pairs(4, used.map(|(a, b)| (place(a), place(b)))).unwrap();
    near(kappa(&inferred, Distance::Quadratic), 0.800, 5e-4);
    near(kappa(&declared, Distance::Quadratic), 0.714, 5e-4);
}

#[test]
fn where_a_kappa_by_hand_divides_by_zero_there_is_a_reason() {
    let reason = |table: &Confusion| cohen_kappa(table, Distance::Nominal, None).unwrap().kappa.unwrap_err();
    assert_eq!(reason(&table(&[&[0, 0], &[0, 0]])), UndefinedReason::Empty);
    assert_eq!(reason(&table(&[&[9, 0], &[0, 0]])), UndefinedReason::DegenerateMarginals);
}

/// Chances of each combination of truth, two people and a judge, all three right in 85 of 100, independently.
fn equally_good() -> Vec<([usize; 4], f64)> {
    let right = |said: usize, truth: usize| if said == truth { 0.85 } else { 0.15 };
    let mut all = Vec::new();
    for bits in 0..16_usize {
        let [truth, a, b, judge] = [bits & 1, bits >> 1 & 1, bits >> 2 & 1, bits >> 3 & 1];
        let share = if truth == 0 { 0.7 } else { 0.3 };
        all.push(([truth, a, b, judge], share * right(a, truth) * right(b, truth) * right(judge, truth)));
    }
    all
}

#[test]
fn a_judge_measured_where_people_agree_is_not_measured_like_people() {
    let kappa_of = |keep: &dyn Fn(&[usize; 4]) -> bool, one: usize, other: usize| {
        let cases = equally_good().into_iter().filter(|(case, _)| keep(case));
        let pairs = cases.map(|(case, weight)| ((Some(case[one]), Some(case[other])), weight));
        kappa(&Confusion::from_weighted_pairs(2, pairs).unwrap(), Distance::Nominal)
    };
    let all = |_: &[usize; 4]| true;
    let (people, judge) = (kappa_of(&all, 1, 2), kappa_of(&all, 3, 1));
    near(people, 0.45, 0.005);
    near(judge, people, 1e-12);
    // The code drops the cases that its own diagram resolves, and calls the kappa of people the ceiling of the rest.
    near(kappa_of(&|case| case[1] == case[2], 3, 1), 0.62, 0.005);
    near(kappa_of(&all, 3, 0), 0.66, 0.005);
}

#[test]
fn a_random_sample_of_a_good_system_agrees_much_and_has_a_low_and_wide_kappa() {
    // Said: kappa comes out high for the wrong reasons. Agreement does.
    let rows: [&[usize]; 2] = [&[46, 2], &[1, 1]];
    let random = table(&rows);
    let cohen = cohen_kappa(&random, Distance::Nominal, None).unwrap();
    assert!(cohen.p_o.unwrap() > 0.93);
    near(cohen.kappa.unwrap().value, 0.370, 5e-4);
    let resampled = bootstrap_kappa(&random, Distance::Nominal, None, Resampling::default()).unwrap();
    let interval = resampled.percentile(0.95).unwrap();
    assert!(interval.hi - interval.lo > 0.7, "{interval:?}");
    let fitted =
        calibrate(2, Level::Nominal, &pairs(&rows), Thresholds::default(), Resampling::default()).unwrap();
    assert_eq!(fitted.status, Status::Inconclusive);
}

#[test]
fn the_thresholds_of_the_two_are_not_the_same() {
    let check = |value, lo, thresholds, want| {
        let interval = Some(ConfidenceInterval { lo, hi: 0.9, confidence: 0.95 });
        let kappa = Ok(Estimate { value, interval, n: 60, n_dropped: 0 });
        assert_eq!(status(kappa, &[30.0, 30.0], thresholds), want);
    };
    check(0.55, 0.45, Thresholds::default(), Status::Weak);
    check(0.55, 0.45, Thresholds { calibrated: 0.5, ..Thresholds::default() }, Status::Calibrated);
    check(0.6, 0.3, Thresholds::default(), Status::Weak);
}

#[test]
fn bands_have_no_gaps_and_less_than_nothing_is_a_band_of_its_own() {
    let check = |kappa, band| assert_eq!(landis_koch(kappa), Some(band), "{kappa}");
    check(0.205, Band::Fair);
    check(0.605, Band::Substantial);
    check(-0.1, Band::Poor);
    check(0.1, Band::Slight);
    // Five names cannot tell the last two apart, six can.
    assert_eq!(Band::Poor.spanish_in_five(), Band::Slight.spanish_in_five());
    assert_ne!(Band::Poor.spanish(), Band::Slight.spanish());
}

#[test]
fn mistakes_that_judges_share_do_not_cancel() {
    // Eight cases; a common part and one of each judge's own, all at right angles.
    let sign =
        |case: usize, bits: usize| if (case & bits).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    let errors = |common: f64| -> Vec<Vec<Option<f64>>> {
        let of = |own: usize| (0..8).map(|case| Some(common * sign(case, 7) + sign(case, own))).collect();
        [1, 2, 4].map(of).to_vec()
    };
    near(effective_judges(&errors(0.0)).unwrap().n_eff, 3.0, 1e-9);
    let shared = effective_judges(&errors(1.0)).unwrap();
    near(shared.correlation, 0.5, 1e-9);
    near(shared.n_eff, 1.5, 1e-9);
}

#[test]
fn three_calibrated_judges_vote_as_if_they_weighed_the_same() {
    for scheme in [Scheme::Kappa, Scheme::LogOdds] {
        let weights = [0.42, 0.5, 0.66].map(|kappa| scheme.weight(kappa));
        assert!(weights.iter().all(|own| *own < weights.iter().sum::<f64>() - own), "{weights:?}");
    }
    let votes = [true, true, true, false, false];
    assert_eq!(tally(votes.map(|is_a| (is_a, 1.0))).unwrap().winner, Some(true));
}

#[test]
fn an_unsteady_judge_flips_without_any_bias_of_position() {
    let steady = (Some(Shown::First), Some(Shown::Second));
    let pairs: Vec<_> = (0..100)
        .map(|i| match i {
            0..10 => (Some(Shown::First), Some(Shown::First)),
            10..20 => (Some(Shown::Second), Some(Shown::Second)),
            _ => steady,
        })
        .collect();
    let found = position_bias(&pairs).unwrap();
    near(found.flip_rate.value, 0.2, 1e-12);
    near(found.direction_index, 0.0, 1e-12);
    near(found.p_direction, 1.0, 1e-12);
    // The same order asked twice differs as often.
    let repeats: Vec<Vec<Option<bool>>> = (0..100).map(|i| vec![Some(true), Some(i >= 20)]).collect();
    near(found.flip_rate.value - label_repeats(&repeats).unwrap().repeat_rate.value, 0.0, 1e-12);
}

#[test]
fn below_ten_percent_needs_more_than_a_point_below_ten_percent() {
    let decided = |flips: usize, n: usize| {
        let pair = |i| if i < flips { Shown::First } else { Shown::Second };
        let pairs: Vec<_> = (0..n).map(|i| (Some(Shown::First), Some(pair(i)))).collect();
        position_bias(&pairs).unwrap().decision
    };
    assert_eq!([decided(0, 50), decided(1, 50)], [Decision::Pass, Decision::Inconclusive]);
    assert_eq!([decided(4, 100), decided(5, 100)], [Decision::Pass, Decision::Inconclusive]);
}

#[test]
fn sixty_one_percent_is_news_in_a_hundred_pairs_and_not_in_fifty() {
    near(sign_test(61, 39), 0.035, 5e-4);
    assert!(sign_test(31, 19) > 0.05 && sign_test(30, 20) > 0.05);
}

#[test]
fn a_correlation_of_three_tenths_in_fifty_answers_may_be_next_to_nothing() {
    let interval = Correlation { r: 0.3, p: 0.03, n: 50 }.fisher_interval(0.95).unwrap();
    near(interval.lo, 0.02, 0.005);
    near(interval.hi, 0.53, 0.005);
}
