//! Strict JSON: a key that stands twice and half a surrogate pair are problems by name, never a silent choice.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::intake::problem::{FieldProblem, Problem};

/// Reads one JSON value and nothing after it. The problem's field is the top-level key in which it lies.
pub fn parse_strict(text: &str) -> Result<Value, FieldProblem> {
    let trail = Trail::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = Strict { trail: &trail, depth: 0 }.deserialize(&mut deserializer);
    let field = trail.field.take();
    let duplicate = trail.duplicate.take();
    match parsed {
        Ok(value) => match deserializer.end() {
            Ok(()) => Ok(value),
            Err(error) => Err(FieldProblem::record(syntax_problem(&error))),
        },
        Err(error) => {
            let problem = duplicate.map_or_else(|| syntax_problem(&error), Problem::DuplicateKey);
            Err(FieldProblem { field, problem })
        }
    }
}

/// UTF-8 first, so that no byte is ever replaced.
pub(super) fn parse_bytes(bytes: &[u8]) -> Result<Value, FieldProblem> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| FieldProblem::record(Problem::NotUtf8 { byte: error.valid_up_to() + 1 }))?;
    parse_strict(text)
}

fn syntax_problem(error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default().to_owned();
    // Why: serde_json keeps its error codes private; the wording is pinned by a test below.
    if message.contains("surrogate") || message.contains("end of hex escape") {
        return Problem::LoneSurrogate;
    }
    Problem::NotJson { column: error.column(), message }
}

/// Where the parser is and what it stumbled over.
#[derive(Default)]
struct Trail {
    field: RefCell<Option<String>>,
    duplicate: RefCell<Option<String>>,
}

#[derive(Clone, Copy)]
struct Strict<'t> {
    trail: &'t Trail,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(Number::from_f64(v).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = Self { depth: self.depth + 1, ..self };
        let mut values = Vec::new();
        while let Some(value) = elements.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = Self { depth: self.depth + 1, ..self };
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                self.trail.duplicate.replace(Some(key));
                return Err(serde::de::Error::custom("duplicate key"));
            }
            if self.depth == 0 {
                self.trail.field.replace(Some(key.clone()));
            }
            let value = entries.next_value_seed(inner)?;
            object.insert(key, value);
            if self.depth == 0 {
                self.trail.field.replace(None);
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> FieldProblem {
        parse_strict(text).unwrap_err()
    }

    #[test]
    fn valid_json_is_kept_as_it_is() {
        for text in
            [r#"{"a":1,"b":[true,null,-2,1.5],"c":{"d":"é\n"}}"#, "[]", "\"😀\"", "18446744073709551615"]
        {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse_strict(text).unwrap(), expected);
        }
        assert_eq!(parse_strict(r#""\ud83d\ude00""#).unwrap(), Value::String("😀".into()));
    }

    #[test]
    fn a_key_that_stands_twice_is_named_with_its_field() {
        let top = problem(r#"{"output":"x","output":"y"}"#);
        assert_eq!(top, FieldProblem::record(Problem::DuplicateKey("output".into())));
        let inner = problem(r#"{"metadata":{"k":1,"k":1}}"#);
        assert_eq!(inner, FieldProblem::field("metadata", Problem::DuplicateKey("k".into())));
    }

    #[test]
    fn lone_surrogates_are_named() {
        for escape in [r"\ud800", r"\udc00", r"x\ud800y", r"\ud800\n", r"\ud800\ud800"] {
            let found = problem(&format!(r#"{{"output":"{escape}"}}"#));
            assert_eq!(found, FieldProblem::field("output", Problem::LoneSurrogate), "{escape}");
        }
    }

    #[test]
    fn syntax_errors_carry_a_column() {
        for text in ["", "{", "{\"a\":1} x", "{'a':1}", "{\"a\":NaN}", "{\"a\":1e999}", "\u{7}"] {
            assert!(matches!(problem(text).problem, Problem::NotJson { .. }), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert!(problem(&deep).to_string().contains("recursion"));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        let found = parse_bytes(b"{\"a\":\"\xff\"}").unwrap_err();
        assert_eq!(found.problem, Problem::NotUtf8 { byte: 7 });
    }
}
