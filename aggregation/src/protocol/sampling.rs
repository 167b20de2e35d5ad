//! Which cases people label: a stratified draw that has enough of the hard ones (specification 2.3).
//!
//! A random sample of a good system is mostly easy cases, on which everybody agrees and from which kappa learns little.
//! The sample is enriched instead, and each case carries the weight that undoes it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::draw::Draw;

/// Slack of comparisons with a limit.
const SLACK: f64 = 1e-12;

/// What a provisional pass of the panel says about a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stratum {
    ClearBad,
    /// Near the threshold, or the judges disagree, or contradict themselves, or gave no value.
    Grey,
    ClearGood,
}

/// One case that may be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub id: String,
    /// The panel's value in score01; `None` where it has none, which is grey.
    pub score01: Option<f64>,
    /// The panel's disagreement, 0 to 1; `None` below two votes.
    pub disagreement: Option<f64>,
    pub is_order_inconsistent: bool,
}

/// Where the strata begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratification {
    /// The gate's threshold in score01.
    threshold: f64,
    /// How far from it a score is still grey.
    near: f64,
    /// Disagreement from which a case is grey.
    disagreement: f64,
}

/// How the sample is divided, as shares of it that sum to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allocation {
    clear_bad: f64,
    clear_good: f64,
}

/// Why no sample is drawn. Candidates count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SamplingError {
    #[error("`{name}` is {value}, not a number from 0 to 1")]
    NotAShare { name: &'static str, value: f64 },
    #[error("shares of the strata sum to {sum}, not to 1")]
    NotAWhole { sum: f64 },
    #[error("`{name}` of candidate {candidate} (`{id}`) is {value}, not a number from 0 to 1")]
    BadCandidate { candidate: usize, id: String, name: &'static str, value: f64 },
    #[error("candidate {candidate} repeats the id `{id}`")]
    RepeatedCandidate { candidate: usize, id: String },
    #[error("{wanted} cases are wanted and there are {candidates}\nhint: ask for no more than there are")]
    TooFewCandidates { wanted: usize, candidates: usize },
}

/// The drawn cases, sorted by id.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub cases: Vec<SampledCase>,
    /// One a stratum: clear bad, grey, clear good.
    pub strata: [StratumCount; 3],
}

/// A drawn case.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledCase {
    pub id: String,
    pub stratum: Stratum,
    /// Cases of the stratum for each one drawn, `N_h / n_h`.
    pub weight: f64,
}

/// What there was of a stratum, and what was drawn of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StratumCount {
    pub stratum: Stratum,
    pub available: usize,
    pub planned: usize,
    /// 0 of a stratum with cases means that weights cannot speak for them.
    pub drawn: usize,
}

impl Stratification {
    /// Grey within 0.15 of the threshold and from a disagreement of 0.5.
    pub fn new(threshold: f64) -> Result<Self, SamplingError> {
        Self::with_limits(threshold, 0.15, 0.5)
    }

    pub fn with_limits(threshold: f64, near: f64, disagreement: f64) -> Result<Self, SamplingError> {
        check_share("threshold", threshold)?;
        check_share("near", near)?;
        check_share("disagreement", disagreement)?;
        Ok(Self { threshold, near, disagreement })
    }

    pub fn stratum(self, candidate: &Candidate) -> Stratum {
        let Some(score) = candidate.score01 else { return Stratum::Grey };
        let disagrees = candidate.disagreement.is_some_and(|found| found >= self.disagreement - SLACK);
        let is_near = (score - self.threshold).abs() <= self.near + SLACK;
        if disagrees || is_near || candidate.is_order_inconsistent {
            Stratum::Grey
        } else if score < self.threshold {
            Stratum::ClearBad
        } else {
            Stratum::ClearGood
        }
    }
}

impl Allocation {
    pub fn new(clear_bad: f64, grey: f64, clear_good: f64) -> Result<Self, SamplingError> {
        check_share("clear_bad", clear_bad)?;
        check_share("grey", grey)?;
        check_share("clear_good", clear_good)?;
        let sum = clear_bad + grey + clear_good;
        if (sum - 1.0).abs() > 1e-9 {
            return Err(SamplingError::NotAWhole { sum });
        }
        Ok(Self { clear_bad, clear_good })
    }

