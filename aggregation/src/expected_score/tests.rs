use super::{
    LabelDistribution, MassStatus, NextPosition, ScorePosition, Spellings, expected_score, label_distribution,
};
use crate::estimate::UndefinedReason;
use crate::scale::{OrdinalLabels, Scale};

fn one_to(max: u8) -> OrdinalLabels {
    zero_or_more((1..=max).map(f64::from).collect())
}

fn zero_or_more(values: Vec<f64>) -> OrdinalLabels {
    OrdinalLabels::try_from(values).unwrap()
}

fn score(labels: &OrdinalLabels, top: &[(&str, f64)]) -> f64 {
    let position = ScorePosition { top, next: None };
    expected_score(&position, labels, &Spellings::ordinal(labels)).unwrap().score
}

fn near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "got {got}, want {want}");
}

fn of_scale(scale: &Scale, top: &[(&str, f64)]) -> LabelDistribution {
    label_distribution(&ScorePosition { top, next: None }, &Spellings::of(scale).unwrap())
}

#[test]
fn field_fault_logp_001_reads_the_position_it_is_given() {
    let at_the_value = [("4", -0.69), ("3", -0.92), ("2", -2.3)];
    near(score(&one_to(5), &at_the_value), 3.4, 0.02);
}

#[test]
fn field_fault_logp_002_ten_is_followed_over_both_of_its_tokens() {
    let labels = one_to(10);
    let next = NextPosition { after: "1", top: &[("0", -0.02), ("\n", -4.2)] };
    let position = ScorePosition { top: &[("1", -0.01), ("9", -5.0)], next: Some(next) };
    let expected = expected_score(&position, &labels, &Spellings::ordinal(&labels)).unwrap();
    near(expected.score, 9.86, 0.05);
    assert_eq!((expected.status, labels.values()[expected.most_probable]), (MassStatus::Ok, 10.0));
}

#[test]
fn field_fault_logp_003_white_space_and_its_marks_belong_to_no_label() {
    let labels = zero_or_more((0..=5).map(f64::from).collect());
    near(score(&labels, &[(" 0", -0.11), (" 1", -2.41), ("\u{2581}0", -6.0)]), 0.09, 0.02);
}

#[test]
fn field_fault_logp_004_a_list_without_labels_has_no_score() {
    let top = [("\":", 0.0), ("\"", -19.1), ("\":\n", -24.3), ("4", -9999.0)];
    let labels = one_to(5);
    let position = ScorePosition { top: &top, next: None };
    let scored = expected_score(&position, &labels, &Spellings::ordinal(&labels));
    assert_eq!(scored, Err(UndefinedReason::NoScoreToken));
}

#[test]
fn field_fault_logp_005_minus_infinity_is_probability_zero() {
    for impossible in [f64::NEG_INFINITY, -9999.0, f64::NAN] {
        let distribution = of_scale(&Scale::PassFail, &[("pass", -0.2), ("fail", impossible)]);
        let vote = distribution.for_vote(&Scale::PassFail).unwrap();
        let (pass, fail, _) = vote.two_way.unwrap();
        near(pass / (pass + fail), 1.0, 0.0);
        assert!(vote.label_mass.is_finite() && vote.bounds01.0.is_finite(), "{vote:?}");
    }
}

#[test]
fn field_fault_logp_006_spellings_of_one_label_add_up() {
    near(score(&one_to(10), &[("8", -1.2), (" 8", -1.4), ("7", -1.1)]), 7.62, 0.02);
}

#[test]
fn field_fault_logp_011_all_on_one_token_is_no_certainty() {
    let check = |top: &[(&str, f64)], degenerate: bool| {
        let distribution = of_scale(&Scale::Ordinal(one_to(5)), top);
        assert_eq!(distribution.degenerate, degenerate, "{top:?}");
    };
    check(&[("4", 0.0), ("3", -9999.0), ("5", -9999.0)], true);
    check(&[("4", 0.0)], true);
    check(&[("4", -0.01), ("3", -9999.0)], false);
    check(&[("4", 0.0), ("3", -30.0)], false);
    check(&[], false);
}

