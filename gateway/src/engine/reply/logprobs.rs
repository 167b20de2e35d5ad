//! Which tokens carry the verdict, and how its labels may be spelled there. What they are worth is for
//! `aggregation`.
//!
//! The position is found by the verdict's own bytes, never by looking for a digit: reasons hold digits too. Tokens
//! are joined byte by byte, since a token may be part of a character, and compared with the reply from the end,
//! since servers trim the start (white space, reasoning) and add tokens such as `<|eot_id|>` behind.

use std::ops::Range;

use aggregation::scale::Scale;
use providers::chat::{TokenLogprob, TokenLogprobs};

use super::vocabulary::{Meaning, WORDS};
use super::{Reading, Reply};

/// The alternatives where the verdict's first token stands.
///
/// A token may begin with what leads to the value (`"4`, `[[A`, ` 4`) and end with what closes it (`4"`, `A]]`).
/// Leading white space, quotes, brackets, emphasis and tokenizers' space marks are taken off every alternative;
/// closing characters only where they are the sampled token's own, for `4.` may become `4.5`.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictTokens {
    /// The server's list, and the sampled token if it is not on it.
    pub at: Vec<TokenLogprob>,
    /// The list at the following token; `None` when there is none, or when the first token closes the value.
    pub next: Option<Vec<TokenLogprob>>,
    /// The token that the judge wrote, trimmed as its alternatives are.
    pub sampled: TokenLogprob,
}

/// Why token probabilities cannot be used. The written value stands, flagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("the server returned no logprobs")]
    Missing,
    #[error("the tokens do not spell the reply")]
    Unaligned,
    #[error("no token begins with the verdict's value")]
    NotAtValue,
}

/// How many bytes before the value have to match too.
const CONTEXT: usize = 8;

/// The tokens at the verdict that `reading` found in this reply.
pub fn read_distribution(reply: &Reply<'_>, reading: &Reading) -> Result<VerdictTokens, Unusable> {
    let tokens = reply.logprobs.filter(|tokens| !tokens.is_empty()).ok_or(Unusable::Missing)?;
    let joined: Vec<u8> = tokens.iter().flat_map(|token| token.token.bytes.iter().copied()).collect();
    let value = value_in_tokens(tokens, &joined, reply.text, &reading.span).ok_or(Unusable::Unaligned)?;
    let (index, start) = token_at(tokens, value.start).ok_or(Unusable::NotAtValue)?;
    let token = tokens.get(index).ok_or(Unusable::NotAtValue)?;
    let end = start + token.token.bytes.len();
    let prefix = joined.get(start..value.start).unwrap_or_default();
    let suffix = joined.get(value.end.min(end)..end).unwrap_or_default();
    if [prefix, suffix].iter().any(|part| String::from_utf8_lossy(part).chars().any(char::is_alphanumeric)) {
        return Err(Unusable::NotAtValue);
    }
    let closing = if suffix.starts_with(b".") || suffix.starts_with(b",") || suffix.starts_with(b"/") {
        b""
    } else {
        suffix
    };
    let trim = |token: &TokenLogprob| TokenLogprob {
        bytes: trimmed(&token.bytes, prefix, closing).to_vec(),
        logprob: token.logprob,
    };
    let next = tokens.get(index + 1).filter(|_| suffix.is_empty()).map(alternatives);
    Ok(VerdictTokens {
        at: alternatives(token).iter().map(trim).collect(),
        next,
        sampled: trim(&token.token),
    })
}

/// How each label may be spelled as a token, in the scale's order: fail before pass; A, B, tie. `written` is the
/// value as this reply spells it, whose own spelling comes first. Empty for a continuous scale, which has no labels.
pub fn label_spellings(scale: &Scale, written: &str) -> Vec<Vec<String>> {
    let by_meaning = |meanings: &[Meaning], more: &[&str]| {
        let words =
            WORDS.iter().filter(|(meaning, _)| meanings.contains(meaning)).flat_map(|(_, words)| *words);
        // One word each: "a tie" would make the token "a" the beginning of two labels.
        in_every_case(words.chain(more).copied().filter(|word| !word.contains(' ')), written)
    };
    match scale {
        Scale::Ordinal(labels) => labels.values().iter().map(|label| vec![label.to_string()]).collect(),
        Scale::Continuous(_) => Vec::new(),
        Scale::Nominal(labels) => {
            labels.values().iter().map(|label| in_every_case([label.as_str()].into_iter(), written)).collect()
        }
        Scale::PassFail => vec![
            by_meaning(&[Meaning::Fail, Meaning::Incorrect], &["0"]),
            by_meaning(&[Meaning::Pass, Meaning::Correct], &["1"]),
        ],
        Scale::Pairwise { tie } => {
            let candidates = ["A", "B"].map(|letter| in_every_case([letter].into_iter(), written));
            let tie = tie.then(|| by_meaning(&[Meaning::Tie], &["C"]));
            candidates.into_iter().chain(tie).collect()
        }
    }
}

