//! Two candidates in a caller's own prompt: the same prompt with them exchanged, and answers to it exchanged back.
//!
//! A foreign prompt is never searched for pairs; the caller declares what stands before and after each candidate.

use std::ops::Range;

use serde_json::{Map, Value};

/// What stands before and after a candidate is written with this between.
const PLACE: char = '…';

/// Where the two candidates stand in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    a: Frame,
    b: Frame,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Frame {
    start: String,
    end: String,
}

impl Frame {
    fn new(layout: &str) -> Option<Self> {
        let (start, end) = layout.split_once(PLACE)?;
        let is_framed = !start.is_empty() && !end.is_empty();
        is_framed.then(|| Self { start: start.to_owned(), end: end.to_owned() })
    }
}

/// A text of the request: of a message, or of one of its parts.
struct Text<'m> {
    message: usize,
    part: Option<usize>,
    said: &'m str,
}

impl Layout {
    /// `<start A>…<end A>` and the same for B; `None` where the place is not marked.
    pub fn new(a: &str, b: &str) -> Option<Self> {
        Some(Self { a: Frame::new(a)?, b: Frame::new(b)? })
    }

    /// The messages with the two candidates exchanged; `None` unless each of them stands there exactly once.
    pub fn exchanged(&self, messages: &[Value]) -> Option<Vec<Value>> {
        let texts = texts(messages);
        let (in_a, start_a) = only_place(&texts, &self.a.start)?;
        let (in_b, start_b) = only_place(&texts, &self.b.start)?;
        let (text_a, text_b) = (texts.get(in_a)?, texts.get(in_b)?);
        // A candidate may hold the words that end it: it goes on to their last place before the other one begins.
        let limit = |own: usize, other: usize, text: &str| {
            if in_a == in_b && other > own { other } else { text.len() }
        };
        let a = inner(text_a.said, start_a, &self.a, limit(start_a, start_b, text_a.said))?;
        let b = inner(text_b.said, start_b, &self.b, limit(start_b, start_a, text_b.said))?;
        let (said_a, said_b) = (text_a.said.get(a.clone())?, text_b.said.get(b.clone())?);
        let mut out = messages.to_vec();
        if in_a == in_b {
            let both = text_a.said;
            let (first, second, new_first, new_second) =
                if a.start < b.start { (&a, &b, said_b, said_a) } else { (&b, &a, said_a, said_b) };
            let between = both.get(first.end..second.start)?;
            let (before, after) = (both.get(..first.start)?, both.get(second.end..)?);
            put(&mut out, text_a, [before, new_first, between, new_second, after].concat())?;
        } else {
            put(&mut out, text_a, replaced(text_a.said, &a, said_b)?)?;
            put(&mut out, text_b, replaced(text_b.said, &b, said_a)?)?;
        }
        Some(out)
    }
}

fn texts(messages: &[Value]) -> Vec<Text<'_>> {
    let mut texts = Vec::new();
    for (message, value) in messages.iter().enumerate() {
        match value.get("content") {
            Some(Value::String(text)) => texts.push(Text { message, part: None, said: text }),
            Some(Value::Array(parts)) => {
                let said = parts.iter().enumerate().filter_map(|(part, value)| {
                    let said = value.get("text")?.as_str()?;
                    Some(Text { message, part: Some(part), said })
                });
                texts.extend(said);
            }
            Some(_) | None => {}
        }
    }
    texts
}

