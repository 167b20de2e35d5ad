//! Laws that hold for any votes, including votes that no judge should ever cast.

#![expect(clippy::unwrap_used, reason = "test: a fault here fails it")]

use aggregation::disagreement::disagreement;
use aggregation::expected_score::{NextPosition, ScorePosition, Spellings, label_distribution};
use aggregation::panel_vote::{Method, Weights};
use aggregation::verdict::EscalationPolicy;
use aggregation::vote::{Distribution, Exclusion, PairFold, Scoring, UnparseableClass};
use aggregation::{
    Abstention, ExpectedOrders, JudgeId, Order, Outcome, Pass, Policy, Preference, Rating, Scale, Value,
    Verdict, Vote, decide, fold_orders,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{
    BoxedStrategy, Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

fn any_number() -> BoxedStrategy<f64> {
    prop_oneof![
        4 => (1..=5_u8).prop_map(f64::from),
        4 => 0.0..=5.0,
        1 => any::<f64>(),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::MAX), Just(-0.0)],
    ].boxed()
}

fn any_preference() -> BoxedStrategy<Preference> {
    prop_oneof![Just(Preference::A), Just(Preference::B), Just(Preference::Tie)].boxed()
}

fn any_value() -> BoxedStrategy<Value> {
    prop_oneof![
        2 => any_number().prop_map(Value::Number),
        1 => (0..4_usize).prop_map(Value::Category),
        1 => any::<bool>().prop_map(Value::Pass),
        2 => any_preference().prop_map(Value::Preference),
    ]
    .boxed()
}

fn any_abstention() -> BoxedStrategy<Abstention> {
    prop_oneof![
        Just(Abstention::Refused),
        Just(Abstention::Unsupported),
        Just(Abstention::TimedOut),
        Just(Abstention::Unparseable(UnparseableClass::Ambiguous)),
        Just(Abstention::Excluded(Exclusion::SameFamily)),
    ]
    .boxed()
}

fn any_distribution() -> BoxedStrategy<Distribution> {
    (any_number(), (any_number(), any_number()), option::of((any_number(), any_number(), any_number())))
        .prop_map(|(label_mass, bounds01, two_way)| Distribution { label_mass, bounds01, two_way })
        .boxed()
}

fn any_outcome() -> BoxedStrategy<Result<Rating, Abstention>> {
    let rating = (any_value(), option::of(any_distribution()), any::<bool>()).prop_map(
        |(value, distribution, fallback)| Rating {
            value,
            scoring: if fallback { Scoring::Discrete } else { Scoring::Expected },
            distribution,
            fallback,
        },
    );
    prop_oneof![4 => rating.prop_map(Ok), 1 => any_abstention().prop_map(Err)].boxed()
}

fn judge() -> BoxedStrategy<JudgeId> {
    (0..7_u8).prop_map(|index| JudgeId::new(&format!("judge {index}"))).boxed()
}

fn any_vote() -> BoxedStrategy<Vote> {
    let pair = (any_number(), option::of(any::<bool>()));
    (judge(), any_outcome(), option::of(pair))
        .prop_map(|(judge, outcome, pair)| Vote {
            judge,
            outcome,
            pair: pair.map(|(pref_a, consistent)| PairFold { pref_a, consistent }),
        })
        .boxed()
}

fn any_scale() -> BoxedStrategy<Scale> {
    let ordinal = |labels: Vec<f64>| Scale::Ordinal(labels.try_into().unwrap());
    let interval = |min, max| Scale::Continuous((min, max).try_into().unwrap());
    prop_oneof![
        Just(ordinal(vec![1.0, 2.0, 3.0, 4.0, 5.0])),
        Just(ordinal(vec![0.0, 0.5, 3.0])),
        Just(interval(0.0, 1.0)),
        Just(interval(f64::MIN, f64::MAX)),
        Just(Scale::Nominal(["x", "y", "z"].map(String::from).to_vec().try_into().unwrap())),
        Just(Scale::PassFail),
        any::<bool>().prop_map(|tie| Scale::Pairwise { tie }),
    ]
    .boxed()
}

fn any_method() -> BoxedStrategy<Method> {
    let weights = || vec((judge(), any_number()), 0..7).prop_map(|list| Weights(list.into_iter().collect()));
    let fair = || vec((judge(), -0.2..0.9_f64), 4..9).prop_map(|list| Weights(list.into_iter().collect()));
    prop_oneof![
        Just(Method::Median),
        Just(Method::Majority),
        Just(Method::Mean),
        weights().prop_map(Method::KappaWeighted),
        fair().prop_map(Method::KappaWeighted),
        fair().prop_map(Method::LogOdds),
    ]
    .boxed()
}

