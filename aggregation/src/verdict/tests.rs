use super::{
    AppliedMethod, EscalationPolicy, EscalationReason, Outcome, Policy, Quorum, Undecided, Verdict, Warning,
    decide,
};
use crate::panel_vote::{Method, Weights};
use crate::scale::{Preference, Scale, Value};
use crate::vote::{
    Abstention, Distribution, Exclusion, JudgeId, PairFold, Rating, Scoring, UnparseableClass, Vote,
};

const NO_VERDICT: Abstention = Abstention::Unparseable(UnparseableClass::NoVerdict);
const PASS: Result<Value, Abstention> = Ok(Value::Pass(true));
const FAIL: Result<Value, Abstention> = Ok(Value::Pass(false));
const PAIRS: Scale = Scale::Pairwise { tie: true };

fn cast(judge: &str, value: Result<Value, Abstention>) -> Vote {
    let rating = |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
    Vote { judge: JudgeId::new(judge), outcome: value.map(rating), pair: None }
}

/// Votes of judges named `a`, `b`, … in this order.
fn votes(values: &[Result<Value, Abstention>]) -> Vec<Vote> {
    ('a'..).zip(values).map(|(judge, value)| cast(&judge.to_string(), *value)).collect()
}

fn numbers(values: &[f64]) -> Vec<Vote> {
    votes(&values.iter().map(|&x| Ok(Value::Number(x))).collect::<Vec<_>>())
}

fn preferences(values: &[Preference]) -> Vec<Vote> {
    votes(&values.iter().map(|&p| Ok(Value::Preference(p))).collect::<Vec<_>>())
}

fn one_to_five() -> Scale {
    Scale::Ordinal(vec![1.0, 2.0, 3.0, 4.0, 5.0].try_into().unwrap())
}

fn colours() -> Scale {
    Scale::Nominal(["red", "green", "blue"].map(String::from).to_vec().try_into().unwrap())
}

fn unit() -> Scale {
    Scale::Continuous((0.0, 1.0).try_into().unwrap())
}

/// A policy with a quorum of two that escalates on disagreement of a half and within 0.05 of the threshold.
fn policy(scale: Scale, method: Method) -> Policy {
    let escalate = EscalationPolicy { disagreement: Some(0.5), near_threshold: Some(0.05) };
    Policy { scale, method, quorum: 2, pass: None, escalate }
}

fn kappas(list: &[(&str, f64)]) -> Weights {
    Weights(list.iter().map(|&(judge, kappa)| (JudgeId::new(judge), kappa)).collect())
}

/// The distribution of a judge with this label mass and these bounds.
fn with_distribution(mut vote: Vote, label_mass: f64, bounds01: (f64, f64)) -> Vote {
    if let Ok(rating) = &mut vote.outcome {
        rating.distribution = Some(Distribution { label_mass, bounds01, two_way: None });
    }
    vote
}

fn value(verdict: &Verdict) -> Option<Value> {
    verdict.outcome.value()
}

fn has(verdict: &Verdict, reason: EscalationReason) -> bool {
    verdict.escalation_reasons.contains(&reason)
}

#[test]
fn field_fault_agg_001_a_lost_judge_gives_the_tie_to_nobody() {
    let mut cast = votes(&[PASS, Err(NO_VERDICT), FAIL]);
    for _ in 0..2 {
        let verdict = decide(&cast, &policy(Scale::PassFail, Method::Majority));
        assert_eq!(verdict.outcome, Outcome::Undecided(Undecided::NoMajority));
        assert!(has(&verdict, EscalationReason::NoMajority));
        assert_eq!((verdict.quorum.asked, verdict.quorum.voted, verdict.passed), (3, 2, None));
        cast.reverse();
    }
}

#[test]
fn field_fault_agg_002_what_is_no_number_enters_no_sum() {
    let mut given = numbers(&[0.8, 0.9, f64::NAN, 0.7]);
    given.push(cast("x", Err(Abstention::TimedOut)));
    let verdict = decide(&given, &policy(unit(), Method::Mean));
    let Some(Value::Number(mean)) = value(&verdict) else { panic!("{verdict:?}") };
    assert!((mean - 0.8).abs() < 1e-12);
    assert_eq!((verdict.quorum.voted, verdict.quorum.asked), (3, 5));
}

