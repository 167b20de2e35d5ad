//! What marks a verdict in text.

use std::sync::LazyLock;

use regex::Regex;

// Why no bounded repetition of a Unicode class: it compiles to megabytes. Lengths are looked at by those who read.
#[expect(clippy::expect_used, reason = "the patterns are constant and tested")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// A number, or a word that may compare two letters.
const TOKEN: &str = r"[+-]?\d+(?:\.\d+)?|\p{L}[\p{L}\p{N}_-]*(?: ?[<>=]{1,2} ?\p{L})?";

pub(super) static RESULT: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r#"(?i)\[ ?RESULT ?\]\s*:?[\s*_("'\[]*({TOKEN})[*_)"'\]]*"#)));
pub(super) static DOUBLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\[\[[ \t]*([^\[\]\n]{1,40}?)[ \t]*\]\]"));
pub(super) static GRADE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r#"(?i)\bGRADE[*_ ]*:[\s*_("'\[$]*({TOKEN})[*_)"'\]]*"#)));
pub(super) static BOXED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\\boxed\{\s*(?:\\text\{)?\s*([^{}\n]{1,40}?)\s*\}{1,2}"));
pub(super) static TAG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"<([A-Za-z][\w-]*)>\s*([^<>\n]{1,40}?)\s*</([A-Za-z][\w-]*)>"));
pub(super) static LINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^[ \t]*(?:[-*#>]+[ \t]+)?[*_]*(\p{L}[\p{L}\p{N} _-]*?)[*_]*[ \t]*:[ \t*_]*(?:([+-]?\d+(?:\.\d+)?)%?(?:[ \t]*(?:/|out of)[ \t]*\d+)?(?:[ \t]*[-–—,;(][^\n]*)?|([^\n:*]{1,40}?)(?:[ \t]+[-–—(][^\n]*)?)[*_.]*[ \t]*$",
    )
});
pub(super) static FINAL_VERDICTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)final verdicts? (?:for|of) (?:each|all|the) statements?(?: in order)?\s*:[\s*_]*((?:\p{L}+[.,;]?[ \t]*)+)",
    )
});
pub(super) static EACH_VERDICT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bverdict[*_ ]*:[*_ ]*(\p{L}+)"));
pub(super) static MARK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)(?:^|[^\[])\[(\p{L}[\p{L} ]+)\][*_. \t]*$"));
pub(super) static WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[+-]?\d+(?:\.\d+)?|[\p{L}\p{N}_]+(?:[<>=]{1,2}\p{L})?"));
pub(super) static FRACTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[\s*_`]*([+-]?\d+(?:\.\d+)?)\s*/\s*\d+[\s*_`.]*$"));
