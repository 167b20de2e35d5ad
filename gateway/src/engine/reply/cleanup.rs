//! Text as the grammars see it: no invisible characters, `\n` line ends, compatibility forms folded (NFKC), every
//! decimal digit in ASCII. Each place remembers where it came from, so spans can be given in the original text.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, is_nfkc_quick};

#[derive(Debug, Clone, Default)]
pub(super) struct Folded {
    text: String,
    /// In order, without gaps in `text`.
    runs: Vec<Run>,
}

/// A stretch of folded text and the original bytes that it stands for.
#[derive(Debug, Clone)]
struct Run {
    folded: usize,
    original: Range<usize>,
    /// Byte for byte the same as the original. Otherwise one cluster, which is mapped as a whole.
    verbatim: bool,
}

impl Folded {
    pub(super) fn new(original: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(original.len()), runs: Vec::new() };
        let mut rest = original;
        while let Some(first) = rest.chars().next() {
            let start = original.len() - rest.len();
            let plain = plain_ascii(rest);
            if !plain.is_empty() {
                folded.push_verbatim(plain, start..start + plain.len());
                rest = rest.get(plain.len()..).unwrap_or_default();
                continue;
            }
            let cluster = first_cluster(rest, first);
            rest = rest.get(cluster.len()..).unwrap_or_default();
            if first == '\r' {
                if !rest.starts_with('\n') {
                    folded.push_changed("\n", start..start + cluster.len());
                }
            } else if !is_invisible(first) {
                folded.push_cluster(cluster, first, start);
            }
        }
        folded
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The same places under another text of the same length (with parts blanked out).
    pub(super) fn with_text(self, text: String) -> Self {
        debug_assert_eq!(text.len(), self.text.len(), "blanking keeps every offset");
        Self { text, runs: self.runs }
    }

    /// Where a non-empty stretch of folded text stands in the original.
    pub(super) fn original(&self, span: Range<usize>) -> Range<usize> {
        let start = self
            .run_at(span.start)
            .map_or(0, |run| run.original.start + if run.verbatim { span.start - run.folded } else { 0 });
        let Some(last) = span.end.checked_sub(1).filter(|last| *last >= span.start) else {
            return start..start;
        };
        let end = self.run_at(last).map_or(start, |run| {
            if run.verbatim { run.original.start + (span.end - run.folded) } else { run.original.end }
        });
        start..end
    }

    fn run_at(&self, at: usize) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.folded <= at);
        after.checked_sub(1).and_then(|index| self.runs.get(index))
    }

    fn push_cluster(&mut self, cluster: &str, first: char, start: usize) {
        let original = start..start + cluster.len();
        if cluster.len() == 1 {
            return self.push_verbatim(cluster, original);
        }
        if let Some(digit) = decimal_digit(first) {
            return self.push_changed(digit.encode_utf8(&mut [0; 4]), original);
        }
        if keeps_its_form(first) || is_nfkc_quick(cluster.chars()) == IsNormalized::Yes {
            return self.push_verbatim(cluster, original);
        }
        let normal: String = cluster.nfkc().collect();
        if normal == cluster {
            self.push_verbatim(cluster, original);
        } else {
            self.push_changed(&normal, original);
        }
    }

    fn push_verbatim(&mut self, piece: &str, original: Range<usize>) {
        match self.runs.last_mut() {
            Some(run) if run.verbatim && run.original.end == original.start => {
                run.original.end = original.end;
            }
            _ => self.runs.push(Run { folded: self.text.len(), original, verbatim: true }),
        }
        self.text.push_str(piece);
    }

    fn push_changed(&mut self, piece: &str, original: Range<usize>) {
        self.runs.push(Run { folded: self.text.len(), original, verbatim: false });
        self.text.push_str(piece);
    }
}

