//! Kappa of 100 000 pairs over five labels, and its bootstrap on 100 cases with 10 000 resamples.

use std::hint::black_box;

use aggregation::agreement::{Confusion, Distance, bootstrap_kappa, cohen_kappa};
use aggregation::numeric::Resampling;
use criterion::{Criterion, criterion_group, criterion_main};

/// Pairs that look random and are the same everywhere; about two in three agree.
fn pairs(n: u64) -> Vec<(Option<usize>, Option<usize>)> {
    let noise = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    let label = |x: u64| usize::try_from(x % 5).ok();
    (0..n)
        .map(|i| {
            let own = noise(i);
            (label(own), label(if noise(i + n).is_multiple_of(3) { own + 1 } else { own }))
        })
        .collect()
}

#[expect(clippy::expect_used, reason = "the labels of the bench are on the scale")]
fn kappa(c: &mut Criterion) {
    let (many, few) = (pairs(100_000), pairs(100));
    let table = |pairs: &[(Option<usize>, Option<usize>)]| {
        Confusion::from_pairs(5, pairs.iter().copied()).expect("labels are on the scale")
    };
    c.bench_function("kappa_quadratic_100k_pairs", |b| {
        b.iter(|| cohen_kappa(&table(black_box(&many)), Distance::Quadratic, None));
    });
    let hundred = table(&few);
    let resampling = Resampling { resamples: 10_000, ..Resampling::default() };
    c.bench_function("bootstrap_kappa_100_pairs_10k_resamples", |b| {
        b.iter(|| bootstrap_kappa(black_box(&hundred), Distance::Quadratic, None, resampling));
    });
}

criterion_group!(benches, kappa);
criterion_main!(benches);