/// As written, in lower case, in capitals and capitalised; the reply's own spelling first.
fn in_every_case<'w>(words: impl Iterator<Item = &'w str>, written: &str) -> Vec<String> {
    let mut spellings: Vec<String> = Vec::new();
    for word in words {
        let mut letters = word.chars();
        let capital = letters.next().map(|first| first.to_uppercase().chain(letters).collect());
        for spelling in [Some(word.to_owned()), Some(word.to_lowercase()), Some(word.to_uppercase()), capital]
        {
            spellings.extend(spelling.filter(|spelling| !spellings.contains(spelling)));
        }
    }
    if let Some(own) = spellings.iter().position(|spelling| spelling == written) {
        spellings.swap(0, own);
    }
    spellings
}

/// Where the value stands in the joined tokens: both texts are compared backwards from their last visible byte.
fn value_in_tokens(
    tokens: &[TokenLogprobs],
    joined: &[u8],
    text: &str,
    value: &Range<usize>,
) -> Option<Range<usize>> {
    let text = text.as_bytes();
    let text_end = text.trim_ascii_end().len();
    let text_start = text.len() - text.trim_ascii_start().len();
    let context = CONTEXT.min(value.start.saturating_sub(text_start));
    let needed = text_end.checked_sub(value.start)? + context;
    let ends = [joined.len(), without_control_tokens(tokens)];
    let aligned = ends.into_iter().map(|end| joined.get(..end).unwrap_or_default().trim_ascii_end()).find(
        |spelled| {
            let equal = spelled.iter().rev().zip(text.get(..text_end).unwrap_or_default().iter().rev());
            equal.take_while(|(a, b)| a == b).count() >= needed
        },
    )?;
    let start = aligned.len().checked_sub(text_end - value.start)?;
    Some(start..start + value.len())
}

/// The length without tokens such as `<|im_end|>` and `</s>` at the end.
fn without_control_tokens(tokens: &[TokenLogprobs]) -> usize {
    let is_control = |token: &&TokenLogprobs| {
        let bytes = token.token.bytes.trim_ascii();
        bytes.is_empty() || (bytes.starts_with(b"<") && bytes.ends_with(b">"))
    };
    let kept = tokens.len() - tokens.iter().rev().take_while(is_control).count();
    tokens.iter().take(kept).map(|token| token.token.bytes.len()).sum()
}

/// The token that covers this byte, and its own first byte.
fn token_at(tokens: &[TokenLogprobs], byte: usize) -> Option<(usize, usize)> {
    let mut start = 0;
    for (index, token) in tokens.iter().enumerate() {
        let end = start + token.token.bytes.len();
        if byte < end {
            return Some((index, start));
        }
        start = end;
    }
    None
}

fn alternatives(token: &TokenLogprobs) -> Vec<TokenLogprob> {
    let mut alternatives = token.top.clone();
    if !alternatives.iter().any(|listed| listed.bytes == token.token.bytes) {
        alternatives.push(token.token.clone());
    }
    alternatives
}

fn trimmed<'b>(bytes: &'b [u8], prefix: &[u8], closing: &[u8]) -> &'b [u8] {
    let mut rest = bytes.strip_prefix(prefix).unwrap_or(bytes);
    while let Some(inner) = LEADING.iter().find_map(|mark| rest.strip_prefix(mark.as_bytes())) {
        rest = inner;
    }
    rest.strip_suffix(closing).unwrap_or(rest)
}

/// What may lead to a value inside its token: white space, tokenizers' marks for it, quotes, brackets, emphasis.
const LEADING: [&str; 17] = [
    " ", "\n", "\t", "\r", "\u{120}", "\u{2581}", "\u{10a}", "\"", "'", "“", "(", "[", "{", "<", "*", "`",
    ":",
];
