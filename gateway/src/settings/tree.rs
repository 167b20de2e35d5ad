//! The YAML text as a tree in which each value knows its place. Knows nothing of what the keys mean.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::problem::{KeyPath, Step};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub content: Content,
    pub place: Place,
    /// A plain scalar as the file spells it (`1.10`, `007`), for keys that want text.
    pub written: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// A list element that was taken out; the others keep their indexes.
    Removed,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub key_place: Place,
    pub value: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    File {
        line: u64,
        column: u64,
    },
    /// The environment variable or the flag that set the value.
    Override(Arc<str>),
}

/// The text is no YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub line: u64,
    pub column: u64,
    pub message: String,
}

impl Node {
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let options = serde_saphyr::options! {
            // Duplicates are found by us, all of them, with both places.
            duplicate_keys: serde_saphyr::DuplicateKeyPolicy::PassThrough,
            // `off`, `yes` and `no` are words here, as in YAML 1.2.
            strict_booleans: true,
            null_as_string: true,
            // `.inf` and `.nan` are no values of ours, and are refused where they stand.
            non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::AsString,
            with_snippet: false,
        };
        match serde_saphyr::from_str_with_options::<Option<Spanned<Parsed>>>(text, options) {
            Ok(Some(root)) => Ok(root_node(root, text)),
            Ok(None) => Ok(Self::empty()),
            Err(error) => Err(syntax_error(&error)),
        }
    }

    /// A file without any content.
    pub fn empty() -> Self {
        Self { content: Content::Null, place: Place::File { line: 1, column: 1 }, written: None }
    }

    pub fn find(&self, path: &KeyPath) -> Option<&Self> {
        path.0.iter().try_fold(self, |node, step| node.child(step))
    }

    /// The place of the value at `path`, or of the deepest part of the path that exists.
    pub fn nearest(&self, path: &KeyPath) -> &Place {
        let mut node = self;
        let mut place = &self.place;
        for step in &path.0 {
            if let (Step::Key(key), Content::Map(entries)) = (step, &node.content) {
                let Some(entry) = entries.iter().find(|e| e.key == *key) else { break };
                // The key of a block mapping says more than its first child does.
                let nested = matches!(entry.value.content, Content::Map(_) | Content::List(_));
                place = if nested { &entry.key_place } else { &entry.value.place };
                node = &entry.value;
            } else {
                let Some(child) = node.child(step) else { break };
                (node, place) = (child, &child.place);
            }
        }
        place
    }

    /// Takes the value at `path` out of its mapping or list.
    pub fn remove(&mut self, path: &KeyPath) -> bool {
        let Some((target, parents)) = path.0.split_last() else { return false };
        let mut node = self;
        for step in parents {
            let Some(child) = node.child_mut(step) else { return false };
            node = child;
        }
        match (&mut node.content, target) {
            (Content::Map(entries), Step::Key(key)) => {
                let before = entries.len();
                entries.retain(|e| e.key != *key);
                entries.len() < before
            }
            (Content::List(list), Step::Index(index)) => list.get_mut(*index).is_some_and(|node| {
                let before = std::mem::replace(&mut node.content, Content::Removed);
                before != Content::Removed
            }),
            _ => false,
        }
    }

    /// Gives the whole subtree one place.
    pub fn set_place(&mut self, place: &Place) {
        self.place = place.clone();
        match &mut self.content {
            Content::Map(entries) => {
                for entry in entries {
                    entry.key_place = place.clone();
                    entry.value.set_place(place);
                }
            }
            Content::List(list) => list.iter_mut().for_each(|node| node.set_place(place)),
            Content::Null
            | Content::Bool(_)
            | Content::Unsigned(_)
            | Content::Signed(_)
            | Content::Float(_)
            | Content::Text(_)
            | Content::Removed => {}
        }
    }

    /// Repeated keys are taken out of the tree (the first one stays) and returned with their places.
    pub fn take_duplicates(&mut self) -> Vec<(KeyPath, Place)> {
        let mut found = Vec::new();
        self.collect_duplicates(&KeyPath::default(), &mut found);
        found
    }

    fn collect_duplicates(&mut self, path: &KeyPath, found: &mut Vec<(KeyPath, Place)>) {
        match &mut self.content {
            Content::Map(entries) => {
                let mut seen = std::collections::BTreeSet::new();
                entries.retain(|entry| {
                    let first = seen.insert(entry.key.clone());
                    if !first {
                        found.push((path.key(&entry.key), entry.key_place.clone()));
                    }
                    first
                });
                for entry in entries {
                    entry.value.collect_duplicates(&path.key(&entry.key), found);
                }
            }
            Content::List(list) => {
                for (i, node) in list.iter_mut().enumerate() {
                    node.collect_duplicates(&path.index(i), found);
                }
            }
            Content::Null
            | Content::Bool(_)
            | Content::Unsigned(_)
            | Content::Signed(_)
            | Content::Float(_)
            | Content::Text(_)
            | Content::Removed => {}
        }
    }

    fn child(&self, step: &Step) -> Option<&Self> {
        match (&self.content, step) {
            (Content::Map(entries), Step::Key(key)) => {
                entries.iter().find(|e| e.key == *key).map(|e| &e.value)
            }
            (Content::List(list), Step::Index(index)) => list.get(*index),
            _ => None,
        }
    }

    fn child_mut(&mut self, step: &Step) -> Option<&mut Self> {
        match (&mut self.content, step) {
            (Content::Map(entries), Step::Key(key)) => {
                entries.iter_mut().find(|e| e.key == *key).map(|e| &mut e.value)
            }
            (Content::List(list), Step::Index(index)) => list.get_mut(*index),
            _ => None,
        }
    }
}

