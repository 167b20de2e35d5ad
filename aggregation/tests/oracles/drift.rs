//! Change over time.

use aggregation::drift::{Cusum, CusumSettings, Direction, PageHinkley, PageHinkleySettings, Reference};
use serde_json::{Value as Json, json};

use crate::harness::{Computed, check, present};

fn number(input: &Json, key: &str) -> f64 {
    input[key].as_f64().unwrap()
}

#[test]
fn oracles_page_hinkley() {
    check("page_hinkley", |input| {
        let direction = match input["mode"].as_str().unwrap() {
            "up" => Some(Direction::Up),
            "down" => Some(Direction::Down),
            _ => None,
        };
        let mut own = PageHinkley::new(PageHinkleySettings {
            min_values: usize::try_from(input["min_instances"].as_u64().unwrap()).unwrap(),
            delta: number(input, "delta"),
            lambda: number(input, "threshold"),
            keep: number(input, "alpha"),
            direction,
        })
        .unwrap();
        let alarms: Vec<usize> = present(&input["x"])
            .into_iter()
            .enumerate()
            .filter_map(|(place, x)| own.update(x).unwrap().alarm.map(|_| place))
            .collect();
        let mut computed = Computed::default();
        computed.set("alarms", alarms);
        computed
    });
}

#[test]
fn oracles_cusum() {
    check("cusum", |input| {
        let reference = Reference::new(number(input, "mu0"), number(input, "sigma0")).unwrap();
        let settings = CusumSettings { k: number(input, "k"), h: number(input, "h") };
        let mut own = Cusum::new(reference, settings).unwrap();
        let alarms: Vec<Json> = present(&input["x"])
            .into_iter()
            .enumerate()
            .filter_map(|(place, x)| {
                let direction = match own.update(x).unwrap().alarm? {
                    Direction::Up => "up",
                    Direction::Down => "down",
                };
                Some(json!([place, direction]))
            })
            .collect();
        let mut computed = Computed::default();
        computed.set("alarms", alarms);
        computed
    });
}
