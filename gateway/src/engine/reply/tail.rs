//! What may stand around a value: decoration, words that join two values, and the start of an explanation.
//!
//! A value is followed by the end of its slot, punctuation or an explanation. Anything else makes it prose:
//! "I first thought of C" is not the letter I.

use super::cursor::Cursor;

/// Brackets, quotes and emphasis before a value.
pub(super) fn is_opener(c: char) -> bool {
    matches!(
        c,
        '(' | '[' | '{' | '<' | '"' | '\'' | '“' | '‘' | '«' | '「' | '『' | '【' | '＂' | '*' | '_' | '`'
    )
}

/// Brackets, quotes and emphasis after a value.
pub(super) fn is_closer(c: char) -> bool {
    matches!(
        c,
        ')' | ']' | '}' | '>' | '"' | '\'' | '”' | '’' | '»' | '」' | '』' | '】' | '＂' | '*' | '_' | '`'
    )
}

/// How closely two values are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// `3 or 4`, `4-5`, `PASS/FAIL`.
    Tight,
    /// `4, 5` and `4 - 5`: the second may as well begin a sentence.
    Loose,
}

const JOINING_WORDS: [&str; 12] =
    ["or", "to", "and", "vs", "versus", "through", "o", "u", "a", "y", "e", "hasta"];
const JOINING_WORDS_ZH: [&str; 8] = ["或者", "或", "到", "至", "和", "与", "还是", "以及"];
/// "4, maybe 5" offers two values as "4 or 5" does.
const HEDGES: [&str; 8] =
    ["maybe", "perhaps", "possibly", "probably", "even", "quizas", "tal vez", "incluso"];
const HEDGES_ZH: [&str; 3] = ["也许", "可能", "或许"];
const RANGE_WORDS: [&str; 4] = ["between", "from", "entre", "either"];
const RANGE_WORDS_ZH: [&str; 2] = ["介于", "在"];
const EXPLAINING_WORDS: [&str; 9] =
    ["because", "since", "due to", "given", "porque", "ya que", "pues", "debido a", "dado que"];
const EXPLAINING_WORDS_ZH: [&str; 3] = ["因为", "由于", "之间"];

/// "between" before two values.
pub(super) fn eat_range_word(cursor: &mut Cursor<'_>) -> bool {
    let found = cursor.eat_any_phrase(&RANGE_WORDS) || cursor.eat_any_start(&RANGE_WORDS_ZH);
    if found {
        cursor.skip(|c| c.is_whitespace() || is_opener(c));
    }
    found
}

/// What joins two values, up to the second one.
pub(super) fn eat_joint(cursor: &mut Cursor<'_>) -> Option<Joint> {
    cursor.skip(is_closer);
    let is_spaced = cursor.peek().is_some_and(char::is_whitespace);
    cursor.skip(|c| c.is_whitespace() || is_closer(c));
    let joint = if cursor.eat(|c| matches!(c, ',' | ';' | '、')) {
        cursor.skip_space();
        if eat_joining_word(cursor) || eat_hedge(cursor) { Joint::Tight } else { Joint::Loose }
    } else if cursor.eat(|c| matches!(c, '-' | '–' | '—' | '−')) {
        if is_spaced { Joint::Loose } else { Joint::Tight }
    } else if cursor.eat(|c| matches!(c, '/' | '|' | '~' | '&' | '∼' | '→'))
        || eat_joining_word(cursor)
        || eat_bracketed_joint(cursor)
    {
        Joint::Tight
    } else {
        return None;
    };
    cursor.skip(|c| c.is_whitespace() || is_opener(c));
    Some(joint)
}

fn eat_joining_word(cursor: &mut Cursor<'_>) -> bool {
    let found = cursor.eat_any_phrase(&JOINING_WORDS) || cursor.eat_any_start(&JOINING_WORDS_ZH);
    if found {
        eat_hedge(cursor);
    }
    found
}

fn eat_hedge(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.skip_space();
    let found = ahead.eat_any_phrase(&HEDGES) || ahead.eat_any_start(&HEDGES_ZH);
    if found {
        *cursor = ahead;
    }
    found
}

/// `4 (or 5)`, `4 (maybe 5)`.
fn eat_bracketed_joint(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let found = ahead.eat(|c| c == '(') && (eat_joining_word(&mut ahead) || eat_hedge(&mut ahead));
    if found {
        *cursor = ahead;
    }
    found
}

/// Whether the value's last word ends here. Chinese joins and explains without a space.
pub(super) fn ends_word(mut cursor: Cursor<'_>) -> bool {
    !cursor.peek().is_some_and(char::is_alphanumeric)
        || cursor.eat_any_start(&JOINING_WORDS_ZH)
        || cursor.eat_any_start(&EXPLAINING_WORDS_ZH)
}

/// Whether nothing but decoration and a full stop is left.
pub(super) fn is_whole(mut cursor: Cursor<'_>) -> bool {
    cursor.skip(|c| c.is_whitespace() || is_closer(c) || matches!(c, '.' | '。' | '!'));
    cursor.is_at_end()
}

/// Whether the value may end here, in a sentence that may go on.
pub(super) fn may_end(mut cursor: Cursor<'_>) -> bool {
    cursor.skip(is_closer);
    let is_spaced = cursor.peek().is_some_and(char::is_whitespace);
    cursor.skip_space();
    match cursor.peek() {
        // A number that goes on, such as `4.5.2`.
        Some('.' | ',') if !is_spaced => !cursor.peek_second().is_some_and(|c| c.is_ascii_digit()),
        Some('-') => is_spaced && cursor.peek_second().is_some_and(char::is_whitespace),
        Some('+' | '=' | '<' | '>' | '^' | '&' | '@' | '#' | '$' | '€' | '/' | '%' | '\\' | '~' | '⁄') => {
            false
        }
        Some(c) if c.is_alphanumeric() => starts_explanation(cursor, is_spaced),
        Some(_) | None => true,
    }
}

fn starts_explanation(mut cursor: Cursor<'_>, is_spaced: bool) -> bool {
    if cursor.eat_any_start(&EXPLAINING_WORDS_ZH) {
        return true;
    }
    // "3 or [RESULT] 4": the joint leads to the next marker, where the slot ends.
    let is_open_joint = |mut cursor: Cursor<'_>| {
        eat_joining_word(&mut cursor) && {
            cursor.skip_space();
            cursor.is_at_end()
        }
    };
    is_spaced && (is_open_joint(cursor) || cursor.eat_any_phrase(&EXPLAINING_WORDS))
}
