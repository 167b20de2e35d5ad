use super::{ExpectedOrders, fold_orders};
use crate::scale::{Preference, Scale, Value};
use crate::vote::{
    Abstention, Distribution, JudgeId, Order, PairFold, Pass, Rating, Scoring, UnparseableClass, Vote,
};

const NO_VERDICT: Abstention = Abstention::Unparseable(UnparseableClass::NoVerdict);
const AMBIGUOUS: Abstention = Abstention::Unparseable(UnparseableClass::Ambiguous);
const OUT_OF_RANGE: Abstention = Abstention::Unparseable(UnparseableClass::OutOfRange);
const PAIRS: Scale = Scale::Pairwise { tie: true };

fn rating(value: Value) -> Rating {
    Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false }
}

/// A reply to a pair as the judge saw it: the letter is of the displayed frame and is un-mapped here.
fn shown(judge: &str, order: Order, reply: Result<Preference, Abstention>) -> Pass {
    let own = |displayed: Preference| match order {
        Order::AsGiven => displayed,
        Order::Reversed => displayed.swapped(),
    };
    let outcome = reply.map(|displayed| rating(Value::Preference(own(displayed))));
    Pass { judge: JudgeId::new(judge), order, sample: 0, outcome }
}

fn listed(order: Order, two_way: (f64, f64, f64)) -> Pass {
    let mut pass = shown("j", order, Ok(Preference::A));
    if let Ok(rating) = &mut pass.outcome {
        let distribution = Distribution { label_mass: 0.99, bounds01: (0.4, 0.7), two_way: Some(two_way) };
        (rating.distribution, rating.scoring) = (Some(distribution), Scoring::Expected);
    }
    pass
}

fn only(votes: Vec<Vote>) -> Vote {
    let [vote] = <[Vote; 1]>::try_from(votes).unwrap();
    vote
}

fn both(as_given: Result<Preference, Abstention>, reversed: Result<Preference, Abstention>) -> Vote {
    let passes = [shown("j", Order::AsGiven, as_given), shown("j", Order::Reversed, reversed)];
    only(fold_orders(&passes, ExpectedOrders::Both, &PAIRS))
}

fn preference(vote: &Vote) -> Result<Value, Abstention> {
    vote.outcome.map(|rating| rating.value)
}

fn samples(values: &[Result<Value, Abstention>], scale: &Scale) -> Vote {
    let passes: Vec<Pass> = (0..)
        .zip(values)
        .map(|(sample, value)| Pass {
            judge: JudgeId::new("j"),
            order: Order::AsGiven,
            sample,
            outcome: value.map(rating),
        })
        .collect();
    only(fold_orders(&passes, ExpectedOrders::AsGiven, scale))
}

fn one_to_five() -> Scale {
    Scale::Ordinal(vec![1.0, 2.0, 3.0, 4.0, 5.0].try_into().unwrap())
}

#[test]
fn field_fault_pair_001_the_letter_is_read_through_the_display_order() {
    let vote = both(Ok(Preference::A), Ok(Preference::B));
    assert_eq!(preference(&vote), Ok(Value::Preference(Preference::A)));
    assert_eq!(vote.pair, Some(PairFold { pref_a: 1.0, consistent: Some(true) }));
}

#[test]
fn field_fault_pair_003_what_cannot_be_read_is_no_tie() {
    let vote = both(Err(NO_VERDICT), Ok(Preference::A));
    assert_eq!((preference(&vote), vote.pair), (Err(NO_VERDICT), None));
}

#[test]
fn field_fault_pair_004_half_a_pair_is_no_vote() {
    let vote = both(Ok(Preference::A), Err(Abstention::TimedOut));
    assert_eq!((preference(&vote), vote.pair), (Err(Abstention::TimedOut), None));
}

