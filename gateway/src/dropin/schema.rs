//! JSON Schema, read for its shape. Bounded in depth and size; a reference that leads back to itself ends there.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Number, Value};

use super::shape::{Bounds, Field, Fields, Others, Shape};

const MAX_DEPTH: usize = 24;
/// Subschemas that are looked at; what lies beyond is taken as it comes.
const MAX_NODES: usize = 4096;
/// A longer schema is not compiled.
const MAX_BYTES: usize = 256 * 1024;
/// Largest compiled `pattern`.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

/// The shape that a schema asks for.
pub(super) fn shape(schema: &Value) -> Shape {
    Reader { root: schema, nodes: 0, references: Vec::new() }.read(schema, 0)
}

/// The schema's own check; `None` where it cannot be used. Fetches nothing; patterns take linear time.
pub(super) fn validator(schema: &Value) -> Option<Validator> {
    let size = serde_json::to_string(schema).map_or(usize::MAX, |text| text.len());
    if size > MAX_BYTES {
        return None;
    }
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    jsonschema::options().offline().with_pattern_options(patterns).build(schema).ok()
}

struct Reader<'s> {
    root: &'s Value,
    nodes: usize,
    /// References that are being followed.
    references: Vec<&'s str>,
}

impl<'s> Reader<'s> {
    fn read(&mut self, schema: &'s Value, depth: usize) -> Shape {
        self.nodes += 1;
        let Value::Object(schema) = schema else { return Shape::Any };
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Shape::Any;
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return self.follow(reference, depth);
        }
        if let Some(value) = schema.get("const") {
            return one_of(std::slice::from_ref(value));
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return one_of(values);
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(Value::Array(options)) = schema.get(word) {
                return self.any_of(options, depth);
            }
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            match parts.as_slice() {
                [only] => return self.read(only, depth + 1),
                _ if schema.contains_key("type") => {}
                _ => return Shape::Any,
            }
        }
        self.typed(schema, depth)
    }

    fn follow(&mut self, reference: &'s str, depth: usize) -> Shape {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target.filter(|_| !self.references.contains(&reference)) else {
            return Shape::Any;
        };
        self.references.push(reference);
        let shape = self.read(target, depth + 1);
        self.references.pop();
        shape
    }

    fn any_of(&mut self, options: &'s [Value], depth: usize) -> Shape {
        let (nulls, others): (Vec<&Value>, Vec<&Value>) = options.iter().partition(|option| is_null(option));
        let mut shapes: Vec<Shape> = others.iter().map(|option| self.read(option, depth + 1)).collect();
        let labels = |shape: &Shape| match shape {
            Shape::Category(values) => Some(values.clone()),
            _ => None,
        };
        let shape = if shapes.len() == 1 {
            shapes.pop().unwrap_or(Shape::Any)
        } else {
            let merged: Option<Vec<Vec<Value>>> = shapes.iter().map(labels).collect();
            merged.filter(|all| !all.is_empty()).map_or(Shape::Any, |all| one_of(&all.concat()))
        };
        nullable(shape, !nulls.is_empty())
    }

    fn typed(&mut self, schema: &'s Map<String, Value>, depth: usize) -> Shape {
        let names: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(_) | None if schema.contains_key("properties") => vec!["object"],
            Some(_) | None if schema.contains_key("items") => vec!["array"],
            Some(_) | None => Vec::new(),
        };
        let is_nullable = names.len() > 1 && names.contains(&"null");
        let kinds: Vec<&str> = names.into_iter().filter(|name| *name != "null" || !is_nullable).collect();
        let shape = match kinds.as_slice() {
            ["boolean"] => Shape::Bool,
            ["integer"] => Shape::Integer(bounds(schema)),
            ["number"] | ["integer", "number"] | ["number", "integer"] => Shape::Number(bounds(schema)),
            ["string"] => schema
                .get("pattern")
                .and_then(Value::as_str)
                .and_then(alternatives)
                .map_or(Shape::Text, |labels| {
                    Shape::Category(labels.into_iter().map(Value::String).collect())
                }),
            ["object"] => Shape::Object(self.fields(schema, depth)),
            ["array"] => match schema.get("items") {
                Some(items) => Shape::List(Box::new(self.read(items, depth + 1))),
                None => Shape::List(Box::new(Shape::Any)),
            },
            _ => Shape::Any,
        };
        nullable(shape, is_nullable)
    }

    fn fields(&mut self, schema: &'s Map<String, Value>, depth: usize) -> Fields {
        let required: Vec<&str> = match schema.get("required") {
            Some(Value::Array(keys)) => keys.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut known = Vec::new();
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (key, property) in properties {
                let shape = self.read(property, depth + 1);
                known.push(Field { key: key.clone(), shape, is_required: required.contains(&key.as_str()) });
            }
        }
        let others = match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => Others::Refused,
            Some(each @ Value::Object(_)) => Others::Each(Box::new(self.read(each, depth + 1))),
            // An object of nothing known may hold anything.
            _ if known.is_empty() => Others::Each(Box::new(Shape::Any)),
            _ => Others::Ignored,
        };
        Fields { known, others }
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null") || schema.get("const") == Some(&Value::Null)
}

fn nullable(shape: Shape, is_nullable: bool) -> Shape {
    if is_nullable && shape != Shape::Any && !matches!(shape, Shape::Nullable(_)) {
        Shape::Nullable(Box::new(shape))
    } else {
        shape
    }
}

fn one_of(values: &[Value]) -> Shape {
    let mut labels: Vec<Value> = Vec::new();
    for value in values.iter().filter(|value| !value.is_null()) {
        if !labels.contains(value) {
            labels.push(value.clone());
        }
    }
    let numbers: Option<Vec<Number>> = labels.iter().map(|label| label.as_number().cloned()).collect();
    let shape = match numbers {
        Some(levels) if !levels.is_empty() => Shape::Levels(levels),
        _ if labels.len() == 2 && labels.iter().all(Value::is_boolean) => Shape::Bool,
        _ => Shape::Category(labels),
    };
    nullable(shape, values.iter().any(Value::is_null))
}

fn bounds(schema: &Map<String, Value>) -> Bounds {
    let number = |word: &str| schema.get(word).and_then(Value::as_f64);
    Bounds {
        min: number("minimum").or_else(|| number("exclusiveMinimum")),
        max: number("maximum").or_else(|| number("exclusiveMaximum")),
    }
}

/// `^(yes|no)$`, `^yes$|^no$` and `^[A-E]$`: patterns that only list their labels.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    if let Some(letters) = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return letters_of(letters);
    }
    let grouped =
        inner.strip_prefix("(?:").or_else(|| inner.strip_prefix('(')).and_then(|rest| rest.strip_suffix(')'));
    let list = grouped.map_or_else(|| inner.replace("$|^", "|"), str::to_owned);
    let labels: Vec<String> = list.split('|').map(str::to_owned).collect();
    let is_plain = |label: &String| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'))
    };
    (labels.len() > 1 && labels.iter().all(is_plain)).then_some(labels)
}

/// `ABC` or `A-E` of a character class.
fn letters_of(class: &str) -> Option<Vec<String>> {
    let letters: Vec<char> = class.chars().collect();
    if let [first, '-', last] = *letters.as_slice() {
        let is_range = first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() && first < last;
        return is_range.then(|| (first..=last).map(String::from).collect());
    }
    let is_list = letters.len() > 1 && letters.iter().all(char::is_ascii_alphanumeric);
    is_list.then(|| letters.iter().map(ToString::to_string).collect())
}