#[test]
fn field_fault_agg_003_nothing_is_not_zero() {
    let cast = votes(&[Err(Abstention::TimedOut), Err(NO_VERDICT), Err(Abstention::Refused)]);
    for quorum in [0, 2] {
        let verdict = decide(&cast, &Policy { quorum, pass: Some(0.0), ..policy(unit(), Method::Mean) });
        assert_eq!(verdict.outcome, Outcome::Undecided(Undecided::NoQuorum));
        assert_eq!((verdict.passed, verdict.outcome.score(), verdict.disagreement), (None, None, None));
        assert_eq!(verdict.escalation_reasons, [EscalationReason::NoQuorum]);
    }
}

#[test]
fn field_fault_agg_004_a_judge_votes_once() {
    let cast = [cast("m1", PASS), cast("m4", FAIL), cast("m4", FAIL)];
    let verdict = decide(&cast, &policy(Scale::PassFail, Method::Majority));
    assert_eq!(verdict.quorum, Quorum { asked: 2, voted: 2, required: 2, met: true });
    assert_eq!(verdict.outcome, Outcome::Undecided(Undecided::NoMajority));
}

#[test]
fn a_judge_that_contradicts_itself_does_not_count() {
    let cast =
        [cast("m1", PASS), cast("m4", FAIL), cast("m4", PASS), cast("m5", Err(NO_VERDICT)), cast("m5", PASS)];
    let verdict = decide(&cast, &policy(Scale::PassFail, Method::Majority));
    assert_eq!((verdict.quorum.asked, verdict.quorum.voted), (3, 2));
    assert_eq!(value(&verdict), Some(Value::Pass(true)));
}

#[test]
fn field_fault_agg_005_equal_values_are_one_vote_each_for_the_same_label() {
    let verdict = decide(&numbers(&[4.0, 4.0, 4.0, 3.0]), &policy(one_to_five(), Method::Majority));
    assert_eq!((value(&verdict), verdict.quorum.voted), (Some(Value::Number(4.0)), 4));
}

#[test]
fn field_fault_agg_006_each_scale_is_mapped_from_its_own_range() {
    assert_eq!(one_to_five().score01(Value::Number(3.0)), Some(0.5));
    assert_eq!(unit().score01(Value::Number(0.5)), Some(0.5));
    // A vote of another scale is no vote on this one.
    let verdict = decide(&numbers(&[3.0, 0.5]), &policy(one_to_five(), Method::Mean));
    assert_eq!(verdict.outcome, Outcome::Undecided(Undecided::NoQuorum));
}

#[test]
fn field_fault_agg_007_without_weight_the_plain_result_is_given_and_said_so() {
    let weights = kappas(&[("a", 0.0), ("b", -0.3)]);
    for method in [Method::KappaWeighted(weights.clone()), Method::LogOdds(weights)] {
        let verdict = decide(&numbers(&[4.0, 2.0]), &policy(one_to_five(), method));
        assert_eq!((value(&verdict), verdict.method), (Some(Value::Number(3.0)), AppliedMethod::Median));
        assert_eq!(verdict.warnings, [Warning::WeightsUnusable]);
        assert!(has(&verdict, EscalationReason::NoPositiveWeight));
    }
}

#[test]
fn field_fault_agg_008_zero_is_a_value() {
    let verdict = decide(&numbers(&[0.0, 0.0, 1.0]), &policy(unit(), Method::Median));
    assert_eq!(verdict.outcome, Outcome::Decided { value: Value::Number(0.0), score: Some(0.0) });
    assert_eq!(verdict.quorum.voted, 3);
}

#[test]
fn a_value_needs_the_quorum() {
    let cast = votes(&[PASS, Err(Abstention::Excluded(Exclusion::Perimeter)), Err(Abstention::TooLong)]);
    let verdict = decide(&cast, &policy(Scale::PassFail, Method::Majority));
    assert_eq!(verdict.outcome, Outcome::Undecided(Undecided::NoQuorum));
    assert_eq!(verdict.quorum, Quorum { asked: 3, voted: 1, required: 2, met: false });
}

