//! The shape of values whose schema nobody gave: what most judges wrote.

use serde_json::Value;

use super::repair;
use super::shape::{Bounds, Field, Fields, Others, Shape};

/// Nesting beyond this is kept as it comes.
const MAX_DEPTH: usize = 16;

/// The shape that most of these values have. `Any` where there are none, or no kind prevails.
pub(super) fn shape(values: &[&Value]) -> Shape {
    shape_at(values, 0)
}

/// An integer if every judge wrote one: `4.0` is one beside a `4`.
fn are_integers(numbers: &[&Value]) -> bool {
    let is_whole = |value: &&Value| value.as_number().is_some_and(|number| repair::whole(number).is_some());
    numbers.iter().all(is_whole) && numbers.iter().any(|value| value.is_i64() || value.is_u64())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Number,
    Text,
    List,
    Object,
}

fn shape_at(values: &[&Value], depth: usize) -> Shape {
    let given: Vec<&Value> = values.iter().copied().filter(|value| !value.is_null()).collect();
    let Some(kind) = prevailing(&given).filter(|_| depth <= MAX_DEPTH) else { return Shape::Any };
    let of_kind: Vec<&Value> = given.iter().copied().filter(|value| kind_of(value) == Some(kind)).collect();
    let shape = match kind {
        Kind::Bool => Shape::Bool,
        Kind::Number if are_integers(&of_kind) => Shape::Integer(Bounds::default()),
        Kind::Number => Shape::Number(Bounds::default()),
        Kind::Text => Shape::Text,
        Kind::List => {
            let elements: Vec<&Value> =
                of_kind.iter().filter_map(|value| value.as_array()).flatten().collect();
            Shape::List(Box::new(shape_at(&elements, depth + 1)))
        }
        Kind::Object => Shape::Object(fields(&of_kind, depth)),
    };
    if given.len() < values.len() { Shape::Nullable(Box::new(shape)) } else { shape }
}

/// Keys in order of appearance; required are those that more than half of the objects have and that hold a verdict.
fn fields(objects: &[&Value], depth: usize) -> Fields {
    let known = keys(objects).into_iter().map(|key| {
        let values: Vec<&Value> = objects.iter().filter_map(|object| member(object, key)).collect();
        let shape = shape_at(&values, depth + 1);
        let is_required = values.len() * 2 > objects.len() && shape.holds_verdict(key);
        Field { key: key.clone(), shape, is_required }
    });
    Fields { known: known.collect(), others: Others::Ignored }
}

/// Every key once; of spellings that differ in case only, and never stand in one object, the most frequent.
fn keys<'v>(objects: &[&'v Value]) -> Vec<&'v String> {
    let mut spellings: Vec<(&String, usize)> = Vec::new();
    for key in objects.iter().filter_map(|object| object.as_object()).flat_map(|object| object.keys()) {
        match spellings.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => spellings.push((key, 1)),
        }
    }
    let stand_together =
        |a: &str, b: &str| objects.iter().any(|object| object.get(a).is_some() && object.get(b).is_some());
    let is_outdone = |index: usize, key: &str, count: usize| {
        spellings.iter().enumerate().any(|(other, (known, more))| {
            other != index
                && known.eq_ignore_ascii_case(key)
                && (*more, index) > (count, other)
                && !stand_together(known, key)
        })
    };
    let kept = spellings.iter().enumerate().filter(|(index, (key, count))| !is_outdone(*index, key, *count));
    kept.map(|(_, (key, _))| *key).collect()
}

/// Under this key, or under one that differs in case only.
fn member<'v>(object: &'v Value, key: &str) -> Option<&'v Value> {
    let mut alike = object.as_object()?.iter().filter(|(own, _)| own.eq_ignore_ascii_case(key));
    object.get(key).or_else(|| alike.next().map(|(_, value)| value))
}

/// What more than half of the values are. Texts that can be read as the other kind do not stand against it.
fn prevailing(values: &[&Value]) -> Option<Kind> {
    let kinds = [Kind::Bool, Kind::Number, Kind::List, Kind::Object, Kind::Text];
    let count = |kind: Kind| values.iter().filter(|value| kind_of(value) == Some(kind)).count();
    let most = kinds.into_iter().max_by_key(|kind| (count(*kind), *kind != Kind::Text))?;
    let fits = |value: &&&Value| {
        kind_of(value) == Some(most)
            || match most {
                Kind::Bool => repair::repaired(value, &Shape::Bool).is_ok(),
                Kind::Number => repair::repaired(value, &Shape::Number(Bounds::default())).is_ok(),
                Kind::Text | Kind::List | Kind::Object => false,
            }
    };
    let fitting = values.iter().filter(fits).count();
    (fitting * 2 > values.len() && count(most) > 0).then_some(most)
}

fn kind_of(value: &Value) -> Option<Kind> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some(Kind::Bool),
        Value::Number(_) => Some(Kind::Number),
        Value::String(_) => Some(Kind::Text),
        Value::Array(_) => Some(Kind::List),
        Value::Object(_) => Some(Kind::Object),
    }
}
