use super::{LEAST_LABELS, RecommendError, Refusal, Settings, measure_recommendation, recommend};
use crate::labelled::{LabelledCase, LabelledCases};
use crate::panel_vote::AppliedMethod;
use crate::scale::{Scale, Value};
use crate::stacked::StackedError;
use crate::vote::{JudgeId, Rating, Scoring, Vote};

fn vote(judge: &str, value: Value) -> Vote {
    let rating = Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
    Vote { judge: JudgeId::new(judge), outcome: Ok(rating), pair: None }
}

/// Judges that are right unless `wrong(case, judge)`.
fn panel(n: usize, judges: usize, wrong: impl Fn(usize, usize) -> bool) -> LabelledCases {
    let case = |i: usize| {
        let truth = (i * 7).is_multiple_of(3);
        let votes =
            (0..judges).map(|j| vote(&format!("judge {j}"), Value::Pass(truth != wrong(i, j)))).collect();
        LabelledCase { votes, label: Value::Pass(truth), source: None }
    };
    LabelledCases::new(Scale::PassFail, (0..n).map(case).collect()).unwrap()
}

#[test]
fn judges_of_one_quality_need_no_weights() {
    let cases = panel(120, 3, |i, j| (i * 31 + j * 17) % 5 == 0);
    let found = recommend(&cases, Settings::default()).unwrap();
    assert_eq!(found.recommended, AppliedMethod::Majority);
    assert_eq!(found.rows.len(), 6);
    assert!(found.rows.iter().all(|row| row.behind_best >= -1e-12));
}

#[test]
fn one_good_judge_among_bad_ones_is_recommended_over_the_majority() {
    let cases = panel(120, 5, |i, j| if j == 2 { i % 20 == 0 } else { (i + j / 4) % 2 == 0 });
    let found = recommend(&cases, Settings::default()).unwrap();
    assert_eq!(found.recommended, AppliedMethod::BestSingle);
    let majority = found.rows.iter().find(|row| row.method == AppliedMethod::Majority).unwrap();
    assert!(majority.over_best_single.unwrap().interval.unwrap().hi < 0.0);
    let measured = measure_recommendation(&cases, Settings::default()).unwrap();
    assert!(measured.agreement.unwrap().value > 0.9);
    assert_eq!(measured.chosen.len(), 10);
}

#[test]
fn too_little_to_compare_is_refused() {
    let few = panel(LEAST_LABELS - 1, 3, |_, _| false);
    let error = recommend(&few, Settings::default()).unwrap_err();
    assert_eq!(error, RecommendError::TooFewLabels { labels: 29, more: 1 });
    let one = panel(40, 3, |_, _| false);
    let mut cases = one.cases().to_vec();
    for case in &mut cases {
        case.source = Some(1);
    }
    let one = LabelledCases::new(Scale::PassFail, cases).unwrap();
    assert_eq!(recommend(&one, Settings::default()), Err(RecommendError::OneSource));
    assert_eq!(measure_recommendation(&one, Settings::default()), Err(RecommendError::OneSource));
}

#[test]
fn rules_that_cannot_be_learned_are_named_with_the_reason() {
    let found = recommend(&panel(40, 3, |i, j| i % 7 == j), Settings::default()).unwrap();
    let refusal = Refusal::Stacked(StackedError::TooFewLabels { labels: 40, more: 10 });
    assert_eq!(found.refused, [(AppliedMethod::Stacked, refusal)]);
    let interval = Scale::Continuous((0.0, 1.0).try_into().unwrap());
    let case = |i: u32| LabelledCase {
        votes: vec![vote("a", Value::Number(f64::from(i % 7) / 7.0)), vote("b", Value::Number(0.5))],
        label: Value::Number(f64::from(i % 7) / 7.0),
        source: None,
    };
    let cases = LabelledCases::new(interval, (0..40).map(case).collect()).unwrap();
    let found = recommend(&cases, Settings::default()).unwrap();
    assert_eq!(found.recommended, AppliedMethod::BestSingle);
    assert!(found.refused.contains(&(AppliedMethod::KappaWeighted, Refusal::NoLabels)));
}
