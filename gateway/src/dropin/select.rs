//! Selection before synthesis: the reply that says what the panel says, else the closest one with only the differing
//! parts replaced. Reasons come with the verdict that they were written for.

use serde_json::{Map, Value};

use crate::engine::reply::Step;

use super::align;
use super::leaf::Leaf;
use super::partition::{Partition, Statements};
use super::ranking::Ranked;
use super::tree::{Entry, Node, Slot};
use super::voters::{Voter, same};
use super::words;

/// A voter, how many leaves it agrees on, whether its value and its bytes can go out, its distance and weight.
type Standing = (usize, usize, (bool, bool), f64, (bool, f64));

/// Where a leaf stands in the value that goes out.
pub(super) type Located = Vec<(usize, Vec<Step>)>;

/// Voters by how well they speak for the panel, the best first: in the form, most leaves agree, then whole replies, nearest
/// numbers, weight, order.
pub(super) fn ranked(voters: &[Voter], leaves: &[Leaf], node: &Node) -> Vec<usize> {
    let values: Vec<Option<&Value>> = voters.iter().map(|voter| Some(&voter.value)).collect();
    let mut keys: Vec<Standing> = voters
        .iter()
        .enumerate()
        .map(|(index, voter)| {
            let agreeing = leaves.iter().filter(|leaf| leaf.agrees(index)).count();
            let (value, _) = assemble(node, index, &values, leaves);
            let distance: f64 = leaves.iter().map(|leaf| leaf.distance(index)).sum();
            let is_whole = value.as_ref() == Some(&voter.value);
            (index, agreeing, (is_whole, voter.written.is_some()), distance, (voter.is_plain, voter.weight))
        })
        .collect();
    if leaves.is_empty() {
        // Nothing was voted on: the lead speaks.
        keys.sort_by_key(|key| (!key.2.0, key.0));
        return keys.into_iter().map(|key| key.0).collect();
    }
    keys.sort_by(|a, b| {
        (b.4.0.cmp(&a.4.0))
            .then(b.1.cmp(&a.1))
            .then(b.2.cmp(&a.2))
            .then(a.3.total_cmp(&b.3))
            .then(b.4.1.total_cmp(&a.4.1))
            .then(a.0.cmp(&b.0))
    });
    keys.into_iter().map(|key| key.0).collect()
}

/// The panel's value in the words of one voter, and where its leaves stand.
pub(super) fn assemble(
    node: &Node,
    voter: usize,
    values: &[Option<&Value>],
    leaves: &[Leaf],
) -> (Option<Value>, Located) {
    let mut assembly = Assembly { voter, leaves, located: Vec::new(), at: Vec::new() };
    let value = assembly.value(node, values);
    (value, assembly.located)
}

struct Assembly<'a> {
    voter: usize,
    leaves: &'a [Leaf],
    located: Located,
    at: Vec<Step>,
}

