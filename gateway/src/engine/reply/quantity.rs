//! A number with what may belong to it: a unit, a percent sign, the maximum that the judge had in mind.
//!
//! The scale is declared: a value off it is off it. Nothing is clamped, rounded or rescaled.

use std::ops::Range;

use aggregation::scale::{Scale, Value};

use super::cursor::Cursor;
use super::number::{self, Number};
use super::slot::Slot;
use super::tail::{ends_word, is_closer, is_opener};

const UNITS: [&str; 14] = [
    "stars",
    "star",
    "points",
    "point",
    "pts",
    "pt",
    "marks",
    "mark",
    "puntos",
    "punto",
    "ptos",
    "estrellas",
    "estrella",
    "pto",
];
const UNITS_ZH: [&str; 4] = ["颗星", "分", "星", "点"];
const OUT_OF: [&str; 7] = ["out of", "of", "de un maximo de", "de", "sobre", "max", "maximum"];

/// A number at the cursor, on this scale or off it.
pub(super) fn read(cursor: &mut Cursor<'_>, scale: &Scale) -> Option<Slot> {
    let mut ahead = *cursor;
    let number = number::read(&mut ahead)?;
    let span = cursor.at()..ahead.at();
    let is_percent = eat_percent(&mut ahead);
    eat_unit(&mut ahead);
    let maximum = eat_maximum(&mut ahead);
    eat_unit(&mut ahead);
    if !ends_word(ahead) {
        return None;
    }
    let is_menu = maximum.is_some() && eat_slash(&mut ahead);
    *cursor = ahead;
    Some(if is_menu { Slot::Conflict } else { place(&number, span, is_percent, maximum.as_ref(), scale) })
}

/// A maximum that stands right behind a closed slot: `[[4]]/5`. Whether it is the scale's own.
pub(super) fn fits_stated_maximum(mut cursor: Cursor<'_>, scale: &Scale) -> bool {
    eat_maximum(&mut cursor).is_none_or(|maximum| is_maximum_of(&maximum, scale))
}

/// A plain number, such as JSON's.
pub(super) fn place_number(value: f64, scale: &Scale) -> Option<Value> {
    let is_on_scale = match scale {
        Scale::Ordinal(labels) => labels.values().contains(&value),
        Scale::Continuous(_) => scale.contains(Value::Number(value)),
        Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. } => false,
    };
    is_on_scale.then_some(Value::Number(value))
}

fn place(
    number: &Number,
    span: Range<usize>,
    is_percent: bool,
    maximum: Option<&Number>,
    scale: &Scale,
) -> Slot {
    let place = |value: Option<f64>| value.and_then(|value| place_number(value, scale));
    let found = match number {
        Number::Several => return Slot::Conflict,
        _ if is_percent && scale.range() != Some((0.0, 1.0)) => None,
        _ if maximum.is_some_and(|maximum| is_percent || !is_maximum_of(maximum, scale)) => None,
        _ if is_percent => place(number.percent()),
        Number::Either { thousands, .. } => {
            let decimal = place(number.value());
            // The scale reaches into the thousands: the comma may mean either.
            if decimal.is_some() && place(thousands.parse().ok()).is_some() {
                return Slot::Conflict;
            }
            decimal
        }
        Number::One(_) | Number::Infinite => place(number.value()),
    };
    found.map_or(Slot::OffScale, |value| Slot::holds(value, span))
}

fn is_maximum_of(maximum: &Number, scale: &Scale) -> bool {
    scale.range().map(|(_, max)| max) == maximum.value()
}

fn eat_percent(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.skip(|c| c.is_whitespace() || is_closer(c));
    let found = ahead.eat(|c| matches!(c, '%' | '٪'));
    if found {
        *cursor = ahead;
    }
    found
}

fn eat_unit(cursor: &mut Cursor<'_>) {
    let mut ahead = *cursor;
    ahead.skip(|c| c.is_whitespace() || is_closer(c));
    if ahead.eat_any_phrase(&UNITS) || ahead.eat_any_start(&UNITS_ZH) {
        *cursor = ahead;
    }
}

/// `/5`, `out of 5`, `de 5`, `满分5分`, in brackets or not.
fn eat_maximum(cursor: &mut Cursor<'_>) -> Option<Number> {
    let mut ahead = *cursor;
    ahead.skip(is_closer);
    let is_spaced = ahead.peek().is_none_or(|c| !c.is_alphanumeric());
    ahead.skip_space();
    let is_bracketed = ahead.eat(|c| c == '(');
    let has_comma = ahead.eat(|c| c == ',');
    ahead.skip_space();
    let has_slash = !has_comma && ahead.eat(|c| matches!(c, '/' | '⁄'));
    ahead.skip_space();
    let is_stated = ahead.eat_start("满分") || (!has_comma && is_spaced && ahead.eat_any_phrase(&OUT_OF));
    if !is_stated && !has_slash {
        return None;
    }
    ahead.skip(|c| c.is_whitespace() || is_opener(c) || matches!(c, ':' | '为' | '是'));
    let maximum = number::read(&mut ahead)?;
    eat_unit(&mut ahead);
    ahead.skip(|c| c == '制');
    let is_closed = !is_bracketed || ahead.eat(|c| c == ')');
    if !is_closed || !ends_word(ahead) {
        return None;
    }
    *cursor = ahead;
    Some(maximum)
}

/// `1/2/3`: not a maximum but the whole menu.
fn eat_slash(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.skip_space();
    let found = ahead.eat(|c| c == '/') && {
        ahead.skip_space();
        number::read(&mut ahead).is_some()
    };
    if found {
        ahead.skip(|c| c.is_ascii_digit() || c == '/' || c.is_whitespace());
        *cursor = ahead;
    }
    found
}