#[test]
fn methods_decide_numbers() {
    let check = |method: Method, values: &[f64], want: f64, applied: AppliedMethod| {
        let verdict = decide(&numbers(values), &policy(one_to_five(), method));
        assert_eq!((value(&verdict), verdict.method), (Some(Value::Number(want)), applied), "{values:?}");
    };
    check(Method::Median, &[1.0, 5.0, 4.0], 4.0, AppliedMethod::Median);
    check(Method::Median, &[1.0, 4.0, 5.0, 2.0], 3.0, AppliedMethod::Median);
    check(Method::Mean, &[1.0, 5.0, 3.0], 3.0, AppliedMethod::Mean);
    check(Method::Majority, &[4.4, 3.6, 1.0], 4.0, AppliedMethod::Majority);
    check(Method::Majority, &[3.5, 3.0, 4.0], 3.0, AppliedMethod::Majority);
    let weights = kappas(&[("a", 0.2), ("b", 0.6)]);
    check(Method::KappaWeighted(weights), &[1.0, 5.0, 1.0], 4.0, AppliedMethod::KappaWeighted);
    let weights = kappas(&[("a", 1.0), ("b", 0.9), ("c", f64::NAN)]);
    check(Method::LogOdds(weights), &[1.0, 5.0, 1.0], 3.0, AppliedMethod::LogOdds);
}

#[test]
fn ordinal_votes_without_majority_are_undecided() {
    let verdict = decide(&numbers(&[1.0, 3.0, 5.0]), &policy(one_to_five(), Method::Majority));
    assert_eq!(verdict.outcome, Outcome::Undecided(Undecided::NoMajority));
    assert!(has(&verdict, EscalationReason::NoMajority));
}

#[test]
fn a_rule_that_does_not_suit_the_scale_gives_way() {
    let categories: Vec<_> = [0, 2, 2].iter().map(|&c| Ok(Value::Category(c))).collect();
    for method in [Method::Median, Method::Mean, Method::Majority] {
        let verdict = decide(&votes(&categories), &policy(colours(), method));
        assert_eq!((value(&verdict), verdict.method), (Some(Value::Category(2)), AppliedMethod::Majority));
        assert_eq!(verdict.outcome.score(), None);
    }
    let verdict = decide(&numbers(&[0.1, 0.2, 0.9]), &policy(unit(), Method::Majority));
    assert_eq!((value(&verdict), verdict.method), (Some(Value::Number(0.2)), AppliedMethod::Median));
}

#[test]
fn pairs_without_majority_are_an_escalated_tie() {
    use Preference::{A, B, Tie};
    let check = |values: &[Preference], want: Preference, no_majority: bool, score: f64| {
        let verdict = decide(&preferences(values), &policy(PAIRS, Method::Majority));
        assert_eq!(value(&verdict), Some(Value::Preference(want)), "{values:?}");
        assert_eq!(has(&verdict, EscalationReason::NoMajority), no_majority, "{values:?}");
        assert!((verdict.outcome.score().unwrap() - score).abs() < 1e-12, "{values:?}");
        assert_eq!(verdict.passed, None);
    };
    check(&[A, A, B], A, false, 2.0 / 3.0);
    check(&[A, B, Tie], Tie, true, 0.5);
    check(&[A, B], Tie, true, 0.5);
    check(&[Tie, Tie, A], Tie, false, 2.0 / 3.0);
}

#[test]
fn a_weighty_judge_outvotes_two_light_ones() {
    use Preference::{A, B};
    let weights = kappas(&[("a", 0.2), ("b", 0.25), ("c", 0.7)]);
    let verdict = decide(&preferences(&[A, A, B]), &policy(PAIRS, Method::KappaWeighted(weights)));
    assert_eq!(value(&verdict), Some(Value::Preference(B)));
    assert!((verdict.outcome.score().unwrap() - 0.45 / 1.15).abs() < 1e-12);
}

#[test]
fn weighted_quorum_counts_positive_weights() {
    let weights = kappas(&[("a", 0.7)]);
    let cast = votes(&[PASS, FAIL, FAIL]);
    let verdict = decide(&cast, &policy(Scale::PassFail, Method::KappaWeighted(weights.clone())));
    assert_eq!((value(&verdict), verdict.method), (Some(Value::Pass(false)), AppliedMethod::Majority));
    assert!(has(&verdict, EscalationReason::NoPositiveWeight));
    // Too few votes is the plainer fact: nothing is said of weights then.
    let verdict = decide(&cast[..1], &policy(Scale::PassFail, Method::KappaWeighted(weights)));
    assert_eq!(verdict.escalation_reasons, [EscalationReason::NoQuorum]);
    assert_eq!(verdict.warnings, []);
}

