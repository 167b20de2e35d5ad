use std::collections::BTreeMap;

use super::{
    Adjudication, AnnotatedCase, Annotation, Annotations, Cause, ConsolidatedTruth, Finding, History,
    JudgeAgreement, ProtocolError, TreeThresholds, diagnose,
};
use crate::agreement::{Level, PositionsError};
use crate::calibration::{Status, Thresholds};
use crate::estimate::UndefinedReason;
use crate::numeric::Resampling;

/// What a group of cases looks like: the two people, the decision, the judge, how many.
type Group = (usize, usize, Option<usize>, usize, usize);

fn id(case: usize) -> String {
    format!("case {case:03}")
}

fn annotated(case: usize, first: Option<usize>, second: Option<usize>) -> AnnotatedCase {
    let annotation = |label| Annotation { label, is_unsure: false };
    AnnotatedCase { id: id(case), first: first.map(annotation), second: second.map(annotation) }
}

fn resampling() -> Resampling {
    Resampling { resamples: 200, ..Resampling::default() }
}

fn spread(groups: &[Group]) -> Vec<Group> {
    groups.iter().flat_map(|group| std::iter::repeat_n(*group, group.4)).collect()
}

fn truth<'a>(labels: usize, level: Level<'a>, groups: &[Group], unsure: usize) -> ConsolidatedTruth<'a> {
    let all = spread(groups);
    let mut cases: Vec<AnnotatedCase> =
        all.iter().enumerate().map(|(case, group)| annotated(case, Some(group.0), Some(group.1))).collect();
    for case in cases.iter_mut().take(unsure) {
        case.second.as_mut().unwrap().is_unsure = true;
    }
    let decisions: BTreeMap<String, usize> =
        all.iter().enumerate().filter_map(|(case, group)| Some((id(case), group.2?))).collect();
    let annotations = Annotations::new(labels, level, "rubric", cases).unwrap();
    annotations.measure(resampling()).unwrap().resolve(&decisions).unwrap()
}

fn judged(truth: &ConsolidatedTruth<'_>, groups: &[Group]) -> JudgeAgreement {
    let labels = spread(groups).iter().enumerate().map(|(case, group)| (id(case), group.3)).collect();
    truth.measure_judge("rubric", &labels, Thresholds::default(), resampling()).unwrap()
}

fn measured(groups: &[Group], unsure: usize) -> JudgeAgreement {
    judged(&truth(2, Level::Nominal, groups, unsure), groups)
}

#[test]
fn only_unresolved_cases_are_left_out() {
    let groups = [
        (0, 0, None, 0, 20),
        (1, 1, None, 1, 20),
        (0, 1, Some(1), 0, 8),
        (1, 0, None, 1, 2),
        (1, 1, None, 0, 2),
    ];
    let truth = truth(2, Level::Nominal, &groups, 0);
    assert_eq!(truth.states()[0], Adjudication::Agreed { label: 0 });
    assert_eq!(truth.states()[40], Adjudication::Adjudicated { label: 1 });
    assert_eq!(truth.states()[48], Adjudication::Unresolved);
    let judge = judged(&truth, &groups);
    let (all, agreed) = (judge.truth.headline.unwrap(), judge.agreed_only.kappa.unwrap());
    assert_eq!((all.n, agreed.n, judge.agreed_only.n_excluded, judge.unresolved), (50, 42, 10, 2));
    assert!(agreed.value > all.value + 0.2, "the agreed cases flatter: {agreed:?} {all:?}");
    assert_eq!(judge.ceiling.unwrap().n, 52);
    assert_eq!(judge.people, truth.people().kappa());
}

#[test]
fn no_judge_before_two_people() {
    let alone = vec![annotated(0, Some(0), None), annotated(1, None, Some(1)), annotated(2, None, None)];
    let annotations = Annotations::new(2, Level::Nominal, "rubric", alone).unwrap();
    assert_eq!(annotations.measure(resampling()), Err(ProtocolError::NoDoubleAnnotation { cases: 3 }));
}

#[test]
fn each_step_refuses_what_does_not_fit() {
    let new = |cases| Annotations::new(2, Level::Nominal, "rubric", cases);
    let twice = new(vec![annotated(0, Some(0), None), annotated(0, Some(1), None)]);
    assert_eq!(twice, Err(ProtocolError::RepeatedCase { case: 1, id: id(0) }));
    let off = new(vec![annotated(0, None, Some(2))]);
    assert_eq!(off, Err(ProtocolError::UnknownLabel { id: id(0), label: 2, labels: 2 }));
    let values = Annotations::new(2, Level::Interval(&[1.0]), "rubric", Vec::new());
    let short = PositionsError::WrongLength { got: 1, labels: 2 };
    assert_eq!(values, Err(ProtocolError::Positions(short)));

    let people = new(vec![annotated(0, Some(0), Some(0)), annotated(1, Some(0), Some(1))]).unwrap();
    let people = people.measure(resampling()).unwrap();
    let resolve = |case, label| people.clone().resolve(&[(id(case), label)].into()).unwrap_err();
    assert_eq!(resolve(0, 1), ProtocolError::Contradicted { id: id(0), agreed: 0, resolved: 1 });
    assert_eq!(resolve(7, 1), ProtocolError::UnknownCase { id: id(7) });
    assert_eq!(resolve(1, 5), ProtocolError::UnknownLabel { id: id(1), label: 5, labels: 2 });
    let repeated = people.clone().resolve(&[(id(0), 0)].into()).unwrap();
    assert_eq!(repeated.states()[0], Adjudication::Agreed { label: 0 });

    let judge = |rubric: &str, labels: BTreeMap<String, usize>| {
        repeated.measure_judge(rubric, &labels, Thresholds::default(), resampling()).unwrap_err()
    };
    let other = ProtocolError::OtherRubric { annotated: "rubric".to_owned(), judged: "newer".to_owned() };
    assert_eq!(judge("newer", BTreeMap::new()), other);
    assert_eq!(judge("rubric", [(id(9), 0)].into()), ProtocolError::UnknownCase { id: id(9) });
}