/// What serde-saphyr hands over, before plain scalars get their spelling back from the text.
enum Parsed {
    Scalar(Content),
    List(Vec<Spanned<Parsed>>),
    Map(Vec<(Spanned<String>, Spanned<Parsed>)>),
}

fn root_node(parsed: Spanned<Parsed>, text: &str) -> Node {
    let place = place(&parsed.referenced);
    let written = spelling(&parsed, text);
    let content = match parsed.value {
        Parsed::Scalar(content) => content,
        Parsed::List(list) => Content::List(list.into_iter().map(|n| root_node(n, text)).collect()),
        Parsed::Map(entries) => Content::Map(
            entries
                .into_iter()
                .map(|(key, value)| Entry {
                    key_place: self::place(&key.referenced),
                    key: key.value,
                    value: root_node(value, text),
                })
                .collect(),
        ),
    };
    Node { content, place, written }
}

fn place(location: &serde_saphyr::Location) -> Place {
    Place::File { line: location.line().max(1), column: location.column().max(1) }
}

fn spelling(parsed: &Spanned<Parsed>, text: &str) -> Option<String> {
    match &parsed.value {
        Parsed::Scalar(Content::Bool(_) | Content::Unsigned(_) | Content::Signed(_) | Content::Float(_)) => {
            let span = parsed.defined.span();
            let start = usize::try_from(span.byte_offset()?).ok()?;
            let end = start.checked_add(usize::try_from(span.byte_len()?).ok()?)?;
            text.get(start..end).map(|s| s.trim().to_owned())
        }
        _ => None,
    }
}

fn syntax_error(error: &serde_saphyr::Error) -> SyntaxError {
    let (line, column) = error.location().map_or((1, 1), |l| (l.line().max(1), l.column().max(1)));
    let rendered = error.without_snippet().to_string();
    let first = rendered.lines().next().unwrap_or_default();
    let message = first.split_once(" at line ").map_or(first, |(message, _)| message);
    // The library's advice to its callers.
    let message = message.split_once("; use ").map_or(message, |(message, _)| message).to_owned();
    SyntaxError { line, column, message }
}

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParsedVisitor)
    }
}

struct ParsedVisitor;

impl<'de> Visitor<'de> for ParsedVisitor {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a list or a mapping")
    }
    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Parsed::Scalar(Content::Null))
    }
    fn visit_none<E>(self) -> Result<Parsed, E> {
        Ok(Parsed::Scalar(Content::Null))
    }
    fn visit_some<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Parsed, D::Error> {
        Parsed::deserialize(deserializer)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Parsed, E> {
        Ok(Parsed::Scalar(Content::Bool(v)))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Parsed, E> {
        Ok(Parsed::Scalar(Content::Unsigned(v)))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Parsed, E> {
        Ok(Parsed::Scalar(u64::try_from(v).map_or(Content::Signed(v), Content::Unsigned)))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Parsed, E> {
        Ok(Parsed::Scalar(Content::Float(v)))
    }
    fn visit_str<E>(self, v: &str) -> Result<Parsed, E> {
        Ok(Parsed::Scalar(Content::Text(v.to_owned())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Parsed, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = seq.next_element()? {
            list.push(node);
        }
        Ok(Parsed::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Parsed::Map(entries))
    }
}