#[test]
fn inconsistent_judges_vote_tie_also_where_judges_may_not() {
    let folded = |judge: &str, consistent: bool, stated: Preference, pref_a: f64| Vote {
        pair: Some(PairFold { pref_a, consistent: Some(consistent) }),
        ..cast(judge, Ok(Value::Preference(stated)))
    };
    let no_tie = policy(Scale::Pairwise { tie: false }, Method::Majority);
    let a = folded("a", true, Preference::A, 1.0);
    let b = folded("b", false, Preference::Tie, 0.5);
    let c = folded("c", false, Preference::Tie, 0.5);
    let verdict = decide(&[a.clone(), b.clone(), c], &no_tie);
    assert_eq!(value(&verdict), Some(Value::Preference(Preference::Tie)));
    assert_eq!(verdict.order_consistent, Some(false));
    assert!(has(&verdict, EscalationReason::OrderInconsistent));
    // One in two is not the majority.
    let verdict = decide(&[a.clone(), b], &no_tie);
    assert!(!has(&verdict, EscalationReason::OrderInconsistent));
    let verdict = decide(&[a.clone(), folded("d", true, Preference::A, 1.0)], &no_tie);
    assert_eq!(verdict.order_consistent, Some(true));
    assert_eq!(decide(&preferences(&[Preference::A]), &no_tie).order_consistent, None);
}

#[test]
fn a_pass_is_at_or_above_the_threshold_up_to_rounding() {
    let check = |values: &[f64], threshold: Option<f64>, want: Option<bool>| {
        let verdict = decide(&numbers(values), &Policy { pass: threshold, ..policy(unit(), Method::Mean) });
        assert_eq!(verdict.passed, want, "{values:?} at {threshold:?}");
    };
    check(&[0.85; 10], Some(0.85), Some(true));
    check(&[0.849_999_999_999_9, 0.85], Some(0.85), Some(true));
    check(&[0.84, 0.85], Some(0.85), Some(false));
    check(&[0.84, 0.85], None, None);
    check(&[0.84, 0.85], Some(f64::NAN), None);
    let verdict = decide(&votes(&[PASS, PASS, FAIL]), &policy(Scale::PassFail, Method::Majority));
    assert_eq!((verdict.passed, verdict.outcome.score()), (Some(true), Some(1.0)));
}

#[test]
fn disagreement_escalates_from_its_limit() {
    let check = |values: &[f64], escalates: bool| {
        let verdict = decide(&numbers(values), &policy(one_to_five(), Method::Median));
        assert_eq!(has(&verdict, EscalationReason::Disagreement), escalates, "{values:?}");
    };
    check(&[4.0, 4.0, 2.0], true);
    check(&[4.0, 4.0, 4.0, 4.0, 1.0], true);
    check(&[4.0, 4.0, 5.0], false);
    check(&[4.0, 4.0, 4.0, 4.0, 2.0], false);
    let split = |values: &[Result<Value, Abstention>]| {
        let verdict = decide(&votes(values), &policy(Scale::PassFail, Method::Majority));
        has(&verdict, EscalationReason::Disagreement)
    };
    assert!(split(&[PASS, PASS, FAIL]));
    assert!(split(&[PASS, PASS, PASS, FAIL, FAIL]));
    assert!(!split(&[PASS, PASS, PASS, PASS, FAIL]));
}

#[test]
fn near_the_threshold_a_split_panel_escalates() {
    let check = |values: &[f64], near: Option<f64>, escalates: bool| {
        let escalate = EscalationPolicy { disagreement: None, near_threshold: near };
        let near_policy = Policy { pass: Some(0.5), escalate, ..policy(unit(), Method::Median) };
        let verdict = decide(&numbers(values), &near_policy);
        assert_eq!(has(&verdict, EscalationReason::NearThreshold), escalates, "{values:?} {near:?}");
    };
    check(&[0.4, 0.52, 0.6], Some(0.05), true);
    check(&[0.51, 0.52, 0.6], Some(0.05), false);
    check(&[0.4, 0.56, 0.6], Some(0.05), false);
    check(&[0.4, 0.55, 0.6], Some(0.05), true);
    check(&[0.4, 0.52, 0.6], None, false);
}

