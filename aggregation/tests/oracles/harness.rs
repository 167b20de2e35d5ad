//! Reading the vectors and comparing with them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use aggregation::UndefinedReason;
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
struct OracleFile {
    tolerance: Tolerance,
    cases: Vec<Case>,
}

#[derive(Deserialize, Clone, Copy)]
struct Tolerance {
    abs: f64,
    rel: f64,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    input: Json,
    expected: BTreeMap<String, Json>,
    undefined: Option<String>,
    tolerance: Option<Tolerance>,
}

/// What we computed: values by the oracle's keys, and the reason if something is undefined.
#[derive(Default)]
pub struct Computed {
    pub values: BTreeMap<&'static str, Json>,
    pub undefined: Option<Json>,
}

impl Computed {
    pub fn set(&mut self, key: &'static str, value: impl Into<Json>) {
        self.values.insert(key, value.into());
    }

    /// A statistic that may be undefined: its value, or `null` and the reason.
    pub fn set_result(&mut self, key: &'static str, value: Result<f64, UndefinedReason>) {
        match value {
            Ok(value) => self.set(key, value),
            Err(reason) => {
                self.set(key, Json::Null);
                self.undefined = Some(serde_json::to_value(reason).unwrap());
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the folder of a test, not a setting of the product")]
fn folder() -> (PathBuf, bool) {
    match std::env::var_os("TRIBUNAL_ORACLES") {
        Some(folder) => (PathBuf::from(folder), true),
        None => (PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/data"), false),
    }
}

pub fn check(name: &str, compute: impl Fn(&Json) -> Computed) {
    check_adjusted(name, compute, |_, _| ());
}

/// `adjust` may rewrite what is expected, by a rule that looks at no id.
pub fn check_adjusted(
    name: &str,
    compute: impl Fn(&Json) -> Computed,
    adjust: impl Fn(&Computed, &mut BTreeMap<String, Json>),
) {
    let (folder, elsewhere) = folder();
    let path = folder.join(format!("{name}.json"));
    if elsewhere && !path.exists() {
        return;
    }
    let file: OracleFile = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(!file.cases.is_empty(), "{name}: no cases");
    let mut faults = Vec::new();
    for mut case in file.cases {
        let computed = compute(&case.input);
        adjust(&computed, &mut case.expected);
        let tolerance = case.tolerance.unwrap_or(file.tolerance);
        for (key, want) in &case.expected {
            match computed.values.get(key.as_str()) {
                Some(got) if agrees(got, want, tolerance) => {}
                got => faults.push(format!("{}: {key}: got {got:?}, want {want}", case.id)),
            }
        }
        let want = case.undefined.map(Json::String);
        if want.is_some() && computed.undefined != want {
            faults.push(format!("{}: undefined: got {:?}, want {want:?}", case.id, computed.undefined));
        }
    }
    assert!(faults.is_empty(), "{name}: {} faults\n{}", faults.len(), faults.join("\n"));
}

fn agrees(got: &Json, want: &Json, tolerance: Tolerance) -> bool {
    match (got, want) {
        (Json::Number(got), Json::Number(want)) => {
            let (got, want) = (got.as_f64().unwrap(), want.as_f64().unwrap());
            (got - want).abs() <= tolerance.abs + tolerance.rel * want.abs()
        }
        (Json::Array(got), Json::Array(want)) => {
            got.len() == want.len() && got.iter().zip(want).all(|(g, w)| agrees(g, w, tolerance))
        }
        (Json::Object(got), Json::Object(want)) => {
            got.len() == want.len()
                && want.iter().all(|(key, w)| got.get(key).is_some_and(|g| agrees(g, w, tolerance)))
        }
        (got, want) => got == want,
    }
}

pub fn numbers(list: &Json) -> Vec<Option<f64>> {
    list.as_array().unwrap().iter().map(Json::as_f64).collect()
}

pub fn present(list: &Json) -> Vec<f64> {
    numbers(list).into_iter().flatten().collect()
}

/// The numbers of a list, none of a `null`.
pub fn present_or_null(list: &Json) -> Vec<f64> {
    if list.is_null() { Vec::new() } else { present(list) }
}
