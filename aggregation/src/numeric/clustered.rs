//! The mean of values of which some belong together.

use std::collections::BTreeMap;

use crate::estimate::{ConfidenceInterval, Estimate, Estimated, Undefined, UndefinedReason};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Clustered {
    pub mean: f64,
    /// 0 below two clusters, where nothing is known of it.
    pub error: f64,
    pub n: usize,
    pub clusters: usize,
}

/// The mean with its cluster-robust standard error (CR1), `se² = G/(G-1) · Σ_g (Σ_{i in g} (x_i - mean))² / n²`.
///
/// Values whose cluster is `None` are clusters of their own; without any clusters this is `s / √n`. Source: Miller
/// 2024, arXiv 2411.00640; specification 7.1.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn clustered_mean(values: &[f64], clusters: impl IntoIterator<Item = Option<u64>>) -> Clustered {
    let n = values.len();
    if n == 0 {
        return Clustered::default();
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let (mut sums, mut squares, mut count) = (BTreeMap::new(), 0.0, 0_usize);
    for (value, cluster) in values.iter().zip(clusters) {
        if let Some(cluster) = cluster {
            *sums.entry(cluster).or_insert(0.0) += value - mean;
        } else {
            squares += (value - mean) * (value - mean);
            count += 1;
        }
    }
    squares += sums.values().map(|sum: &f64| sum * sum).sum::<f64>();
    count += sums.len();
    let groups = count as f64;
    let error = if count < 2 { 0.0 } else { (groups / (groups - 1.0) * squares).sqrt() / n as f64 };
    Clustered { mean, error, n, clusters: count }
}

impl Clustered {
    /// With Student's interval on `clusters - 1` degrees of freedom; none below two clusters or without variation.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    pub fn estimate(self, confidence: f64) -> Estimated {
        if self.n == 0 {
            return Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 0 });
        }
        let quantile = |clusters: usize| {
            let student = StudentsT::new(0.0, 1.0, clusters as f64 - 1.0).ok()?;
            let p = f64::midpoint(1.0, confidence);
            (p > 0.5 && p < 1.0).then(|| student.inverse_cdf(p))
        };
        let interval = Some(self.clusters)
            .filter(|clusters| *clusters > 1 && self.error > 0.0)
            .and_then(quantile)
            .map(|t| ConfidenceInterval {
                lo: self.mean - t * self.error,
                hi: self.mean + t * self.error,
                confidence,
            });
        Ok(Estimate { value: self.mean, interval, n: self.n, n_dropped: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::clustered_mean;
    use crate::estimate::UndefinedReason;

    #[test]
    fn without_clusters_it_is_the_plain_standard_error() {
        let own = clustered_mean(&[1.0, 2.0, 4.0], [None; 3]);
        assert!((own.error - (7.0_f64 / 3.0 / 3.0).sqrt()).abs() < 1e-12, "{own:?}");
        let apart = clustered_mean(&[1.0, 2.0, 4.0], [Some(1), Some(2), Some(3)]);
        assert!((own.error - apart.error).abs() < 1e-15);
    }

    #[test]
    fn copies_of_a_case_add_no_certainty() {
        let once = clustered_mean(&[0.0, 1.0, 1.0], [None; 3]);
        let twice = clustered_mean(
            &[0.0, 1.0, 1.0, 0.0, 1.0, 1.0],
            [Some(1), Some(2), Some(3), Some(1), Some(2), Some(3)],
        );
        assert!((once.error - twice.error).abs() < 1e-15);
    }

    #[test]
    fn nothing_has_no_mean_and_one_cluster_no_interval() {
        assert_eq!(clustered_mean(&[], []).estimate(0.95).unwrap_err().reason, UndefinedReason::Empty);
        let one = clustered_mean(&[1.0, 0.0], [Some(1), Some(1)]).estimate(0.95).unwrap();
        assert_eq!((one.value, one.interval), (0.5, None));
        let interval = clustered_mean(&[1.0, 0.0], [None, None]).estimate(0.95).unwrap().interval.unwrap();
        assert!((interval.hi - (0.5 + 12.706_204_736 * 0.5)).abs() < 1e-6);
    }
}
