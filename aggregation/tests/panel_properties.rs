//! Laws of what is learned from labelled cases, of thresholds and of measures, for any input.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test: a fault here fails it")]

use aggregation::bias::{
    FamilyScores, LengthUnit, Shown, label_repeats, leniency, position_bias, score_repeats, self_preference,
    verbosity,
};
use aggregation::dawid_skene::{Dimensions, Settings, TaskVotes, solve};
use aggregation::health::{effective_judges, panel_health};
use aggregation::labelled::{LabelledCase, LabelledCases};
use aggregation::numeric::Resampling;
use aggregation::panel_vote::Method;
use aggregation::recommend::{self, recommend};
use aggregation::selective::{Guarantee, Judged, Selection, select};
use aggregation::sequential::{Open, settled};
use aggregation::stacked::{Stacked, cross_fit};
use aggregation::verdict::EscalationPolicy;
use aggregation::vote::{PairFold, Scoring};
use aggregation::{Abstention, JudgeId, Policy, Preference, Rating, Scale, Value, Vote, decide};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{
    BoxedStrategy, Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

fn any_number() -> BoxedStrategy<f64> {
    prop_oneof![4 => -5.0..5.0, 1 => any::<f64>(), 1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(0.0)]]
        .boxed()
}

fn scales() -> Vec<Scale> {
    vec![
        Scale::Ordinal(vec![1.0, 2.0, 4.0].try_into().unwrap()),
        Scale::Continuous((0.0, 1.0).try_into().unwrap()),
        Scale::Nominal(["x", "y", "z"].map(String::from).to_vec().try_into().unwrap()),
        Scale::PassFail,
        Scale::Pairwise { tie: true },
        Scale::Pairwise { tie: false },
    ]
}

/// A value on a scale, drawn from one number.
fn value_on(scale: &Scale, draw: u8) -> Value {
    match scale {
        Scale::Ordinal(_) => Value::Number([1.0, 2.0, 4.0, 1.5, 3.1][usize::from(draw) % 5]),
        Scale::Continuous(_) => Value::Number(f64::from(draw) / 255.0),
        Scale::Nominal(_) => Value::Category(usize::from(draw) % 3),
        Scale::PassFail => Value::Pass(draw.is_multiple_of(2)),
        Scale::Pairwise { tie } => {
            let all = [Preference::A, Preference::B, Preference::Tie];
            Value::Preference(all[usize::from(draw) % if *tie { 3 } else { 2 }])
        }
    }
}

fn vote(judge: usize, outcome: Result<Value, Abstention>) -> Vote {
    let rating = |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
    let pair = match outcome {
        Ok(Value::Preference(p)) => Some(PairFold { pref_a: p.pref_a(), consistent: Some(true) }),
        Ok(_) | Err(_) => None,
    };
    Vote { judge: JudgeId::new(&format!("judge {judge}")), outcome: outcome.map(rating), pair }
}

/// Labelled cases of up to four judges, of which each may be missing in any case.
fn labelled(cases: impl Into<proptest::collection::SizeRange>) -> BoxedStrategy<LabelledCases> {
    let case = (any::<u8>(), vec(option::weighted(0.8, any::<u8>()), 1..5), option::of(0..6_u64));
    (0..6_usize, vec(case, cases))
        .prop_filter_map("some judge voted", |(scale, drawn)| {
            let scale = scales().swap_remove(scale);
            let cases = drawn.into_iter().map(|(label, votes, source)| LabelledCase {
                votes: votes
                    .iter()
                    .enumerate()
                    .map(|(j, draw)| vote(j, draw.map(|d| value_on(&scale, d)).ok_or(Abstention::TimedOut)))
                    .collect(),
                label: value_on(&scale, label),
                source,
            });
            LabelledCases::new(scale.clone(), cases.collect()).ok()
        })
        .boxed()
}

fn few_settings(seed: u64) -> recommend::Settings {
    recommend::Settings { folds: 3, repeats: 1, seed, ..recommend::Settings::default() }
}

