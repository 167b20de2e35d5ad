use super::{LEAST_LABELS, Stacked, StackedError, cross_fit, most_probable};
use crate::labelled::{LabelledCase, LabelledCases};
use crate::scale::{Scale, Value};
use crate::vote::{Abstention, JudgeId, Rating, Scoring, Vote};

fn vote(judge: &str, value: Option<Value>) -> Vote {
    let rating = |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
    Vote { judge: JudgeId::new(judge), outcome: value.map(rating).ok_or(Abstention::TimedOut), pair: None }
}

/// `sure` is right whenever it says pass and knows nothing when it says fail; `noisy` is right in three of four.
fn asymmetric(n: usize) -> LabelledCases {
    let case = |i: usize| {
        let truth = i.is_multiple_of(2);
        let sure = truth && i.is_multiple_of(4);
        let noisy = if i / 2 % 4 == 3 { !truth } else { truth };
        LabelledCase {
            votes: vec![vote("sure", Some(Value::Pass(sure))), vote("noisy", Some(Value::Pass(noisy)))],
            label: Value::Pass(truth),
            source: None,
        }
    };
    LabelledCases::new(Scale::PassFail, (0..n).map(case).collect()).unwrap()
}

#[test]
fn a_judge_is_trusted_in_the_label_that_it_knows() {
    let cases = asymmetric(200);
    let model = Stacked::fit(&cases).unwrap();
    let says = |sure, noisy| {
        let votes = [vote("sure", Some(Value::Pass(sure))), vote("noisy", Some(Value::Pass(noisy)))];
        model.predict(&Scale::PassFail, &votes).unwrap()
    };
    // "sure" outvotes "noisy" with its pass, and gives way with its fail.
    assert_eq!(says(true, false).value, Some(Value::Pass(true)));
    assert_eq!(says(false, true).value, Some(Value::Pass(true)));
    assert_eq!(says(false, false).value, Some(Value::Pass(false)));
    assert!((says(true, false).probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn fewer_labels_than_fifty_are_refused_with_how_many_more() {
    let error = Stacked::fit(&asymmetric(LEAST_LABELS - 3)).unwrap_err();
    assert_eq!(error, StackedError::TooFewLabels { labels: 47, more: 3 });
    assert!(error.to_string().contains("label 3 more"));
    assert!(Stacked::fit(&asymmetric(LEAST_LABELS)).is_ok());
}

#[test]
fn labels_that_teach_nothing_are_refused() {
    let same = |label| LabelledCase { votes: vec![vote("a", Some(label))], label, source: None };
    let cases = LabelledCases::new(Scale::PassFail, vec![same(Value::Pass(true)); 60]).unwrap();
    assert_eq!(Stacked::fit(&cases), Err(StackedError::OneLabelOnly));
    let interval = Scale::Continuous((0.0, 1.0).try_into().unwrap());
    let cases = LabelledCases::new(interval, vec![same(Value::Number(0.5)); 60]).unwrap();
    assert_eq!(Stacked::fit(&cases), Err(StackedError::NoLabels));
}

#[test]
fn ordered_labels_become_an_expected_one() {
    let scale = || Scale::Ordinal(vec![1.0, 2.0, 3.0, 4.0, 5.0].try_into().unwrap());
    let number = |i: usize| f64::from(u8::try_from(i).unwrap());
    // The judge is one too kind, except at the top, where it has no room.
    let case = |i: usize| LabelledCase {
        votes: vec![vote("kind", Some(Value::Number(number((i % 5 + 2).min(5)))))],
        label: Value::Number(number(i % 5 + 1)),
        source: None,
    };
    let cases = LabelledCases::new(scale(), (0..200).map(case).collect()).unwrap();
    let model = Stacked::fit(&cases).unwrap();
    let expected = |said: f64| {
        let prediction = model.predict(&scale(), &[vote("kind", Some(Value::Number(said)))]).unwrap();
        assert!(prediction.probabilities.iter().all(|p| *p >= 0.0));
        let Some(Value::Number(x)) = prediction.value else { panic!("{prediction:?}") };
        x
    };
    assert!((expected(3.0) - 2.0).abs() < 0.2 && (expected(5.0) - 4.5).abs() < 0.2);
    assert!(expected(2.0) < expected(2.5) && expected(2.5) < expected(3.0));
    assert_eq!(model.predict(&scale(), &[vote("stranger", Some(Value::Number(3.0)))]), None);
}

#[test]
fn more_than_two_labels_are_told_apart_and_unseen_ones_are_impossible() {
    let scale = || Scale::Nominal(["x", "y", "z", "unused"].map(String::from).to_vec().try_into().unwrap());
    let case = |i: usize| LabelledCase {
        votes: vec![
            vote("a", Some(Value::Category(i % 3))),
            vote("b", i.is_multiple_of(2).then_some(Value::Category(i % 3))),
        ],
        label: Value::Category((i % 3 + 1) % 3),
        source: None,
    };
    let cases = LabelledCases::new(scale(), (0..90).map(case).collect()).unwrap();
    let prediction =
        Stacked::fit(&cases).unwrap().predict(&scale(), &[vote("a", Some(Value::Category(0)))]).unwrap();
    assert_eq!(prediction.value, Some(Value::Category(1)));
    assert!(prediction.probabilities[3].abs() <= 0.0);
}

#[test]
fn cross_fitted_predictions_come_from_models_that_had_not_seen_the_case() {
    let cases = asymmetric(120);
    let fitted = cross_fit(&cases, 5, 3).unwrap();
    assert_eq!(fitted, cross_fit(&cases, 5, 3).unwrap());
    assert_eq!(fitted.predictions.len(), 120);
    assert!(fitted.predictions.iter().all(Option::is_some));
    let own = fitted.model.predict(&Scale::PassFail, &cases.cases()[0].votes);
    assert_ne!(fitted.predictions[0], own);
    assert_eq!((fitted.model.n(), fitted.model.judges().len()), (120, 2));
}

#[test]
fn a_model_survives_being_written_down() {
    let model = Stacked::fit(&asymmetric(60)).unwrap();
    let json = serde_json::to_string(&model).unwrap();
    assert_eq!(serde_json::from_str::<Stacked>(&json).unwrap(), model);
}

#[test]
fn equally_probable_labels_have_no_winner() {
    assert_eq!(most_probable(&[0.4, 0.4, 0.2]), None);
    assert_eq!(most_probable(&[0.3, 0.3, 0.4]), Some(2));
    assert!((super::pref_a(&[0.5, 0.3, 0.2]) - 0.6).abs() < 1e-12);
}
