//! From the tree to typed entries, reporting every value of the wrong shape.
//!
//! serde stops at its first error. Here each error names its path; the value there is taken out of the tree and
//! the reading starts again, so that independent mistakes are reported together.

use std::fmt::{self, Display};

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::problem::{KeyPath, Report, Step, suggestion};
use super::tree::{Content, Entry, Node, Place};

/// More mistakes than a reader fixes in one go; bounds the work on a hostile file.
const MOST_PROBLEMS: usize = 100;

/// Reads what can be read; the rest is reported and left out. `None`: too little is left to look any further.
pub(super) fn read<T: DeserializeOwned>(tree: &Node, report: &mut Report<'_>) -> Option<T> {
    let mut tree = tree.clone();
    for (path, place) in tree.take_duplicates() {
        let message = "the key stands twice".to_owned();
        report.problem_at(&path, &place, message, "keep one of them".to_owned());
    }
    for _ in 0..MOST_PROBLEMS {
        let error = match T::deserialize(Reader(&tree)) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let path = KeyPath(error.steps.iter().rev().cloned().collect());
        match &error.place {
            Some(place) => report.problem_at(&path, place, error.message, error.hint),
            None => report.problem(&path, error.message, error.hint),
        }
        if !tree.remove(&path) {
            break;
        }
    }
    None
}

#[derive(Debug)]
pub(super) struct ShapeError {
    /// From the leaf up.
    steps: Vec<Step>,
    place: Option<Place>,
    message: String,
    hint: String,
}

impl ShapeError {
    fn new(message: String, hint: String) -> Self {
        Self { steps: Vec::new(), place: None, message, hint }
    }

    fn within(mut self, step: Step, place: &Place) -> Self {
        self.steps.push(step);
        self.place.get_or_insert_with(|| place.clone());
        self
    }
}

impl Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ShapeError {}

/// Separates message and next step in errors of our own `Deserialize` implementations.
pub(super) const HINT: &str = "\nhint: ";