#[test]
fn field_fault_pair_005_a_judge_that_contradicts_itself_has_no_winner() {
    for tie in [true, false] {
        let passes =
            [shown("j", Order::AsGiven, Ok(Preference::A)), shown("j", Order::Reversed, Ok(Preference::A))];
        let vote = only(fold_orders(&passes, ExpectedOrders::Both, &Scale::Pairwise { tie }));
        assert_eq!(preference(&vote), Ok(Value::Preference(Preference::Tie)));
        assert_eq!(vote.pair, Some(PairFold { pref_a: 0.5, consistent: Some(false) }));
    }
    let stated_tie = both(Ok(Preference::Tie), Ok(Preference::Tie));
    assert_eq!(stated_tie.pair, Some(PairFold { pref_a: 0.5, consistent: Some(true) }));
}

#[test]
fn field_fault_pair_007_two_passes_are_one_vote() {
    let judges = ["b", "a", "c"];
    let passes: Vec<Pass> = [Order::Reversed, Order::AsGiven]
        .iter()
        .flat_map(|&order| judges.map(|judge| shown(judge, order, Ok(Preference::Tie))))
        .collect();
    let votes = fold_orders(&passes, ExpectedOrders::Both, &PAIRS);
    let names: Vec<&str> = votes.iter().map(|vote| vote.judge.as_str()).collect();
    assert_eq!(names, judges);
}

#[test]
fn the_abstention_of_the_case_order_comes_first() {
    let vote = both(Err(Abstention::Refused), Err(Abstention::TimedOut));
    assert_eq!(preference(&vote), Err(Abstention::Refused));
}

#[test]
fn an_order_that_was_never_asked_leaves_no_vote() {
    let passes = [shown("j", Order::AsGiven, Ok(Preference::A))];
    let vote = only(fold_orders(&passes, ExpectedOrders::Both, &PAIRS));
    assert_eq!(preference(&vote), Err(Abstention::Unavailable));
}

#[test]
fn one_order_alone_knows_no_consistency() {
    let passes =
        [shown("j", Order::AsGiven, Ok(Preference::B)), shown("j", Order::Reversed, Ok(Preference::B))];
    let vote = only(fold_orders(&passes, ExpectedOrders::AsGiven, &PAIRS));
    assert_eq!(preference(&vote), Ok(Value::Preference(Preference::B)));
    assert_eq!(vote.pair, Some(PairFold { pref_a: 0.0, consistent: None }));
}

#[test]
fn probabilities_cancel_a_preference_for_the_first_place() {
    // Both passes prefer the first place; together they lean to A.
    let passes = [listed(Order::AsGiven, (0.9, 0.1, 0.0)), listed(Order::Reversed, (0.6, 0.4, 0.0))];
    let vote = only(fold_orders(&passes, ExpectedOrders::Both, &PAIRS));
    let pair = vote.pair.unwrap();
    assert!((pair.pref_a - 0.65).abs() < 1e-12, "{pair:?}");
    assert_eq!(pair.consistent, Some(false));
    let rating = vote.outcome.unwrap();
    assert_eq!((rating.value, rating.scoring), (Value::Preference(Preference::A), Scoring::Expected));
    // The reversed pass's bounds (0.4, 0.7) are (0.3, 0.6) in the case's own frame.
    let (lo, hi) = rating.distribution.unwrap().bounds01;
    assert!((lo - 0.35).abs() < 1e-12 && (hi - 0.65).abs() < 1e-12, "{lo} {hi}");
}

#[test]
fn probabilities_near_one_half_are_a_tie() {
    let passes = [listed(Order::AsGiven, (0.6, 0.4, 0.0)), listed(Order::Reversed, (0.52, 0.48, 0.0))];
    let vote = only(fold_orders(&passes, ExpectedOrders::Both, &PAIRS));
    assert_eq!(preference(&vote), Ok(Value::Preference(Preference::Tie)));
}

