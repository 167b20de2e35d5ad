//! How far the votes of one case lie apart.

use aggregation::disagreement as apart;
use aggregation::{Scale, Value};

use crate::harness::{Computed, check, present};

#[test]
fn oracles_disagreement() {
    check("disagreement", |input| {
        let values = present(&input["values"]);
        let (min, max) = (input["min"].as_f64().unwrap(), input["max"].as_f64().unwrap());
        let scores: Vec<f64> = values.iter().map(|x| (x - min) / (max - min)).collect();
        let mut computed = Computed::default();
        computed.set("m", values.len());
        computed.set_result("D2", apart::mean_squared_distance(&scores));
        computed.set_result("range01", apart::score_range(&scores));
        computed.set_result("sd01", apart::score_deviation(&scores));
        computed.set_result("one_minus_margin", apart::one_minus_margin(values.iter().copied()));
        if let Some(counts) = whole_label_counts(&values, min, max) {
            computed.set_result("D_nominal", apart::nominal_distance(&counts, counts.len()));
            computed.set_result("entropy", apart::entropy(&counts, counts.len()));
            computed.set("vde", apart::van_der_eijk(&counts).ok());
        }
        let scale = Scale::Continuous((min, max).try_into().unwrap());
        computed.set_result("D", apart::disagreement(&scale, values.iter().map(|&x| Value::Number(x))));
        computed
    });
}

/// Votes per whole-number label; `None` if some vote lies between labels.
fn whole_label_counts(values: &[f64], min: f64, max: f64) -> Option<Vec<usize>> {
    let mut counts = Vec::new();
    let mut label = min;
    while label <= max {
        counts.push(values.iter().filter(|x| (*x - label).abs() < 1e-12).count());
        label += 1.0;
    }
    (counts.iter().sum::<usize>() == values.len()).then_some(counts)
}
