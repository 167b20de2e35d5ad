use super::{Dimensions, ErrorModel, Settings, TaskVotes, TaskVotesError, posterior_entropy, solve};
use crate::estimate::UndefinedReason;
use crate::scale::{Scale, Value};
use crate::vote::JudgeId;

const TWO: Dimensions = Dimensions { tasks: 2, workers: 3, labels: 2, classes: 2 };

#[test]
fn indexes_out_of_range_are_refused_by_their_place() {
    let check = |dimensions, triple: (usize, usize, usize), golden: &[Option<usize>], error| {
        assert_eq!(TaskVotes::new(dimensions, &[(0, 0, 0), triple], golden), Err(error));
    };
    check(TWO, (2, 0, 0), &[], TaskVotesError::UnknownTask { place: 1, task: 2, tasks: 2 });
    check(TWO, (0, 3, 0), &[], TaskVotesError::UnknownWorker { place: 1, worker: 3, workers: 3 });
    check(TWO, (0, 0, 2), &[], TaskVotesError::UnknownLabel { place: 1, label: 2, labels: 2 });
    check(TWO, (0, 0, 0), &[None], TaskVotesError::UnequalLengths { golden: 1, tasks: 2 });
    let golden = [None, Some(2)];
    check(TWO, (0, 0, 0), &golden, TaskVotesError::UnknownGolden { place: 1, label: 2, classes: 2 });
    let bad = Dimensions { classes: 3, ..TWO };
    check(bad, (0, 0, 0), &[], TaskVotesError::BadClasses { classes: 3, labels: 2 });
}

#[test]
fn nothing_known_is_undefined() {
    let none = TaskVotes::new(TWO, &[], &[]).unwrap();
    assert_eq!(solve(&none, Settings::default()), Err(UndefinedReason::Empty));
    assert_eq!(posterior_entropy(&[1.0]), Err(UndefinedReason::SingleValueDomain));
}

#[test]
fn golden_labels_stay_and_teach() {
    // Worker 2 is always wrong, which only golden labels can show.
    let triples: Vec<(usize, usize, usize)> =
        (0..20).flat_map(|t| [(t, 0, t % 2), (t, 1, t % 2), (t, 2, 1 - t % 2)]).chain([(20, 2, 0)]).collect();
    let dimensions = Dimensions { tasks: 22, ..TWO };
    let golden: Vec<Option<usize>> = (0..22).map(|t| (t < 20).then_some(t % 2)).collect();
    let solution =
        solve(&TaskVotes::new(dimensions, &triples, &golden).unwrap(), Settings::default()).unwrap();
    assert_eq!(solution.posteriors[0], Some(vec![1.0, 1e-10]));
    assert!(solution.posteriors[20].as_ref().unwrap()[1] > 0.8, "{solution:?}");
    assert_eq!(solution.posteriors[21], None);
    let judges = ["a", "b", "c"].map(JudgeId::new);
    let model = ErrorModel::new(&judges, &solution).unwrap();
    assert_eq!(model.value(&Scale::PassFail, [(&judges[2], Value::Pass(false))]), Some(Value::Pass(true)));
    assert_eq!(model.value(&Scale::PassFail, []), None);
    assert_eq!(ErrorModel::new(&judges[..2], &solution), None);
}

#[test]
fn a_label_outside_the_classes_favours_none() {
    let dimensions = Dimensions { tasks: 1, workers: 1, labels: 3, classes: 2 };
    let votes = TaskVotes::new(dimensions, &[(0, 0, 2)], &[]).unwrap();
    let solution = solve(&votes, Settings::default()).unwrap();
    assert_eq!(solution.posteriors, [Some(vec![0.5, 0.5])]);
}
