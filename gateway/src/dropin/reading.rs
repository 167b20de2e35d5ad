//! One reply under a structure: a value that fits, or why there is none.

use aggregation::vote::{Abstention, UnparseableClass};
use providers::chat::FinishReason;
use serde_json::Value;

use crate::engine::reply::Unscaled;

use super::asked::Reply;
use super::candidates::{self, Candidate};
use super::contract::Structure;
use super::repair::{self, Misfit};

/// A value that keeps to the contract.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) value: Value,
    /// The bytes that say so, if nothing had to be repaired.
    pub(super) written: Option<String>,
    pub(super) candidate: Candidate,
}

/// The provider's signal outranks whatever stands in the reply.
pub(super) fn is_refused(reply: &Reply) -> bool {
    reply.finish == FinishReason::ContentFilter
        || reply.refusal.as_ref().is_some_and(|text| !text.trim().is_empty())
}

/// The last value of the reply that fits the structure. `tool`: the function that has to be called.
pub(super) fn read(reply: &Reply, structure: &Structure, tool: Option<&str>) -> Result<Read, Abstention> {
    if is_refused(reply) {
        return Err(Abstention::Refused);
    }
    let unscaled = Unscaled::of(&reply.text);
    let mut misfit = None;
    for candidate in candidates::of(reply, &unscaled, tool.is_some()) {
        if is_draft(reply, &candidate) {
            return Err(Abstention::Unparseable(UnparseableClass::Truncated));
        }
        match fit(&candidate.value, structure) {
            Ok(value) => {
                let is_as_written = value == candidate.value;
                let written = candidate.written.clone().filter(|_| is_as_written);
                return Ok(Read { value, written, candidate });
            }
            Err(found) => misfit = misfit.or(Some(found)),
        }
    }
    Err(without_value(reply, &unscaled, misfit))
}

/// An object with more text behind it, in a reply that was cut off: perhaps not the last word.
fn is_draft(reply: &Reply, candidate: &Candidate) -> bool {
    let behind = candidate.span.as_ref().and_then(|span| reply.text.get(span.end..)).unwrap_or_default();
    reply.finish == FinishReason::Length && !matches!(behind.trim(), "" | "```" | "````" | "~~~")
}

fn fit(value: &Value, structure: &Structure) -> Result<Value, Misfit> {
    let repaired = match repair::repaired(value, &structure.shape) {
        Ok(repaired) => repaired,
        Err(_) if structure.accepts(value) && structure.validator.is_some() => value.clone(),
        Err(misfit) => return Err(misfit),
    };
    if structure.accepts(&repaired) {
        Ok(repaired)
    } else if structure.accepts(value) {
        Ok(value.clone())
    } else {
        Err(Misfit::Domain)
    }
}

/// Why nothing could be read.
pub(super) fn without_value(reply: &Reply, read: &Unscaled<'_>, misfit: Option<Misfit>) -> Abstention {
    let class = match misfit {
        _ if reply.finish == FinishReason::Length => UnparseableClass::Truncated,
        Some(Misfit::Domain) => UnparseableClass::OutOfRange,
        None if read.is_refusal() => return Abstention::Refused,
        Some(Misfit::Form) | None => UnparseableClass::NoVerdict,
    };
    Abstention::Unparseable(class)
}
