//! What judges go by other than quality.

use aggregation::bias::{
    FamilyScores, LengthUnit, SelfPreferenceError, Shown, position_bias, self_preference, verbosity,
};
use aggregation::numeric::CorrelationError;
use serde_json::{Value as Json, json};

use crate::harness::{Computed, check, present, present_or_null};

#[test]
fn oracles_position_bias() {
    check("position_bias", |input| {
        let shown = |word: &Json| match word.as_str() {
            Some("first") => Some(Shown::First),
            Some("second") => Some(Shown::Second),
            Some("tie") => Some(Shown::Tie),
            Some(other) => panic!("unknown place {other}"),
            None => None,
        };
        let pairs: Vec<(Option<Shown>, Option<Shown>)> = input["passes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| (shown(&pair[0]), shown(&pair[1])))
            .collect();
        let mut computed = Computed::default();
        match position_bias(&pairs) {
            Ok(found) => {
                let interval = found.flip_rate.interval.unwrap();
                computed.set("n", found.flip_rate.n);
                computed.set("flips", found.flips);
                computed.set("flip_rate", found.flip_rate.value);
                computed.set("ci95", json!([interval.lo, interval.hi]));
                computed.set("primacy", found.primacy);
                computed.set("recency", found.recency);
                computed.set("direction_index", found.direction_index);
                computed.set("p_direction", found.p_direction);
                computed.set("state", serde_json::to_value(found.decision).unwrap());
                computed.set("win_rate_A", found.win_rate_a);
                computed.set("first_slot_rate", found.first_shown_rate);
            }
            Err(undefined) => {
                computed.set("n", undefined.n);
                computed.set_result("flip_rate", Err(undefined.reason));
            }
        }
        computed
    });
}

#[test]
fn oracles_pearson_partial() {
    check("pearson_partial", |input| {
        let human = present_or_null(&input["human"]);
        let human = (!human.is_empty()).then_some(human.as_slice());
        let mut computed = Computed::default();
        match verbosity(&present(&input["score"]), &present(&input["length"]), human, LengthUnit::Raw) {
            Ok(found) => {
                computed.set("pearson", found.pearson.r);
                computed.set("p_pearson", found.pearson.p);
                computed.set("ci95", found.pearson.fisher_interval(0.95).map(|i| vec![i.lo, i.hi]));
                computed.set("spearman", found.spearman.r);
                computed.set("p_spearman", found.spearman.p);
                computed.set("partial", found.partial.map(|partial| partial.r));
                computed.set("p_partial", found.partial.map(|partial| partial.p));
                computed.set("partial_spearman", found.partial_spearman.map(|partial| partial.r));
                computed.set("p_partial_spearman", found.partial_spearman.map(|partial| partial.p));
            }
            Err(CorrelationError::Undefined(reason)) => computed.set_result("pearson", Err(reason)),
            Err(other) => panic!("{other}"),
        }
        computed
    });
}

#[test]
fn oracles_self_preference() {
    check("self_preference", |input| {
        let cases: Vec<FamilyScores> = input["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| {
                let [own, others, own_reference, others_reference] = present(case)[..] else {
                    panic!("four columns: {case}")
                };
                FamilyScores { own, others, own_reference, others_reference, source: None }
            })
            .collect();
        let mut computed = Computed::default();
        match self_preference(&cases, 0) {
            Ok(found) => {
                assert!(found.is_exact);
                computed.set("effect", found.effect);
                computed.set("p_exact", found.p);
                computed.set("relative", found.relative);
                computed.set("flag", found.is_flagged);
            }
            Err(SelfPreferenceError::Undefined(reason)) => computed.set_result("effect", Err(reason)),
            Err(other) => panic!("{other}"),
        }
        computed
    });
}
