//! How often a gate passes whose true value lies exactly at the threshold.

use super::{GateMeasure, ThresholdGate, threshold_gate};
use crate::draw::Draw;
use crate::estimate::Decision;
use crate::gate::{GateCase, GateScore};
use crate::numeric::{binomial_cdf, wilson};

const THRESHOLDS: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95];

/// The chance that a share exactly at the threshold has so many passes that it is let through, summed exactly.
fn chance(n: u64, threshold: f64, passes: impl Fn(u64) -> bool) -> f64 {
    let (mut low, mut high) = (0, n + 1);
    while low < high {
        let middle = u64::midpoint(low, high);
        if passes(middle) { high = middle } else { low = middle + 1 }
    }
    if low > n { 0.0 } else { 1.0 - binomial_cdf(low - 1, n, threshold).unwrap() }
}

#[test]
fn pass_rates_at_the_threshold_pass_in_one_of_twenty_draws_at_most() {
    let decided = |n: u64, threshold, passed: u64| {
        let case = |i| {
            let score = if i < passed { 1.0 } else { 0.0 };
            GateCase { score: GateScore::Known(score), source: None, covered: true }
        };
        let cases: Vec<GateCase> = (0..n).map(case).collect();
        let gate = ThresholdGate::new(threshold, GateMeasure::PassRate);
        passed <= n && threshold_gate(&gate, &cases).unwrap().decision == Decision::Pass
    };
    for threshold in THRESHOLDS {
        for n in (30..=300).step_by(15) {
            let own = chance(n, threshold, |passed| passed > n || decided(n, threshold, passed));
            assert!(own <= 0.05, "{n} {threshold}: {own}");
        }
    }
}

#[test]
fn wilsons_bound_would_pass_more_often() {
    let most = THRESHOLDS.iter().flat_map(|threshold| (30..=300).map(move |n| (*threshold, n))).map(
        |(threshold, n)| {
            let lower = |passed| wilson(passed, n, 0.9).unwrap().interval.unwrap().lo;
            chance(n, threshold, |passed| passed > n || lower(passed) >= threshold - 1e-12)
        },
    );
    let most = most.fold(0.0, f64::max);
    assert!((most - 0.0694).abs() < 1e-4, "{most}");
}

/// Scores by an even number from 0 to 1, and their true mean.
struct Scores {
    name: &'static str,
    mean: f64,
    score: fn(f64) -> f64,
}

/// The value in whose part of the unit interval a number lies; the last has what is left.
fn one_of(number: f64, parts: &[(f64, f64)]) -> f64 {
    let mut sum = 0.0;
    for (part, value) in parts {
        sum += part;
        if number < sum {
            return *value;
        }
    }
    parts[parts.len() - 1].1
}

const SCORES: [Scores; 5] = [
    Scores { name: "beta with 9 and 1", mean: 0.9, score: |number| number.powf(1.0 / 9.0) },
    Scores { name: "two even values", mean: 0.85, score: |number| one_of(number, &[(0.5, 0.7), (0.5, 1.0)]) },
    Scores { name: "rare low ones", mean: 0.85, score: |number| one_of(number, &[(0.9, 0.9), (0.1, 0.4)]) },
    Scores { name: "passes", mean: 0.85, score: |number| one_of(number, &[(0.85, 1.0), (0.15, 0.0)]) },
    Scores {
        name: "steps",
        mean: 0.8375,
        score: |number| one_of(number, &[(0.6, 1.0), (0.25, 0.75), (0.1, 0.5), (0.05, 0.0)]),
    },
];

/// Runs in a thousand that pass. Half of the cases repeat what their source drew; `lost` in a hundred have no score.
fn passes(scores: &Scores, n: u64, per_source: u64, lost: u64) -> usize {
    let mut draw = Draw::new(11, scores.name);
    let gate = ThresholdGate::new(scores.mean, GateMeasure::Mean);
    let mut one_run = || {
        let mut of_source = 0.0;
        let case = |i: u64| {
            // One draw a case: its low half is a score, the rest decides what becomes of it.
            let bits = draw.signs();
            let number = f64::from(u32::try_from(bits & 0xffff_ffff).unwrap()) / 2.0_f64.powi(32);
            let own = (scores.score)(number);
            if i.is_multiple_of(per_source) {
                of_source = own;
            }
            let repeats = per_source > 1 && bits >> 32 & 1 == 1;
            let is_lost = (bits >> 40) % 100 < lost;
            let score = if repeats { of_source } else { own };
            let score = if is_lost { GateScore::Missing } else { GateScore::Known(score) };
            GateCase { score, source: (per_source > 1).then_some(i / per_source), covered: !is_lost }
        };
        let cases: Vec<GateCase> = (0..n).map(case).collect();
        threshold_gate(&gate, &cases).unwrap().decision == Decision::Pass
    };
    (0..1000).filter(|_| one_run()).count()
}

fn at_most_one_of_twenty(scores: &[Scores], n: u64, per_source: u64, lost: u64) {
    for scores in scores {
        let passed = passes(scores, n, per_source, lost);
        // Of 1000 draws 50, and three standard deviations of their number.
        assert!(passed <= 50 + 21, "{}: {passed}", scores.name);
    }
}

#[test]
fn means_at_the_threshold_pass_in_one_of_twenty_draws_at_most() {
    at_most_one_of_twenty(&SCORES, 30, 1, 0);
    at_most_one_of_twenty(&SCORES, 100, 1, 0);
}

#[test]
fn sources_do_not_change_that() {
    at_most_one_of_twenty(&SCORES[2..], 100, 4, 0);
}

#[test]
fn outages_do_not_change_that() {
    at_most_one_of_twenty(&SCORES[2..], 100, 1, 3);
    // One in seven is more than a gate decides on, but for a lucky draw.
    let passed = passes(&SCORES[0], 60, 1, 15);
    assert!(passed <= 5, "{passed}");
}