/// What needs no folding: ASCII without carriage returns. The last letter is left out when it may carry a mark.
fn plain_ascii(text: &str) -> &str {
    let length = text.bytes().position(|byte| !byte.is_ascii() || byte == b'\r').unwrap_or(text.len());
    let is_ascii_ahead = text.as_bytes().get(length).is_none_or(u8::is_ascii);
    text.get(..if is_ascii_ahead { length } else { length.saturating_sub(1) }).unwrap_or_default()
}

/// The first character with its combining marks: what NFKC may compose into one.
fn first_cluster(text: &str, first: char) -> &str {
    let first_len = first.len_utf8();
    let marks: usize = text
        .get(first_len..)
        .unwrap_or_default()
        .chars()
        .take_while(|c| !c.is_ascii() && !is_invisible(*c) && is_combining_mark(*c))
        .map(char::len_utf8)
        .sum();
    text.get(..first_len + marks).unwrap_or(text)
}

/// Zero-width, bidirectional and byte-order characters, variation selectors and tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}')
}

/// Folding these would change what they mean here: quotes and backslashes would become part of JSON's grammar,
/// and a raised or fractional digit would join the number before it (`4²`, `4½`).
fn keeps_its_form(c: char) -> bool {
    matches!(c,
        '＂' | '＇' | '｀' | '＼' | '﹨'
        | '²' | '³' | '¹' | '¼'..='¾' | '\u{2070}'..='\u{208e}' | '\u{2150}'..='\u{215f}' | '\u{2189}')
}

/// Any Unicode decimal digit (general category Nd) as its ASCII digit.
fn decimal_digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let before = DIGIT_ZEROS.partition_point(|zero| *zero <= code);
    let zero = before.checked_sub(1).and_then(|index| DIGIT_ZEROS.get(index))?;
    // The mathematical digits are five sets of ten in a row.
    let span = if *zero == 0x1_d7ce { 50 } else { 10 };
    let offset = code - zero;
    if offset < span { char::from_digit(offset % 10, 10) } else { None }
}

/// The code point of each script's zero, beyond ASCII; nine more digits follow each.
const DIGIT_ZEROS: [u32; 68] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
    0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x1_04a0, 0x1_0d30, 0x1_0d40, 0x1_1066,
    0x1_10f0, 0x1_1136, 0x1_11d0, 0x1_12f0, 0x1_1450, 0x1_14d0, 0x1_1650, 0x1_16c0, 0x1_1730, 0x1_18e0,
    0x1_1950, 0x1_1bf0, 0x1_1c50, 0x1_1d50, 0x1_1da0, 0x1_1f50, 0x1_6a60, 0x1_6ac0, 0x1_6b50, 0x1_6d70,
    0x1_ccf0, 0x1_d7ce, 0x1_e140, 0x1_e2f0, 0x1_e4f0, 0x1_e5f1, 0x1_e950, 0x1_fbf0,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(original: &str, folded: &str) {
        assert_eq!(Folded::new(original).text(), folded, "{original:?}");
    }

    #[test]
    fn folds_forms_and_drops_what_cannot_be_seen() {
        check("\u{feff}[RESULT] 4\r\n", "[RESULT] 4\n");
        check("GRADE:\u{200b}C", "GRADE:C");
        check("最终裁决：［［Ｂ］］", "最终裁决:[[B]]");
        check("٤ ४ ４ 𝟒", "4 4 4 4");
        check("Puntuacio\u{301}n", "Puntuación");
        check("a\rb", "a\nb");
        check("4² ＂x＂", "4² ＂x＂");
        check("", "");
    }

    #[test]
    fn spans_lead_back_to_the_original_bytes() {
        let original = "评分：\u{200b}１０分";
        let folded = Folded::new(original);
        let at = folded.text().find("10").unwrap();
        assert_eq!(&original[folded.original(at..at + 2)], "１０");
        assert_eq!(folded.original(at..at), 12..12);
    }

    #[test]
    fn the_digit_table_is_sorted() {
        assert!(DIGIT_ZEROS.is_sorted());
    }
}
