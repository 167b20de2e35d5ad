//! A caller's body as it stands, for another model.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::call::Body;
use crate::vendors::capabilities::Known;

#[derive(Debug, Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
}

/// The caller's bytes with only the model's name replaced.
pub(crate) fn encode(body: &Bytes, model: &str, known: &Known) -> Body {
    let bytes = with_model(body, model).map_or_else(|| body.clone(), Bytes::from);
    Body { revision: known.revision(), bytes, dropped: Vec::new() }
}

/// `None`: the body is no JSON object.
fn with_model(body: &[u8], model: &str) -> Option<Vec<u8>> {
    let model = Value::from(model);
    let Ok(Head { model: Some(place) }) = serde_json::from_slice::<Head<'_>>(body) else {
        // No model, or two of them.
        let mut fields: Map<String, Value> = serde_json::from_slice(body).ok()?;
        fields.insert("model".to_owned(), model);
        return serde_json::to_vec(&fields).ok();
    };
    let place = place.get().as_bytes();
    let start = place.as_ptr().addr().checked_sub(body.as_ptr().addr())?;
    let (before, after) = (body.get(..start)?, body.get(start + place.len()..)?);
    Some([before, model.to_string().as_bytes(), after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_byte_stays() {
        let check = |body: &str, expected: Option<&str>| {
            let changed =
                with_model(body.as_bytes(), "judge \"1\"").map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(changed.as_deref(), expected, "{body}");
        };
        check(
            "{ \"z\": 1.50, \"model\" : \"a\\u00e9\",\n \"x\":{\"model\":\"b\"}, \"big\": 123456789012345678901 }",
            Some(
                "{ \"z\": 1.50, \"model\" : \"judge \\\"1\\\"\",\n \"x\":{\"model\":\"b\"}, \"big\": 123456789012345678901 }",
            ),
        );
        check("{\"model\":null}", Some("{\"model\":\"judge \\\"1\\\"\"}"));
        check("{\"a\":1}", Some("{\"a\":1,\"model\":\"judge \\\"1\\\"\"}"));
        check("{\"model\":\"a\",\"b\":2,\"model\":\"c\"}", Some("{\"model\":\"judge \\\"1\\\"\",\"b\":2}"));
        check("[]", None);
        check("", None);
    }
}
