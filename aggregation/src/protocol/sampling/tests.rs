use super::{Allocation, Candidate, SamplingError, Stratification, Stratum, draw_sample, fit};

fn candidate(id: usize, score01: f64) -> Candidate {
    Candidate {
        id: format!("case {id:04}"),
        score01: Some(score01),
        disagreement: Some(0.0),
        is_order_inconsistent: false,
    }
}

fn traffic(bad: usize, grey: usize, good: usize) -> Vec<Candidate> {
    let scores = std::iter::repeat_n(0.1, bad)
        .chain(std::iter::repeat_n(0.8, grey))
        .chain(std::iter::repeat_n(1.0, good));
    scores.enumerate().map(|(id, score)| candidate(id, score)).collect()
}

fn stratification() -> Stratification {
    Stratification::with_limits(0.75, 0.15, 0.5).unwrap()
}

#[test]
fn a_case_is_grey_for_any_of_its_doubts() {
    let check = |change: &dyn Fn(&mut Candidate), want| {
        let mut case = candidate(0, 0.1);
        change(&mut case);
        assert_eq!(stratification().stratum(&case), want, "{case:?}");
    };
    check(&|_| (), Stratum::ClearBad);
    check(&|case| case.score01 = Some(1.0), Stratum::ClearGood);
    check(&|case| case.score01 = Some(0.6), Stratum::Grey);
    check(&|case| case.score01 = Some(0.9), Stratum::Grey);
    check(&|case| case.score01 = Some(0.59), Stratum::ClearBad);
    check(&|case| case.score01 = None, Stratum::Grey);
    check(&|case| case.disagreement = Some(0.5), Stratum::Grey);
    check(&|case| case.disagreement = None, Stratum::ClearBad);
    check(&|case| case.is_order_inconsistent = true, Stratum::Grey);
}

#[test]
fn small_strata_give_to_grey_and_a_small_grey_gives_to_the_clear() {
    let check = |planned, available, want| assert_eq!(fit(planned, available), want, "{available:?}");
    check([12, 26, 12], [100, 100, 100], [12, 26, 12]);
    check([12, 26, 12], [4, 100, 100], [4, 34, 12]);
    check([12, 26, 12], [4, 100, 0], [4, 46, 0]);
    check([12, 26, 12], [100, 5, 100], [23, 5, 22]);
    check([12, 26, 12], [14, 5, 100], [14, 5, 31]);
    check([12, 26, 12], [100, 5, 14], [31, 5, 14]);
    check([12, 26, 12], [3, 5, 100], [3, 5, 42]);
}

#[test]
fn the_draw_is_the_same_in_any_order_and_another_with_another_seed() {
    let draw = |candidates, seed| {
        draw_sample(candidates, 50, stratification(), Allocation::default(), seed).unwrap()
    };
    let candidates = traffic(30, 60, 400);
    let mut reversed = candidates.clone();
    reversed.reverse();
    let sample = draw(candidates.clone(), 7);
    assert_eq!(sample, draw(reversed, 7));
    assert_ne!(sample, draw(candidates, 8));
    let drawn: Vec<usize> = sample.strata.iter().map(|count| count.drawn).collect();
    assert_eq!(drawn, [12, 26, 12]);
    let weights: f64 = sample.cases.iter().map(|case| case.weight).sum();
    assert!((weights - 490.0).abs() < 1e-9, "the weights stand for the traffic: {weights}");
    assert!(sample.cases.windows(2).all(|pair| pair[0].id < pair[1].id));
}

#[test]
fn an_allocation_without_a_stratum_says_what_weights_cannot_speak_for() {
    let allocation = Allocation::new(0.0, 1.0, 0.0).unwrap();
    let sample = draw_sample(traffic(5, 20, 5), 10, stratification(), allocation, 1).unwrap();
    assert_eq!(sample.strata.map(|count| (count.available, count.drawn)), [(5, 0), (20, 10), (5, 0)]);
    assert!(draw_sample(Vec::new(), 0, stratification(), allocation, 1).unwrap().cases.is_empty());
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let draw =
        |candidates, n| draw_sample(candidates, n, stratification(), Allocation::default(), 0).unwrap_err();
    assert_eq!(draw(traffic(1, 1, 1), 4), SamplingError::TooFewCandidates { wanted: 4, candidates: 3 });
    let twice = draw(vec![candidate(3, 0.1), candidate(3, 0.2)], 1);
    assert_eq!(twice, SamplingError::RepeatedCandidate { candidate: 1, id: "case 0003".to_owned() });
    let id = "case 0001".to_owned();
    let bad = draw(vec![candidate(0, 0.1), candidate(1, 85.0)], 1);
    assert_eq!(bad, SamplingError::BadCandidate { candidate: 1, id, name: "score01", value: 85.0 });
    assert!(matches!(draw(vec![candidate(0, f64::NAN)], 1), SamplingError::BadCandidate { .. }));
    let sum = Allocation::new(0.5, 0.5, 0.5).unwrap_err();
    assert_eq!(sum, SamplingError::NotAWhole { sum: 1.5 });
    let share = Stratification::new(85.0).unwrap_err();
    assert_eq!(share, SamplingError::NotAShare { name: "threshold", value: 85.0 });
    assert!(matches!(Allocation::new(f64::NAN, 0.5, 0.5), Err(SamplingError::NotAShare { .. })));
}
