//! Whether a judge favours answers of its own family.
//!
//! Per case `d = (own - own reference) - (others - others' reference)`: how much more the judge thinks of its family's
//! answer, and less of the others', than the reference does. The effect is the mean of `d`.
//!
//! Sources: Panickssery et al. 2024, Wataoka et al. 2024; specification 5.3, `self_preference.json`.

use std::collections::BTreeMap;

use crate::draw::Draw;
use crate::estimate::UndefinedReason;
use crate::numeric::{HypothesisError, holm};

/// Effect, as a share of the scale, above which a significant one is flagged.
pub const MOST_EFFECT: f64 = 0.15;
/// `p` below which an effect is significant.
const LEVEL: f64 = 0.05;
/// Clusters up to which all signs are tried.
const MOST_EXACT: usize = 14;
/// Signs that are drawn otherwise.
const DRAWS: u32 = 10_000;
/// Slack of the comparison with the observed effect.
const SLACK: f64 = 1e-12;

/// One case: scores 0 to 1 of the answers of the judge's family and of other families.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FamilyScores {
    pub own: f64,
    pub others: f64,
    /// What people say of the same answers, or the mean of the judges of other families.
    pub own_reference: f64,
    pub others_reference: f64,
    /// Cases that belong together change sign together. `None`: on its own.
    pub source: Option<u64>,
}

/// The effect, and its test by flipping signs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfPreference {
    /// Mean of `d`, -2 to 2; positive favours the own family.
    pub effect: f64,
    /// Two-sided: the share of sign patterns with at least as large a mean; `(1 + hits) / (1 + draws)` if drawn.
    pub p: f64,
    pub is_exact: bool,
    /// `mean own / mean own reference - 1`; `None` if the reference's mean is 0.
    pub relative: Option<f64>,
    /// The effect exceeds [`MOST_EFFECT`] and `p < 0.05`. Over several judges: [`self_preference_over_judges`].
    pub is_flagged: bool,
    pub n: usize,
}

/// Why there is no effect to measure.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SelfPreferenceError {
    #[error("`{field}` of case {case} is {value}, not between 0 and 1")]
    OutOfRange { case: usize, field: &'static str, value: f64 },
    #[error(transparent)]
    Undefined(#[from] UndefinedReason),
}

/// Measures one judge. Up to 14 sources the test is exact; beyond, 10 000 patterns are drawn from the seed.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn self_preference(cases: &[FamilyScores], seed: u64) -> Result<SelfPreference, SelfPreferenceError> {
    check(cases)?;
    if cases.is_empty() {
        return Err(UndefinedReason::Empty.into());
    }
    let n = cases.len() as f64;
    let mean = |part: fn(&FamilyScores) -> f64| cases.iter().map(part).sum::<f64>() / n;
    let effect = mean(FamilyScores::difference);
    let sums: Vec<f64> = cluster_sums(cases).iter().map(|sum| sum / n).collect();
    let is_exact = sums.len() <= MOST_EXACT;
    let p = if is_exact { exact_p(&sums, effect) } else { drawn_p(&sums, effect, seed) };
    let (own, reference) = (mean(|case| case.own), mean(|case| case.own_reference));
    Ok(SelfPreference {
        effect,
        p,
        is_exact,
        relative: (reference > 0.0).then(|| own / reference - 1.0),
        is_flagged: effect > MOST_EFFECT && p < LEVEL,
        n: cases.len(),
    })
}

/// Several judges asked the same question: each `p` becomes Holm's, and the flags follow. Source: Holm 1979.
pub fn self_preference_over_judges(
    judges: &[SelfPreference],
) -> Result<Vec<SelfPreference>, HypothesisError> {
    let own: Vec<f64> = judges.iter().map(|judge| judge.p).collect();
    let corrected = holm(&own)?.into_iter().zip(judges);
    Ok(corrected
        .map(|(p, judge)| SelfPreference { p, is_flagged: judge.effect > MOST_EFFECT && p < LEVEL, ..*judge })
        .collect())
}

impl FamilyScores {
    fn difference(&self) -> f64 {
        (self.own - self.own_reference) - (self.others - self.others_reference)
    }
}

