//! A position in a text, and the few steps that the grammars of this module take.

use std::ops::Range;

/// Copy it to look ahead: a copy that is dropped has moved nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// Stands at the start of `range` and sees nothing beyond its end.
    pub(super) fn over(text: &'t str, range: Range<usize>) -> Self {
        Self { text: text.get(..range.end).unwrap_or(text), at: range.start }
    }

    pub(super) fn at(self) -> usize {
        self.at
    }

    pub(super) fn rest(self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next one.
    pub(super) fn peek_second(self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn is_at_end(self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    pub(super) fn eat(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        let eaten = self.peek().is_some_and(wanted);
        if eaten {
            self.bump();
        }
        eaten
    }

    pub(super) fn skip(&mut self, unwanted: impl Fn(char) -> bool) {
        while self.eat(&unwanted) {}
    }

    pub(super) fn skip_space(&mut self) {
        self.skip(char::is_whitespace);
    }

    /// Eats `phrase` if it stands here as whole words, whatever its case and accents.
    pub(super) fn eat_phrase(&mut self, phrase: &str) -> bool {
        let mut ahead = *self;
        let found = ahead.eat_start(phrase) && !ahead.peek().is_some_and(char::is_alphanumeric);
        if found {
            *self = ahead;
        }
        found
    }

    /// As `eat_phrase`, but the last word may go on: scripts without spaces write `助手A`.
    pub(super) fn eat_start(&mut self, phrase: &str) -> bool {
        let mut ahead = *self;
        for wanted in phrase.chars() {
            if wanted == ' ' {
                if !ahead.eat(char::is_whitespace) {
                    return false;
                }
                ahead.skip_space();
            } else if !ahead.eat(|c| plain(c) == plain(wanted)) {
                return false;
            }
        }
        *self = ahead;
        true
    }

    /// The first of these phrases that stands here. They are written in `plain` letters.
    pub(super) fn eat_any_phrase(&mut self, phrases: &[&str]) -> bool {
        let first = self.peek().map(plain);
        phrases.iter().any(|phrase| phrase.chars().next() == first && self.eat_phrase(phrase))
    }

    pub(super) fn eat_any_start(&mut self, phrases: &[&str]) -> bool {
        let first = self.peek().map(plain);
        phrases.iter().any(|phrase| phrase.chars().next() == first && self.eat_start(phrase))
    }
}

/// Lower case, without the accents that Spanish writes and hurried models leave out; apostrophes are straight.
pub(super) fn plain(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    match c.to_lowercase().next().unwrap_or(c) {
        'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' | 'ü' => 'u',
        '’' => '\'',
        other => other,
    }
}
