//! JSON Schemas for OpenAI's strict mode, which refuses a schema for one keyword that it does not know.

use serde_json::{Map, Value};

/// Keywords that strict mode has always had. It learned `minimum` and its kin later and for some models only; what they
/// say stands in the prompt too.
const KEPT: [&str; 11] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "description",
    "$ref",
    "$defs",
];

/// The schema without what strict mode refuses, and with what it insists on: every property of an object required, and
/// no others allowed.
pub(super) fn strict(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut kept: Map<String, Value> = keywords
        .iter()
        .filter(|(name, _)| KEPT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), inner(name, value)))
        .collect();
    if let Some(properties) = keywords.get("properties").and_then(Value::as_object) {
        kept.insert("required".to_owned(), properties.keys().cloned().collect());
        kept.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(kept)
}

fn inner(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        // Names of the user's own, which may be those of keywords.
        ("properties" | "$defs", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), strict(schema))).collect()
        }
        ("anyOf", Value::Array(schemas)) => schemas.iter().map(strict).collect(),
        ("items", schema) => strict(schema),
        (_, value) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lengths_and_ranges_go_and_labels_stay() {
        let check = |schema: Value, expected: Value| assert_eq!(strict(&schema), expected);
        check(json!({"type": "string", "maxLength": 600}), json!({"type": "string"}));
        check(json!({"type": "number", "minimum": 0, "maximum": 1}), json!({"type": "number"}));
        check(json!({"type": "integer", "enum": [1, 2]}), json!({"type": "integer", "enum": [1, 2]}));
        check(
            json!({"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}),
            json!({"type": "array", "items": {"type": "string"}}),
        );
        check(
            json!({"anyOf": [{"type": "null", "title": "x"}, true]}),
            json!({"anyOf": [{"type": "null"}, true]}),
        );
    }

    #[test]
    fn objects_are_closed_at_every_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "maxLength": {"type": "object", "properties": {"minimum": {"type": "number", "minimum": 0}}},
                "$defs": {"$ref": "#/$defs/x"},
            },
            "required": ["maxLength"],
            "$defs": {"x": {"type": "string", "pattern": "."}},
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "maxLength": {
                    "type": "object",
                    "properties": {"minimum": {"type": "number"}},
                    "required": ["minimum"],
                    "additionalProperties": false,
                },
                "$defs": {"$ref": "#/$defs/x"},
            },
            "required": ["maxLength", "$defs"],
            "$defs": {"x": {"type": "string"}},
            "additionalProperties": false,
        });
        assert_eq!(strict(&schema), expected);
    }

    #[test]
    fn keys_keep_their_order() {
        let schema = json!({"properties": {"reason": {}, "evidence": {}, "a": {}}});
        assert_eq!(strict(&schema)["required"], json!(["reason", "evidence", "a"]));
    }
}