#[test]
fn bounds_on_both_sides_of_the_threshold_escalate() {
    let check = |bounds: (f64, f64), pass: Option<f64>, escalates: bool| {
        let cast: Vec<Vote> =
            numbers(&[0.7, 0.7]).into_iter().map(|v| with_distribution(v, 0.99, bounds)).collect();
        let verdict = decide(&cast, &Policy { pass, ..policy(unit(), Method::Median) });
        assert_eq!(has(&verdict, EscalationReason::BoundsStraddle), escalates, "{bounds:?} {pass:?}");
    };
    check((0.45, 0.7), Some(0.5), true);
    check((0.5, 0.7), Some(0.5), false);
    check((0.3, 0.49), Some(0.5), false);
    check((0.45, 0.7), None, false);
}

#[test]
fn a_majority_of_low_label_masses_escalates() {
    let check = |masses: &[f64], escalates: bool| {
        let cast: Vec<Vote> = numbers(&[0.7, 0.7, 0.7])
            .into_iter()
            .zip(masses)
            .map(|(vote, &mass)| with_distribution(vote, mass, (0.7, 0.7)))
            .collect();
        let verdict = decide(&cast, &policy(unit(), Method::Median));
        assert_eq!(has(&verdict, EscalationReason::LowLabelMass), escalates, "{masses:?}");
    };
    check(&[0.9, 0.94, 0.99], true);
    check(&[0.9, 0.95, 0.99], false);
}

#[test]
fn evidence_that_is_not_there_escalates() {
    let cast = votes(&[PASS, PASS, Err(Abstention::Unsupported)]);
    let verdict = decide(&cast, &policy(Scale::PassFail, Method::Majority));
    assert_eq!(verdict.escalation_reasons, [EscalationReason::UnsupportedEvidence]);
    assert!(verdict.is_escalated());
}

#[test]
fn mixed_scoring_is_said() {
    let mut cast = numbers(&[0.7, 0.8]);
    assert_eq!(decide(&cast, &policy(unit(), Method::Mean)).warnings, []);
    if let Some(Ok(rating)) = cast.first_mut().map(|vote| vote.outcome.as_mut()) {
        rating.scoring = Scoring::Expected;
    }
    assert_eq!(decide(&cast, &policy(unit(), Method::Mean)).warnings, [Warning::ScoringMixed]);
}

#[test]
fn added_reasons_keep_their_order_and_stand_once() {
    let mut verdict = decide(&votes(&[PASS, FAIL]), &policy(Scale::PassFail, Method::Majority));
    for reason in [EscalationReason::RandomReview, EscalationReason::NoQuorum, EscalationReason::RandomReview]
    {
        verdict.add_reason(reason);
    }
    let want = [
        EscalationReason::NoQuorum,
        EscalationReason::NoMajority,
        EscalationReason::Disagreement,
        EscalationReason::RandomReview,
    ];
    assert_eq!(verdict.escalation_reasons, want);
}

#[test]
fn the_widest_interval_has_scores() {
    let widest = Scale::Continuous((f64::MIN, f64::MAX).try_into().unwrap());
    let verdict = decide(&numbers(&[f64::MIN, f64::MAX]), &policy(widest, Method::Median));
    assert_eq!(verdict.outcome, Outcome::Decided { value: Value::Number(0.0), score: Some(0.5) });
    assert_eq!(verdict.disagreement, Some(1.0));
}

#[test]
fn a_vote_scores_by_its_probabilities_where_they_are_known() {
    let check = |vote: &Vote, scale: &Scale, want: Option<f64>| {
        assert_eq!(vote.score01(scale), want, "{vote:?}");
    };
    let mut passed = cast("a", PASS);
    check(&passed, &Scale::PassFail, Some(1.0));
    if let Ok(rating) = &mut passed.outcome {
        let two_way = Some((0.6, 0.2, 0.0));
        rating.distribution = Some(Distribution { label_mass: 0.8, bounds01: (0.5, 1.0), two_way });
    }
    check(&passed, &Scale::PassFail, Some(0.6 / (0.6 + 0.2)));
    if let Ok(rating) = &mut passed.outcome {
        rating.fallback = true;
    }
    check(&passed, &Scale::PassFail, Some(1.0));
    let pair = Some(PairFold { pref_a: 0.75, consistent: Some(false) });
    check(&Vote { pair, ..cast("a", Ok(Value::Preference(Preference::Tie))) }, &PAIRS, Some(0.75));
    check(&cast("a", Ok(Value::Number(2.0))), &one_to_five(), Some(0.25));
    check(&cast("a", Ok(Value::Category(1))), &colours(), None);
    check(&cast("a", Err(NO_VERDICT)), &one_to_five(), None);
}