    /// Cases of each stratum: the clear ones rounded down, the rest grey.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a few cases"
    )]
    fn plan(self, n: usize) -> [usize; 3] {
        let part = |share: f64| ((share * n as f64 + 1e-9).floor() as usize).min(n);
        let bad = part(self.clear_bad);
        let good = part(self.clear_good).min(n - bad);
        [bad, n - bad - good, good]
    }
}

impl Default for Allocation {
    /// A quarter clear bad, half grey, a quarter clear good.
    fn default() -> Self {
        Self { clear_bad: 0.25, clear_good: 0.25 }
    }
}

fn check_share(name: &'static str, value: f64) -> Result<(), SamplingError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(SamplingError::NotAShare { name, value }) }
}

/// Draws `n` cases without replacement. The same seed and candidates, in any order, give the same sample.
///
/// A clear stratum with too few cases gives the rest of its part to grey. If grey has too few, its rest goes to the clear
/// strata in halves, the odd one to clear bad, and what one of them cannot take to the other.
pub fn draw_sample(
    mut candidates: Vec<Candidate>,
    n: usize,
    stratification: Stratification,
    allocation: Allocation,
    seed: u64,
) -> Result<Sample, SamplingError> {
    check_candidates(&candidates)?;
    if n > candidates.len() {
        return Err(SamplingError::TooFewCandidates { wanted: n, candidates: candidates.len() });
    }
    candidates.sort_by(|a, b| a.id.cmp(&b.id));
    let planned = allocation.plan(n);
    let mut members: [Vec<String>; 3] = Default::default();
    for candidate in candidates {
        let [bad, grey, good] = &mut members;
        match stratification.stratum(&candidate) {
            Stratum::ClearBad => bad.push(candidate.id),
            Stratum::Grey => grey.push(candidate.id),
            Stratum::ClearGood => good.push(candidate.id),
        }
    }
    let [bad, grey, good] = &members;
    let sizes = fit(planned, [bad.len(), grey.len(), good.len()]);
    let strata = [Stratum::ClearBad, Stratum::Grey, Stratum::ClearGood];
    let purposes = ["sample_clear_bad", "sample_grey", "sample_clear_good"];
    let mut cases = Vec::with_capacity(n);
    let mut counts = strata.map(|stratum| StratumCount { stratum, available: 0, planned: 0, drawn: 0 });
    let parts = counts.iter_mut().zip(members).zip(planned.into_iter().zip(sizes)).zip(purposes);
    for (((count, mut ids), (planned, drawn)), purpose) in parts {
        *count = StratumCount { available: ids.len(), planned, drawn, ..*count };
        Draw::new(seed, purpose).shuffle(&mut ids);
        #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
        let weight = ids.len() as f64 / drawn.max(1) as f64;
        let stratum = count.stratum;
        cases.extend(ids.into_iter().take(drawn).map(|id| SampledCase { id, stratum, weight }));
    }
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Sample { cases, strata: counts })
}

fn check_candidates(candidates: &[Candidate]) -> Result<(), SamplingError> {
    let mut seen = BTreeSet::new();
    for (candidate, own) in candidates.iter().enumerate() {
        if !seen.insert(own.id.as_str()) {
            return Err(SamplingError::RepeatedCandidate { candidate, id: own.id.clone() });
        }
        for (name, value) in [("score01", own.score01), ("disagreement", own.disagreement)] {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(SamplingError::BadCandidate { candidate, id: own.id.clone(), name, value });
            }
        }
    }
    Ok(())
}

/// What can be drawn of each stratum. The sum of the plan is at most that of what there is.
fn fit([bad, grey, good]: [usize; 3], [all_bad, all_grey, all_good]: [usize; 3]) -> [usize; 3] {
    let (mut take_bad, mut take_good) = (bad.min(all_bad), good.min(all_good));
    let wanted_grey = grey + (bad - take_bad) + (good - take_good);
    let take_grey = wanted_grey.min(all_grey);
    let rest = wanted_grey - take_grey;
    let (room_bad, room_good) = (all_bad - take_bad, all_good - take_good);
    let more_good = (rest / 2).min(room_good);
    let more_bad = (rest - more_good).min(room_bad);
    take_bad += more_bad;
    take_good += (rest - more_bad).min(room_good);
    [take_bad, take_grey, take_good]
}

#[cfg(test)]
mod tests;
