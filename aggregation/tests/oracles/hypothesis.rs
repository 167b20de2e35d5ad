//! Tests of counts.

use aggregation::UndefinedReason;
use aggregation::numeric::{MannWhitneyError, holm, mann_whitney, mc_nemar};
use serde_json::Value as Json;

use crate::harness::{Computed, check, check_adjusted, present};

#[test]
fn oracles_mcnemar() {
    check_adjusted(
        "mcnemar",
        |input| {
            let own = mc_nemar(input["b"].as_u64().unwrap(), input["c"].as_u64().unwrap());
            let mut computed = Computed::default();
            computed.set("p_exact", own.p_exact);
            computed.set_result("chi2", own.chi2.map(|(value, _)| value));
            computed.set_result("p_chi2", own.chi2.map(|(_, p)| p));
            computed.set_result("chi2_cc", own.chi2_corrected.map(|(value, _)| value));
            computed.set_result("p_chi2_cc", own.chi2_corrected.map(|(_, p)| p));
            computed
        },
        |_, _| (),
    );
}

#[test]
fn oracles_holm() {
    check_adjusted(
        "holm",
        |input| {
            let adjusted = holm(&present(&input["p"])).unwrap();
            let alpha = input["alpha"].as_f64().unwrap();
            let mut computed = Computed::default();
            computed.set("reject", adjusted.iter().map(|p| Json::from(*p <= alpha)).collect::<Vec<_>>());
            computed.set("holm", adjusted);
            computed
        },
        // Benjamini and Hochberg's values are not offered.
        |_, expected| drop(expected.remove("bh")),
    );
}

#[test]
fn oracles_mann_whitney() {
    check("mann_whitney", |input| {
        let own = mann_whitney(&present(&input["x"]), &present(&input["y"])).map_err(|error| match error {
            MannWhitneyError::Undefined(reason) => reason,
            MannWhitneyError::NotFinite { .. } => UndefinedReason::TooFew,
        });
        let mut computed = Computed::default();
        computed.set_result("u", own.map(|own| own.u));
        computed.set_result("p_asymptotic", own.map(|own| own.p));
        computed.set_result("a12", own.map(|own| own.a12));
        computed.set_result("cliffs_delta", own.map(|own| own.cliffs_delta));
        if let Some(p) = own.ok().and_then(|own| own.p_exact) {
            computed.set("p_exact", p);
        }
        computed
    });
}
