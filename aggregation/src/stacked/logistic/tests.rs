use super::{Problem, Row};

/// The fit is the minimum: no small step lowers the objective.
#[test]
fn the_gradient_vanishes_at_the_fit() {
    let rows: Vec<Row> = (0..60_u32)
        .map(|i| vec![(0, 1.0), (1, f64::from(i % 5) - 2.0), (2, f64::from(i * 7 % 11) / 11.0)])
        .collect();
    let truths: Vec<usize> = (0..60).map(|i| (i * i + i / 7) % 3).collect();
    let problem = Problem::new(&rows, &truths, 3, 3);
    for ridge in [0.25, 4.0] {
        let fitted = problem.fit(ridge, None);
        let (gradient, _) = problem.derivatives(&fitted, ridge);
        assert!(gradient.iter().all(|part| part.abs() < 1e-9), "{gradient:?}");
        let warm = problem.fit(ridge, Some(&problem.fit(1.0, None)));
        assert!(fitted.values.iter().zip(&warm.values).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

/// Exchanging the names of two classes exchanges their probabilities, also with the reference class.
#[test]
fn renaming_the_classes_changes_nothing_else() {
    let rows: Vec<Row> = (0..50_u32).map(|i| vec![(0, 1.0), (1, f64::from(i % 7) - 3.0)]).collect();
    let truths: Vec<usize> = (0..50).map(|i| usize::from(i % 7 > 3) + usize::from(i % 5 == 0)).collect();
    let renamed: Vec<usize> = truths.iter().map(|truth| (truth + 1) % 3).collect();
    let (first, second) = (
        Problem::new(&rows, &truths, 2, 3).fit(1.0, None),
        Problem::new(&rows, &renamed, 2, 3).fit(1.0, None),
    );
    for row in &rows {
        let (p, q) = (first.probabilities(row), second.probabilities(row));
        for class in 0..3 {
            assert!((p[class] - q[(class + 1) % 3]).abs() < 1e-9);
        }
    }
}

/// One Newton step stands in for the fit without a case: near enough to choose a penalty by.
#[test]
fn the_loss_left_out_is_near_that_of_real_refits() {
    let rows: Vec<Row> =
        (0..80_u32).map(|i| vec![(0, 1.0), (1, f64::from(i * 13 % 17) / 8.0 - 1.0)]).collect();
    let truths: Vec<usize> = (0..80).map(|i| usize::from((i * 13 % 17) + (i % 4) * 3 > 11)).collect();
    let problem = Problem::new(&rows, &truths, 2, 2);
    let fast = problem.loss_left_out(&problem.fit(1.0, None), 1.0).unwrap();
    let mut slow = 0.0;
    for out in 0..80 {
        let keep = |i: &usize| *i != out;
        let some: Vec<Row> = (0..80).filter(keep).map(|i| rows[i].clone()).collect();
        let labels: Vec<usize> = (0..80).filter(keep).map(|i| truths[i]).collect();
        let refit = Problem::new(&some, &labels, 2, 2).fit(1.0, None);
        slow -= refit.probabilities(&rows[out])[truths[out]].ln() / 80.0;
    }
    assert!((fast - slow).abs() < 1e-3, "{fast} {slow}");
}

/// A feature that tells the classes apart completely has a finite weight under any penalty.
#[test]
fn perfect_separation_stays_finite() {
    let rows: Vec<Row> = (0..50_u32).map(|i| vec![(0, 1.0), (1, if i < 25 { 1.0 } else { -1.0 })]).collect();
    let truths: Vec<usize> = (0..50).map(|i| usize::from(i >= 25)).collect();
    let fitted = Problem::new(&rows, &truths, 2, 2).fit(0.25, None);
    assert!(fitted.values.iter().all(|value| value.is_finite()));
    assert!(fitted.probabilities(&rows[0])[0] > 0.98);
}
