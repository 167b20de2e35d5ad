//! The few cases worth reading first, of any number.

use super::report::CaseLine;

/// Cases that a list shows.
const MOST: usize = 10;

/// Keeps the cases of lowest rank; equal ranks by case and criterion, so that the order of arrival does not matter.
#[derive(Debug, Default)]
pub(super) struct Extremes {
    lines: Vec<(f64, CaseLine)>,
}

impl Extremes {
    pub(super) fn offer(&mut self, rank: f64, line: impl FnOnce() -> CaseLine, case: &str, criterion: &str) {
        let place = self.lines.partition_point(|(known, kept)| {
            known
                .total_cmp(&rank)
                .then_with(|| (kept.case.as_str(), kept.criterion.as_str()).cmp(&(case, criterion)))
                .is_lt()
        });
        if place < MOST {
            self.lines.insert(place, (rank, line()));
            self.lines.truncate(MOST);
        }
    }

    pub(super) fn into_lines(self) -> Vec<CaseLine> {
        self.lines.into_iter().map(|(_, line)| line).collect()
    }
}
