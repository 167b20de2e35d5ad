//! JSON Schemas as hosted vendors take them: each refuses a schema for one keyword that it does not know.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::profile::Schemas;

/// Keywords that OpenAI's strict mode has always had, and that Anthropic takes. OpenAI learned `minimum` and its kin
/// later and for some models only; what they say stands in the prompt too.
const STRICT: [&str; 11] = [
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

/// Keywords that Gemini documents for `responseJsonSchema`. `const` is not among them, and is an `enum` of one.
const GEMINI: [&str; 19] = [
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "$id",
    "$ref",
    "$defs",
];

/// The schema as these servers take it.
pub(super) fn taken(schema: &Value, schemas: Schemas) -> Cow<'_, Value> {
    match schemas {
        Schemas::Full => Cow::Borrowed(schema),
        Schemas::Strict => Cow::Owned(strict(schema)),
        Schemas::Gemini => Cow::Owned(gemini(schema)),
    }
}

/// The schema without what Gemini does not know.
fn gemini(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut kept = kept(keywords, &GEMINI, gemini);
    if let Some(only) = keywords.get("const") {
        kept.insert("enum".to_owned(), Value::Array(vec![only.clone()]));
    }
    Value::Object(kept)
}

/// The schema without what strict mode refuses, and with what it insists on: every property of an object required, and
/// no others allowed.
fn strict(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut kept = kept(keywords, &STRICT, strict);
    if let Some(properties) = keywords.get("properties").and_then(Value::as_object) {
        kept.insert("required".to_owned(), properties.keys().cloned().collect());
        kept.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(kept)
}

fn kept(keywords: &Map<String, Value>, known: &[&str], each: fn(&Value) -> Value) -> Map<String, Value> {
    keywords
        .iter()
        .filter(|(name, _)| known.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), inner(name, value, each)))
        .collect()
}

fn inner(keyword: &str, value: &Value, each: fn(&Value) -> Value) -> Value {
    match (keyword, value) {
        // Names of the user's own, which may be those of keywords.
        ("properties" | "$defs", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), each(schema))).collect()
        }
        ("anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => schemas.iter().map(each).collect(),
        ("items" | "additionalProperties", schema) => each(schema),
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

    #[test]
    fn gemini_keeps_ranges_and_has_no_const() {
        let check = |schema: Value, expected: Value| assert_eq!(gemini(&schema), expected);
        check(
            json!({"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 1}),
            json!({"type": "integer", "minimum": 1, "maximum": 5}),
        );
        check(json!({"type": "string", "const": "A"}), json!({"type": "string", "enum": ["A"]}));
        check(
            json!({"type": "object", "properties": {"pattern": {"type": "string", "pattern": ".", "maxLength": 3}}}),
            json!({"type": "object", "properties": {"pattern": {"type": "string"}}}),
        );
        check(
            json!({"additionalProperties": false, "oneOf": [{"const": 1}]}),
            json!({"additionalProperties": false, "oneOf": [{"enum": [1]}]}),
        );
    }
}