fn any_policy() -> BoxedStrategy<Policy> {
    let limits = (option::of(any_number()), option::of(any_number()));
    (any_scale(), any_method(), 0..5_usize, option::of(any_number()), limits)
        .prop_map(|(scale, method, quorum, pass, (disagreement, near_threshold))| Policy {
            scale,
            method,
            quorum,
            pass,
            escalate: EscalationPolicy { disagreement, near_threshold },
        })
        .boxed()
}

/// The same verdict to the last bit: what is printed of every float tells it apart.
fn bits(verdict: &Verdict) -> String {
    format!("{verdict:?}")
}

fn pair_vote(index: usize, preference: Preference) -> Vote {
    Vote {
        judge: JudgeId::new(&format!("judge {index}")),
        outcome: Ok(Rating {
            value: Value::Preference(preference),
            scoring: Scoring::Discrete,
            distribution: None,
            fallback: false,
        }),
        pair: Some(PairFold { pref_a: preference.pref_a(), consistent: Some(true) }),
    }
}

fn swapped(value: Value) -> Value {
    match value {
        Value::Preference(preference) => Value::Preference(preference.swapped()),
        other => other,
    }
}

proptest! {
    #[test]
    fn any_votes_have_a_verdict_on_the_scale(votes in vec(any_vote(), 0..9), policy in any_policy()) {
        let verdict = decide(&votes, &policy);
        if let Outcome::Decided { value, score } = verdict.outcome {
            let folded_tie = value == Value::Preference(Preference::Tie);
            prop_assert!(policy.scale.contains(value) || folded_tie, "{:?}", verdict);
            prop_assert!(score.is_none_or(|score| (0.0..=1.0).contains(&score)), "{:?}", verdict);
            prop_assert_eq!(score.is_none(), matches!(policy.scale, Scale::Nominal(_)));
            prop_assert!(verdict.quorum.met && verdict.quorum.voted > 0);
        } else {
            prop_assert!(verdict.is_escalated());
        }
        prop_assert!(verdict.disagreement.is_none_or(|d| (0.0..=1.0).contains(&d)), "{:?}", verdict);
        prop_assert!(verdict.escalation_reasons.is_sorted_by(|a, b| a < b), "{:?}", verdict);
        prop_assert!(!bits(&verdict).contains("NaN"));
    }

    #[test]
    fn the_order_of_votes_does_not_matter(
        votes in vec(any_vote(), 0..9),
        policy in any_policy(),
        turn in 0..9_usize,
    ) {
        let verdict = bits(&decide(&votes, &policy));
        let mut moved = votes;
        moved.reverse();
        prop_assert_eq!(&bits(&decide(&moved, &policy)), &verdict);
        let turn = turn.min(moved.len());
        moved.rotate_left(turn);
        prop_assert_eq!(&bits(&decide(&moved, &policy)), &verdict);
    }

    #[test]
    fn unanimous_judges_are_the_panel(
        value in any_value(),
        judges in 1..9_usize,
        scale in any_scale(),
        method in any_method(),
    ) {
        let votes: Vec<Vote> = (0..judges)
            .map(|index| Vote {
                outcome: Ok(Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false }),
                pair: None,
                judge: JudgeId::new(&format!("judge {index}")),
            })
            .collect();
        let escalate = EscalationPolicy { disagreement: Some(0.5), near_threshold: Some(0.05) };
        let policy = Policy { scale, method, quorum: 1, pass: None, escalate };
        let on_label = match (&policy.scale, value) {
            (Scale::Ordinal(labels), Value::Number(x)) => labels.values().contains(&x),
            _ => true,
        };
        let verdict = decide(&votes, &policy);
        if policy.scale.contains(value) && on_label {
            prop_assert_eq!(verdict.outcome.value(), Some(value));
            prop_assert_eq!(verdict.disagreement, (judges > 1).then_some(0.0));
        }
    }

    #[test]
    fn renaming_the_candidates_renames_the_winner(
        preferences in vec(any_preference(), 0..8),
        method in any_method(),
    ) {
        let escalate = EscalationPolicy { disagreement: Some(0.5), near_threshold: None };
        let policy = Policy { scale: Scale::Pairwise { tie: true }, method, quorum: 2, pass: None, escalate };
        let verdict_on = |rename: &dyn Fn(Preference) -> Preference| {
            let votes: Vec<Vote> =
                preferences.iter().enumerate().map(|(index, &p)| pair_vote(index, rename(p))).collect();
            decide(&votes, &policy)
        };
        let (plain, renamed) = (verdict_on(&|p| p), verdict_on(&Preference::swapped));
        prop_assert_eq!(plain.outcome.value().map(swapped), renamed.outcome.value());
        if let (Some(plain), Some(renamed)) = (plain.outcome.score(), renamed.outcome.score()) {
            prop_assert!((plain + renamed - 1.0).abs() < 1e-12);
        }
        prop_assert_eq!(plain.escalation_reasons, renamed.escalation_reasons);
    }

    #[test]
    fn a_median_or_mean_lies_between_the_votes(values in vec(0.0..=1.0_f64, 1..9), mean in any::<bool>()) {
        let votes: Vec<Vote> = values
            .iter()
            .enumerate()
            .map(|(index, &x)| Vote { outcome: pair_vote(index, Preference::A).outcome.map(|rating| Rating {
                value: Value::Number(x), ..rating }), pair: None, judge: JudgeId::new(&format!("{index}")) })
            .collect();
        let policy = Policy {
            scale: Scale::Continuous((0.0, 1.0).try_into().unwrap()),
            method: if mean { Method::Mean } else { Method::Median },
            quorum: 1,
            pass: None,
            escalate: EscalationPolicy { disagreement: None, near_threshold: None },
        };
        let Some(Value::Number(panel)) = decide(&votes, &policy).outcome.value() else { panic!() };
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!((least..=most).contains(&panel));
    }

    #[test]
    fn disagreement_is_symmetric_in_the_scale(values in vec(0.0..=1.0_f64, 2..9)) {
        let scale = Scale::Continuous((0.0, 1.0).try_into().unwrap());
        let d = disagreement(&scale, values.iter().map(|&x| Value::Number(x))).unwrap();
        let mirrored = disagreement(&scale, values.iter().map(|&x| Value::Number(1.0 - x))).unwrap();
        prop_assert!((d - mirrored).abs() < 1e-9);
    }

    #[test]
    fn any_passes_fold_to_one_vote_per_judge(
        passes in vec((judge(), any::<bool>(), 0..3_u32, any_outcome()), 0..20),
        both in any::<bool>(),
        scale in any_scale(),
    ) {
        let passes: Vec<Pass> = passes
            .into_iter()
            .map(|(judge, reversed, sample, outcome)| {
                let order = if reversed { Order::Reversed } else { Order::AsGiven };
                Pass { judge, order, sample, outcome }
            })
            .collect();
        let orders = if both { ExpectedOrders::Both } else { ExpectedOrders::AsGiven };
        let votes = fold_orders(&passes, orders, &scale);
        let mut judges: Vec<&JudgeId> = votes.iter().map(|vote| &vote.judge).collect();
        judges.sort();
        judges.dedup();
        prop_assert_eq!(judges.len(), votes.len());
        for vote in &votes {
            if let Some(pair) = vote.pair {
                prop_assert!((0.0..=1.0).contains(&pair.pref_a), "{:?}", vote);
                prop_assert_eq!(pair.consistent.is_some(), both);
            }
            prop_assert!(vote.outcome.is_ok() || vote.pair.is_none());
        }
    }

    #[test]
    fn exchanging_the_orders_exchanges_nothing_else(
        first in any_preference(),
        second in any_preference(),
    ) {
        let fold = |as_given: Preference, reversed: Preference| {
            let passes = [(Order::AsGiven, as_given), (Order::Reversed, reversed)].map(|(order, p)| Pass {
                judge: JudgeId::new("j"),
                order,
                sample: 0,
                outcome: pair_vote(0, p).outcome,
            });
            fold_orders(&passes, ExpectedOrders::Both, &Scale::Pairwise { tie: true })
        };
        prop_assert_eq!(fold(first, second), fold(second, first));
    }

    #[test]
    fn any_list_of_tokens_gives_finite_numbers(
        tokens in vec((0..9_usize, any_number()), 0..8),
        next in vec((0..9_usize, any_number()), 0..8),
        scale in any_scale(),
    ) {
        let texts = ["1", " 1", "0", "10", "pass", "fail", "A", "tie", "\u{120}"];
        let list = |tokens: &[(usize, f64)]| -> Vec<(&str, f64)> {
            tokens.iter().map(|&(index, logprob)| (texts[index], -logprob)).collect()
        };
        let (top, next) = (list(&tokens), list(&next));
        let position = ScorePosition { top: &top, next: Some(NextPosition { after: "1", top: &next }) };
        if let Some(spellings) = Spellings::of(&scale) {
            let distribution = label_distribution(&position, &spellings);
            prop_assert!((0.0..=1.0).contains(&distribution.mass));
            if let Some(vote) = distribution.for_vote(&scale) {
                prop_assert!(vote.bounds01.0 <= vote.bounds01.1, "{:?}", vote);
                prop_assert!((0.0..=1.0).contains(&vote.bounds01.0), "{:?}", vote);
                prop_assert!((0.0..=1.0).contains(&vote.bounds01.1), "{:?}", vote);
            }
        }
    }
}
