//! Agreement of raters.

use std::collections::BTreeMap;

use aggregation::agreement::{Band, Confusion, Distance, cohen_kappa, landis_koch};
use serde_json::{Value as Json, json};

use crate::harness::{Computed, check, check_adjusted, present, present_or_null};

#[test]
fn oracles_landis_koch() {
    check("landis_koch", |input| {
        let band = landis_koch(input["kappa"].as_f64().unwrap());
        let mut computed = Computed::default();
        computed.set("canonical", serde_json::to_value(band).unwrap());
        computed.set("seed0", band.map(Band::spanish_in_five));
        computed.set("seed3", band.map(Band::spanish));
        computed
    });
}

#[test]
fn oracles_cohen_kappa() {
    check_adjusted(
        "cohen_kappa",
        |input| {
            let raters = [labels_of(input, "a", "a_digits"), labels_of(input, "b", "b_digits")];
            let declared = declared_labels(&input["labels"], &raters);
            let index = |label: &Json| {
                let same = |known: &Json| {
                    known == label || (known.as_f64().is_some() && known.as_f64() == label.as_f64())
                };
                (!label.is_null()).then(|| declared.iter().position(same).unwrap())
            };
            let pairs = raters[0].iter().zip(&raters[1]).map(|(a, b)| (index(a), index(b)));
            let table = match &input["sample_weight"] {
                Json::Null => Confusion::from_pairs(declared.len(), pairs),
                weights => Confusion::from_weighted_pairs(declared.len(), pairs.zip(present(weights))),
            }
            .unwrap();
            let distance = match input["weights"].as_str() {
                None => Distance::Nominal,
                Some("linear") => Distance::Linear,
                Some("quadratic") => Distance::Quadratic,
                Some(other) => panic!("unknown weights {other}"),
            };
            let positions = present_or_null(&input["scores"]);
            kappa_columns(&table, distance, (!positions.is_empty()).then_some(&positions))
        },
        drop_rounding_noise,
    );
}

fn labels_of(input: &Json, list: &str, digits: &str) -> Vec<Json> {
    match &input[digits] {
        Json::String(digits) => digits.chars().map(|c| json!(c.to_digit(10).unwrap())).collect(),
        _ => input[list].as_array().unwrap().clone(),
    }
}

fn declared_labels(declared: &Json, raters: &[Vec<Json>; 2]) -> Vec<Json> {
    if let Json::Array(labels) = declared {
        return labels.clone();
    }
    let mut seen: Vec<Json> = raters.iter().flatten().filter(|label| !label.is_null()).cloned().collect();
    seen.sort_by(|a, b| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.as_str().cmp(&b.as_str()),
    });
    seen.dedup();
    seen
}

fn kappa_columns(table: &Confusion, distance: Distance, positions: Option<&Vec<f64>>) -> Computed {
    let cohen = cohen_kappa(table, distance, positions.map(Vec::as_slice)).unwrap();
    let mut computed = Computed::default();
    computed.set("n", cohen.n);
    computed.set("n_dropped", cohen.n_dropped);
    computed.set("confusion", table.rows().map(<[f64]>::to_vec).collect::<Vec<_>>());
    computed.set("p_o", cohen.p_o);
    computed.set("p_e", cohen.p_e);
    let kappa = cohen.kappa.ok();
    computed.set("kappa_max", kappa.and_then(|kappa| kappa.max));
    computed.set("band_canonical", serde_json::to_value(kappa.and_then(|k| landis_koch(k.value))).unwrap());
    let error = kappa.and_then(|kappa| kappa.error);
    computed.set("se", error.map(|error| error.se));
    computed.set("se_null", error.map(|error| error.se_null));
    computed.set("ci95", error.map(|error| vec![error.interval.lo, error.interval.hi]));
    computed.set("ci_degenerate", error.map(|error| error.degenerate));
    if let Some(indexes) = table.binary_indexes() {
        computed.set("prevalence_index", indexes.prevalence);
        computed.set("bias_index", indexes.bias);
        computed.set("pabak", indexes.pabak);
    }
    computed.set_result("kappa", cohen.kappa.map(|kappa| kappa.value));
    computed
}

/// A standard error whose variance is within rounding of 0 is 0, and its interval degenerate: such an expected value
/// is the noise of subtracting two equal numbers, which no other arithmetic repeats.
fn drop_rounding_noise(computed: &Computed, expected: &mut BTreeMap<String, Json>) {
    let get = |key: &str| expected.get(key).and_then(Json::as_f64);
    let (Some(n), Some(p_e), Some(kappa)) = (get("n"), get("p_e"), get("kappa")) else { return };
    let is_noise = |se: f64, square: f64| {
        se > 0.0 && se * se * n * (1.0 - p_e) * (1.0 - p_e) <= 8.0 * f64::EPSILON * square.max(1.0)
    };
    let se_is_noise = get("se").is_some_and(|se| is_noise(se, (kappa - p_e * (1.0 - kappa)).powi(2)));
    let se_null_is_noise = get("se_null").is_some_and(|se| is_noise(se, p_e * p_e));
    if se_is_noise {
        assert_eq!(computed.values["ci_degenerate"], json!(true));
        expected.insert("se".into(), json!(0.0));
        expected.insert("ci95".into(), json!([kappa, kappa]));
        expected.insert("ci_degenerate".into(), json!(true));
    }
    if se_null_is_noise {
        expected.insert("se_null".into(), json!(0.0));
    }
}
