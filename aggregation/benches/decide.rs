//! One verdict over five votes. The aim is a million cases a second.

use std::hint::black_box;

use aggregation::panel_vote::{Method, Weights};
use aggregation::verdict::EscalationPolicy;
use aggregation::vote::{PairFold, Scoring};
use aggregation::{JudgeId, Policy, Preference, Rating, Scale, Value, Vote, decide};
use criterion::{Criterion, criterion_group, criterion_main};

const JUDGES: [&str; 5] = ["claude", "gpt", "llama", "prometheus", "qwen"];

fn votes(values: [Value; 5]) -> Vec<Vote> {
    JUDGES
        .iter()
        .zip(values)
        .map(|(judge, value)| Vote {
            judge: JudgeId::new(judge),
            outcome: Ok(Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false }),
            pair: match value {
                Value::Preference(p) => Some(PairFold { pref_a: p.pref_a(), consistent: Some(true) }),
                Value::Number(_) | Value::Category(_) | Value::Pass(_) => None,
            },
        })
        .collect()
}

fn policy(scale: Scale, method: Method) -> Policy {
    let escalate = EscalationPolicy { disagreement: Some(0.5), near_threshold: Some(0.05) };
    Policy { scale, method, quorum: 3, pass: Some(4.0), escalate }
}

#[expect(clippy::expect_used, reason = "the labels of the bench are fixed")]
fn decide_five_votes(c: &mut Criterion) {
    let one_to_five = || Scale::Ordinal(vec![1.0, 2.0, 3.0, 4.0, 5.0].try_into().expect("labels increase"));
    let weights = Weights(JUDGES.iter().map(|judge| (JudgeId::new(judge), 0.5)).collect());
    let numbers = votes([4.0, 3.5, 4.56, 2.0, 5.0].map(Value::Number));
    let preferences = votes(
        [Preference::A, Preference::B, Preference::A, Preference::Tie, Preference::A].map(Value::Preference),
    );
    let runs = [
        ("median", &numbers, policy(one_to_five(), Method::Median)),
        ("kappa_weighted", &numbers, policy(one_to_five(), Method::KappaWeighted(weights))),
        ("majority_of_pairs", &preferences, policy(Scale::Pairwise { tie: true }, Method::Majority)),
    ];
    let mut group = c.benchmark_group("decide_five_votes");
    for (name, votes, policy) in &runs {
        group.bench_function(*name, |b| b.iter(|| decide(black_box(votes), black_box(policy))));
    }
    group.finish();
}

criterion_group!(benches, decide_five_votes);
criterion_main!(benches);
