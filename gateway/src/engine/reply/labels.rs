//! Values that are words: whole tokens, the longest first, whatever their case.

use aggregation::scale::{NominalLabels, Preference, Value};

use super::cleanup::Folded;
use super::cursor::{Cursor, plain};
use super::number;
use super::slot::Slot;
use super::tail::{ends_word, is_opener};
use super::vocabulary::{CANDIDATE_WORDS, CANDIDATE_WORDS_ZH, Meaning, WORDS};

/// Pass or fail, in any of the vocabulary's spellings, or 1 or 0.
pub(super) fn pass_fail(cursor: &mut Cursor<'_>) -> Option<Slot> {
    let start = cursor.at();
    let value = match eat_word(cursor) {
        Some(Meaning::Pass | Meaning::Correct) => Some(Value::Pass(true)),
        Some(Meaning::Fail | Meaning::Incorrect) => Some(Value::Pass(false)),
        Some(Meaning::Partial | Meaning::Tie | Meaning::Elsewhere) => None,
        None => return one_or_zero(cursor).or_else(|| other_letter(cursor)),
    };
    Some(placed(value, start, cursor))
}

/// A label of the menu, or a word that stands for one of the letters C, I and P on it.
pub(super) fn nominal(cursor: &mut Cursor<'_>, menu: &NominalLabels) -> Option<Slot> {
    let start = cursor.at();
    let mut after_label = *cursor;
    let label = eat_label(&mut after_label, menu);
    let mut after_word = *cursor;
    let word = eat_word(&mut after_word);
    let index_of = |letter: &str| menu.values().iter().position(|label| label.eq_ignore_ascii_case(letter));
    match (label, word) {
        (Some(index), _) if after_label.at() >= after_word.at() => {
            *cursor = after_label;
            Some(placed(Some(Value::Category(index)), start, cursor))
        }
        (_, Some(meaning)) => {
            *cursor = after_word;
            let index = match meaning {
                Meaning::Correct => index_of("C"),
                Meaning::Incorrect => index_of("I"),
                Meaning::Partial => index_of("P"),
                Meaning::Pass | Meaning::Fail | Meaning::Tie | Meaning::Elsewhere => None,
            };
            Some(placed(index.map(Value::Category), start, cursor))
        }
        (Some(_) | None, None) => other_letter(cursor).or_else(|| other_digit(cursor)),
    }
}

/// A, B, a tie, or a comparison such as `A>>B`, as displayed: A is the first shown.
pub(super) fn pairwise(cursor: &mut Cursor<'_>, tie: bool) -> Option<Slot> {
    let is_allowed = |preference: Preference| tie || preference != Preference::Tie;
    let place = |preference| Some(Value::Preference(preference)).filter(|_| is_allowed(preference));
    if let Some(found) = named_candidate(cursor) {
        return Some(found);
    }
    let start = cursor.at();
    if let Some(preference) = comparison(cursor) {
        return Some(placed(place(preference), start, cursor));
    }
    // Why before the letters: "a tie" begins with one.
    match eat_word(cursor) {
        Some(Meaning::Tie) => return Some(placed(place(Preference::Tie), start, cursor)),
        Some(_) => return Some(placed(None, start, cursor)),
        None => {}
    }
    match eat_letter(cursor)?.to_ascii_lowercase() {
        'a' => Some(placed(place(Preference::A), start, cursor)),
        'b' => Some(placed(place(Preference::B), start, cursor)),
        'c' => Some(placed(place(Preference::Tie), start, cursor)),
        _ => Some(placed(None, start, cursor)),
    }
}

/// "Assistant A", "Output (b)", 助手A. The span is the letter's.
fn named_candidate(cursor: &mut Cursor<'_>) -> Option<Slot> {
    let mut ahead = *cursor;
    let is_named = ahead.eat_any_phrase(&CANDIDATE_WORDS) || ahead.eat_any_start(&CANDIDATE_WORDS_ZH);
    if !is_named {
        return None;
    }
    ahead.skip(|c| c.is_whitespace() || is_opener(c) || matches!(c, '#' | ':'));
    let start = ahead.at();
    let value = match eat_letter(&mut ahead)?.to_ascii_lowercase() {
        'a' => Some(Value::Preference(Preference::A)),
        'b' => Some(Value::Preference(Preference::B)),
        _ => None,
    };
    *cursor = ahead;
    Some(placed(value, start, cursor))
}

