//! From markers to the one slot that decides.
//!
//! The final marker decides, valid or not. Conflicts are looked for where a reader would see one: inside a sentence,
//! between neighbouring objects, and between styles.

use std::ops::Range;

use aggregation::scale::Scale;

use super::cursor::Cursor;
use super::layout::Layout;
use super::markers::{self, Marker, Place, Style};
use super::quantity;
use super::slot::{self, Extent, Slot};
use super::verdict_object;

/// The marker that decides and what it holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision {
    pub(super) slot: Slot,
    pub(super) marker: Marker,
}

impl Decision {
    /// Where all that belongs to the verdict ends.
    pub(super) fn end(&self) -> usize {
        match self.slot {
            Slot::Holds { end, .. } if !self.marker.style.is_closed() => end,
            Slot::Holds { .. } | Slot::Nothing | Slot::Conflict | Slot::OffScale | Slot::Placeholder => {
                self.marker.span.end
            }
        }
    }
}

/// A reply of this many bytes may be a bare value.
const MAX_BARE_LEN: usize = 256;

/// `None` when nothing in the reply claims to be a verdict.
pub(super) fn decide(text: &str, layout: &Layout, body: &Range<usize>, scale: &Scale) -> Option<Decision> {
    let holds = |marker: &Marker| read_marker(text, layout, marker, scale);
    let strong = markers::strong(text, layout);
    let finals = Style::STRONG.map(|style| {
        let of_style: Vec<&Marker> = strong.iter().filter(|marker| marker.style == style).collect();
        last_of_style(&layout.own, &of_style, &holds)
    });
    if let Some(decision) = across_styles(finals.into_iter().flatten().collect()) {
        return Some(decision);
    }
    let weak = markers::weak(text, layout);
    last_of_style(&layout.own, &weak.iter().collect::<Vec<_>>(), &holds).or_else(|| bare(text, body, scale))
}

/// The last of a style's markers that is no placeholder. What stands in one sentence with it has to say the same.
///
/// Shared with `together`, where `holds` reads one criterion's entry.
pub(super) fn last_of_style(
    own: &str,
    markers: &[&Marker],
    holds: &dyn Fn(&Marker) -> Slot,
) -> Option<Decision> {
    let mut decision: Option<Decision> = None;
    let mut next_start = own.len();
    for marker in markers.iter().rev() {
        if let Some(decided) = &mut decision {
            if is_separated(own, marker, next_start) {
                break;
            }
            if holds(marker).disagrees_with(&decided.slot) {
                decided.slot = Slot::Conflict;
            }
        } else {
            decision = Some(holds(marker))
                .filter(|slot| *slot != Slot::Placeholder)
                .map(|slot| Decision { slot, marker: (*marker).clone() });
        }
        next_start = marker.span.start;
    }
    decision
}

/// The last style decides, unless another one states something else.
fn across_styles(mut finals: Vec<Decision>) -> Option<Decision> {
    finals.sort_by_key(|decision| decision.marker.span.start);
    let mut last = finals.pop()?;
    if finals.iter().any(|other| other.slot.disagrees_with(&last.slot)) {
        last.slot = Slot::Conflict;
    }
    Some(last)
}

/// Whether the judge had moved on between this marker and the next: text between two objects, a sentence's end
/// between two markers.
fn is_separated(own: &str, marker: &Marker, next_start: usize) -> bool {
    let between = own.get(marker.span.end..next_start).unwrap_or_default();
    match marker.style {
        Style::Json => between.chars().any(char::is_alphanumeric),
        Style::DoubleBracket | Style::Result | Style::Grade | Style::Line => {
            // A slot may have run up to the next marker, so look at the slot as well.
            let sentence = own.get(marker.span.start..next_start).unwrap_or(between);
            ends_sentence(sentence)
        }
    }
}

fn ends_sentence(text: &str) -> bool {
    text.char_indices().any(|(at, c)| match c {
        '\n' | '。' | '!' | '?' => true,
        '.' => text.get(at + 1..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)),
        _ => false,
    })
}

fn read_marker(text: &str, layout: &Layout, marker: &Marker, scale: &Scale) -> Slot {
    match &marker.place {
        Place::Object(index) => layout
            .objects
            .get(*index)
            .map_or(Slot::Placeholder, |object| verdict_object::read(text, object, scale)),
        Place::Text { slot, extent } => {
            let held = slot::read(text, slot.clone(), scale, *extent);
            let behind = Cursor::over(text, marker.span.end..text.len());
            let is_closed_number = matches!(held, Slot::Holds { .. }) && marker.style == Style::DoubleBracket;
            if is_closed_number && !quantity::fits_stated_maximum(behind, scale) {
                Slot::OffScale
            } else {
                held
            }
        }
    }
}

/// The whole reply is the value.
fn bare(text: &str, body: &Range<usize>, scale: &Scale) -> Option<Decision> {
    // A single bracket is a citation or another JSON value.
    let is_listed = text.get(body.clone())?.starts_with(['[', '{']);
    if is_listed || body.len() > MAX_BARE_LEN {
        return None;
    }
    let slot = slot::read(text, body.clone(), scale, Extent::Whole);
    let place = Place::Text { slot: body.clone(), extent: Extent::Whole };
    let marker = Marker { style: Style::Line, span: body.clone(), place };
    match slot {
        Slot::Nothing | Slot::Placeholder => None,
        Slot::Holds { .. } | Slot::Conflict | Slot::OffScale => Some(Decision { slot, marker }),
    }
}
