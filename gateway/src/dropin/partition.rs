//! Several lists that share one set of statements among them, such as true positives, false positives and misses:
//! the panel votes for each statement on the list it belongs to.

use std::collections::HashMap;

use aggregation::panel_vote::weighted_median;
use serde_json::Value;

use super::align;
use super::domain::Domains;
use super::folded::LeafKind;
use super::leaf::{self, Leaf};
use super::shape::Shape;
use super::words;

#[derive(Debug, Clone)]
pub(super) struct Partition {
    pub(super) lists: Vec<String>,
    pub(super) statements: Statements,
}

#[derive(Debug, Clone)]
pub(super) enum Statements {
    /// Each voter's list and index of the statement, and the leaf that says where it belongs.
    Voted(Vec<(Slot, usize)>),
    /// The judges split the text themselves: this voter's lists stand.
    Whole(usize),
}

/// A statement's place with each voter: the list and the index in it.
pub(super) type Slot = Vec<Option<(usize, usize)>>;

/// Votes per statement. `objects` run over the voters.
pub(super) fn vote(
    path: &str,
    lists: Vec<String>,
    objects: &[Option<&Value>],
    weights: &[f64],
    domains: &Domains,
    leaves: &mut Vec<Leaf>,
) -> Partition {
    let Some(places) = places(&lists, objects) else {
        let whole = median_voter(&lists, objects, weights);
        return Partition { lists, statements: Statements::Whole(whole) };
    };
    let given = objects.iter().flatten().count();
    let total: usize = places.iter().map(|slot| slot.iter().flatten().count()).sum();
    let shared: Vec<_> =
        places.into_iter().filter(|slot| slot.iter().flatten().count() * 2 > given).collect();
    if shared.len() * 2 * given < total {
        let whole = median_voter(&lists, objects, weights);
        return Partition { lists, statements: Statements::Whole(whole) };
    }
    let names: Vec<Value> = lists.iter().map(|name| Value::from(name.as_str())).collect();
    let shape = Shape::Category(names.clone());
    let mut statements = Vec::new();
    for (index, slot) in shared.into_iter().enumerate() {
        let votes: Vec<Option<&Value>> =
            slot.iter().map(|place| place.and_then(|(list, _)| names.get(list))).collect();
        let path = format!("{path}{}[{index}]", lists.join("|"));
        leaves.push(leaf::decide(path, LeafKind::Category, &shape, &votes, weights, domains));
        statements.push((slot, leaves.len() - 1));
    }
    Partition { lists, statements: Statements::Voted(statements) }
}

/// All statements in order of appearance; `None` where a voter puts one in two places, or does not name it.
fn places(lists: &[String], objects: &[Option<&Value>]) -> Option<Vec<Slot>> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (voter, object) in objects.iter().enumerate() {
        for (list, key) in lists.iter().enumerate() {
            let elements = object.and_then(|object| object.get(key)).and_then(Value::as_array);
            for (index, element) in elements.into_iter().flatten().enumerate() {
                let slot = *known.entry(statement(element)?).or_insert_with(|| {
                    slots.push(vec![None; objects.len()]);
                    slots.len() - 1
                });
                if slots.get_mut(slot)?.get_mut(voter)?.replace((list, index)).is_some() {
                    return None;
                }
            }
        }
    }
    Some(slots)
}

fn statement(element: &Value) -> Option<String> {
    match element {
        Value::String(text) => Some(align::name(text)),
        Value::Object(members) => {
            let key = members.keys().find(|key| words::is_element_key(key))?;
            align::name_of(element, key)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// The voter whose share of statements on the first list is the weighted median.
fn median_voter(lists: &[String], objects: &[Option<&Value>], weights: &[f64]) -> usize {
    let length = |object: &Value, key: &String| object.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    let share = |object: &Value| {
        let total: usize = lists.iter().map(|key| length(object, key)).sum();
        let first = lists.first().map_or(0, |key| length(object, key));
        #[expect(clippy::cast_precision_loss, reason = "counts of statements are far below 2^52")]
        let share = first as f64 / total.max(1) as f64;
        share
    };
    let shares: Vec<Option<f64>> = objects.iter().map(|object| object.map(share)).collect();
    median_of(&shares, weights)
}

/// The first voter that has the weighted lower median of these shares.
pub(super) fn median_of(shares: &[Option<f64>], weights: &[f64]) -> usize {
    let given = shares.iter().zip(weights).filter_map(|(share, weight)| share.map(|share| (share, *weight)));
    let median = weighted_median(given).ok().map(|median| median.lower);
    let found = shares.iter().position(|share| share.is_some() && *share == median);
    found.or_else(|| shares.iter().position(Option::is_some)).unwrap_or(0)
}
