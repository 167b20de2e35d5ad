//! JSON without blanks: an object in place of a text that holds JSON.

use serde_json::Value;
use serde_json::value::RawValue;

/// The same value, its keys in the same order.
pub(super) fn compact(json: &RawValue) -> String {
    serde_json::from_str::<Value>(json.get())
        .map_or_else(|_| json.get().to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_go_and_keys_stay_in_order() {
        let check = |json: &str, expected: &str| {
            assert_eq!(compact(&RawValue::from_string(json.to_owned()).unwrap()), expected);
        };
        check("{ \"b\": 1,\n \"a\": [1.0, \"x y\"] }", "{\"b\":1,\"a\":[1.0,\"x y\"]}");
    }
}