fn policy(scale: Scale, method: Method) -> Policy {
    let escalate = EscalationPolicy { disagreement: Some(0.5), near_threshold: None };
    Policy { scale, method, quorum: 2, pass: None, escalate }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_recommendation_is_the_same_for_the_same_seed_and_never_behind_the_best_by_more_than_its_error(
        cases in labelled(30..60), seed in any::<u64>(),
    ) {
        let found = recommend(&cases, few_settings(seed));
        prop_assert_eq!(&found, &recommend(&cases, few_settings(seed)));
        if let Ok(found) = found {
            let row = found.rows.iter().find(|row| row.method == found.recommended).unwrap();
            prop_assert!(row.behind_best <= row.behind_best_error + 1e-9);
            for row in &found.rows {
                let agreement = row.agreement.unwrap();
                prop_assert!((-1e-9..=1.0 + 1e-9).contains(&agreement.value));
            }
            for case in cases.cases() {
                let verdict = decide(&case.votes, &recommend::policy(&cases, found.method.clone()));
                prop_assert!(verdict.outcome.value().is_none_or(|v| cases.scale().contains(v) || matches!(v, Value::Preference(_))));
            }
        }
    }

    #[test]
    fn stacking_gives_probabilities_and_does_not_mind_the_order_of_cases(cases in labelled(50..80)) {
        let Ok(model) = Stacked::fit(&cases) else { return Ok(()) };
        let mut turned = cases.cases().to_vec();
        turned.reverse();
        for case in &mut turned {
            case.votes.reverse();
        }
        let again = Stacked::fit(&LabelledCases::new(cases.scale().clone(), turned).unwrap()).unwrap();
        prop_assert_eq!(&model, &again);
        for case in cases.cases() {
            if let Some(prediction) = model.predict(cases.scale(), &case.votes) {
                prop_assert!((prediction.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                prop_assert!(prediction.probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
            }
        }
        prop_assert!(cross_fit(&cases, 3, 1).is_ok());
    }

    /// Exchanging a and b everywhere exchanges what the model says.
    #[test]
    fn stacking_does_not_know_the_names_of_the_candidates(draws in vec((any::<u8>(), vec(any::<u8>(), 3)), 60..80)) {
        let scale = Scale::Pairwise { tie: false };
        let swap = |value: Value| match value {
            Value::Preference(p) => Value::Preference(p.swapped()),
            Value::Number(_) | Value::Category(_) | Value::Pass(_) => value,
        };
        let build = |turn: &dyn Fn(Value) -> Value| {
            let case = |(label, votes): &(u8, Vec<u8>)| LabelledCase {
                votes: votes.iter().enumerate().map(|(j, d)| vote(j, Ok(turn(value_on(&Scale::Pairwise { tie: true }, *d))))).collect(),
                label: turn(value_on(&scale, *label)),
                source: None,
            };
            LabelledCases::new(scale.clone(), draws.iter().map(case).collect()).unwrap()
        };
        let (plain, turned) = (build(&|v| v), build(&swap));
        let (Ok(first), Ok(second)) = (Stacked::fit(&plain), Stacked::fit(&turned)) else { return Ok(()) };
        for (case, other) in plain.cases().iter().zip(turned.cases()) {
            let p = first.predict(&scale, &case.votes).unwrap().probabilities;
            let q = second.predict(&scale, &other.votes).unwrap().probabilities;
            prop_assert!((p[0] - q[1]).abs() < 1e-6, "{p:?} {q:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn learned_rules_are_total_and_do_not_mind_the_order_of_votes(
        cases in labelled(50..60), drawn in vec(option::of(any::<u8>()), 0..6),
    ) {
        let scale = cases.scale().clone();
        let votes: Vec<Vote> = drawn
            .iter()
            .enumerate()
            .map(|(j, d)| vote(j, d.map(|d| value_on(&scale, d)).ok_or(Abstention::Refused)))
            .collect();
        let mut turned = votes.clone();
        turned.reverse();
        let mut methods = vec![Method::BestSingle(JudgeId::new("judge 1"))];
        methods.extend(Stacked::fit(&cases).ok().map(|model| Method::Stacked(model.into())));
        for method in methods {
            let policy = policy(scale.clone(), method);
            let verdict = decide(&votes, &policy);
            prop_assert_eq!(&verdict, &decide(&turned, &policy));
            prop_assert!(verdict.outcome.score().is_none_or(|score| (0.0..=1.0).contains(&score)));
            let open = Open { may_abstain: true, may_be_unsupported: false, both_orders: true };
            let remaining = [JudgeId::new("judge 8")];
            if let Some(settled) = settled(&votes, &remaining, &policy, open) {
                let mut full = votes.clone();
                full.push(vote(8, Ok(value_on(&scale, 1))));
                let late = decide(&full, &policy);
                prop_assert_eq!(settled.outcome.value(), late.outcome.value());
                prop_assert_eq!(settled.is_escalated(), late.is_escalated());
            }
        }
    }

    /// The stricter the risk, the fewer cases are kept.
    #[test]
    fn a_stricter_promise_keeps_no_more_cases(
        cases in vec((0..6_u8, 0..12_u8), 0..300), risks in (0.01..0.5_f64, 0.01..0.5_f64), failure in 0.01..0.5_f64,
    ) {
        let cases: Vec<Judged> = cases
            .iter()
            .map(|(c, e)| Judged { confidence: f64::from(*c) / 5.0, is_wrong: *e == 0 })
            .collect();
        let keep = |risk: f64, failure: f64| select(&cases, Guarantee::new(risk, failure).unwrap()).unwrap();
        let (strict, loose) = (keep(risks.0.min(risks.1), failure), keep(risks.0.max(risks.1), failure));
        for (strict, loose) in [(&strict, &loose), (&keep(risks.0, failure / 2.0), &keep(risks.0, failure))] {
            // A looser promise may be tested on fewer cases, and end there: see `select`.
            let start = |selection: &Selection| selection.steps.first().map(|step| step.kept);
            if start(strict) == start(loose) {
                prop_assert!(strict.coverage <= loose.coverage + 1e-12);
            }
        }
        prop_assert_eq!(strict.threshold.is_some(), strict.coverage > 0.0);
        prop_assert!(strict.threshold.is_none() || strict.more_labels.is_none());
    }

    #[test]
    fn dawid_skene_does_not_mind_the_order_of_votes_nor_the_names_of_labels(
        triples in vec((0..12_usize, 0..4_usize, 0..3_usize), 1..60), golden in vec(option::weighted(0.2, 0..3_usize), 12),
    ) {
        let dimensions = Dimensions { tasks: 12, workers: 4, labels: 3, classes: 3 };
        let fixed = Settings { tolerance: None, most_iterations: 10, ..Settings::default() };
        let run = |triples: &[(usize, usize, usize)], golden: &[Option<usize>]| {
            solve(&TaskVotes::new(dimensions, triples, golden).unwrap(), fixed).unwrap()
        };
        let plain = run(&triples, &golden);
        let mut turned = triples.clone();
        turned.reverse();
        prop_assert_eq!(&plain, &run(&turned, &golden));
        let renamed: Vec<_> = triples.iter().map(|&(t, w, l)| (t, w, (l + 1) % 3)).collect();
        let other = run(&renamed, &golden.iter().map(|g| g.map(|g| (g + 1) % 3)).collect::<Vec<_>>());
        for (p, q) in plain.posteriors.iter().zip(&other.posteriors) {
            let (Some(p), Some(q)) = (p, q) else { continue };
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-8);
            for label in 0..3 {
                prop_assert!((p[label] - q[(label + 1) % 3]).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn health_and_leniency_are_numbers_or_reasons(cases in labelled(1..30)) {
        let health = panel_health(&cases, Resampling { resamples: 20, ..Resampling::default() });
        if let Ok(effective) = health.effective {
            let m = cases.judges().len();
            prop_assert!(effective.n_eff >= 1.0 - 1e-9 && effective.n_eff <= f64::from(u8::try_from(m).unwrap()) + 1e-9);
        }
        prop_assert!(health.gains.iter().all(|(_, gain)| gain.unwrap().value.is_finite()));
        for judge in leniency(&cases, 0.95) {
            prop_assert!(judge.difference.map_or(true, |estimate| (-1.0..=1.0).contains(&estimate.value)));
        }
    }

    /// Whatever comes in: no panic, and no number that is not finite.
    #[test]
    fn measures_of_bias_take_anything(
        numbers in vec((any_number(), any_number(), any_number()), 0..20),
        repeats in vec(vec(option::of(any_number()), 0..4), 0..6),
        shown in vec((0..4_u8, 0..4_u8), 0..40),
        confidence in any_number(),
    ) {
        let of = |part: fn(&(f64, f64, f64)) -> f64| numbers.iter().map(part).collect::<Vec<f64>>();
        let (x, y, z) = (of(|n| n.0), of(|n| n.1), of(|n| n.2));
        for unit in [LengthUnit::Raw, LengthUnit::Logarithm] {
            if let Ok(found) = verbosity(&x, &y, Some(&z), unit) {
                for correlation in [Some(found.pearson), Some(found.spearman), found.partial].into_iter().flatten() {
                    prop_assert!((-1.0..=1.0).contains(&correlation.r) && (0.0..=1.0).contains(&correlation.p));
                }
            }
        }
        let cases: Vec<FamilyScores> = numbers
            .iter()
            .map(|n| FamilyScores { own: n.0, others: n.1, own_reference: n.2, others_reference: 0.5, source: None })
            .collect();
        if let Ok(found) = self_preference(&cases, 1) {
            prop_assert!(found.effect.is_finite() && found.p > 0.0 && found.p <= 1.0);
        }
        let errors = [x.iter().copied().map(Some).collect(), y.iter().copied().map(Some).collect()];
        if let Ok(found) = effective_judges(&errors) {
            prop_assert!((1.0..=2.0 + 1e-9).contains(&found.n_eff));
        }
        if let Ok(found) = score_repeats(&repeats, (-5.0, 5.0)) {
            prop_assert!(!found.mean_distance.value.is_nan() && !found.deviation.is_nan());
        }
        if let Ok(found) = label_repeats(&repeats) {
            prop_assert!((0.0..=1.0).contains(&found.repeat_rate.value));
        }
        let place = |i: u8| [Some(Shown::First), Some(Shown::Second), Some(Shown::Tie), None][usize::from(i)];
        let pairs: Vec<_> = shown.iter().map(|&(a, b)| (place(a), place(b))).collect();
        if let Ok(found) = position_bias(&pairs) {
            prop_assert!((0.0..=1.0).contains(&found.flip_rate.value) && (0.0..=1.0).contains(&found.p_direction));
            prop_assert!((0.0..=1.0).contains(&found.win_rate_a));
        }
        let _ = select(&[Judged { confidence, is_wrong: false }], Guarantee::default());
    }
}