fn check(cases: &[FamilyScores]) -> Result<(), SelfPreferenceError> {
    for (index, case) in cases.iter().enumerate() {
        let fields = [
            ("own", case.own),
            ("others", case.others),
            ("own_reference", case.own_reference),
            ("others_reference", case.others_reference),
        ];
        if let Some((field, value)) = fields.into_iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
            return Err(SelfPreferenceError::OutOfRange { case: index, field, value });
        }
    }
    Ok(())
}

fn cluster_sums(cases: &[FamilyScores]) -> Vec<f64> {
    let (mut sums, mut clusters) = (Vec::new(), BTreeMap::new());
    for case in cases {
        match case.source {
            None => sums.push(case.difference()),
            Some(source) => *clusters.entry(source).or_insert(0.0) += case.difference(),
        }
    }
    sums.extend(clusters.into_values());
    sums
}

/// The mean under a pattern of signs, one bit a cluster.
fn flipped(sums: &[f64], mut pattern: impl FnMut(usize) -> bool) -> f64 {
    sums.iter().enumerate().map(|(i, sum)| if pattern(i) { -sum } else { *sum }).sum()
}

fn exact_p(sums: &[f64], effect: f64) -> f64 {
    let patterns = 1_u32 << sums.len().min(MOST_EXACT);
    let hits =
        (0..patterns).filter(|bits| flipped(sums, |i| bits >> i & 1 == 1).abs() >= effect.abs() - SLACK);
    f64::from(u32::try_from(hits.count()).unwrap_or(patterns)) / f64::from(patterns)
}

fn drawn_p(sums: &[f64], effect: f64, seed: u64) -> f64 {
    let mut draw = Draw::new(seed, "self_preference");
    let mut hits = 0_u32;
    for _ in 0..DRAWS {
        let mut bits = 0_u64;
        let mean = flipped(sums, |i| {
            if i % 64 == 0 {
                bits = draw.signs();
            }
            bits >> (i % 64) & 1 == 1
        });
        hits += u32::from(mean.abs() >= effect.abs() - SLACK);
    }
    (1.0 + f64::from(hits)) / (1.0 + f64::from(DRAWS))
}

#[cfg(test)]
mod tests {
    use super::{FamilyScores, SelfPreferenceError, self_preference, self_preference_over_judges};
    use crate::estimate::UndefinedReason;

    fn case(own: f64, source: Option<u64>) -> FamilyScores {
        FamilyScores { own, others: 0.5, own_reference: 0.5, others_reference: 0.5, source }
    }

    #[test]
    fn many_cases_are_tested_by_seeded_draws() {
        let cases: Vec<FamilyScores> =
            (0..40).map(|i| case(if i % 4 == 0 { 0.4 } else { 0.9 }, None)).collect();
        let found = self_preference(&cases, 7).unwrap();
        assert!(!found.is_exact && found.is_flagged && (found.effect - 0.275).abs() < 1e-12, "{found:?}");
        assert_eq!(found, self_preference(&cases, 7).unwrap());
    }

    #[test]
    fn asking_of_many_judges_makes_each_harder_to_flag() {
        let cases: Vec<FamilyScores> = (0..6).map(|_| case(0.9, None)).collect();
        let one = self_preference(&cases, 0).unwrap();
        assert!(one.is_flagged && (one.p - 2.0 / 64.0).abs() < 1e-12, "{one:?}");
        let two = self_preference_over_judges(&[one, one]).unwrap();
        assert!(two.iter().all(|judge| !judge.is_flagged && (judge.p - 4.0 / 64.0).abs() < 1e-12), "{two:?}");
        assert_eq!(self_preference_over_judges(&[one]).unwrap(), [one]);
    }

    #[test]
    fn cases_of_one_source_count_once() {
        let apart: Vec<FamilyScores> = (0..8).map(|_| case(0.9, None)).collect();
        let together: Vec<FamilyScores> = (0..8).map(|i| case(0.9, Some(i / 4))).collect();
        assert!((self_preference(&apart, 0).unwrap().p - 2.0 / 256.0).abs() < 1e-12);
        assert!((self_preference(&together, 0).unwrap().p - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_score_is_refused_by_its_index() {
        let error = self_preference(&[case(0.5, None), case(1.5, None)], 0).unwrap_err();
        assert_eq!(error, SelfPreferenceError::OutOfRange { case: 1, field: "own", value: 1.5 });
        assert_eq!(self_preference(&[], 0).unwrap_err(), UndefinedReason::Empty.into());
    }
}
