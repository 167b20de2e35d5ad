//! Resampling: how far a statistic would move with other cases.

use std::collections::BTreeMap;

use crate::draw::Draw;
use crate::estimate::{ConfidenceInterval, UndefinedReason};
use crate::numeric::{normal_cdf, normal_quantile, quantile};

/// Resamples without a value above this share leave the interval undefined (specification 1.4).
pub const MOST_UNDEFINED: f64 = 0.05;

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    pub seed: u64,
    /// Times to resample: 2000 for a report, 10 000 for a published audit.
    pub resamples: usize,
    /// Above 0 and below 1.
    pub confidence: f64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { seed: 0, resamples: 2000, confidence: 0.95 }
    }
}

/// The statistic of every resample that had one.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    sorted: Vec<f64>,
    undefined: usize,
}

impl Distribution {
    /// From the statistics of resamples; what is not finite counts as undefined. `TooFew` if more than
    /// [`MOST_UNDEFINED`] of them are, or fewer than two are left.
    pub fn new(values: impl IntoIterator<Item = Option<f64>>) -> Result<Self, UndefinedReason> {
        let (mut sorted, mut undefined) = (Vec::new(), 0_usize);
        for value in values {
            match value.filter(|x| x.is_finite()) {
                Some(value) => sorted.push(value),
                None => undefined += 1,
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "far fewer resamples than 2^52")]
        let too_many = undefined as f64 > MOST_UNDEFINED * (undefined + sorted.len()) as f64;
        if too_many || sorted.len() < 2 {
            return Err(UndefinedReason::TooFew);
        }
        sorted.sort_by(f64::total_cmp);
        Ok(Self { sorted, undefined })
    }

    /// In increasing order.
    pub fn values(&self) -> &[f64] {
        &self.sorted
    }

    /// Resamples without a value.
    pub fn undefined(&self) -> usize {
        self.undefined
    }

    /// Standard deviation of the resamples (n - 1): the bootstrap's standard error.
    #[expect(clippy::cast_precision_loss, reason = "far fewer resamples than 2^52")]
    pub fn se(&self) -> f64 {
        let n = self.sorted.len() as f64;
        let mean = self.sorted.iter().sum::<f64>() / n;
        (self.sorted.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt()
    }

    /// Quantiles at `α/2` and `1 - α/2`, linear between neighbours. `None` for a confidence outside 0 to 1.
    pub fn percentile(&self, confidence: f64) -> Option<ConfidenceInterval> {
        let tail = tail_of(confidence)?;
        let (lo, hi) = (quantile(&self.sorted, tail)?, quantile(&self.sorted, 1.0 - tail)?);
        Some(ConfidenceInterval { lo, hi, confidence })
    }

    /// Bias-corrected and accelerated, from the statistic of all cases and of all but one each.
    ///
    /// `z0 = Φ⁻¹((#(< t) + #(≤ t)) / 2B)`, `a = Σu³ / (6 (Σu²)^1.5)` with `u` the jackknife's mean less its values;
    /// ends at `Φ(z0 + (z0 + z_q) / (1 - a (z0 + z_q)))`. `None` when the jackknife does not vary or the estimate
    /// lies outside all resamples: use [`Distribution::percentile`]. Source: Efron 1987, JASA 82.
    #[expect(clippy::cast_precision_loss, reason = "far fewer resamples than 2^52")]
    pub fn bca(&self, estimate: f64, jackknife: &[f64], confidence: f64) -> Option<ConfidenceInterval> {
        let tail = tail_of(confidence)?;
        let below = self.sorted.partition_point(|x| *x < estimate);
        let upto = self.sorted.partition_point(|x| *x <= estimate);
        let share = (below + upto) as f64 / (2.0 * self.sorted.len() as f64);
        if !(share > 0.0 && share < 1.0) {
            return None;
        }
        let (z0, a) = (normal_quantile(share), acceleration(jackknife)?);
        let end = |q: f64| {
            let z = z0 + normal_quantile(q);
            let place = normal_cdf(z0 + z / (1.0 - a * z))?;
            quantile(&self.sorted, place)
        };
        let (lo, hi) = (end(tail)?, end(1.0 - tail)?);
        (lo <= hi).then_some(ConfidenceInterval { lo, hi, confidence })
    }
}

fn tail_of(confidence: f64) -> Option<f64> {
    (confidence > 0.0 && confidence < 1.0).then_some((1.0 - confidence) / 2.0)
}

/// `None` when the values do not vary or are not finite.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn acceleration(jackknife: &[f64]) -> Option<f64> {
    let mean = jackknife.iter().sum::<f64>() / jackknife.len().max(1) as f64;
    let (mut squares, mut cubes) = (0.0, 0.0);
    for value in jackknife {
        let u = mean - value;
        squares += u * u;
        cubes += u * u * u;
    }
    let a = cubes / (6.0 * squares.powf(1.5));
    (squares > 0.0 && a.is_finite()).then_some(a)
}

