//! Two orders, one vote.

use aggregation::vote::Distribution;
use aggregation::{
    Abstention, ExpectedOrders, JudgeId, Order, Pass, Preference, Rating, Scale, Value, Vote, fold_orders,
};
use serde_json::{Value as Json, json};

use crate::harness::{Computed, check, present_or_null};
use crate::panel_vote::rating;

#[test]
fn oracles_order_reversal() {
    check("order_reversal", |input| {
        let mut computed = Computed::default();
        let written = fold_two(input, ["verdict", "consistent", "pref_A"], [None, None], &mut computed);
        if written.outcome.is_err() {
            computed.undefined = Some(json!("missing_pass"));
        }
        let listed = |key: &str| match present_or_null(&input[key])[..] {
            [first, second, tie] => Some((first, second, tie)),
            _ => None,
        };
        let probabilities = [listed("probs_ab"), listed("probs_ba")];
        if probabilities.iter().all(Option::is_some) {
            let keys = ["verdict_prob", "consistent_prob", "pref_A_prob"];
            fold_two(input, keys, probabilities, &mut computed);
        }
        computed
    });
}

fn fold_two(
    input: &Json,
    [verdict, consistent, pref_a]: [&'static str; 3],
    probabilities: [Option<(f64, f64, f64)>; 2],
    computed: &mut Computed,
) -> Vote {
    let keys = [("pass_ab", Order::AsGiven), ("pass_ba", Order::Reversed)];
    let passes: Vec<Pass> = keys
        .iter()
        .zip(probabilities)
        .map(|(&(key, order), two_way)| {
            let shown = match input[key].as_str() {
                Some("first") => Ok(Preference::A),
                Some("second") => Ok(Preference::B),
                Some("tie") => Ok(Preference::Tie),
                Some(other) => panic!("unknown pass {other}"),
                None => Err(Abstention::TimedOut),
            };
            let own = shown.map(|shown| if order == Order::Reversed { shown.swapped() } else { shown });
            let outcome = own.map(|own| Rating {
                distribution: two_way.map(|two_way| Distribution {
                    label_mass: 1.0,
                    bounds01: (0.0, 1.0),
                    two_way: Some(two_way),
                }),
                ..rating(Value::Preference(own))
            });
            Pass { judge: JudgeId::new("judge"), order, sample: 0, outcome }
        })
        .collect();
    let votes = fold_orders(&passes, ExpectedOrders::Both, &Scale::Pairwise { tie: true });
    let [vote] = &votes[..] else { panic!("one judge, one vote: {votes:?}") };
    let name = vote.outcome.ok().map(|rating| match rating.value {
        Value::Preference(Preference::A) => "A",
        Value::Preference(Preference::B) => "B",
        Value::Preference(Preference::Tie) => "tie",
        other => panic!("not a preference: {other:?}"),
    });
    computed.set(verdict, name);
    computed.set(consistent, vote.pair.and_then(|pair| pair.consistent));
    computed.set(pref_a, vote.pair.map(|pair| pair.pref_a));
    vote.clone()
}