/// `A>B`, `B >> A`, `A<B`, `A=B`.
fn comparison(cursor: &mut Cursor<'_>) -> Option<Preference> {
    let mut ahead = *cursor;
    let left = eat_candidate_letter(&mut ahead)?;
    ahead.skip_space();
    let sign = ahead.peek()?;
    if !matches!(sign, '>' | '<' | '=' | '≈' | '≫' | '≪' | '~') {
        return None;
    }
    ahead.skip(|c| c == sign);
    ahead.skip_space();
    let right = eat_candidate_letter(&mut ahead)?;
    if left == right || !ends_word(ahead) {
        return None;
    }
    *cursor = ahead;
    Some(match sign {
        '>' | '≫' => left,
        '<' | '≪' => right,
        _ => Preference::Tie,
    })
}

fn eat_candidate_letter(cursor: &mut Cursor<'_>) -> Option<Preference> {
    if cursor.eat(|c| c.eq_ignore_ascii_case(&'a')) {
        Some(Preference::A)
    } else if cursor.eat(|c| c.eq_ignore_ascii_case(&'b')) {
        Some(Preference::B)
    } else {
        None
    }
}

/// The longest word of the vocabulary that stands here.
fn eat_word(cursor: &mut Cursor<'_>) -> Option<Meaning> {
    let mut longest: Option<(Cursor<'_>, Meaning)> = None;
    let first = cursor.peek().map(plain);
    let words = WORDS.iter().flat_map(|(meaning, words)| words.iter().map(|word| (*word, *meaning)));
    for (word, meaning) in words.filter(|(word, _)| word.chars().next() == first) {
        let mut ahead = *cursor;
        let is_longer = |end: usize| longest.as_ref().is_none_or(|(found, _)| found.at() < end);
        if ahead.eat_start(word) && ends_word(ahead) && is_longer(ahead.at()) {
            longest = Some((ahead, meaning));
        }
    }
    let (ahead, meaning) = longest?;
    *cursor = ahead;
    Some(meaning)
}

fn eat_label(cursor: &mut Cursor<'_>, menu: &NominalLabels) -> Option<usize> {
    let mut longest: Option<(Cursor<'_>, usize)> = None;
    for (index, label) in menu.values().iter().enumerate() {
        let mut ahead = *cursor;
        let is_longer = |end: usize| longest.as_ref().is_none_or(|(found, _)| found.at() < end);
        let label = Folded::new(label);
        if ahead.eat_start(label.text().trim()) && ends_word(ahead) && is_longer(ahead.at()) {
            longest = Some((ahead, index));
        }
    }
    let (ahead, index) = longest?;
    *cursor = ahead;
    Some(index)
}

fn one_or_zero(cursor: &mut Cursor<'_>) -> Option<Slot> {
    let mut ahead = *cursor;
    let passed = pass_number(number::read(&mut ahead)?.value()?)?;
    if !ends_word(ahead) {
        return None;
    }
    let start = cursor.at();
    *cursor = ahead;
    Some(placed(Some(Value::Pass(passed)), start, cursor))
}

/// 1 passes and 0 fails; any other number says neither.
#[expect(clippy::float_cmp, reason = "only the exact numbers count")]
pub(super) fn pass_number(number: f64) -> Option<bool> {
    if number == 1.0 {
        Some(true)
    } else if number == 0.0 {
        Some(false)
    } else {
        None
    }
}

/// A letter alone, on no menu: clearly a choice, and not an allowed one.
fn other_letter(cursor: &mut Cursor<'_>) -> Option<Slot> {
    let start = cursor.at();
    eat_letter(cursor).map(|_| placed(None, start, cursor))
}

fn other_digit(cursor: &mut Cursor<'_>) -> Option<Slot> {
    let start = cursor.at();
    let mut ahead = *cursor;
    if !ahead.eat(|c| c.is_ascii_digit()) || !ends_word(ahead) {
        return None;
    }
    *cursor = ahead;
    Some(placed(None, start, cursor))
}

fn eat_letter(cursor: &mut Cursor<'_>) -> Option<char> {
    let mut ahead = *cursor;
    let letter = ahead.peek()?;
    if !ahead.eat(|c| c.is_ascii_alphabetic()) || !ends_word(ahead) {
        return None;
    }
    *cursor = ahead;
    Some(letter)
}

/// What was eaten since `start`: a value of the scale, or one that it does not have.
fn placed(value: Option<Value>, start: usize, cursor: &Cursor<'_>) -> Slot {
    value.map_or(Slot::OffScale, |value| Slot::holds(value, start..cursor.at()))
}
