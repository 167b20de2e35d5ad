//! The forms in which judges state verdicts in text, and where they stand. The last match of a form counts.

use std::ops::Range;

use regex::{Captures, Regex};
use serde_json::{Number, Value};

use crate::engine::reply::Unscaled;

use super::super::domain::Domains;
use super::super::leaf::DOUBLE_BRACKET;
use super::super::repair;
use super::super::words;
use super::patterns::{
    BOXED, DOUBLE, EACH_VERDICT, FINAL_VERDICTS, FRACTION, GRADE, LINE, MARK, RESULT, TAG, WORD,
};

/// In order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// "Final verdict for each statement in order: Yes. No."
    Statements,
    /// Lines that end in `[Attributed]`.
    Marks,
    /// `[RESULT] 4`
    Result,
    /// `[[A]]`
    DoubleBracket,
    /// `GRADE: C`
    Grade,
    /// `\boxed{1}`
    Boxed,
    /// `<score>4</score>`
    Tags,
    /// `Accuracy: 5`
    Lines,
    /// The last line, or all there is.
    Label,
}

/// One value in a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) key: String,
    pub(super) text: String,
    /// In the reply's text as read.
    pub(super) spans: Vec<Range<usize>>,
    /// Where the marker ends.
    pub(super) end: usize,
}

const VERDICT: &str = "verdict";
/// A label has at most so many characters.
const MAX_LABEL: usize = 40;
/// Characters of what stands before the colon.
const LONGEST_KEY: usize = 31;
/// A longer reply is not searched for the one label that it may hold.
const MAX_SENTENCE: usize = 240;

impl Form {
    pub(super) const ALL: [Self; 9] = [
        Self::Statements,
        Self::Marks,
        Self::Result,
        Self::DoubleBracket,
        Self::Grade,
        Self::Boxed,
        Self::Tags,
        Self::Lines,
        Self::Label,
    ];

    /// Whether its own end shows that nothing is missing.
    pub(super) fn is_closed(self) -> bool {
        matches!(self, Self::DoubleBracket | Self::Boxed | Self::Tags)
    }

    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Statements | Self::Marks)
    }

    /// Whether words or signs say that this is the verdict.
    pub(super) fn is_marked(self) -> bool {
        !matches!(self, Self::Label | Self::Lines)
    }

    pub(super) fn is_single(self) -> bool {
        matches!(self, Self::Result | Self::DoubleBracket | Self::Grade | Self::Boxed)
    }

    pub(super) fn find(self, read: &Unscaled<'_>) -> Option<Vec<Place>> {
        let own = read.own();
        let found = match self {
            Self::Statements => statements(own),
            Self::Marks => marks(own),
            Self::Result => last(&RESULT, own, VERDICT),
            Self::DoubleBracket => last(&DOUBLE, own, DOUBLE_BRACKET).into_iter().map(compared).collect(),
            Self::Grade => last(&GRADE, own, VERDICT),
            Self::Boxed => last(&BOXED, own, VERDICT),
            Self::Tags => tags(own),
            Self::Lines => lines(own),
            Self::Label => label(read.text()),
        };
        (!found.is_empty()).then_some(found)
    }

    /// The one label of those that others gave, in a short reply without the form.
    pub(super) fn only_label(self, read: &Unscaled<'_>, observed: &[&str]) -> Option<Vec<Place>> {
        if self.is_list() || matches!(self, Self::Tags | Self::Lines) || read.text().len() > MAX_SENTENCE {
            return None;
        }
        let own = read.own();
        let known: Vec<Range<usize>> = WORD
            .find_iter(own)
            .filter(|word| observed.contains(&word.as_str()))
            .map(|word| word.range())
            .collect();
        let span = known.last()?;
        let text = own.get(span.clone())?;
        let is_alone = known.iter().all(|other| own.get(other.clone()) == Some(text));
        // "I" and "a" are words too.
        let is_word = matches!(text, "I" | "a" | "A") && read.text().trim() != text;
        let key = if self == Self::DoubleBracket { DOUBLE_BRACKET } else { VERDICT };
        (is_alone && !is_word).then(|| vec![place(key, span.clone(), text, span.end)])
    }
}