#[test]
fn probabilities_count_only_if_both_passes_have_usable_ones() {
    let check = |spoil: &dyn Fn(&mut Rating)| {
        let mut passes =
            [listed(Order::AsGiven, (0.9, 0.1, 0.0)), shown("j", Order::Reversed, Ok(Preference::B))];
        let [first, second] = &mut passes;
        let (Ok(first), Ok(second)) = (&mut first.outcome, &mut second.outcome) else { panic!() };
        second.distribution = first.distribution;
        spoil(second);
        let vote = only(fold_orders(&passes, ExpectedOrders::Both, &PAIRS));
        assert_eq!(vote.outcome.unwrap().scoring, Scoring::Discrete);
        assert_eq!(vote.pair, Some(PairFold { pref_a: 1.0, consistent: Some(true) }));
    };
    let two_way = |parts| {
        move |rating: &mut Rating| {
            if let Some(distribution) = &mut rating.distribution {
                distribution.two_way = parts;
            }
        }
    };
    check(&|rating| rating.distribution = None);
    check(&|rating| rating.fallback = true);
    check(&two_way(None));
    check(&two_way(Some((0.0, 0.0, 0.0))));
    check(&two_way(Some((f64::NAN, 0.5, 0.0))));
    check(&two_way(Some((-0.5, 1.0, 0.0))));
    check(&two_way(Some((f64::INFINITY, 1.0, 0.0))));
}

#[test]
fn repeated_numbers_give_their_mean() {
    let number = |x| Ok(Value::Number(x));
    let vote = samples(&[number(2.0), number(3.0), number(5.0), Err(NO_VERDICT)], &one_to_five());
    let rating = vote.outcome.unwrap();
    assert_eq!(rating.scoring, Scoring::Sampled);
    assert_eq!(rating.value, Value::Number(10.0 / 3.0));
}

#[test]
fn repeated_labels_need_a_strict_majority() {
    let (pass, fail) = (Ok(Value::Pass(true)), Ok(Value::Pass(false)));
    let check = |values: &[Result<Value, Abstention>], want: Result<Value, Abstention>| {
        assert_eq!(preference(&samples(values, &Scale::PassFail)), want, "{values:?}");
    };
    check(&[pass, fail, pass], pass);
    check(&[pass, fail], Err(AMBIGUOUS));
    check(&[pass, fail, Err(NO_VERDICT)], Err(AMBIGUOUS));
    check(&[pass, Err(NO_VERDICT)], pass);
    check(&[pass, Err(NO_VERDICT), Err(Abstention::TimedOut)], Err(NO_VERDICT));
    check(
        &[Err(Abstention::TimedOut), Err(NO_VERDICT), Err(Abstention::TimedOut)],
        Err(Abstention::TimedOut),
    );
}

#[test]
fn the_same_answer_twice_counts_once() {
    let mut passes = [Preference::A, Preference::B, Preference::B].map(|p| shown("j", Order::AsGiven, Ok(p)));
    let vote = only(fold_orders(&passes, ExpectedOrders::AsGiven, &PAIRS));
    assert_eq!(preference(&vote), Ok(Value::Preference(Preference::A)));
    for (sample, pass) in (0..).zip(&mut passes) {
        pass.sample = sample;
    }
    let vote = only(fold_orders(&passes, ExpectedOrders::AsGiven, &PAIRS));
    assert_eq!(preference(&vote), Ok(Value::Preference(Preference::B)));
}

#[test]
fn a_rating_off_the_scale_is_an_abstention() {
    let check = |value: Value, scale: &Scale| {
        assert_eq!(preference(&samples(&[Ok(value)], scale)), Err(OUT_OF_RANGE), "{value:?}");
    };
    check(Value::Number(5.5), &one_to_five());
    check(Value::Number(f64::NAN), &one_to_five());
    check(Value::Pass(true), &one_to_five());
    check(Value::Preference(Preference::Tie), &Scale::Pairwise { tie: false });
}

#[test]
fn scales_without_sides_have_one_order() {
    let pass = Pass {
        judge: JudgeId::new("j"),
        order: Order::AsGiven,
        sample: 0,
        outcome: Ok(rating(Value::Number(4.0))),
    };
    let vote = only(fold_orders(&[pass], ExpectedOrders::Both, &one_to_five()));
    assert_eq!((preference(&vote), vote.pair), (Ok(Value::Number(4.0)), None));
}

#[test]
fn nothing_said_is_no_vote() {
    assert_eq!(fold_orders(&[], ExpectedOrders::Both, &PAIRS), []);
}
