//! The votes on a whole value: which parts are voted on, and how the judges' parts go together.

use std::ops::Range;

use serde_json::Value;

use super::align::{self, Alignment};
use super::domain::Domains;
use super::folded::DecidedBy;
use super::infer;
use super::leaf::{self, Leaf};
use super::partition::{self, Partition};
use super::ranking::{self, Ranked};
use super::shape::{Fields, Others, Shape};
use super::words;

/// What the panel makes of one part of the value.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Not voted on: it comes with the reply that is chosen.
    Own,
    /// Most judges say nothing here.
    Null,
    /// Index of the leaf.
    Leaf(usize),
    Object(Vec<Entry>),
    List(Vec<Slot>),
    /// This voter's, as it is.
    Whole(usize),
    Partition(Partition, Vec<Entry>),
    Ranking(Ranked),
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Whether the panel has this key; `None`: the chosen reply decides.
    pub(super) is_present: Option<bool>,
    pub(super) node: Node,
}

/// One element of a list.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// Each voter's index of it.
    pub(super) elements: Vec<Option<usize>>,
    pub(super) node: Node,
    /// What is voted on within it.
    pub(super) leaves: Range<usize>,
}

/// Votes on values of one shape and collects the leaves.
#[derive(Debug)]
pub(super) struct Builder<'b> {
    pub(super) weights: &'b [f64],
    pub(super) domains: &'b Domains,
    /// How many things the prompt lists for a verdict each.
    pub(super) listed: Option<usize>,
    pub(super) leaves: Vec<Leaf>,
    /// Leaves of a pass and the score beside it.
    pub(super) pairs: Vec<(usize, usize)>,
}

/// Values deeper than this are not voted on.
const MAX_DEPTH: usize = 32;

impl Builder<'_> {
    /// `values` run over the voters; `None` where a voter has nothing here.
    pub(super) fn build(
        &mut self,
        path: &str,
        key: &str,
        shape: &Shape,
        values: &[Option<&Value>],
        depth: usize,
    ) -> Node {
        let given: Vec<&Value> = values.iter().copied().flatten().filter(|value| !value.is_null()).collect();
        if given.is_empty() || depth > MAX_DEPTH {
            return Node::Own;
        }
        match shape {
            Shape::Any => match infer::shape(&given) {
                Shape::Any => Node::Own,
                found => self.build(path, key, &found, values, depth + 1),
            },
            Shape::Nullable(inner) => {
                let is_null = |value: Option<&Value>| value.is_some_and(Value::is_null);
                if self.prevails(values, is_null) && inner.holds_verdict(key) {
                    return Node::Null;
                }
                self.build(path, key, inner, values, depth + 1)
            }
            Shape::Object(fields) => self.object(path, fields, values, depth),
            Shape::List(element) => self.list(path, element, values, depth),
            Shape::Bool
            | Shape::Category(_)
            | Shape::Levels(_)
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Text => self.leaf(path, key, shape, values),
        }
    }

    /// Whether more weight is for than against, among those who have a value; the first decides when equal.
    fn prevails(&self, values: &[Option<&Value>], is_for: impl Fn(Option<&Value>) -> bool) -> bool {
        let weigh = |wanted: bool| -> f64 {
            let counted = values.iter().zip(self.weights).filter(|(value, _)| is_for(**value) == wanted);
            counted.map(|(_, weight)| weight).sum()
        };
        let (for_it, against) = (weigh(true), weigh(false));
        if (for_it - against).abs() < 1e-12 {
            values.first().copied().is_some_and(is_for)
        } else {
            for_it > against
        }
    }

    fn leaf(&mut self, path: &str, key: &str, shape: &Shape, values: &[Option<&Value>]) -> Node {
        let Some(kind) = leaf::kind(key, shape, values, self.domains) else { return Node::Own };
        self.leaves.push(leaf::decide(path.to_owned(), kind, shape, values, self.weights, self.domains));
        Node::Leaf(self.leaves.len() - 1)
    }

    fn object(&mut self, path: &str, fields: &Fields, values: &[Option<&Value>], depth: usize) -> Node {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        let lists = partition_lists(fields);
        let mut entries = Vec::new();
        for (key, shape, is_required) in entries_of(fields, values) {
            if lists.contains(&key) {
                continue;
            }
            let own: Vec<Option<&Value>> =
                values.iter().map(|value| value.and_then(|value| value.get(&key))).collect();
            let node = self.build(&format!("{prefix}{key}"), &key, shape, &own, depth + 1);
            let is_voted = !is_required && !matches!(node, Node::Own);
            let is_present = if is_voted { Some(self.is_present(values, &key)) } else { None };
            let node = if is_present == Some(false) { Node::Own } else { node };
            entries.push(Entry { key, is_present, node });
        }
        self.pair(&entries);
        if lists.is_empty() {
            return Node::Object(entries);
        }
        let partition = partition::vote(&prefix, lists, values, self.weights, self.domains, &mut self.leaves);
        Node::Partition(partition, entries)
    }

    fn is_present(&self, objects: &[Option<&Value>], key: &str) -> bool {
        let has_it = |object: Option<&Value>| object.is_some_and(|object| object.get(key).is_some());
        let (objects, weights): (Vec<_>, Vec<_>) =
            objects.iter().zip(self.weights).filter(|(object, _)| object.is_some()).unzip();
        Builder {
            weights: &weights,
            domains: self.domains,
            listed: None,
            leaves: Vec::new(),
            pairs: Vec::new(),
        }
        .prevails(&objects, has_it)
    }

    fn pair(&mut self, entries: &[Entry]) {
        let leaf_of = |is_it: fn(&str) -> bool| {
            entries.iter().find_map(|entry| match entry.node {
                Node::Leaf(index) if is_it(&entry.key) => Some(index),
                _ => None,
            })
        };
        self.pairs.extend(leaf_of(words::is_pass).zip(leaf_of(words::is_score)));
    }

    fn list(&mut self, path: &str, element: &Shape, values: &[Option<&Value>], depth: usize) -> Node {
        let lists: Vec<Option<&Vec<Value>>> =
            values.iter().map(|value| value.and_then(Value::as_array)).collect();
        let element = &known_element(element, &lists);
        if let Some(keys) = ranking::keys(element) {
            let ranked = ranking::rank(path, keys, &lists, self.weights, &mut self.leaves);
            return ranked.map_or_else(|| Node::Whole(first_of(&lists)), Node::Ranking);
        }
        let is_labels = *element == Shape::Text && words::is_verdict_list(path);
        if !is_labels && !element.holds_verdict("") {
            return Node::Own;
        }
        let aligned = match align::align(&lists, self.weights, self.listed) {
            Alignment::Named(slots) => {
                slots.into_iter().filter(|slot| self.is_shared(slot, &lists)).collect()
            }
            Alignment::Placed(slots) => slots,
            Alignment::None => return self.whole_list(path, element, &lists),
        };
        let mut slots = Vec::new();
        for elements in aligned {
            let own: Vec<Option<&Value>> =
                lists.iter().zip(&elements).map(|(list, index)| (*list)?.get((*index)?)).collect();
            let first = self.leaves.len();
            let node = self.build(&format!("{path}[{}]", slots.len()), ELEMENT, element, &own, depth + 1);
            slots.push(Slot { elements, node, leaves: first..self.leaves.len() });
        }
        Node::List(slots)
    }

    /// Whether most of those who gave a usable list have this element.
    fn is_shared(&self, elements: &[Option<usize>], lists: &[Option<&Vec<Value>>]) -> bool {
        let is_given = |voter: usize| lists.get(voter).is_some_and(Option::is_some);
        let weigh = |is_counted: &dyn Fn(usize, &Option<usize>) -> bool| -> f64 {
            let counted =
                elements.iter().enumerate().zip(self.weights).filter(|((v, e), _)| is_counted(*v, e));
            counted.map(|(_, weight)| weight).sum()
        };
        let has = weigh(&|_, element| element.is_some());
        let lacks = weigh(&|voter, element| element.is_none() && is_given(voter));
        let first = elements.iter().enumerate().find(|(voter, _)| is_given(*voter));
        has > lacks + 1e-12
            || (has - lacks).abs() <= 1e-12 && first.is_some_and(|(_, element)| element.is_some())
    }

    /// The list of the judge whose share of positive verdicts is the median.
    fn whole_list(&mut self, path: &str, element: &Shape, lists: &[Option<&Vec<Value>>]) -> Node {
        let shares: Vec<Option<f64>> =
            lists.iter().map(|list| list.map(|list| share_of_positives(list))).collect();
        let voter = partition::median_of(&shares, self.weights);
        let own = lists.get(voter).copied().flatten();
        for (index, value) in own.into_iter().flatten().enumerate() {
            let own_vote: Vec<Option<&Value>> =
                (0..lists.len()).map(|other| (other == voter).then_some(value)).collect();
            let first = self.leaves.len();
            self.build(&format!("{path}[{index}]"), ELEMENT, element, &own_vote, MAX_DEPTH / 2);
            for leaf in self.leaves.iter_mut().skip(first) {
                leaf.decided_by = DecidedBy::Whole;
                leaf.is_tied = false;
            }
        }
        Node::Whole(voter)
    }
}