fn place(key: &str, span: Range<usize>, text: &str, end: usize) -> Place {
    Place { key: key.to_owned(), text: text.to_owned(), spans: vec![span], end }
}

fn captured(found: &Captures<'_>, group: usize, key: &str) -> Option<Place> {
    let (all, value) = (found.get(0)?, found.get(group)?);
    Some(place(key, value.range(), value.as_str(), all.end()))
}

fn last(pattern: &Regex, own: &str, key: &str) -> Vec<Place> {
    pattern.captures_iter(own).last().and_then(|found| captured(&found, 1, key)).into_iter().collect()
}

/// `A > B` is `A>B`.
fn compared(place: Place) -> Place {
    let is_comparison = place.text.contains(['<', '>', '=']);
    let text = if is_comparison { place.text.replace(' ', "") } else { place.text };
    Place { text, ..place }
}

fn statements(own: &str) -> Vec<Place> {
    let verdicts = |found: &Captures<'_>| captured(found, 1, "verdicts");
    if let Some(last) = FINAL_VERDICTS.captures_iter(own).last().and_then(|found| found.get(1)) {
        let words = WORD.find_iter(last.as_str());
        return words
            .map(|word| {
                let span = last.start() + word.start()..last.start() + word.end();
                place("verdicts", span, word.as_str(), last.end())
            })
            .collect();
    }
    let each: Vec<Place> = EACH_VERDICT.captures_iter(own).filter_map(|found| verdicts(&found)).collect();
    if each.len() > 1 { each } else { Vec::new() }
}

fn marks(own: &str) -> Vec<Place> {
    let is_mark =
        |found: &Captures| found.get(1).is_some_and(|mark| (3..=25).contains(&mark.as_str().chars().count()));
    MARK.captures_iter(own).filter(is_mark).filter_map(|found| captured(&found, 1, "verdicts")).collect()
}

/// Every tag that names a verdict; the last of each name.
fn tags(own: &str) -> Vec<Place> {
    let named = TAG.captures_iter(own).filter(|found| {
        let name = |group| found.get(group).map(|name| name.as_str().to_lowercase());
        name(1) == name(3) && name(1).is_some_and(|name| words::is_verdict_key(&name))
    });
    last_of_each(named.filter_map(|found| captured(&found, 2, found.get(1)?.as_str())))
}

/// `Key: value` lines whose value is short.
fn lines(own: &str) -> Vec<Place> {
    let keyed = LINE.captures_iter(own).filter_map(|found| {
        let key = found.get(1)?.as_str().trim();
        let value = found.get(2).or_else(|| found.get(3))?;
        let place = place(key, value.range(), value.as_str(), found.get(0)?.end());
        let is_key = key.chars().count() <= LONGEST_KEY && !words::is_reason(key);
        (is_key && is_short(&place.text)).then_some(place)
    });
    last_of_each(keyed)
}

fn last_of_each(places: impl Iterator<Item = Place>) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    for place in places {
        match found.iter_mut().find(|known| known.key == place.key) {
            Some(known) => *known = place,
            None => found.push(place),
        }
    }
    found
}

fn is_short(text: &str) -> bool {
    text.chars().count() <= MAX_LABEL && text.split_whitespace().count() <= 4
}

/// A last line that is one label; the same label on the lines above it belongs to it.
fn label(text: &str) -> Vec<Place> {
    let mut found: Option<Place> = None;
    let mut start = text.len();
    for line in text.rsplit('\n') {
        start -= line.len();
        let at = start;
        start = start.saturating_sub(1);
        if line.trim().is_empty() {
            continue;
        }
        let Some(span) = label_in(line).map(|span| at + span.start..at + span.end) else { break };
        let label = text.get(span.clone()).unwrap_or_default();
        match &mut found {
            None => found = Some(place(VERDICT, span.clone(), label, span.end)),
            Some(known) if known.text == label => known.spans.insert(0, span),
            Some(_) => break,
        }
    }
    found.into_iter().collect()
}