fn only_place(texts: &[Text<'_>], start: &str) -> Option<(usize, usize)> {
    let places = texts
        .iter()
        .enumerate()
        .flat_map(|(index, text)| text.said.match_indices(start).map(move |(at, _)| (index, at)));
    let mut places = places.fuse();
    let only = places.next()?;
    places.next().is_none().then_some(only)
}

fn inner(text: &str, start: usize, frame: &Frame, limit: usize) -> Option<Range<usize>> {
    let from = start + frame.start.len();
    let length = text.get(from..limit)?.rfind(&frame.end)?;
    Some(from..from + length)
}

fn replaced(text: &str, range: &Range<usize>, new: &str) -> Option<String> {
    Some([text.get(..range.start)?, new, text.get(range.end..)?].concat())
}

fn put(messages: &mut [Value], place: &Text<'_>, text: String) -> Option<()> {
    let content = messages.get_mut(place.message)?.get_mut("content")?;
    let slot = match place.part {
        None => content,
        Some(part) => content.get_mut(part)?.get_mut("text")?,
    };
    *slot = Value::String(text);
    Some(())
}

/// Names of a first and a second candidate, as prompts have them.
const NAMES: [(&str, &str); 7] = [
    ("a", "b"),
    ("A", "B"),
    ("1", "2"),
    ("first", "second"),
    ("First", "Second"),
    ("one", "two"),
    ("left", "right"),
];

/// Words that may stand beside such a name in a label.
const BESIDE: [&str; 20] = [
    "model",
    "assistant",
    "answer",
    "response",
    "output",
    "candidate",
    "option",
    "system",
    "is",
    "better",
    "wins",
    "winner",
    "much",
    "slightly",
    "significantly",
    "the",
    "score",
    "rating",
    "points",
    "quality",
];

/// What was said of the exchanged prompt, said of the prompt as it was given.
pub(super) fn back(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(label(text)),
        Value::Array(values) => values.iter().map(back).collect(),
        Value::Object(fields) => Value::Object(keys_back(fields)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Values of keys that name one candidate each, such as `score_a` and `score_b`, change places.
fn keys_back(fields: &Map<String, Value>) -> Map<String, Value> {
    let of = |(key, value): (&String, &Value)| {
        let other = fields.get(&label(key)).unwrap_or(value);
        (key.clone(), back(other))
    };
    fields.iter().map(of).collect()
}

/// A label that names candidates, with the other name for each; any other text as it is.
fn label(text: &str) -> String {
    // One way of asking writes the two candidates as one letter in two sizes.
    match text {
        "m" => return String::from("M"),
        "M" => return String::from("m"),
        _ => {}
    }
    let other = |word: &str| {
        NAMES.iter().find_map(|(first, second)| match word {
            word if word == *first => Some(*second),
            word if word == *second => Some(*first),
            _ => None,
        })
    };
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_label =
        words().all(|word| other(word).is_some() || BESIDE.contains(&word.to_lowercase().as_str()));
    // Two names with an equals sign between them are a tie, whichever stands first.
    if !is_label || text.contains('=') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let (before, from) = rest.split_at(start);
        let length = from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        out.push_str(before);
        out.push_str(other(word).unwrap_or(word));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Vec<Value> {
        vec![json!({"role": "user", "content": text})]
    }

    #[test]
    fn candidates_change_places_and_nothing_else_does() {
        let layout = Layout::new("<a>…</a>", "<b>…</b>").unwrap();
        let check = |given: &str, exchanged: Option<&str>| {
            let expected = exchanged.map(user);
            assert_eq!(layout.exchanged(&user(given)), expected, "{given}");
            if let Some(expected) = expected {
                assert_eq!(layout.exchanged(&expected).as_deref(), Some(&*user(given)), "and back");
            }
        };
        check("Q <a>one</a> or <b>two</b>?", Some("Q <a>two</a> or <b>one</b>?"));
        check("<b>two</b><a>one</a>", Some("<b>one</b><a>two</a>"));
        check("<a></a><b>two</b>", Some("<a>two</a><b></b>"));
        check("<a>one</a>", None);
        check("<a>one</a><b>two</b> <b>three</b>", None);
        // A candidate that holds the words that end it.
        check("<a>one</a>!</a><b>two</b>", Some("<a>two</a><b>one</a>!</b>"));
    }

    #[test]
    fn candidates_may_stand_in_different_messages_and_parts() {
        let layout = Layout::new("A: …;", "B: …;").unwrap();
        let part = |text: &str| json!({"type": "text", "text": text});
        let messages = [
            json!({"role": "user", "content": [part("A: x;"), part("then")]}),
            json!({"role": "user", "content": "B: y;"}),
        ];
        let exchanged = layout.exchanged(&messages).unwrap();
        assert_eq!(exchanged[0]["content"][0], part("A: y;"));
        assert_eq!(exchanged[1]["content"], "B: x;");
        assert_eq!(Layout::new("A:…", "B: …;"), None);
    }

    #[test]
    fn labels_name_the_other_candidate() {
        for (label, other) in [
            ("A", "B"),
            ("[[A]]", "[[B]]"),
            ("A>>B", "B>>A"),
            ("[[A=B]]", "[[A=B]]"),
            ("m", "M"),
            ("tie", "tie"),
            ("model_a", "model_b"),
            ("Assistant B is better", "Assistant A is better"),
            ("2", "1"),
            ("C", "C"),
            ("A good answer", "A good answer"),
            ("first", "second"),
        ] {
            assert_eq!(back(&json!(label)), json!(other));
            assert_eq!(back(&back(&json!(label))), json!(label));
        }
        let given = json!({"score_a": 1, "score_b": 5, "winner": "B", "reason": "B says more."});
        assert_eq!(
            back(&given),
            json!({"score_a": 5, "score_b": 1, "winner": "A", "reason": "B says more."})
        );
    }
}
