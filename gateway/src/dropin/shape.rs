//! What a value has to be, as far as reading and voting care. The caller's schema itself is checked elsewhere.

use serde_json::{Number, Value};

use super::words;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Bool,
    /// One of these values; mostly strings.
    Category(Vec<Value>),
    /// One of these numbers.
    Levels(Vec<Number>),
    Integer(Bounds),
    Number(Bounds),
    /// A string: a reason, or a label whose domain nobody declared.
    Text,
    Nullable(Box<Self>),
    Object(Fields),
    List(Box<Self>),
    /// Nothing is declared: the values decide.
    Any,
}

/// Closed range; exclusive bounds are left to the schema's own check.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Bounds {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fields {
    pub(super) known: Vec<Field>,
    pub(super) others: Others,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) shape: Shape,
    pub(super) is_required: bool,
}

/// Keys that are not listed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Others {
    Refused,
    Ignored,
    Each(Box<Shape>),
}

impl Bounds {
    pub(super) fn contains(self, x: f64) -> bool {
        self.min.is_none_or(|min| x >= min) && self.max.is_none_or(|max| x <= max)
    }

    pub(super) fn clamp(self, x: f64) -> f64 {
        let x = self.min.map_or(x, |min| x.max(min));
        self.max.map_or(x, |max| x.min(max))
    }

    /// Both ends, where they are known and apart.
    pub(super) fn range(self) -> Option<(f64, f64)> {
        self.min.zip(self.max).filter(|(min, max)| max > min)
    }
}

impl Fields {
    pub(super) fn shape_of(&self, key: &str) -> Option<&Shape> {
        let known = self.known.iter().find(|field| field.key == key).map(|field| &field.shape);
        known.or(match &self.others {
            Others::Each(shape) => Some(shape),
            Others::Refused | Others::Ignored => None,
        })
    }

    /// Lists side by side that may share one set of statements among them.
    pub(super) fn may_be_partition(&self) -> bool {
        let lists = || {
            self.known.iter().filter_map(|field| match &field.shape {
                Shape::List(element) => Some((field, &**element)),
                _ => None,
            })
        };
        let is_named = lists().all(|(field, _)| words::is_partition_name(&field.key));
        let is_statement = |element: &Shape| match element {
            Shape::Object(fields) => {
                fields.known.iter().any(|field| words::is_element_key(&field.key)) && !fields.holds_verdict()
            }
            Shape::Text => is_named,
            // Always empty so far.
            Shape::Any => true,
            _ => false,
        };
        lists().count() > 1
            && lists().all(|(_, element)| is_statement(element))
            && lists().any(|(_, element)| *element != Shape::Any)
    }

    fn holds_verdict(&self) -> bool {
        self.may_be_partition()
            || self.known.iter().any(|field| field.shape.holds_verdict(&field.key))
            || matches!(&self.others, Others::Each(shape) if shape.holds_verdict(""))
    }
}

impl Shape {
    /// Whether a value of this shape under this key holds anything that can be voted on.
    pub(super) fn holds_verdict(&self, key: &str) -> bool {
        match self {
            Self::Bool | Self::Number(_) | Self::Levels(_) | Self::Integer(_) => {
                !words::is_element_number(key)
            }
            Self::Category(values) => values.len() > 1,
            Self::Text => words::is_verdict_key(key),
            Self::Any => true,
            Self::Nullable(inner) => inner.holds_verdict(key),
            Self::Object(fields) => fields.holds_verdict(),
            Self::List(element) => !matches!(**element, Self::Text) && element.holds_verdict(""),
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        match self {
            Self::Integer(bounds) | Self::Number(bounds) => *bounds,
            Self::Levels(levels) => {
                let values = || levels.iter().filter_map(Number::as_f64);
                Bounds { min: values().reduce(f64::min), max: values().reduce(f64::max) }
            }
            Self::Nullable(inner) => inner.bounds(),
            Self::Bool | Self::Category(_) | Self::Text | Self::Object(_) | Self::List(_) | Self::Any => {
                Bounds::default()
            }
        }
    }
}