impl Assembly<'_> {
    fn value(&mut self, node: &Node, values: &[Option<&Value>]) -> Option<Value> {
        let own = values.get(self.voter).copied().flatten();
        match node {
            Node::Own => own.or_else(|| values.iter().copied().flatten().next()).cloned(),
            Node::Null => Some(Value::Null),
            Node::Whole(voter) => values.get(*voter).copied().flatten().or(own).cloned(),
            Node::Leaf(index) => {
                let leaf = self.leaves.get(*index)?;
                self.located.push((*index, self.at.clone()));
                Some(own.filter(|own| same(own, &leaf.value)).cloned().unwrap_or_else(|| leaf.value.clone()))
            }
            Node::Object(entries) => self.object(entries, &[], values).map(Value::Object),
            Node::List(slots) => Some(Value::Array(self.list(slots, values))),
            Node::Partition(partition, entries) => self.partition(partition, entries, values),
            Node::Ranking(ranked) => Some(Value::Array(self.ranking(ranked, values))),
        }
    }

    fn under(&mut self, step: Step, node: &Node, values: &[Option<&Value>]) -> Option<Value> {
        self.at.push(step);
        let value = self.value(node, values);
        self.at.pop();
        value
    }

    /// The voter's object with the panel's values; `skipped` keys stay as they are.
    fn object(
        &mut self,
        entries: &[Entry],
        skipped: &[String],
        values: &[Option<&Value>],
    ) -> Option<Map<String, Value>> {
        let own = values.get(self.voter).copied().flatten().and_then(Value::as_object);
        let base = own.or_else(|| Self::donor(values)?.as_object())?;
        let mut out = Map::new();
        for (key, value) in base {
            let entry = entries.iter().find(|entry| entry.key == *key);
            let value = match entry {
                _ if skipped.contains(key) => Some(value.clone()),
                Some(Entry { is_present: Some(false), .. }) => None,
                Some(entry) => self.under(Step::Key(key.clone()), &entry.node, &children(values, key)),
                None => Some(value.clone()),
            };
            out.extend(value.map(|value| (key.clone(), value)));
        }
        for entry in entries.iter().filter(|entry| entry.is_present == Some(true)) {
            if !out.contains_key(&entry.key) {
                let value =
                    self.under(Step::Key(entry.key.clone()), &entry.node, &children(values, &entry.key));
                out.extend(value.map(|value| (entry.key.clone(), value)));
            }
        }
        Some(out)
    }

    fn donor<'v>(values: &[Option<&'v Value>]) -> Option<&'v Value> {
        values.iter().copied().flatten().find(|value| !value.is_null())
    }

    /// The voter's order, without what most judges lack, then what it lacks.
    fn list(&mut self, slots: &[Slot], values: &[Option<&Value>]) -> Vec<Value> {
        let index_of = |slot: &Slot| slot.elements.get(self.voter).copied().flatten();
        let mut order: Vec<&Slot> = slots.iter().collect();
        order.sort_by_key(|slot| index_of(slot).unwrap_or(usize::MAX));
        let mut out = Vec::new();
        for slot in order {
            self.at.push(Step::Index(out.len()));
            out.extend(self.element(slot, values));
            self.at.pop();
        }
        out
    }

    /// One element in the words of a judge that voted on it as the panel did.
    fn element(&mut self, slot: &Slot, values: &[Option<&Value>]) -> Option<Value> {
        let elements: Vec<Option<&Value>> = values
            .iter()
            .zip(&slot.elements)
            .map(|(list, index)| list.and_then(Value::as_array)?.get((*index)?))
            .collect();
        let leaves = self.leaves.get(slot.leaves.clone()).unwrap_or_default();
        let agrees = |voter: usize| {
            elements.get(voter).copied().flatten().is_some() && leaves.iter().all(|leaf| leaf.agrees(voter))
        };
        let chosen = self.voter;
        let speaker = if agrees(chosen) { None } else { (0..elements.len()).find(|voter| agrees(*voter)) };
        let own = elements.get(chosen).copied().flatten();
        let speaker = speaker.or_else(|| elements.iter().position(Option::is_some).filter(|_| own.is_none()));
        self.voter = speaker.unwrap_or(chosen);
        let mut value = self.value(&slot.node, &elements);
        self.voter = chosen;
        if let (Some(Value::Object(out)), Some(Value::Object(own))) = (&mut value, own) {
            for (key, name) in own.iter().filter(|(key, _)| words::is_element_key(key)) {
                if let Some(other) = out.get_mut(key).filter(|other| is_same_name(other, name)) {
                    *other = name.clone();
                }
            }
        }
        value
    }

    fn partition(
        &mut self,
        partition: &Partition,
        entries: &[Entry],
        values: &[Option<&Value>],
    ) -> Option<Value> {
        let mut out = self.object(entries, &partition.lists, values)?;
        let element = |voter: usize, list: usize, index: usize| -> Option<&Value> {
            values.get(voter).copied().flatten()?.get(partition.lists.get(list)?)?.as_array()?.get(index)
        };
        let statements = match &partition.statements {
            Statements::Whole(voter) => {
                for key in &partition.lists {
                    let own = values.get(*voter).copied().flatten().and_then(|object| object.get(key));
                    out.extend(own.map(|list| (key.clone(), list.clone())));
                }
                return Some(Value::Object(out));
            }
            Statements::Voted(statements) => statements,
        };
        for (list, key) in partition.lists.iter().enumerate() {
            let mut members: Vec<(usize, usize, &Value)> = Vec::new();
            for (position, (slot, leaf)) in statements.iter().enumerate() {
                if self.leaves.get(*leaf).is_none_or(|leaf| leaf.value != key.as_str()) {
                    continue;
                }
                let place = |voter: usize| slot.get(voter).copied().flatten().filter(|(own, _)| *own == list);
                let own = place(self.voter)
                    .and_then(|(list, index)| Some((index, element(self.voter, list, index)?)));
                let other = || {
                    (0..slot.len())
                        .find_map(|voter| place(voter).and_then(|(list, index)| element(voter, list, index)))
                };
                match own {
                    Some((index, value)) => members.push((index, position, value)),
                    None => members.extend(other().map(|value| (usize::MAX, position, value))),
                }
            }
            members.sort_by_key(|(index, position, _)| (*index, *position));
            if out.contains_key(key) || !members.is_empty() {
                let list = members.into_iter().map(|(_, _, value)| value.clone()).collect();
                out.insert(key.clone(), Value::Array(list));
            }
        }
        Some(Value::Object(out))
    }

    fn ranking(&mut self, ranked: &Ranked, values: &[Option<&Value>]) -> Vec<Value> {
        let element = |voter: usize, index: usize| -> Option<&Value> {
            values.get(voter).copied().flatten()?.as_array()?.get(index)
        };
        let own: Vec<Value> =
            values.get(self.voter).copied().flatten().and_then(Value::as_array).cloned().unwrap_or_default();
        let agrees = ranked
            .order
            .iter()
            .all(|(_, leaf)| self.leaves.get(*leaf).is_some_and(|leaf| leaf.agrees(self.voter)));
        if agrees && own.len() == ranked.order.len() {
            return own;
        }
        let mut out = Vec::new();
        for (slot, leaf) in &ranked.order {
            let of =
                |voter: usize| slot.get(voter).copied().flatten().and_then(|index| element(voter, index));
            let copy = of(self.voter).or_else(|| (0..slot.len()).find_map(of)).cloned();
            if let (Some(Value::Object(mut copy)), Some(panel)) = (copy, self.leaves.get(*leaf)) {
                let place = copy.get(&ranked.place_key).filter(|place| same(place, &panel.value)).cloned();
                copy.insert(ranked.place_key.clone(), place.unwrap_or_else(|| panel.value.clone()));
                out.push(Value::Object(copy));
            }
        }
        out
    }
}

fn children<'v>(values: &[Option<&'v Value>], key: &str) -> Vec<Option<&'v Value>> {
    values.iter().map(|value| value.and_then(|value| value.get(key))).collect()
}

fn is_same_name(a: &Value, b: &Value) -> bool {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => align::name(a) == align::name(b),
        _ => a == b,
    }
}
