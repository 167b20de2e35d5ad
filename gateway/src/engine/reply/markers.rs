//! Where a reply says that its verdict stands. Finds places; what they hold is for `slot` and `verdict_object`.

use std::ops::Range;

use super::cursor::Cursor;
use super::layout::Layout;
use super::lines::{Lines, lines};
use super::slot::Extent;
use super::tail::{is_closer, is_opener};

/// How a verdict is marked. All but `Line` are strong: where one is, lines are not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A JSON object.
    Json,
    /// `[RESULT] v`
    Result,
    /// `[[v]]`
    DoubleBracket,
    /// `GRADE: v`
    Grade,
    /// A line that begins with a word for a score, and a colon.
    Line,
}

impl Style {
    pub(super) const STRONG: [Self; 4] = [Self::Json, Self::Result, Self::DoubleBracket, Self::Grade];

    /// Whether the marker's own end shows that nothing is missing.
    pub(super) fn is_closed(self) -> bool {
        match self {
            Self::Json | Self::DoubleBracket => true,
            Self::Result | Self::Grade | Self::Line => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Marker {
    pub(super) style: Style,
    /// From the marker's first byte to its slot's last.
    pub(super) span: Range<usize>,
    pub(super) place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// Index into the layout's objects.
    Object(usize),
    Text {
        slot: Range<usize>,
        extent: Extent,
    },
}

/// Strong markers in order.
pub(super) fn strong(text: &str, layout: &Layout) -> Vec<Marker> {
    let mut markers: Vec<Marker> = layout
        .objects
        .iter()
        .enumerate()
        .map(|(index, node)| Marker {
            style: Style::Json,
            span: node.span.clone(),
            place: Place::Object(index),
        })
        .collect();
    let lines = Lines::of(text);
    for (at, _) in layout.own.match_indices(['[', 'g', 'G']) {
        let marker = result(&lines, &layout.own, at)
            .or_else(|| double_bracket(&layout.own, at))
            .or_else(|| grade(&lines, &layout.own, at));
        markers.extend(marker);
    }
    markers.sort_by_key(|marker| marker.span.start);
    end_slots_at_next_marker(&mut markers);
    drop_labels_of_markers(&mut markers, &layout.own);
    markers
}

/// Lines such as `Final score: 4`, in order.
pub(super) fn weak(text: &str, layout: &Layout) -> Vec<Marker> {
    let index = Lines::of(text);
    lines(layout.own.as_bytes(), 0..layout.own.len())
        .filter_map(|line| {
            let mut cursor = Cursor::over(&layout.own, line.clone());
            eat_line_start(&mut cursor);
            let start = cursor.at();
            eat_line_word(&mut cursor)?;
            let (slot, extent) = line_slot(&index, cursor.at(), Extent::Whole);
            Some(Marker { style: Style::Line, span: start..slot.end, place: Place::Text { slot, extent } })
        })
        .collect()
}

/// A slot ends where the next marker begins.
fn end_slots_at_next_marker(markers: &mut [Marker]) {
    let starts: Vec<usize> = markers.iter().skip(1).map(|marker| marker.span.start).collect();
    for (marker, next) in markers.iter_mut().zip(starts) {
        if let Place::Text { slot, .. } = &mut marker.place {
            slot.end = slot.end.min(next).max(slot.start);
            if !marker.style.is_closed() {
                marker.span.end = slot.end;
            }
        }
    }
}

/// `[RESULT] [[4]]`: the first marker only announces the second.
fn drop_labels_of_markers(markers: &mut Vec<Marker>, own: &str) {
    let mut starts = markers.iter().map(|marker| marker.span.start).skip(1).collect::<Vec<_>>().into_iter();
    markers.retain(|marker| {
        let next = starts.next();
        let between = match (&marker.place, next) {
            (Place::Text { slot, .. }, Some(next)) if !marker.style.is_closed() => own.get(slot.start..next),
            (Place::Text { .. } | Place::Object(_), _) => None,
        };
        between.is_none_or(|between| between.chars().any(char::is_alphanumeric))
    });
}

fn result(lines: &Lines<'_>, own: &str, at: usize) -> Option<Marker> {
    let mut cursor = Cursor::over(own, at..own.len());
    if !cursor.eat(|c| c == '[') {
        return None;
    }
    cursor.skip(|c| c == ' ');
    if !cursor.eat_phrase("result") {
        return None;
    }
    cursor.skip(|c| c == ' ');
    if !cursor.eat(|c| c == ']') {
        return None;
    }
    eat_colon(&mut cursor);
    let (slot, extent) = line_slot(lines, cursor.at(), Extent::Line);
    Some(Marker { style: Style::Result, span: at..slot.end, place: Place::Text { slot, extent } })
}

fn double_bracket(own: &str, at: usize) -> Option<Marker> {
    let inside = own.get(at..)?.strip_prefix("[[")?;
    let length = inside.find(['[', ']', '\n'])?;
    if !inside.get(length..)?.starts_with("]]") {
        return None;
    }
    let slot = at + 2..at + 2 + length;
    let span = at..slot.end + 2;
    Some(Marker { style: Style::DoubleBracket, span, place: Place::Text { slot, extent: Extent::Whole } })
}

/// The word alone: "downgrade:" is no marker.
fn grade(lines: &Lines<'_>, own: &str, at: usize) -> Option<Marker> {
    let before = own.get(..at)?.chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '\'' | '"')) {
        return None;
    }
    let mut cursor = Cursor::over(own, at..own.len());
    if !cursor.eat_phrase("grade") || !eat_colon(&mut cursor) {
        return None;
    }
    let (slot, extent) = line_slot(lines, cursor.at(), Extent::Whole);
    Some(Marker { style: Style::Grade, span: at..slot.end, place: Place::Text { slot, extent } })
}

fn eat_colon(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.skip(|c| matches!(c, ' ' | '\t' | '*' | '_'));
    let found = ahead.eat(|c| c == ':');
    if found {
        *cursor = ahead;
    }
    found
}

/// The rest of the line, or the next line that is not empty if this one is: that one has to be a value, and a list
/// is none. `next_extent` is how much may follow there.
fn line_slot(lines: &Lines<'_>, from: usize, next_extent: Extent) -> (Range<usize>, Extent) {
    let is_empty = |line: &Range<usize>| {
        lines.text(line).chars().all(|c| c.is_whitespace() || is_opener(c) || is_closer(c))
    };
    let mut following = lines.from(from);
    let first = following.next().unwrap_or(from..from);
    if !is_empty(&first) {
        return (first, Extent::Line);
    }
    let next = following.find(|line| !is_empty(line)).filter(|line| !is_quoted_or_list(lines.text(line)));
    (next.unwrap_or(first), next_extent)
}

/// A block quote, a fence, or "1. First, …".
fn is_quoted_or_list(line: &str) -> bool {
    let mut cursor = Cursor::over(line, 0..line.len());
    cursor.skip_space();
    if cursor.rest().starts_with('>') || cursor.rest().starts_with("```") || cursor.rest().starts_with("~~~")
    {
        return true;
    }
    let digits_start = cursor.at();
    cursor.skip(|c| c.is_ascii_digit());
    let is_numbered = cursor.at() > digits_start && cursor.eat(|c| matches!(c, '.' | ')'));
    is_numbered && cursor.peek().is_some_and(char::is_whitespace) && !cursor.rest().trim().is_empty()
}

const LINE_WORDS: [&str; 9] =
    ["score", "rating", "verdict", "result", "puntuacion", "calificacion", "nota", "veredicto", "resultado"];
const LINE_WORDS_ZH: [&str; 7] = ["评分", "得分", "总分", "分数", "结论", "判定", "裁决"];
const LINE_EXTRAS: [&str; 5] = ["final", "overall", "total", "global", "general"];
const LINE_EXTRAS_ZH: [&str; 6] = ["最终", "最后", "总体", "综合", "整体", "总"];

/// List marks, headings, numbering and emphasis. Quotes and brackets are not: they make it another text.
fn eat_line_start(cursor: &mut Cursor<'_>) {
    let is_mark = |c: char| {
        !c.is_alphanumeric() && !c.is_control() && (c == '*' || c == '_' || !(is_opener(c) || is_closer(c)))
    };
    cursor.skip(|c| c.is_whitespace() || is_mark(c));
    let mut ahead = *cursor;
    ahead.skip(|c| c.is_ascii_digit());
    if ahead.at() > cursor.at() && ahead.eat(|c| matches!(c, '.' | ')')) {
        ahead.skip(|c| c.is_whitespace() || is_mark(c));
        *cursor = ahead;
    }
}

/// The word with its optional extras, a range in brackets, and the colon.
fn eat_line_word(cursor: &mut Cursor<'_>) -> Option<()> {
    while cursor.eat_any_phrase(&LINE_EXTRAS) || eat_extra_zh(cursor) {
        cursor.skip(|c| c == ' ');
    }
    if !cursor.eat_any_phrase(&LINE_WORDS) && !cursor.eat_any_phrase(&LINE_WORDS_ZH) {
        return None;
    }
    cursor.skip(|c| c == ' ');
    cursor.eat_any_phrase(&LINE_EXTRAS);
    eat_range_in_brackets(cursor);
    eat_colon(cursor).then_some(())
}

/// Not the first half of a word that is itself listed: 总分.
fn eat_extra_zh(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    !ahead.eat_any_start(&LINE_WORDS_ZH) && cursor.eat_any_start(&LINE_EXTRAS_ZH)
}

/// `(1-5)`, `(out of 10)`, `(0 to 1)`: digits and little else. A name in brackets makes it another score.
fn eat_range_in_brackets(cursor: &mut Cursor<'_>) {
    let mut ahead = *cursor;
    ahead.skip(|c| matches!(c, ' ' | '*' | '_'));
    if !ahead.eat(|c| c == '(') {
        return;
    }
    let mut has_digit = false;
    while let Some(c) = ahead.peek().filter(|c| *c != ')') {
        has_digit |= c.is_ascii_digit();
        let is_word = ahead.eat_any_phrase(&["out of", "of", "to", "de", "a", "sobre", "from", "scale"])
            || ahead.eat_any_start(&["满分", "分", "到", "至"]);
        if !is_word && c.is_alphabetic() {
            return;
        }
        if !is_word {
            ahead.bump();
        }
    }
    if has_digit && ahead.eat(|c| c == ')') {
        *cursor = ahead;
    }
}
