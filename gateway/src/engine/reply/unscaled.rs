//! A reply whose scale nobody declared: what a client's own answer form is looked for in.
//!
//! The same steps as for a declared scale come first (reasoning out, quotes and fences told apart, JSON found), so
//! that both readers see the same text. What the values mean is for the caller.

use std::ops::Range;

use serde_json::{Map, Number, Value};

use super::json::{self, Json, Node};
use super::layout;
use super::refusal;
use super::visible::Visible;

/// A reply made ready.
#[derive(Debug)]
pub struct Unscaled<'t> {
    original: &'t str,
    visible: Visible<'t>,
}

/// A JSON value that stands in a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub value: Value,
    /// Bytes in the reply.
    pub span: Range<usize>,
    /// Whether these bytes are strict JSON.
    pub is_strict: bool,
}

/// One step from a JSON value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    Key(String),
    Index(usize),
}

impl<'t> Unscaled<'t> {
    pub fn of(original: &'t str) -> Self {
        Self { original, visible: Visible::of(original) }
    }

    /// The text without reasoning, invisible characters and fences around all of it.
    pub fn text(&self) -> &str {
        self.visible.text().get(self.visible.body.start..).unwrap_or_default()
    }

    /// As `text`, with quotes and JSON overwritten by control characters: every offset stays.
    pub fn own(&self) -> &str {
        self.visible.layout.own.get(self.visible.body.start..).unwrap_or_default()
    }

    /// Where a part of `text` stands in the reply.
    pub fn original(&self, part: Range<usize>) -> Range<usize> {
        let start = self.visible.body.start;
        self.visible.folded.original(start + part.start..start + part.end)
    }

    /// Where leaked reasoning ends in the reply; 0 where there is none.
    pub fn answer_start(&self) -> usize {
        let end = self.visible.answer_start;
        if end == 0 { 0 } else { self.visible.folded.original(0..end).end }
    }

    /// Objects, and arrays that begin with one, outside quotes and in order; else the reply if it is one JSON value.
    pub fn values(&self) -> Vec<Found> {
        let nodes = &self.visible.layout.objects;
        let found: Vec<Found> = nodes.iter().map(|node| self.found(node)).collect();
        if !found.is_empty() {
            return found;
        }
        let body = layout::trim(self.visible.text(), self.visible.body.clone());
        let span = self.visible.folded.original(body);
        let value = self.original.get(span.clone()).and_then(|text| serde_json::from_str(text).ok());
        value.map(|value| Found { value, span, is_strict: true }).into_iter().collect()
    }

    /// Whether the reply declines to judge, in the judge's own words.
    pub fn is_refusal(&self) -> bool {
        refusal::is_refusal(&self.visible.layout.own)
    }

    fn found(&self, node: &Node) -> Found {
        let span = self.visible.folded.original(node.span.clone());
        let strict = self.original.get(span.clone()).and_then(|text| serde_json::from_str(text).ok());
        let is_strict = strict.is_some();
        Found { value: strict.unwrap_or_else(|| value_of(self.visible.text(), node)), span, is_strict }
    }
}

/// Bytes of one part of the JSON that begins `text`; a string's without its quotes.
pub fn part_span(text: &str, path: &[Step]) -> Option<Range<usize>> {
    let nodes = json::scan(text, 0..text.len());
    let mut node = nodes.first()?;
    for step in path {
        node = match step {
            // As parsers do: the last of two members with one key counts.
            Step::Key(key) => &node.json.members()?.iter().rev().find(|member| member.key == *key)?.value,
            Step::Index(index) => node.json.elements()?.get(*index)?,
        };
    }
    Some(if matches!(node.json, Json::String) { node.content() } else { node.span.clone() })
}

fn value_of(text: &str, node: &Node) -> Value {
    match &node.json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(value) => number_of(text.get(node.span.clone()).unwrap_or_default(), *value),
        Json::String => Value::String(json::unescape(text.get(node.content()).unwrap_or_default())),
        Json::Array(elements) => Value::Array(elements.iter().map(|node| value_of(text, node)).collect()),
        Json::Object(members) => {
            let members = members.iter().map(|member| (member.key.clone(), value_of(text, &member.value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// An integer stays one. What no JSON number can be states nothing.
fn number_of(written: &str, value: f64) -> Value {
    serde_json::from_str(written)
        .map(Value::Number)
        .ok()
        .or_else(|| Number::from_f64(value).map(Value::Number))
        .unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Step, Unscaled, part_span};

    #[test]
    fn json_is_found_between_prose_and_in_fences() {
        for (text, value, strict) in [
            ("{\"score\": 4}", json!({"score": 4}), true),
            ("Sure!\n```json\n{\"score\": 4.0}\n```\n", json!({"score": 4.0}), true),
            ("{'score': 4, 'pass': True}", json!({"score": 4, "pass": true}), false),
            ("<think>{\"score\": 1}</think>[\"a\"]", json!(["a"]), true),
        ] {
            let values = Unscaled::of(text).values();
            assert_eq!(values.len(), 1, "{text}");
            assert_eq!((&values[0].value, values[0].is_strict), (&value, strict), "{text}");
        }
    }

    #[test]
    fn parts_are_found_by_their_path() {
        let text = r#"{"a": [{"b": "yes"}, {"b": 10}]}"#;
        let path = |index| [Step::Key("a".into()), Step::Index(index), Step::Key("b".into())];
        assert_eq!(part_span(text, &path(0)).map(|span| &text[span]), Some("yes"));
        assert_eq!(part_span(text, &path(1)).map(|span| &text[span]), Some("10"));
        assert_eq!(part_span(text, &path(2)), None);
    }

    #[test]
    fn offsets_lead_back_to_the_reply() {
        let reply = "<think>GRADE: I</think>\nGRADE: C";
        let read = Unscaled::of(reply);
        let at = read.own().find("GRADE").unwrap();
        assert_eq!(&reply[read.original(at..at + 8)], "GRADE: C");
        assert_eq!(&reply[read.answer_start()..], "\nGRADE: C");
    }
}
