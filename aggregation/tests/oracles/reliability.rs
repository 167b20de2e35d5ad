//! Agreement of any number of raters.

use aggregation::UndefinedReason;
use aggregation::agreement::{
    CoefficientError, Distance, Level, RatingCounts, fleiss_kappa, gwet_ac, krippendorff_alpha, landis_koch,
};
use serde_json::Value as Json;

use crate::harness::{Computed, check, present};

#[test]
fn oracles_fleiss() {
    check("fleiss", |input| {
        let count = |x: &Json| u32::try_from(x.as_u64().unwrap()).unwrap();
        let row = |row: &Json| -> Vec<u32> { row.as_array().unwrap().iter().map(count).collect() };
        let rows: Vec<Vec<u32>> = input["counts"].as_array().unwrap().iter().map(row).collect();
        let counts = RatingCounts::from_counts(rows.first().map_or(0, Vec::len), &rows).unwrap();
        let fleiss = fleiss_kappa(&counts);
        let mut computed = Computed::default();
        computed.set("n_subjects", rows.iter().filter(|row| row.iter().any(|n| *n > 0)).count());
        if let Ok(known) = &fleiss {
            assert_eq!(computed.values["n_subjects"], known.n_units);
            computed.set("se_irrcac", known.se);
            computed.set("p_bar", known.p_bar);
            computed.set("p_e", known.p_e);
            computed.set("per_subject_agreement", known.unit_agreement.clone());
            computed.set("band_canonical", serde_json::to_value(landis_koch(known.kappa)).unwrap());
        }
        computed.set_result("kappa", fleiss.map(|fleiss| fleiss.kappa));
        computed
    });
}

/// The ratings of each list as indexes into the declared labels.
fn indexes(lists: &Json, labels: &Json) -> Vec<Vec<Option<usize>>> {
    let labels = labels.as_array().unwrap();
    let same = |a: &Json, b: &Json| a == b || (a.as_f64().is_some() && a.as_f64() == b.as_f64());
    let index = |label: &Json| {
        (!label.is_null()).then(|| labels.iter().position(|known| same(known, label)).unwrap())
    };
    lists
        .as_array()
        .unwrap()
        .iter()
        .map(|list| list.as_array().unwrap().iter().map(index).collect())
        .collect()
}

#[test]
fn oracles_krippendorff() {
    check("krippendorff", |input| {
        let raters = indexes(&input["ratings"], &input["value_domain"]);
        let units: Vec<Vec<Option<usize>>> = (0..raters.first().map_or(0, Vec::len))
            .map(|unit| raters.iter().map(|rater| rater[unit]).collect())
            .collect();
        let labels = input["value_domain"].as_array().unwrap().len();
        let counts = RatingCounts::from_ratings(labels, &units).unwrap();
        let values: Vec<f64>;
        let level = match input["level"].as_str().unwrap() {
            "nominal" => Level::Nominal,
            "ordinal" => Level::Ordinal,
            "interval" => {
                values = present(&input["value_domain"]);
                Level::Interval(&values)
            }
            other => panic!("unknown level {other}"),
        };
        let alpha = krippendorff_alpha(&counts, level).map_err(undefined);
        let mut computed = Computed::default();
        computed.set("n_pairable_units", alpha.ok().map(|alpha| alpha.n_pairable_units));
        computed.set_result("alpha", alpha.map(|alpha| alpha.alpha));
        computed
    });
}

#[test]
fn oracles_gwet() {
    check("gwet", |input| {
        let units = indexes(&input["ratings"], &input["labels"]);
        let labels = input["labels"].as_array().unwrap();
        let counts = RatingCounts::from_ratings(labels.len(), &units).unwrap();
        let distance = match input["weights"].as_str().unwrap() {
            "identity" => Distance::Nominal,
            "linear" => Distance::Linear,
            "quadratic" => Distance::Quadratic,
            other => panic!("unknown weights {other}"),
        };
        let positions: Option<Vec<f64>> = labels.iter().map(Json::as_f64).collect();
        let ac = gwet_ac(&counts, distance, positions.as_deref()).map_err(undefined);
        let mut computed = Computed::default();
        computed.set("p_a", ac.ok().map(|ac| ac.p_a));
        computed.set("p_e", ac.ok().map(|ac| ac.p_e));
        computed.set("se", ac.ok().and_then(|ac| ac.se));
        computed.set_result("coefficient", ac.map(|ac| ac.coefficient));
        computed
    });
}

fn undefined(error: CoefficientError) -> UndefinedReason {
    match error {
        CoefficientError::Undefined(reason) => reason,
        CoefficientError::Positions(error) => panic!("{error}"),
    }
}
