//! Splits for cross-validation: no source is both learned from and measured on.

use std::collections::BTreeMap;

use crate::draw::Draw;
use crate::labelled::{LabelledCase, LabelledCases};

/// The cases that one split keeps back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fold {
    /// Sorted.
    held_out: Vec<usize>,
}

impl Fold {
    /// Indexes of the cases to measure on, sorted.
    pub(crate) fn held_out(&self) -> &[usize] {
        &self.held_out
    }

    /// The cases to learn from.
    pub(crate) fn others<'a>(&self, cases: &'a LabelledCases) -> Vec<&'a LabelledCase> {
        let learn = |index: &usize| self.held_out.binary_search(index).is_err();
        cases.cases().iter().enumerate().filter(|(index, _)| learn(index)).map(|(_, case)| case).collect()
    }
}

/// Deals the sources, shuffled and then sorted by label so that every fold gets its share of each, into at most
/// `count` folds (at least two). Fewer sources than folds: one fold a source; a single source: no folds.
pub(crate) fn folds(cases: &LabelledCases, count: usize, seed: u64) -> Vec<Fold> {
    let mut sources: BTreeMap<(bool, u64), Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.cases().iter().enumerate() {
        let own = (true, u64::try_from(index).unwrap_or(u64::MAX));
        sources.entry(case.source.map_or(own, |source| (false, source))).or_default().push(index);
    }
    let mut sources: Vec<Vec<usize>> = sources.into_values().collect();
    Draw::new(seed, "folds").shuffle(&mut sources);
    sources.sort_by_key(|source| {
        let first = source.first().and_then(|&index| cases.cases().get(index));
        first.and_then(|case| cases.scale().class_of(case.label))
    });
    let count = count.max(2).min(sources.len());
    if count < 2 {
        return Vec::new();
    }
    let mut folds = vec![Fold { held_out: Vec::new() }; count];
    for (place, source) in sources.into_iter().enumerate() {
        if let Some(fold) = folds.get_mut(place % count) {
            fold.held_out.extend(source);
        }
    }
    for fold in &mut folds {
        fold.held_out.sort_unstable();
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::folds;
    use crate::labelled::{LabelledCase, LabelledCases};
    use crate::scale::{Scale, Value};
    use crate::vote::{JudgeId, Rating, Scoring, Vote};

    fn cases(sources: impl Iterator<Item = Option<u64>>) -> LabelledCases {
        let rating = Rating {
            value: Value::Pass(true),
            scoring: Scoring::Discrete,
            distribution: None,
            fallback: false,
        };
        let vote = Vote { judge: JudgeId::new("a"), outcome: Ok(rating), pair: None };
        let case = |source| LabelledCase { votes: vec![vote.clone()], label: Value::Pass(true), source };
        LabelledCases::new(Scale::PassFail, sources.map(case).collect()).unwrap()
    }

    #[test]
    fn every_case_is_held_out_once_and_sources_stay_together() {
        let cases = cases((0..40).map(|i| (i % 3 > 0).then_some(i / 5)));
        let split = folds(&cases, 4, 7);
        let mut all: Vec<usize> = split.iter().flat_map(|fold| fold.held_out().to_vec()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..40).collect::<Vec<usize>>());
        for fold in &split {
            let learned = fold.others(&cases);
            assert_eq!(learned.len() + fold.held_out().len(), 40);
            for &index in fold.held_out() {
                let source = cases.cases()[index].source;
                assert!(source.is_none() || learned.iter().all(|case| case.source != source));
            }
        }
        assert_eq!(split, folds(&cases, 4, 7));
        assert_ne!(split, folds(&cases, 4, 8));
    }

    #[test]
    fn one_source_cannot_be_split() {
        assert!(folds(&cases([Some(1), Some(1)].into_iter()), 5, 0).is_empty());
        assert_eq!(folds(&cases([Some(1), Some(2)].into_iter()), 5, 0).len(), 2);
    }
}