/// Resamples cases, and hands the places of each resample to the statistic.
///
/// Cases with the same cluster are drawn together; `None` is a cluster of its own, and an empty list means that all
/// are. The purpose keeps two statistics of one seed apart. `Empty` without cases, otherwise as [`Distribution::new`].
pub fn bootstrap(
    n: usize,
    clusters: &[Option<u64>],
    purpose: &str,
    resampling: Resampling,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Result<Distribution, UndefinedReason> {
    if n == 0 {
        return Err(UndefinedReason::Empty);
    }
    let groups = groups(n, clusters);
    let mut draw = Draw::new(resampling.seed, purpose);
    let mut places = Vec::with_capacity(n);
    let mut resample = || {
        places.clear();
        for _ in 0..groups.len() {
            places.extend(groups.get(draw.below(groups.len())).into_iter().flatten());
        }
        statistic(&places)
    };
    Distribution::new((0..resampling.resamples).map(|_| resample()))
}

/// The places of each cluster, in the order of first appearance.
fn groups(n: usize, clusters: &[Option<u64>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known = BTreeMap::new();
    for place in 0..n {
        let cluster = clusters.get(place).copied().flatten();
        let group = cluster.and_then(|cluster| known.get(&cluster).copied());
        if let Some(group) = group.and_then(|group: usize| groups.get_mut(group)) {
            group.push(place);
        } else {
            if let Some(cluster) = cluster {
                known.insert(cluster, groups.len());
            }
            groups.push(vec![place]);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{Distribution, Resampling, bootstrap};
    use crate::estimate::UndefinedReason;

    #[test]
    fn same_seed_same_bits_and_another_purpose_other_bits() {
        let data = [0.1, 0.5, 0.9, 0.3, 0.7];
        let mean = |places: &[usize]| Some(places.iter().map(|&i| data[i]).sum::<f64>() / 5.0);
        let run = |purpose| bootstrap(5, &[], purpose, Resampling::default(), mean).unwrap();
        assert_eq!(run("a"), run("a"));
        assert_ne!(run("a"), run("b"));
    }

    #[test]
    fn clusters_are_drawn_whole() {
        let clusters = [Some(1), None, Some(1)];
        bootstrap(3, &clusters, "whole", Resampling::default(), |places| {
            let count = |place| places.iter().filter(|p| **p == place).count();
            assert_eq!(count(0), count(2));
            Some(0.0)
        })
        .unwrap();
    }

    #[test]
    fn too_many_undefined_resamples_leave_nothing() {
        let values = |bad: u8| (0..100_u8).map(move |i| (i >= bad).then_some(f64::from(i)));
        assert_eq!(Distribution::new(values(5)).unwrap().undefined(), 5);
        assert_eq!(Distribution::new(values(6)), Err(UndefinedReason::TooFew));
        assert_eq!(bootstrap(0, &[], "none", Resampling::default(), |_| None), Err(UndefinedReason::Empty));
    }

    #[test]
    fn a_jackknife_that_does_not_vary_has_no_accelerated_interval() {
        let distribution = Distribution::new([1.0, 2.0, 3.0].map(Some)).unwrap();
        assert_eq!(distribution.bca(2.0, &[1.0, 1.0], 0.95), None);
        assert_eq!(distribution.bca(0.0, &[1.0, 2.0], 0.95), None);
        assert_eq!(distribution.percentile(1.0), None);
    }
}
