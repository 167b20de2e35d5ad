//! The few cases worth reading first, of any number.

use super::report::{CaseLine, FailedCheckLine, Regression};

/// Cases that a list shows.
const MOST: usize = 10;

/// What a list shows of a case.
pub(super) trait Line {
    /// Case and criterion.
    fn name(&self) -> (&str, &str);
}

impl Line for CaseLine {
    fn name(&self) -> (&str, &str) {
        (&self.case, &self.criterion)
    }
}

impl Line for Regression {
    fn name(&self) -> (&str, &str) {
        (&self.case, &self.criterion)
    }
}

impl Line for FailedCheckLine {
    fn name(&self) -> (&str, &str) {
        (&self.check, &self.case)
    }
}

/// Keeps the cases of lowest rank; equal ranks by case and criterion, so that the order of arrival does not matter.
#[derive(Debug)]
pub(super) struct Extremes<L> {
    lines: Vec<(f64, L)>,
}

impl<L: Line> Extremes<L> {
    pub(super) fn new() -> Self {
        Self { lines: Vec::new() }
    }

    /// `name`: case and criterion.
    pub(super) fn offer(&mut self, rank: f64, name: (&str, &str), line: impl FnOnce() -> L) {
        let place = self.lines.partition_point(|(known, kept)| {
            known.total_cmp(&rank).then_with(|| kept.name().cmp(&name)).is_lt()
        });
        if place < MOST {
            self.lines.insert(place, (rank, line()));
            self.lines.truncate(MOST);
        }
    }

    pub(super) fn into_lines(self) -> Vec<L> {
        self.lines.into_iter().map(|(_, line)| line).collect()
    }
}
