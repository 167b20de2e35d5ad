//! A reply made ready for reading: cleaned up, without reasoning, with quotes and JSON told apart.

use std::ops::Range;

use aggregation::vote::{Abstention, UnparseableClass};
use providers::chat::FinishReason;

use super::cleanup::Folded;
use super::json::{self, Node};
use super::layout::{self, Layout};
use super::markers::{Marker, Place};
use super::rationale::Source;
use super::{Reply, refusal, think};

#[derive(Debug)]
pub(super) struct Visible<'t> {
    original: &'t str,
    /// Reasoning is blanked out, so every offset stays.
    pub(super) folded: Folded,
    /// Without white space and fences around all of it.
    pub(super) body: Range<usize>,
    pub(super) layout: Layout,
    /// Where the reasoning ends and the answer begins.
    pub(super) answer_start: usize,
}

impl<'t> Visible<'t> {
    pub(super) fn of(original: &'t str) -> Self {
        let folded = Folded::new(original);
        let reasoning = reasoning(folded.text());
        let answer_start = reasoning.last().map_or(0, |range| range.end);
        let text = blanked(folded.text(), &reasoning);
        let body = layout::unwrap_fences(&text, 0..text.len());
        let layout = Layout::of(&text, body.clone());
        Self { original, folded: folded.with_text(text), body, layout, answer_start }
    }

    /// Up to the end of the body.
    pub(super) fn text(&self) -> &str {
        self.folded.text().get(..self.body.end).unwrap_or_default()
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { original: self.original, folded: &self.folded }
    }

    pub(super) fn object(&self, marker: &Marker) -> Option<&Node> {
        match marker.place {
            Place::Object(index) => self.layout.objects.get(index),
            Place::Text { .. } => None,
        }
    }

    /// Whether a marker that closes itself is the reply's last thing. A fence may close behind it.
    pub(super) fn ends_with(&self, marker: &Marker) -> bool {
        let behind = self.text().get(marker.span.end..).unwrap_or_default();
        marker.style.is_closed() && matches!(behind.trim(), "" | "```" | "````" | "~~~")
    }

    /// What a reply is in which nothing claims to be a verdict.
    pub(super) fn without_verdict(&self, reply: &Reply<'_>) -> Abstention {
        if reply.finish == FinishReason::Length {
            Abstention::Unparseable(UnparseableClass::Truncated)
        } else if refusal::is_refusal(&self.layout.own) {
            Abstention::Refused
        } else {
            Abstention::Unparseable(UnparseableClass::NoVerdict)
        }
    }
}

/// In a reply that is JSON as a whole, tags are text of its strings.
fn reasoning(text: &str) -> Vec<Range<usize>> {
    let whole = layout::unwrap_fences(text, 0..text.len());
    if json::is_whole(text, whole) { Vec::new() } else { think::find(text) }
}

fn blanked(text: &str, parts: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for part in parts {
        layout::overwrite(&mut bytes, part.clone(), b' ');
    }
    // Whole characters are overwritten, so what is left is valid UTF-8.
    String::from_utf8(bytes).unwrap_or_default()
}
