//! One try at making a judge's value fit: types that are written oddly, keys and labels in another case. Nothing is
//! guessed; what has two readings is off the contract.

use serde_json::{Map, Number, Value};

use super::shape::{Bounds, Fields, Others, Shape};

/// Why a value does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// Another kind of value, or one is missing.
    Form,
    /// The right kind, outside the domain.
    Domain,
}

/// The value as the shape wants it. Unknown keys go where the schema refuses them.
pub(super) fn repaired(value: &Value, shape: &Shape) -> Result<Value, Misfit> {
    match shape {
        Shape::Any => Ok(value.clone()),
        Shape::Nullable(_) if value.is_null() => Ok(Value::Null),
        Shape::Nullable(inner) => repaired(value, inner),
        Shape::Bool => boolean(value).map(Value::Bool),
        Shape::Category(labels) => label(value, labels),
        Shape::Levels(levels) => level(value, levels),
        Shape::Integer(bounds) => integer(value, *bounds),
        Shape::Number(bounds) => number(value, *bounds),
        Shape::Text => text(value),
        Shape::List(element) => list(value, element),
        Shape::Object(fields) => object(value, fields),
    }
}

fn boolean(value: &Value) -> Result<bool, Misfit> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Ok(false),
        Value::Number(number) if number.as_f64() == Some(1.0) => Ok(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Ok(false),
        _ => Err(Misfit::Form),
    }
}

/// A domain's own spelling of what was written, where only one label can be meant.
fn label(value: &Value, labels: &[Value]) -> Result<Value, Misfit> {
    if labels.contains(value) {
        return Ok(value.clone());
    }
    let written = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return Err(Misfit::Form),
    };
    let spelled: Vec<&str> = labels.iter().filter_map(Value::as_str).collect();
    let found = spelling(&written, &spelled).map(|label| Value::from(label.to_owned()));
    let is_written = |label: &Value| label.to_string().as_str() == written.trim();
    let other = || labels.iter().find(|label| !label.is_string() && is_written(label)).cloned();
    found.or_else(other).ok_or(Misfit::Domain)
}

/// The one label that is meant by `written`: case, and the marks around it, do not count.
pub(super) fn spelling<'l>(written: &str, labels: &[&'l str]) -> Option<&'l str> {
    let bare =
        |text: &str| text.trim_matches(|c: char| c.is_whitespace() || "()[]\"'*_`.:".contains(c)).to_owned();
    let exact = labels.iter().find(|label| **label == written.trim()).copied();
    exact.or_else(|| labels.iter().find(|label| **label == bare(written)).copied()).or_else(|| {
        let wanted = bare(written).to_lowercase();
        let mut same = labels.iter().filter(|label| bare(label).to_lowercase() == wanted);
        let first = same.next().copied();
        first.filter(|_| same.next().is_none() && !wanted.is_empty())
    })
}

/// A number, or a string that is one and nothing else.
fn numeric(value: &Value) -> Result<Number, Misfit> {
    match value {
        Value::Number(number) => Ok(number.clone()),
        Value::String(text) => text.trim().parse().map_err(|_| Misfit::Form),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(Misfit::Form),
    }
}

fn level(value: &Value, levels: &[Number]) -> Result<Value, Misfit> {
    let given = numeric(value)?;
    let found = levels.iter().find(|level| level.as_f64() == given.as_f64());
    let Some(level) = found else { return Err(Misfit::Domain) };
    let is_number = value.is_number() && (given.is_i64() || !level.is_i64());
    Ok(Value::Number(if is_number { given } else { level.clone() }))
}

/// The number as an integer: `4.0` is 4.
pub(super) fn whole(number: &Number) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within what f64 holds exactly")]
    let of_float = |x: f64| (x.fract() == 0.0 && x.abs() < 9.0e15).then_some(x as i64);
    number.as_i64().or_else(|| number.as_f64().and_then(of_float))
}

fn integer(value: &Value, bounds: Bounds) -> Result<Value, Misfit> {
    let whole = whole(&numeric(value)?).ok_or(Misfit::Form)?;
    let number = Number::from(whole);
    if number.as_f64().is_some_and(|x| bounds.contains(x)) {
        Ok(Value::Number(number))
    } else {
        Err(Misfit::Domain)
    }
}

fn number(value: &Value, bounds: Bounds) -> Result<Value, Misfit> {
    let number = numeric(value)?;
    if number.as_f64().is_some_and(|x| bounds.contains(x)) {
        Ok(Value::Number(number))
    } else {
        Err(Misfit::Domain)
    }
}

fn text(value: &Value) -> Result<Value, Misfit> {
    match value {
        Value::String(_) => Ok(value.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(Value::String(value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(Misfit::Form),
    }
}

fn list(value: &Value, element: &Shape) -> Result<Value, Misfit> {
    match value {
        Value::Array(values) => values.iter().map(|value| repaired(value, element)).collect(),
        Value::String(_) if *element == Shape::Text => Ok(Value::Array(vec![value.clone()])),
        _ => Err(Misfit::Form),
    }
}

fn object(value: &Value, fields: &Fields) -> Result<Value, Misfit> {
    let Value::Object(given) = value else { return Err(Misfit::Form) };
    let mut out = Map::new();
    for (key, value) in given {
        let key = known_key(key, given, fields);
        match (fields.shape_of(key), &fields.others) {
            (Some(shape), _) => {
                let is_required = fields.known.iter().any(|field| field.key == key && field.is_required);
                match repaired(value, shape) {
                    Ok(value) => drop(out.insert(key.to_owned(), value)),
                    // "Nothing to say" is often written as null.
                    Err(_) if value.is_null() && !is_required => {}
                    Err(misfit) => return Err(misfit),
                }
            }
            (None, Others::Refused) => {}
            (None, Others::Ignored | Others::Each(_)) => drop(out.insert(key.to_owned(), value.clone())),
        }
    }
    let is_complete = fields.known.iter().all(|field| !field.is_required || out.contains_key(&field.key));
    if is_complete { Ok(Value::Object(out)) } else { Err(Misfit::Form) }
}

/// Whether an object has this key, in whatever case.
pub(super) fn has_key(value: &Value, key: &str) -> bool {
    value.as_object().is_some_and(|members| members.keys().any(|own| own.eq_ignore_ascii_case(key)))
}

/// The schema's key for one that was written in another case.
fn known_key<'k>(key: &'k str, given: &Map<String, Value>, fields: &'k Fields) -> &'k str {
    if fields.known.iter().any(|field| field.key == key) {
        return key;
    }
    let mut same = fields
        .known
        .iter()
        .filter(|field| field.key.eq_ignore_ascii_case(key) && !given.contains_key(&field.key));
    match (same.next(), same.next()) {
        (Some(field), None) => &field.key,
        _ => key,
    }
}