/// The label that is all of a line, but for the marks around it.
fn label_in(line: &str) -> Option<Range<usize>> {
    if let Some(found) = FRACTION.captures(line).and_then(|found| found.get(1)) {
        return Some(found.range());
    }
    let is_mark = |c: char| c.is_whitespace() || "*_`#>\"'()[]{}.,:;!“”".contains(c);
    let rest = line.trim_start_matches(is_mark);
    let start = line.len() - rest.len();
    let inner = rest.trim_end_matches(is_mark);
    let is_json = inner.contains(['{', '}', '[', ']', '"']);
    (!inner.is_empty() && !is_json && is_short(inner)).then(|| start..start + inner.len())
}

/// What the panel's replies have in common: keys that more than half of them have, labels of several words only where
/// they recur or the prompt offers them.
pub(super) fn common(
    form: Form,
    mut found: Vec<Option<Vec<Place>>>,
    domains: &Domains,
) -> Vec<Option<Vec<Place>>> {
    let replies = found.iter().flatten().count();
    match form {
        Form::Lines | Form::Tags => {
            unify_keys(&mut found);
            let has = |key: &str| {
                found.iter().flatten().filter(|places| places.iter().any(|p| p.key == key)).count()
            };
            let keys: Vec<String> = found
                .iter()
                .flatten()
                .flatten()
                .map(|place| place.key.clone())
                .filter(|key| has(key) * 2 > replies)
                .collect();
            let kept = |places: &Vec<Place>| -> Option<Vec<Place>> {
                let kept: Vec<Place> =
                    places.iter().filter(|place| keys.contains(&place.key)).cloned().collect();
                let is_complete = keys.iter().all(|key| kept.iter().any(|place| place.key == *key));
                (is_complete && !kept.is_empty()).then_some(kept)
            };
            found.iter().map(|places| places.as_ref().and_then(kept)).collect()
        }
        Form::Label => {
            let texts: Vec<String> =
                found.iter().flatten().flatten().map(|place| place.text.to_lowercase()).collect();
            let is_known = |text: &str| {
                !text.contains(char::is_whitespace)
                    || domains.spelling(text).is_some()
                    || text.split_whitespace().count() <= 3
                        && !text.starts_with(|c: char| c.is_ascii_digit())
                        && texts.iter().filter(|other| **other == text.to_lowercase()).count() > 1
            };
            found
                .into_iter()
                .map(|places| places.filter(|all| all.iter().all(|place| is_known(&place.text))))
                .collect()
        }
        Form::Statements | Form::Marks | Form::Result | Form::DoubleBracket | Form::Grade | Form::Boxed => {
            found
        }
    }
}

/// One spelling for keys that differ in case only: the first.
fn unify_keys(found: &mut [Option<Vec<Place>>]) {
    let mut known: Vec<String> = Vec::new();
    for place in found.iter_mut().flatten().flatten() {
        match known.iter().find(|key| key.to_lowercase() == place.key.to_lowercase()) {
            Some(key) => place.key.clone_from(key),
            None => known.push(place.key.clone()),
        }
    }
}

/// A number where the text is one.
pub(super) fn value(text: &str) -> Value {
    let plain = text.trim().trim_end_matches('%');
    let is_number = plain.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let number =
        plain.parse::<i64>().map(Number::from).ok().or_else(|| Number::from_f64(plain.parse().ok()?));
    match number.filter(|_| is_number) {
        Some(number) => Value::Number(
            repair::whole(&number).filter(|_| !plain.contains('.')).map_or(number, Number::from),
        ),
        None => Value::String(text.to_owned()),
    }
}