/// Stands for the key of a list's element: a label there is a verdict.
const ELEMENT: &str = "verdict";

fn partition_lists(fields: &Fields) -> Vec<String> {
    if !fields.may_be_partition() {
        return Vec::new();
    }
    let lists = fields.known.iter().filter(|field| matches!(field.shape, Shape::List(_)));
    lists.map(|field| field.key.clone()).collect()
}

fn known_element(element: &Shape, lists: &[Option<&Vec<Value>>]) -> Shape {
    if *element != Shape::Any {
        return element.clone();
    }
    infer::shape(&lists.iter().copied().flatten().flatten().collect::<Vec<_>>())
}

fn first_of(lists: &[Option<&Vec<Value>>]) -> usize {
    lists.iter().position(Option::is_some).unwrap_or(0)
}

/// Known keys, and those of a map in order of appearance.
fn entries_of<'f>(fields: &'f Fields, values: &[Option<&Value>]) -> Vec<(String, &'f Shape, bool)> {
    let mut entries: Vec<(String, &Shape, bool)> =
        fields.known.iter().map(|field| (field.key.clone(), &field.shape, field.is_required)).collect();
    if let Others::Each(shape) = &fields.others {
        for object in values.iter().copied().flatten().filter_map(Value::as_object) {
            for key in object.keys() {
                if !entries.iter().any(|(known, _, _)| known == key) {
                    entries.push((key.clone(), shape, false));
                }
            }
        }
    }
    entries
}

/// Share of elements whose verdict is on the good side.
fn share_of_positives(list: &[Value]) -> f64 {
    let positive = list.iter().filter(|element| is_positive(element)).count();
    #[expect(clippy::cast_precision_loss, reason = "counts of list elements are far below 2^52")]
    let share = positive as f64 / list.len().max(1) as f64;
    share
}

fn is_positive(element: &Value) -> bool {
    match element {
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|x| x > 0.0),
        Value::String(text) => words::is_positive(text),
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !words::is_element_key(key) && !words::is_reason(key))
            .any(|(_, value)| is_positive(value)),
        Value::Null | Value::Array(_) => false,
    }
}
