//! Reads a judge's reply: the one verdict parser, for replay, API and drop-in.
//!
//! The rule behind every other one: a reply holds one clear verdict on the declared scale, or it is an abstention of
//! one class. Nothing has a default; nothing is repaired by guessing; text that the judge quotes is never its verdict.
//!
//! A reply passes through these, in order:
//! 1. the provider's own signals: a refusal or a content filter outranks the text;
//! 2. `cleanup`: invisible characters dropped, compatibility forms folded, every offset kept;
//! 3. `think`: leaked reasoning removed;
//! 4. `layout`: `json` values found, then fences, block quotes, code spans and `quotes` overwritten;
//! 5. `markers`: strong ones (JSON, `[RESULT] v`, `[[v]]`, `GRADE: v`), else lines (`Score: v`), else the bare value;
//! 6. `slot` and `verdict_object`: what a marker holds on the scale, by `quantity` and `labels`;
//! 7. `decide`: the final marker decides, valid or not, and what contradicts it makes it ambiguous;
//! 8. `refusal`: only where nothing claims to be a verdict.
//!
//! `unscaled` offers steps 2 to 4 for replies whose scale nobody declared.
//!
//! Each step is linear in the reply's length. Knows nothing of judges, templates, orders and votes: the value of a
//! pair is as displayed, A being the candidate shown first.

mod cleanup;
mod cursor;
mod decide;
mod json;
mod labels;
mod layout;
mod lines;
mod logprobs;
mod markers;
mod number;
mod quantity;
mod quotes;
mod rationale;
mod refusal;
mod slot;
mod tail;
mod think;
mod together;
mod unscaled;
mod verdict_object;
mod visible;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::ops::Range;

use aggregation::scale::{Scale, Value};
use aggregation::vote::{Abstention, UnparseableClass};
use providers::chat::{FinishReason, TokenLogprobs};

use self::slot::Slot;
use self::visible::Visible;

pub use self::logprobs::{Unusable, VerdictTokens, label_spellings, read_distribution};
pub use self::together::read_together;
pub use self::unscaled::{Found, Step, Unscaled, part_span};

/// What is read of a judge's answer. Reasoning that the server keeps apart has no place here.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    pub text: &'a str,
    pub finish: FinishReason,
    /// The server's own refusal text.
    pub refusal: Option<&'a str>,
    pub logprobs: Option<&'a [TokenLogprobs]>,
}

/// A verdict as the judge wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// On the scale. For pairs as displayed: `A` is the candidate shown first.
    pub value: Value,
    /// Bytes of the value in `Reply::text`.
    pub span: Range<usize>,
    /// The judge's reasons, where it gave any.
    pub rationale: Option<String>,
    /// What the judge quoted as evidence, verbatim.
    pub evidence: Vec<String>,
}

/// Reads the verdict on one criterion. `Err` is `Refused` or `Unparseable`.
pub fn read(reply: &Reply<'_>, scale: &Scale) -> Result<Reading, Abstention> {
    if is_refused_by_provider(reply) {
        return Err(Abstention::Refused);
    }
    let visible = Visible::of(reply.text);
    let decision = decide::decide(visible.text(), &visible.layout, &visible.body, scale);
    let decision = decision.ok_or_else(|| visible.without_verdict(reply))?;
    if reply.finish == FinishReason::Length && !visible.ends_with(&decision.marker) {
        return Err(Abstention::Unparseable(UnparseableClass::Truncated));
    }
    let marker = &decision.marker;
    let end = decision.end();
    let (value, span) = value_of(decision.slot)?;
    let source = visible.source();
    let members = visible.object(marker).map_or(&[][..], |node| verdict_object::members(node, scale));
    let around =
        [visible.answer_start.min(marker.span.start)..marker.span.start, end..visible.body.end.max(end)];
    let mut evidence = rationale::quoted_in(source, members);
    if evidence.is_empty() {
        evidence = rationale::quoted_in_lines(source, &visible.layout);
    }
    Ok(Reading {
        value,
        span: visible.folded.original(span),
        rationale: rationale::reason(source, members)
            .or_else(|| rationale::prose(source, &visible.layout, around)),
        evidence,
    })
}

/// The provider's signal outranks the text.
fn is_refused_by_provider(reply: &Reply<'_>) -> bool {
    reply.finish == FinishReason::ContentFilter || reply.refusal.is_some_and(|text| !text.trim().is_empty())
}

fn value_of(slot: Slot) -> Result<(Value, Range<usize>), Abstention> {
    let class = match slot {
        Slot::Holds { value, span, .. } => return Ok((value, span)),
        Slot::Nothing | Slot::Placeholder => UnparseableClass::NoVerdict,
        Slot::Conflict => UnparseableClass::Ambiguous,
        Slot::OffScale => UnparseableClass::OutOfRange,
    };
    Err(Abstention::Unparseable(class))
}
