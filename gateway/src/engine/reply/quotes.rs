//! Pairs of double quotation marks, in every style that the three languages use.

use std::ops::Range;

use super::layout::{QUOTED, overwrite};

/// The marks of one style. Straight quotes look the same on both sides; their neighbours tell which side it is.
const PAIRS: [(char, char); 6] =
    [('"', '"'), ('＂', '＂'), ('“', '”'), ('«', '»'), ('「', '」'), ('『', '』')];

/// Overwrites every quotation of the paragraph, marks included. A mark without its partner quotes nothing.
pub(super) fn hide(own: &mut [u8], paragraph: Range<usize>) {
    let quoted = own
        .get(paragraph.clone())
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .map_or_else(Vec::new, find);
    for span in quoted {
        overwrite(own, paragraph.start + span.start..paragraph.start + span.end, QUOTED);
    }
}

/// The outermost quotations, in order. Quotations may be nested: a judge quotes an answer that quotes.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut open: Vec<Mark> = Vec::new();
    let mut open_of_style = [0_usize; PAIRS.len()];
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, c)| *c);
        let sides =
            PAIRS.iter().position(|(left, right)| c == *left || c == *right).zip(Some((before, after)));
        before = Some(c);
        let Some((style, neighbours)) = sides else { continue };
        let Some(depth) = open_of_style.get_mut(style) else { continue };
        let may_close = *depth > 0 && is_closing(c, style, neighbours);
        if may_close {
            *depth -= 1;
            close(&mut open, &mut open_of_style, style).inspect(|start| {
                while found.pop_if(|inner| inner.start > *start).is_some() {}
                found.push(*start..at + c.len_utf8());
            });
        } else if is_opening(c, style, neighbours) {
            *depth += 1;
            open.push(Mark { at, style });
        }
    }
    found
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    at: usize,
    style: usize,
}

/// Takes the last open mark of this style, and drops those of other styles above it: they were never closed.
fn close(open: &mut Vec<Mark>, open_of_style: &mut [usize], style: usize) -> Option<usize> {
    while let Some(mark) = open.pop() {
        if mark.style == style {
            return Some(mark.at);
        }
        if let Some(depth) = open_of_style.get_mut(mark.style) {
            *depth = depth.saturating_sub(1);
        }
    }
    None
}

type Neighbours = (Option<char>, Option<char>);

/// A straight quote opens before something and not after a word: `5" wide` opens nothing.
fn is_opening(c: char, style: usize, (before, after): Neighbours) -> bool {
    let is_straight = PAIRS.get(style).is_some_and(|(left, right)| left == right);
    if is_straight {
        !before.is_some_and(is_word) && after.is_some_and(|c| !c.is_whitespace())
    } else {
        PAIRS.get(style).is_some_and(|(left, _)| c == *left)
    }
}

/// A straight quote closes after something and not before a word.
fn is_closing(c: char, style: usize, (before, after): Neighbours) -> bool {
    let is_straight = PAIRS.get(style).is_some_and(|(left, right)| left == right);
    if is_straight {
        before.is_some_and(|c| !c.is_whitespace()) && !after.is_some_and(is_word)
    } else {
        PAIRS.get(style).is_some_and(|(_, right)| c == *right)
    }
}

/// Part of a word in a script that puts spaces between words.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() && u32::from(c) < 0x2e80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, quoted: &[&str]) {
        let found: Vec<&str> = find(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, quoted, "{text}");
    }

    #[test]
    fn pairs_are_found_in_every_style() {
        check(r#"says "x [[B]] y", "z"."#, &[r#""x [[B]] y""#, r#""z""#]);
        check("写着“[[B]]”，「好」", &["“[[B]]”", "「好」"]);
        check("写着\"[[B]]\"这不是", &["\"[[B]]\""]);
        check("dice «nota: 5».", &["«nota: 5»"]);
    }

    #[test]
    fn quotations_may_span_lines_and_nest() {
        check("says \"a\n[RESULT] 5\" so", &["\"a\n[RESULT] 5\""]);
        check(r#"says "he said "hi" and 5". ok"#, &[r#""he said "hi" and 5""#]);
    }

    #[test]
    fn a_mark_without_partner_quotes_nothing() {
        check(r#"a 5" screen [RESULT] 4"#, &[]);
        check(r#"says "abc [RESULT] 4"#, &[]);
        check("says \"abc\n[RESULT] 4\n\"ok\" fine", &["\"ok\""]);
        check("a ” b “ c", &[]);
    }
}
