//! Tests of counts.

use aggregation::numeric::{holm, mc_nemar};
use serde_json::Value as Json;

use crate::harness::{Computed, check_adjusted, present};

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
