//! Quotes that a judge gives as evidence, looked up in the case.

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::case::{Case, is_zero_width};

/// A quote with fewer visible characters than this supports nothing: it would be found in almost any text.
pub const MIN_QUOTE_CHARS: usize = 3;

/// Whether the quote stands verbatim in one of the case's texts (input, candidates, reference, each context passage).
///
/// Letters, case, punctuation and order must be the same. Not counted as a difference, on both sides:
/// - runs of white space, which count as one space, and white space at the ends;
/// - the way a character is composed (Unicode NFC);
/// - zero-width characters, with which prompts break control tokens;
/// - one pair of quotation marks around the quote.
///
/// A quote that leaves words out (`first … last`) is not verbatim. A quote may not run from one text into the next.
pub fn find_quote(case: &Case, quote: &str) -> bool {
    let quote = fold(quote);
    let bare = without_marks(&quote);
    let wanted: Vec<&str> =
        [Some(quote.as_str()), bare].into_iter().flatten().filter(|q| is_long_enough(q)).collect();
    !wanted.is_empty()
        && case.texts().any(|text| {
            let text = fold(text);
            wanted.iter().any(|quote| text.contains(quote))
        })
}

/// The quote of a written answer: what follows the last line that begins with `Evidence:`, up to the line's end or to
/// a `[RESULT]` marker. `None` when there is no such line or nothing in it.
pub fn quote_in_text(reply: &str) -> Option<&str> {
    let line = reply.lines().rev().find_map(|line| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '-' | '#'));
        let (label, rest) = line.split_at_checked(LABEL.len())?;
        label.eq_ignore_ascii_case(LABEL).then_some(rest)
    })?;
    let quote = line.split("[RESULT]").next().unwrap_or_default();
    let quote = quote.trim_matches(|c: char| c.is_whitespace() || c == '*');
    (!quote.is_empty()).then_some(quote)
}

const LABEL: &str = "Evidence:";

fn is_long_enough(quote: &str) -> bool {
    quote.chars().filter(|c| !c.is_whitespace()).count() >= MIN_QUOTE_CHARS
}

/// The text as it is compared.
fn fold(text: &str) -> String {
    let composed: String;
    let text = if is_nfc(text) {
        text
    } else {
        composed = text.nfc().collect();
        &composed
    };
    let mut folded = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars().filter(|&c| !is_zero_width(c)) {
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && !folded.is_empty() {
            folded.push(' ');
        }
        gap = false;
        folded.push(c);
    }
    folded
}

const MARKS: [(char, char); 11] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('”', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
    ('『', '』'),
];

fn without_marks(quote: &str) -> Option<&str> {
    let inner = MARKS.iter().find_map(|(open, close)| quote.strip_prefix(*open)?.strip_suffix(*close))?;
    Some(inner.trim())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(quote: &str, found: bool) {
        let case = Case::try_from(json!({
            "input": "Why is the sky blue?",
            "output": "Light is scattered\n  by air; \"blue\" most. Cafe\u{301} <|im_end|> it's 4",
            "reference": "Rayleigh scattering",
            "context": ["first passage ends", "second passage"],
        }))
        .unwrap();
        assert_eq!(find_quote(&case, quote), found, "{quote:?}");
    }

    #[test]
    fn a_verbatim_quote_is_found_in_every_text() {
        for quote in ["scattered by air", "Rayleigh", "second passage", "the sky", "\"blue\" most"] {
            check(quote, true);
        }
    }

    #[test]
    fn space_marks_and_composition_do_not_matter() {
        for quote in [
            "  scattered by\tair ",
            "\"scattered by air\"",
            "“the sky blue?”",
            "« Rayleigh »",
            "Caf\u{e9}",
            "<\u{200b}|im_end|>",
            "'it's 4'",
            "\"blue\"",
        ] {
            check(quote, true);
        }
    }

    #[test]
    fn anything_else_is_no_quote() {
        for quote in [
            "",
            "  ",
            "is",
            "\"is\"",
            "Scattered by air",
            "scattered … air",
            "scattered ... air",
            "scattered by the air",
            "ends second",
            "rayleigh",
            "scatteredby air",
        ] {
            check(quote, false);
        }
    }

    #[test]
    fn a_written_answer_gives_its_quote_on_a_line() {
        for (reply, quote) in [
            ("Feedback: fine\nEvidence: \"by air\"\n[RESULT] 4", Some("\"by air\"")),
            ("Evidence: one\nEvidence: two [RESULT] 3", Some("two")),
            ("**Evidence:** by air", Some("by air")),
            ("evidence: x y", Some("x y")),
            ("Evidence:\n[RESULT] 4", None),
            ("no evidence: at all", None),
            ("", None),
        ] {
            assert_eq!(quote_in_text(reply), quote, "{reply}");
        }
    }
}
