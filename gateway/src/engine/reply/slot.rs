//! The place where a marker says that the value stands, and what it holds on the declared scale.

use std::ops::Range;

use aggregation::scale::{Scale, Value};

use super::cursor::Cursor;
use super::tail::{self, Joint, is_closer, is_opener};
use super::vocabulary::{
    PLACEHOLDER_FILLERS, PLACEHOLDER_FILLERS_ZH, PLACEHOLDER_WORDS, PLACEHOLDER_WORDS_ZH,
};
use super::{labels, quantity};

/// What a slot holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Slot {
    /// A value on the scale. `span` is the value's own, `end` that of all that belongs to it (unit, maximum, closing
    /// marks); both in the folded text.
    Holds { value: Value, span: Range<usize>, end: usize },
    /// Nothing, or prose.
    Nothing,
    /// Two different values.
    Conflict,
    /// A value that the scale does not have.
    OffScale,
    /// The template's own words for a value, such as `<score>`: nobody wrote a verdict here.
    Placeholder,
}

/// How much may follow the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The slot is wholly the value: brackets, JSON strings, a bare reply.
    Whole,
    /// A sentence may go on after the value.
    Line,
}

impl Slot {
    pub(super) fn holds(value: Value, span: Range<usize>) -> Self {
        let end = span.end;
        Self::Holds { value, span, end }
    }

    /// Whether the two state different things. A slot that states nothing disagrees with none.
    pub(super) fn disagrees_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Holds { value, .. }, Self::Holds { value: other, .. }) => value != other,
            (Self::Nothing | Self::Placeholder, _)
            | (_, Self::Nothing | Self::Placeholder)
            | (Self::OffScale, Self::OffScale) => false,
            (Self::Holds { .. } | Self::OffScale | Self::Conflict, _) => true,
        }
    }
}

/// Reads the slot that is this range of the text.
pub(super) fn read(text: &str, range: Range<usize>, scale: &Scale, extent: Extent) -> Slot {
    let written = text.get(range.clone()).unwrap_or_default();
    let mut cursor = Cursor::over(text, range);
    cursor.skip(|c| c.is_whitespace() || is_opener(c) || is_pictograph(c));
    match values(cursor, scale, extent) {
        Slot::Nothing | Slot::Conflict if is_placeholder(written, extent) => Slot::Placeholder,
        slot => slot,
    }
}

/// `✅ pass`.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}')
}

/// Words that state that there is no value.
const NO_VALUE: [&str; 4] = ["n/a", "null", "nan", "not applicable"];

/// One value, or several that are joined: those have to be the same.
fn values(mut cursor: Cursor<'_>, scale: &Scale, extent: Extent) -> Slot {
    // A menu may have such a word as a label.
    if !matches!(scale, Scale::Nominal(_)) && cursor.eat_any_phrase(&NO_VALUE) {
        return Slot::Nothing;
    }
    let is_range = tail::eat_range_word(&mut cursor);
    let Some(mut first) = value(&mut cursor, scale) else { return Slot::Nothing };
    let mut joined = 1;
    loop {
        let mut ahead = cursor;
        let Some(joint) = tail::eat_joint(&mut ahead) else { break };
        let Some(next) = value(&mut ahead, scale) else { break };
        if joint == Joint::Loose && !tail::may_end(ahead) && !is_joined(ahead, scale) {
            break;
        }
        if first.disagrees_with(&next) || first == Slot::OffScale {
            first = Slot::Conflict;
        }
        joined += 1;
        cursor = ahead;
    }
    let is_complete = match extent {
        Extent::Whole => tail::is_whole(cursor),
        // Two values on one line are ambiguous, whatever follows them.
        Extent::Line => first == Slot::Conflict || tail::may_end(cursor),
    };
    if !is_complete || (is_range && joined == 1) {
        return Slot::Nothing;
    }
    if let Slot::Holds { end, .. } = &mut first {
        cursor.skip(is_closer);
        *end = cursor.at();
    }
    first
}

/// Whether a further value is joined here.
fn is_joined(mut cursor: Cursor<'_>, scale: &Scale) -> bool {
    tail::eat_joint(&mut cursor).is_some() && value(&mut cursor, scale).is_some()
}

/// One value at the cursor, which then stands behind it. `Nothing` and `Placeholder` are for the slot as a whole.
fn value(cursor: &mut Cursor<'_>, scale: &Scale) -> Option<Slot> {
    match scale {
        Scale::Ordinal(_) | Scale::Continuous(_) => quantity::read(cursor, scale),
        Scale::Nominal(menu) => labels::nominal(cursor, menu),
        Scale::PassFail => labels::pass_fail(cursor),
        Scale::Pairwise { tie } => labels::pairwise(cursor, *tie),
    }
}

/// Nothing but a template's words for a value: in brackets, or where the slot itself is bracketed.
fn is_placeholder(slot: &str, extent: Extent) -> bool {
    let slot = slot.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
    let inside = match (extent, slot.chars().next()) {
        (_, Some('<')) => slot.split('>').next(),
        (_, Some('(')) => slot.split(')').next(),
        (_, Some('{')) => slot.split('}').next(),
        (_, Some('[')) => slot.split(']').next(),
        (_, Some('【')) => slot.split('】').next(),
        (Extent::Whole, _) => Some(slot),
        (Extent::Line, _) => None,
    };
    let Some(inside) = inside else { return false };
    // With one number it is a value that somebody filled in: `[[rating: 4]]`.
    let numbers = inside.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
    let mut cursor = Cursor::over(inside, 0..inside.len());
    let mut is_named = false;
    loop {
        cursor.skip(|c| !c.is_alphabetic());
        if cursor.is_at_end() {
            return is_named && numbers != 1;
        }
        let is_name =
            cursor.eat_any_phrase(&PLACEHOLDER_WORDS) || cursor.eat_any_start(&PLACEHOLDER_WORDS_ZH);
        let is_filler = is_name
            || cursor.eat_any_phrase(&PLACEHOLDER_FILLERS)
            || cursor.eat_any_start(&PLACEHOLDER_FILLERS_ZH);
        if !is_filler {
            return false;
        }
        is_named |= is_name;
    }
}
