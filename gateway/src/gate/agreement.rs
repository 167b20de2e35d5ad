//! How far the judges of a run agree with one another, counted at constant memory.

use std::collections::BTreeMap;

use aggregation::agreement::{Confusion, Distance, cohen_kappa};
use aggregation::scale::{Preference, Scale, Value};

use super::report::PairAgreement;
use crate::engine::value_of_json;
use crate::verdict::VoteReport;

/// Counts of every pair of judges' labels on one criterion.
#[derive(Debug)]
pub(super) struct Agreement {
    scale: Scale,
    /// Row by row over the labels; the first judge's name sorts before the second's.
    tables: BTreeMap<(String, String), Vec<u64>>,
}

impl Agreement {
    /// `None` where values are no labels.
    pub(super) fn of(scale: &Scale) -> Option<Self> {
        (labels(scale) > 0).then(|| Self { scale: scale.clone(), tables: BTreeMap::new() })
    }

    pub(super) fn add(&mut self, votes: &[VoteReport]) {
        let known: Vec<(&str, usize)> = votes
            .iter()
            .filter_map(|vote| Some((vote.judge.as_str(), label_of(&self.scale, &vote.value)?)))
            .collect();
        let labels = labels(&self.scale);
        for (index, first) in known.iter().enumerate() {
            for second in known.iter().skip(index + 1) {
                let (first, second) = if first.0 <= second.0 { (first, second) } else { (second, first) };
                let table = self
                    .tables
                    .entry((first.0.to_owned(), second.0.to_owned()))
                    .or_insert_with(|| vec![0; labels * labels]);
                if let Some(count) = table.get_mut(first.1 * labels + second.1) {
                    *count += 1;
                }
            }
        }
    }

    pub(super) fn report(self) -> Vec<PairAgreement> {
        let (labels, distance) = (labels(&self.scale), distance(&self.scale));
        let positions = match &self.scale {
            Scale::Ordinal(own) => Some(own.values()),
            Scale::Continuous(_) | Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. } => None,
        };
        let of_pair = |((first, second), table): ((String, String), Vec<u64>)| {
            let cells = table.iter().enumerate();
            let pairs = cells.flat_map(|(cell, count)| {
                let pair = (Some(cell / labels), Some(cell % labels));
                std::iter::repeat_n(pair, usize::try_from(*count).unwrap_or(usize::MAX))
            });
            let kappa =
                Confusion::from_pairs(labels, pairs).map_err(|error| error.to_string()).and_then(|table| {
                    cohen_kappa(&table, distance, positions).map_err(|error| error.to_string())
                });
            let (kappa, undefined) = match kappa.map(|cohen| cohen.kappa) {
                Ok(Ok(kappa)) => (Some(kappa.value), None),
                Ok(Err(reason)) => (None, Some(reason.to_string())),
                Err(error) => (None, Some(error)),
            };
            PairAgreement { first, second, n: table.iter().sum(), kappa, undefined }
        };
        self.tables.into_iter().map(of_pair).collect()
    }
}

fn labels(scale: &Scale) -> usize {
    match scale {
        Scale::Ordinal(labels) => labels.values().len(),
        Scale::Nominal(labels) => labels.values().len(),
        Scale::PassFail => 2,
        Scale::Pairwise { .. } => 3,
        Scale::Continuous(_) => 0,
    }
}

fn distance(scale: &Scale) -> Distance {
    match scale {
        Scale::Ordinal(_) => Distance::Quadratic,
        Scale::Pairwise { .. } => Distance::Linear,
        Scale::Nominal(_) | Scale::PassFail | Scale::Continuous(_) => Distance::Nominal,
    }
}

/// The nearest label of a number, ties down; the tie of a pair stands half-way.
fn label_of(scale: &Scale, value: &serde_json::Value) -> Option<usize> {
    if let (Scale::Pairwise { .. }, Some("tie")) = (scale, value.as_str()) {
        return Some(1);
    }
    match (value_of_json(scale, value)?, scale) {
        (Value::Number(number), Scale::Ordinal(labels)) => {
            let distances = labels.values().iter().map(|label| (label - number).abs()).enumerate();
            distances.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(index, _)| index)
        }
        (Value::Category(index), _) => Some(index),
        (Value::Pass(passed), _) => Some(usize::from(passed)),
        (Value::Preference(preference), _) => Some(match preference {
            Preference::A => 0,
            Preference::Tie => 1,
            Preference::B => 2,
        }),
        (Value::Number(_), _) => None,
    }
}
