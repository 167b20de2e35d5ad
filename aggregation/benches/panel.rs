//! Learning from votes: Dawid–Skene on 10 000 tasks with five workers, stacking on 500 cases with five judges, and the
//! comparison of all rules on 200.

use std::hint::black_box;

use aggregation::dawid_skene::{Dimensions, Settings, TaskVotes, solve};
use aggregation::labelled::{LabelledCase, LabelledCases};
use aggregation::recommend::{Settings as Comparison, recommend};
use aggregation::stacked::Stacked;
use aggregation::vote::Scoring;
use aggregation::{JudgeId, Rating, Scale, Value, Vote};
use criterion::{Criterion, criterion_group, criterion_main};

/// A number below `bound` that looks random and is the same everywhere.
fn noise(i: usize, bound: usize) -> usize {
    let mixed = (i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40).unwrap_or_default()
        % bound
}

#[expect(clippy::expect_used, reason = "the votes of the bench are fixed")]
fn dawid_skene(c: &mut Criterion) {
    let dimensions = Dimensions { tasks: 10_000, workers: 5, labels: 3, classes: 3 };
    let vote = |task: usize, worker: usize| {
        let is_wrong = noise(task * 5 + worker, 10) <= worker;
        (task, worker, if is_wrong { (task + 1 + noise(task, 2)) % 3 } else { task % 3 })
    };
    let triples: Vec<(usize, usize, usize)> =
        (0..10_000).flat_map(|task| (0..5).map(move |worker| vote(task, worker))).collect();
    let fifty = Settings { tolerance: None, smoothing: 0.0, ..Settings::default() };
    c.bench_function("dawid_skene_10k_tasks_5_workers_50_iterations", |b| {
        b.iter(|| {
            let votes = TaskVotes::new(dimensions, black_box(&triples), &[]).expect("indexes fit");
            solve(&votes, fifty)
        });
    });
}

#[expect(clippy::expect_used, reason = "the cases of the bench are fixed")]
fn labelled(n: usize) -> LabelledCases {
    let case = |i: usize| {
        let truth = noise(i, 2) == 1;
        let says = |j: usize| Value::Pass(truth != (noise(i * 5 + j + 99_991, 10) <= j));
        let rating =
            |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
        let vote = |j: usize| Vote {
            judge: JudgeId::new(&format!("{j}")),
            outcome: Ok(rating(says(j))),
            pair: None,
        };
        LabelledCase { votes: (0..5).map(vote).collect(), label: Value::Pass(truth), source: None }
    };
    LabelledCases::new(Scale::PassFail, (0..n).map(case).collect()).expect("labels are on the scale")
}

fn learning(c: &mut Criterion) {
    let (large, small) = (labelled(500), labelled(200));
    c.bench_function("stacked_500_cases_5_judges", |b| b.iter(|| Stacked::fit(black_box(&large))));
    let mut group = c.benchmark_group("slow");
    group.sample_size(10);
    group.bench_function("recommend_200_cases_5_judges", |b| {
        b.iter(|| recommend(black_box(&small), Comparison::default()));
    });
    group.finish();
}

criterion_group!(benches, dawid_skene, learning);
criterion_main!(benches);
