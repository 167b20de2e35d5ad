//! What a gate is given.

use super::GateError;
use super::comparison::{Observation, Range};

/// What a case says, in score01 (or, of a pair, the preference for the candidate).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GateScore {
    Known(f64),
    /// Waits for a person; until then the panel's value, which lies between its lowest and its highest vote.
    Pending {
        score: f64,
        lowest: f64,
        highest: f64,
    },
    Missing,
}

/// One case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateCase {
    pub score: GateScore,
    /// Cases of one source are not independent.
    pub source: Option<u64>,
    /// Whether every judge of the panel voted.
    pub covered: bool,
}

impl GateScore {
    pub(super) fn range(self) -> Option<Range> {
        match self {
            Self::Known(value) => Some(Range { value, lowest: value, highest: value, is_pending: false }),
            Self::Pending { score: value, lowest, highest } => {
                Some(Range { value, lowest, highest, is_pending: true })
            }
            Self::Missing => None,
        }
    }

    /// The range with every number from 0 to 1 and in order.
    pub(super) fn checked(self, case: usize) -> Result<Option<Range>, GateError> {
        let Some(range) = self.range() else { return Ok(None) };
        let numbers = [range.value, range.lowest, range.highest];
        if let Some(value) = numbers.into_iter().find(|value| !(0.0..=1.0).contains(value)) {
            return Err(GateError::Score { case, value });
        }
        if range.lowest > range.highest {
            return Err(GateError::PendingRange { case });
        }
        Ok(Some(range))
    }
}

/// The cases as they are compared, each number through `map`.
pub(super) fn observed(cases: &[GateCase], map: fn(f64) -> f64) -> Result<Vec<Observation>, GateError> {
    let one = |(place, case): (usize, &GateCase)| {
        let range = case.score.checked(place)?.map(|own| Range {
            value: map(own.value),
            lowest: map(own.lowest),
            highest: map(own.highest),
            is_pending: own.is_pending,
        });
        Ok(Observation { range, source: case.source, covered: case.covered })
    };
    cases.iter().enumerate().map(one).collect()
}