#[test]
fn a_beginning_of_two_labels_falls_back_unless_resolved() {
    let check = |top: &[(&str, f64)], next: Option<NextPosition<'_>>, status| {
        let labels = one_to(10);
        let position = ScorePosition { top, next };
        let expected = expected_score(&position, &labels, &Spellings::ordinal(&labels)).unwrap();
        assert_eq!(expected.status, status, "{top:?} {next:?}");
    };
    let one = [("1", -0.01)];
    check(&one, None, MassStatus::Fallback);
    // What follows another token says nothing about this one.
    check(&one, Some(NextPosition { after: "9", top: &[("0", 0.0)] }), MassStatus::Fallback);
    check(&one, Some(NextPosition { after: " 1", top: &[("0", 0.0)] }), MassStatus::Ok);
    check(&one, Some(NextPosition { after: "1", top: &[("}", -0.01)] }), MassStatus::Ok);
    // "1." may become 1.5, "12" is no label: both are missing mass.
    check(
        &one,
        Some(NextPosition { after: "1", top: &[(".", -0.5), ("2", -2.0), ("0", -2.0)] }),
        MassStatus::Fallback,
    );
    // A tokeniser that knows "10" as one token does not write "1", "0".
    check(&[("1", -0.5), ("10", -1.0)], None, MassStatus::Ok);
    // Little ambiguous mass counts for its own label.
    check(&[("9", -0.05), ("1", -4.0)], None, MassStatus::Ok);
}

#[test]
fn three_token_labels_stay_ambiguous() {
    let labels = zero_or_more(vec![0.0, 10.0, 100.0]);
    let next = NextPosition { after: "1", top: &[("0", -0.01)] };
    let position = ScorePosition { top: &[("1", -0.01)], next: Some(next) };
    let expected = expected_score(&position, &labels, &Spellings::ordinal(&labels)).unwrap();
    assert_eq!(expected.status, MassStatus::Fallback);
}

#[test]
fn words_split_over_tokens_are_followed_too() {
    let next = NextPosition { after: "p", top: &[("ass", -0.01), ("ardon", -5.0)] };
    let position = ScorePosition { top: &[("p", -0.02), ("fail", -4.0)], next: Some(next) };
    let distribution = label_distribution(&position, &Spellings::of(&Scale::PassFail).unwrap());
    assert_eq!(distribution.most_probable(), Some(1));
    near(distribution.mass, 0.97 + 0.018, 0.005);
}

#[test]
fn aliases_count_only_when_declared() {
    let top = [("YES", -0.1), ("fail", -2.5)];
    assert_eq!(of_scale(&Scale::PassFail, &top).most_probable(), Some(0));
    let spellings = Spellings::of(&Scale::PassFail).unwrap().with_alias(1, "YES").with_alias(9, "no label");
    let declared = label_distribution(&ScorePosition { top: &top, next: None }, &spellings);
    assert_eq!(declared.most_probable(), Some(1));
}

#[test]
fn votes_of_pairs_keep_probabilities_as_displayed() {
    let pairs = Scale::Pairwise { tie: true };
    let vote = of_scale(&pairs, &[("A", 0.6_f64.ln()), ("B", 0.3_f64.ln()), ("tie", 0.1_f64.ln())])
        .for_vote(&pairs)
        .unwrap();
    let (first, second, tie) = vote.two_way.unwrap();
    near(first, 0.6, 1e-12);
    near(second, 0.3, 1e-12);
    near(tie, 0.1, 1e-12);
    near(vote.bounds01.0, 0.65, 1e-12);
    near(vote.bounds01.1, 0.65, 1e-12);
}

#[test]
fn mass_not_listed_widens_the_bounds_of_a_vote() {
    let vote = of_scale(&Scale::PassFail, &[("pass", 0.7_f64.ln()), ("x", 0.2_f64.ln())])
        .for_vote(&Scale::PassFail)
        .unwrap();
    near(vote.bounds01.0, 0.7 / 0.8, 1e-12);
    near(vote.bounds01.1, 1.0, 1e-12);
}

#[test]
fn a_nominal_vote_has_mass_but_no_bounds_and_an_interval_has_no_labels() {
    let scale = Scale::Nominal(vec!["red".to_owned(), "blue".to_owned()].try_into().unwrap());
    let distribution = of_scale(&scale, &[("red", -0.2)]);
    assert_eq!(distribution.for_vote(&scale).unwrap().bounds01, (0.0, 1.0));
    let interval = Scale::Continuous((0.0, 1.0).try_into().unwrap());
    assert_eq!(Spellings::of(&interval), None);
    assert_eq!(distribution.for_vote(&interval), None);
    assert_eq!(of_scale(&scale, &[]).for_vote(&scale), None);
}

#[test]
fn impossible_log_probabilities_do_no_harm() {
    for wild in [f64::INFINITY, 5.0, f64::NAN, f64::NEG_INFINITY, -1e300] {
        let labels = one_to(5);
        let top = [("4", wild), ("3", -0.5)];
        let position = ScorePosition { top: &top, next: None };
        let expected = expected_score(&position, &labels, &Spellings::ordinal(&labels)).unwrap();
        for number in
            [expected.score, expected.mass, expected.entropy, expected.bounds.0, expected.bounds01.1]
        {
            assert!(number.is_finite(), "{wild}: {expected:?}");
        }
        assert!(expected.mass <= 1.0);
    }
}
