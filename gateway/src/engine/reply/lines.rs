//! Lines of a text, without their line ends.

use std::ops::Range;

/// Every line of the range, in order. An empty range has none.
pub(super) fn lines(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end.min(text.len());
    let mut next = Some(range.start).filter(|start| *start < end);
    std::iter::from_fn(move || {
        let start = next?;
        let length = text.get(start..end)?.iter().position(|byte| *byte == b'\n');
        next = length.map(|length| start + length + 1).filter(|start| *start < end);
        Some(start..length.map_or(end, |length| start + length))
    })
}

/// An index of line ends, for many looks at the same text.
pub(super) struct Lines<'t> {
    text: &'t str,
    ends: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at);
        Self { text, ends: breaks.chain([text.len()]).collect() }
    }

    /// What is left of the line at `at`, then the lines below it.
    pub(super) fn from(&self, at: usize) -> impl Iterator<Item = Range<usize>> {
        let first = self.ends.partition_point(|end| *end < at);
        let mut start = at;
        self.ends.iter().skip(first).map(move |end| {
            let line = start..*end;
            start = *end + 1;
            line
        })
    }

    pub(super) fn text(&self, line: &Range<usize>) -> &'t str {
        self.text.get(line.clone()).unwrap_or_default()
    }
}
