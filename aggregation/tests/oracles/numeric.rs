//! Formulas without domain words.

use aggregation::agreement::{Confusion, Distance, bootstrap_kappa, cohen_kappa};
use aggregation::numeric::{
    Distribution, Resampling, binomial_cdf, clopper_pearson, clopper_pearson_lower, clopper_pearson_upper,
    normal_cdf, normal_quantile, student_quantile, wilson,
};
use serde_json::Value as Json;

use crate::harness::{Computed, check, present};

#[test]
fn oracles_wilson() {
    check("wilson", |input| {
        let (k, n) = (input["k"].as_u64().unwrap(), input["n"].as_u64().unwrap());
        let estimated = wilson(k, n, input["confidence"].as_f64().unwrap());
        let mut computed = Computed::default();
        let interval = estimated.ok().and_then(|estimate| estimate.interval);
        computed.set("lo", interval.map(|interval| interval.lo));
        computed.set("hi", interval.map(|interval| interval.hi));
        computed.set_result("estimate", estimated.map(|e| e.value).map_err(|undefined| undefined.reason));
        computed
    });
}

#[test]
fn oracles_clopper_pearson() {
    check("clopper_pearson", |input| {
        let (k, n) = (input["k"].as_u64().unwrap(), input["n"].as_u64().unwrap());
        let confidence = input["confidence"].as_f64().unwrap();
        let estimated = clopper_pearson(k, n, confidence);
        let mut computed = Computed::default();
        let interval = estimated.ok().and_then(|estimate| estimate.interval);
        computed.set("lo", interval.map(|interval| interval.lo));
        computed.set("hi", interval.map(|interval| interval.hi));
        computed.set("lower_one_sided", clopper_pearson_lower(k, n, confidence));
        computed.set("upper_one_sided", clopper_pearson_upper(k, n, confidence));
        computed.set_result("estimate", estimated.map(|e| e.value).map_err(|undefined| undefined.reason));
        computed
    });
}

#[test]
fn oracles_special() {
    check("special", |input| {
        let number = |key: &str| input[key].as_f64().unwrap();
        let whole = |key: &str| input[key].as_u64().unwrap();
        let value = match input["fn"].as_str().unwrap() {
            "norm_ppf" => Some(normal_quantile(number("p"))),
            "norm_cdf" => normal_cdf(number("x")),
            "t_ppf" => student_quantile(number("p"), number("df")),
            "binom_cdf" => binomial_cdf(whole("k"), whole("n"), number("p")),
            other => panic!("unknown function {other}"),
        };
        let mut computed = Computed::default();
        computed.set("value", value);
        computed
    });
}

#[test]
fn oracles_bootstrap() {
    check("bootstrap", |input| {
        let confidence = input["confidence"].as_f64().unwrap();
        if input["confusion"].is_array() { resampled(input, confidence) } else { given(input, confidence) }
    });
}

/// The distribution is given: only the interval is ours.
fn given(input: &Json, confidence: f64) -> Computed {
    let data: Vec<Vec<f64>> = input["data"].as_array().unwrap().iter().map(present).collect();
    let statistic = |left_out: Option<usize>| {
        let kept = |list: &[f64]| -> Vec<f64> {
            list.iter().enumerate().filter(|(i, _)| Some(*i) != left_out).map(|(_, x)| *x).collect()
        };
        match input["statistic"].as_str().unwrap() {
            "mean" => {
                let kept = kept(&data[0]);
                kept.iter().sum::<f64>() / kept.iter().map(|_| 1.0).sum::<f64>()
            }
            "kappa_quadratic(1..5)" => {
                let index = |x: &f64| Some(whole(*x) - 1);
                let (a, b) = (kept(&data[0]), kept(&data[1]));
                let table = Confusion::from_pairs(5, a.iter().map(index).zip(b.iter().map(index))).unwrap();
                cohen_kappa(&table, Distance::Quadratic, None).unwrap().kappa.unwrap().value
            }
            other => panic!("unknown statistic {other}"),
        }
    };
    let estimate = statistic(None);
    let jackknife: Vec<f64> = (0..data[0].len()).map(|i| statistic(Some(i))).collect();
    let distribution = Distribution::new(present(&input["distribution"]).into_iter().map(Some)).unwrap();
    let mut computed = Computed::default();
    let percentile = distribution.percentile(confidence).unwrap();
    let bca = distribution.bca(estimate, &jackknife, confidence).unwrap();
    computed.set("percentile", vec![percentile.lo, percentile.hi]);
    computed.set("bca", vec![bca.lo, bca.hi]);
    computed.set("se", distribution.se());
    computed.set("estimate", estimate);
    computed
}

/// The resampling is ours.
fn resampled(input: &Json, confidence: f64) -> Computed {
    let rows: Vec<Vec<f64>> = input["confusion"].as_array().unwrap().iter().map(present).collect();
    let pairs = rows.iter().enumerate().flat_map(|(i, row)| {
        row.iter()
            .enumerate()
            .flat_map(move |(j, count)| std::iter::repeat_n((Some(i), Some(j)), whole(*count)))
    });
    let table = Confusion::from_pairs(rows.len(), pairs).unwrap();
    let distance = match input["weights"].as_str() {
        None => Distance::Nominal,
        Some("linear") => Distance::Linear,
        Some("quadratic") => Distance::Quadratic,
        Some(other) => panic!("unknown weights {other}"),
    };
    let resampling = Resampling { seed: 7, resamples: 10_000, confidence };
    let distribution = bootstrap_kappa(&table, distance, None, resampling).unwrap();
    let percentile = distribution.percentile(confidence).unwrap();
    let mut computed = Computed::default();
    computed.set("percentile", vec![percentile.lo, percentile.hi]);
    computed.set("sd", distribution.se());
    computed
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "labels and counts are small and whole"
)]
fn whole(x: f64) -> usize {
    x as usize
}
