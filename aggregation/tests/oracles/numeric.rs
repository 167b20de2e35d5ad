//! Formulas without domain words.

use aggregation::numeric::wilson;

use crate::harness::{Computed, check};

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