impl de::Error for ShapeError {
    fn custom<T: Display>(message: T) -> Self {
        let text = message.to_string();
        let (message, hint) = text.split_once(HINT).unwrap_or((&text, ""));
        Self::new(message.to_owned(), hint.to_owned())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let wanted = plain_words(&expected.to_string());
        let hint = match (&unexpected, wanted.as_str()) {
            (Unexpected::Str(text), w) if w.contains("number") && text.parse::<f64>().is_ok() => {
                "remove the quotes".to_owned()
            }
            (Unexpected::Str(text), "a list") => format!("write `[{text}]`"),
            _ => format!("write {wanted}"),
        };
        Self::new(format!("expected {wanted}, found {}", found(&unexpected)), hint)
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let wanted = plain_words(&expected.to_string());
        Self::new(format!("expected {wanted}, found {length} values"), format!("write {wanted}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let message = format!("unknown value `{}`", shortened(variant));
        Self::new(message, suggestion(variant, expected.iter().copied()))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new("unknown key".to_owned(), suggestion(field, expected.iter().copied()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` is missing"), format!("add `{field}: …`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` stands twice"), "keep one of them".to_owned())
    }
}

/// serde's names of Rust types, in the words of someone who writes YAML.
fn plain_words(expected: &str) -> String {
    let words = match expected {
        "u16" | "u32" | "u64" | "usize" | "i64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" | "path string" => "text",
        "a sequence" => "a list",
        "a map" => "a mapping of names to values",
        e if e.starts_with("a nonzero") => "a whole number above 0",
        e if e.starts_with("struct ") => "a mapping of settings",
        e if e.starts_with("enum ") => "one word",
        e => e,
    };
    words.to_owned()
}

fn found(unexpected: &Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(v) => format!("`{v}`"),
        Unexpected::Unsigned(v) => format!("`{v}`"),
        Unexpected::Signed(v) => format!("`{v}`"),
        Unexpected::Float(v) => format!("`{v}`"),
        Unexpected::Str(text) => format!("the text `{}`", shortened(text)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// serde's view of one node.
#[derive(Clone, Copy)]
struct Reader<'t>(&'t Node);

impl<'t> Reader<'t> {
    /// The scalar as text; numbers and booleans as the file spells them.
    fn text(self) -> Option<std::borrow::Cow<'t, str>> {
        if let Some(written) = &self.0.written {
            return Some(written.as_str().into());
        }
        match &self.0.content {
            Content::Text(text) => Some(text.as_str().into()),
            Content::Bool(v) => Some(v.to_string().into()),
            Content::Unsigned(v) => Some(v.to_string().into()),
            Content::Signed(v) => Some(v.to_string().into()),
            Content::Float(v) => Some(v.to_string().into()),
            Content::Null | Content::Removed | Content::List(_) | Content::Map(_) => None,
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match &self.0.content {
            Content::Null | Content::Removed => visitor.visit_unit(),
            Content::Bool(v) => visitor.visit_bool(*v),
            Content::Unsigned(v) => visitor.visit_u64(*v),
            Content::Signed(v) => visitor.visit_i64(*v),
            Content::Float(v) => visitor.visit_f64(*v),
            Content::Text(v) => visitor.visit_str(v),
            Content::List(list) => visitor.visit_seq(ListReader { rest: list.iter().enumerate() }),
            Content::Map(entries) => visitor.visit_map(MapReader { rest: entries.iter(), current: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0.content {
            Content::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.text() {
            Some(text) => visitor.visit_str(&text),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self.text() {
            Some(text) => {
                let text: StrDeserializer<'_, ShapeError> = text.as_ref().into_deserializer();
                visitor.visit_enum(text)
            }
            None => self.deserialize_any(visitor),
        }
    }

    /// A key with nothing behind it (all its children commented out) is an empty list.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0.content {
            Content::Null => visitor.visit_seq(ListReader { rest: [].iter().enumerate() }),
            _ => self.deserialize_any(visitor),
        }
    }

    /// As for lists.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0.content {
            Content::Null => visitor.visit_map(MapReader { rest: [].iter(), current: None }),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self.0.content {
            // Derived structs also read lists by position; a file never means that.
            Content::List(_) => Err(de::Error::invalid_type(Unexpected::Seq, &"a mapping of settings")),
            _ => self.deserialize_map(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier ignored_any
    }
}

struct ListReader<'t> {
    rest: std::iter::Enumerate<std::slice::Iter<'t, Node>>,
}

impl<'de> SeqAccess<'de> for ListReader<'_> {
    type Error = ShapeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ShapeError> {
        let (index, node) = loop {
            let Some((index, node)) = self.rest.next() else { return Ok(None) };
            if node.content != Content::Removed {
                break (index, node);
            }
        };
        let value = seed.deserialize(Reader(node)).map_err(|e| e.within(Step::Index(index), &node.place))?;
        Ok(Some(value))
    }
}

struct MapReader<'t> {
    rest: std::slice::Iter<'t, Entry>,
    current: Option<&'t Entry>,
}

impl<'de> MapAccess<'de> for MapReader<'_> {
    type Error = ShapeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ShapeError> {
        self.current = self.rest.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key: StrDeserializer<'_, ShapeError> = entry.key.as_str().into_deserializer();
        let step = || Step::Key(entry.key.clone());
        let key = seed.deserialize(key).map_err(|e| e.within(step(), &entry.key_place))?;
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ShapeError> {
        let Some(entry) = self.current.take() else {
            return Err(de::Error::custom("a value was read before its key"));
        };
        let nested = matches!(entry.value.content, Content::Map(_) | Content::List(_) | Content::Null);
        let place = if nested { &entry.key_place } else { &entry.value.place };
        seed.deserialize(Reader(&entry.value)).map_err(|e| e.within(Step::Key(entry.key.clone()), place))
    }
}