#[test]
fn a_judge_as_good_as_its_people_is_calibrated_at_the_ceiling() {
    // Three raters that err apart, each in a fifth of the cases.
    let mut groups: Vec<Group> = Vec::new();
    for label in [0, 1] {
        let wrong = 1 - label;
        groups.push((label, label, None, label, 10));
        groups.push((wrong, label, Some(label), label, 5));
        groups.push((label, wrong, Some(label), label, 5));
        groups.push((label, label, None, wrong, 5));
    }
    let judge = measured(&groups, 0);
    assert!(judge.ceiling.unwrap().at_ceiling);
    assert_eq!(judge.truth.status, Status::CalibratedAtCeiling);
    let diagnosis = diagnose(&judge, History::default(), TreeThresholds::default());
    assert!((diagnosis.evidence.people.unwrap() - 0.2).abs() < 1e-9, "{:?}", diagnosis.evidence);
}

#[test]
fn a_low_kappa_has_the_likeliest_cause_first() {
    let check = |groups: &[Group], unsure, history, want| {
        let diagnosis = diagnose(&measured(groups, unsure), history, TreeThresholds::default());
        assert_eq!(diagnosis.finding, want, "{:?}", diagnosis.evidence);
        diagnosis
    };
    let fresh = History::default();
    let rewritten = History { rewrites: 1, is_split: false };
    let split = History { rewrites: 1, is_split: true };
    let good = [(0, 0, None, 0, 25), (1, 1, None, 1, 25)];
    check(&good, 30, fresh, Finding::Enough);
    let low = [(0, 0, None, 0, 15), (1, 1, None, 1, 15), (0, 0, None, 1, 10), (1, 1, None, 0, 10)];
    check(&low, 0, fresh, Finding::Low(Cause::AddFewShot));
    check(&low, 15, fresh, Finding::Low(Cause::RubricGap));
    check(&low, 14, fresh, Finding::Low(Cause::AddFewShot));
    check(&low, 15, rewritten, Finding::Low(Cause::SplitDimensions));
    check(&low, 15, split, Finding::Low(Cause::ChangeModel));
    let few = [(0, 0, None, 0, 8), (1, 1, None, 1, 8), (0, 0, None, 1, 8)];
    check(&few, 0, fresh, Finding::Unknown(UndefinedReason::TooFew));
    let vague = [(0, 0, None, 0, 15), (1, 1, None, 1, 15), (0, 1, Some(1), 0, 10), (1, 0, Some(0), 1, 10)];
    let diagnosis = check(&vague, 30, fresh, Finding::Low(Cause::RubricAmbiguous));
    assert!(diagnosis.is_at_task_ceiling);
    check(&vague, 30, rewritten, Finding::Low(Cause::TaskSubjective));
}

#[test]
fn people_of_one_label_leave_the_cause_unknown() {
    let groups = [(0, 0, None, 0, 20), (0, 0, None, 1, 20)];
    let diagnosis = diagnose(&measured(&groups, 0), History::default(), TreeThresholds::default());
    assert_eq!(diagnosis.finding, Finding::Unknown(UndefinedReason::DegenerateMarginals));
}

#[test]
fn disagreements_are_listed_farthest_first_then_by_id() {
    let groups = [
        (0, 0, None, 1, 1),
        (0, 0, None, 2, 1),
        (1, 1, None, 2, 1),
        (2, 2, None, 2, 1),
        (2, 2, None, 0, 1),
        (0, 1, None, 2, 1),
    ];
    let order = |level| {
        let judge = judged(&truth(3, level, &groups, 0), &groups);
        judge.disagreements.into_iter().map(|found| (found.id, found.distance)).collect::<Vec<_>>()
    };
    let want = |list: &[(usize, f64)]| list.iter().map(|(case, d)| (id(*case), *d)).collect::<Vec<_>>();
    assert_eq!(order(Level::Ordinal), want(&[(1, 2.0), (4, 2.0), (0, 1.0), (2, 1.0)]));
    assert_eq!(order(Level::Interval(&[1.0, 2.0, 5.0])), want(&[(1, 4.0), (4, 4.0), (2, 3.0), (0, 1.0)]));
    assert_eq!(order(Level::Nominal), want(&[(0, 1.0), (1, 1.0), (2, 1.0), (4, 1.0)]));
}
