//! When the panel may decide alone: the least confidence above which its error rate is bounded, with a guarantee.
//!
//! Fixed-sequence testing: from the highest confidence down, each distinct value is tested as a threshold by an exact
//! binomial test of "the error rate among the kept exceeds `risk`", and the last value before the first failure is the
//! threshold. Then `P(error rate among the kept ≤ risk) ≥ 1 - failure`. No correction for many tests is needed, because
//! the order is fixed beforehand and the first failure ends it.
//!
//! It holds for cases like the labelled ones: use random audits, not a sample enriched with hard cases; it is void when
//! a judge, prompt, rubric or panel changes. Sources: Bauer 1991; Jung, Brahman and Choi 2025, arXiv 2407.18370;
//! Angelopoulos et al. 2024 (conformal risk control); specification 6.2, `selective.json`.

use statrs::distribution::{Binomial, DiscreteCDF};

/// Slack of comparisons with a limit.
const SLACK: f64 = 1e-12;

/// What is promised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    /// The highest error rate among the cases that are kept, above 0 and below 1.
    risk: f64,
    /// The probability that the promise fails, above 0 and below 1.
    failure: f64,
}

/// One labelled case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Higher is surer, usually one less the disagreement. Finite.
    pub confidence: f64,
    /// The panel's verdict is not the person's.
    pub is_wrong: bool,
}

/// Why a threshold cannot be sought.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SelectiveError {
    #[error("`{name}` is {value}, not above 0 and below 1")]
    NotAShare { name: &'static str, value: f64 },
    #[error("the confidence of case {case} is {confidence}, not a finite number")]
    NotFinite { case: usize, confidence: f64 },
}

/// The threshold, and the tests that led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Keep cases of at least this confidence. `None`: no threshold can be promised, so every case goes to a person.
    pub threshold: Option<f64>,
    /// Share of the labelled cases that are kept, 0 to 1.
    pub coverage: f64,
    /// Fewest kept cases that could pass the test: `ceil(ln failure / ln(1 - risk))`, all of them right.
    pub least_kept: usize,
    /// The tests, from the highest confidence down; the last one may have failed.
    pub steps: Vec<Step>,
    /// Without a threshold: about how many more labels it takes, if errors stay as frequent as they are among the
    /// surest cases. `None` with a threshold, and where no number of labels would do.
    pub more_labels: Option<usize>,
    /// Conformal risk control: the least threshold at which the share of *all* cases that are kept and wrong stays
    /// within `risk` in expectation. A weaker promise, printed beside.
    pub joint_threshold: Option<f64>,
}

/// One test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub threshold: f64,
    pub kept: usize,
    pub errors: usize,
    /// `P(Bin(kept, risk) ≤ errors)`: small where the error rate is hardly above `risk`.
    pub p: f64,
}

impl Guarantee {
    pub fn new(risk: f64, failure: f64) -> Result<Self, SelectiveError> {
        for (name, value) in [("risk", risk), ("failure", failure)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(SelectiveError::NotAShare { name, value });
            }
        }
        Ok(Self { risk, failure })
    }

    /// Fewest kept cases, all right, that pass: `ceil(ln failure / ln(1 - risk))`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; as saturates"
    )]
    pub fn least_kept(self) -> usize {
        ((self.failure.ln() / (-self.risk).ln_1p()) - SLACK).ceil().max(1.0) as usize
    }

    /// Fewest kept cases that pass with so many errors. `None` beyond ten million.
    pub fn least_kept_with(self, errors: usize) -> Option<usize> {
        let passes = |kept: usize| self.p(errors, kept) <= self.failure;
        let (mut low, mut high) = (errors, self.least_kept().max(errors + 1));
        while !passes(high) {
            (low, high) = (high, high.checked_mul(2).filter(|next| *next < 10_000_000)?);
        }
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if passes(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    fn p(self, errors: usize, kept: usize) -> f64 {
        let (Ok(kept), Ok(errors)) = (u64::try_from(kept), u64::try_from(errors)) else { return 1.0 };
        Binomial::new(self.risk, kept).map_or(1.0, |binomial| binomial.cdf(errors))
    }
}

impl Default for Guarantee {
    /// At most one error in ten among the kept, with nine chances in ten.
    fn default() -> Self {
        Self { risk: 0.1, failure: 0.1 }
    }
}

/// Seeks the least confidence that can be promised. No cases: no threshold, and as many labels as the test needs.
///
/// A stricter promise keeps no more cases, as long as its first test is the same. A looser promise needs fewer cases
/// for its first test, and an error among those few ends it at once; that is the price of needing no correction.
pub fn select(cases: &[Judged], guarantee: Guarantee) -> Result<Selection, SelectiveError> {
    for (case, judged) in cases.iter().enumerate() {
        if !judged.confidence.is_finite() {
            return Err(SelectiveError::NotFinite { case, confidence: judged.confidence });
        }
    }
    let levels = levels(cases);
    let least_kept = guarantee.least_kept();
    let (mut steps, mut passed) = (Vec::new(), None);
    for &Level { confidence, kept, errors } in levels.iter().filter(|level| level.kept >= least_kept) {
        let step = Step { threshold: confidence, kept, errors, p: guarantee.p(errors, kept) };
        steps.push(step);
        if step.p > guarantee.failure {
            break;
        }
        passed = Some(step);
    }
    Ok(Selection {
        threshold: passed.map(|step| step.threshold),
        coverage: passed.map_or(0.0, |step| share(step.kept, cases.len())),
        least_kept,
        steps,
        more_labels: if passed.is_some() { None } else { more_labels(cases.len(), &levels, guarantee) },
        joint_threshold: joint_threshold(cases.len(), &levels, guarantee.risk),
    })
}

/// The kept cases at each distinct confidence.
struct Level {
    confidence: f64,
    kept: usize,
    errors: usize,
}

fn levels(cases: &[Judged]) -> Vec<Level> {
    let mut sorted: Vec<&Judged> = cases.iter().collect();
    sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let (mut levels, mut kept, mut errors) = (Vec::new(), 0, 0);
    // Sorted downwards: equal as numbers, so that 0 and -0 enter together.
    for same in sorted.chunk_by(|a, b| a.confidence <= b.confidence) {
        kept += same.len();
        errors += same.iter().filter(|judged| judged.is_wrong).count();
        if let Some(first) = same.first() {
            levels.push(Level { confidence: first.confidence, kept, errors });
        }
    }
    levels
}

/// About how many more labels until the first test passes, if the surest cases stay as often wrong as they are.
///
/// For each level: the kept cases that its error rate `e` needs, the fewest `k` whose test passes with `⌈e k⌉` errors,
/// scaled up from the kept to all labels. The least over the levels, since cases are dealt among them as now.
fn more_labels(n: usize, levels: &[Level], guarantee: Guarantee) -> Option<usize> {
    if n == 0 {
        return Some(guarantee.least_kept());
    }
    let needed = |level: &Level| {
        let kept = needed_kept(share(level.errors, level.kept), guarantee)?;
        // One more than now at least: now it does not pass.
        let labels = kept.saturating_mul(n).div_ceil(level.kept.max(1));
        Some(labels.saturating_sub(n).max(1))
    };
    levels.iter().filter_map(needed).min()
}

/// Kept cases at which an error rate passes; `None` if it is not below the risk.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small counts"
)]
fn needed_kept(rate: f64, guarantee: Guarantee) -> Option<usize> {
    if rate >= guarantee.risk - SLACK {
        return None;
    }
    let mut errors = 0;
    loop {
        let kept = guarantee.least_kept_with(errors)?;
        let expected = (rate * kept as f64 - SLACK).ceil().max(0.0) as usize;
        if expected <= errors {
            return Some(kept);
        }
        errors = expected;
    }
}

fn joint_threshold(n: usize, levels: &[Level], risk: f64) -> Option<f64> {
    let within = |level: &&Level| share(level.errors + 1, n + 1) <= risk + SLACK;
    levels.iter().take_while(within).last().map(|level| level.confidence)
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::{Guarantee, Judged, SelectiveError, select};

    fn cases(confidence: f64, right: usize, wrong: usize) -> Vec<Judged> {
        (0..right + wrong).map(|i| Judged { confidence, is_wrong: i >= right }).collect()
    }

    #[test]
    fn the_table_of_least_kept_cases() {
        let check = |risk, failure, least: [usize; 4]| {
            let guarantee = Guarantee::new(risk, failure).unwrap();
            let found = [0, 1, 2, 3].map(|errors| guarantee.least_kept_with(errors).unwrap());
            assert_eq!((found, guarantee.least_kept()), (least, least[0]), "{risk} {failure}");
        };
        check(0.10, 0.10, [22, 38, 52, 65]);
        check(0.10, 0.05, [29, 46, 61, 76]);
        check(0.05, 0.05, [59, 93, 124, 153]);
        check(0.20, 0.10, [11, 18, 25, 32]);
    }

    #[test]
    fn without_a_threshold_it_says_how_many_labels_are_missing() {
        let more = |cases: &[Judged]| {
            let selection = select(cases, Guarantee::default()).unwrap();
            assert_eq!(selection.threshold, None);
            selection.more_labels
        };
        assert_eq!(more(&[]), Some(22));
        assert_eq!(more(&cases(1.0, 10, 0)), Some(12));
        // One wrong in 30 needs 52 kept cases, since ceil(52 / 30) = 2 errors are to be expected then.
        assert_eq!(more(&cases(1.0, 29, 1)), Some(22));
        // Half of the labels are at the sure level: every missing one costs two.
        assert_eq!(more(&[cases(1.0, 11, 0), cases(0.5, 0, 11)].concat()), Some(22));
        assert_eq!(more(&cases(1.0, 9, 1)), None);
    }

    #[test]
    fn inputs_that_are_no_share_or_no_number_are_refused() {
        let name = "risk";
        assert_eq!(Guarantee::new(0.0, 0.1), Err(SelectiveError::NotAShare { name, value: 0.0 }));
        assert!(matches!(
            Guarantee::new(0.1, f64::NAN),
            Err(SelectiveError::NotAShare { name: "failure", .. })
        ));
        let bad = [cases(1.0, 1, 0), cases(f64::INFINITY, 1, 0)].concat();
        let error = select(&bad, Guarantee::default()).unwrap_err();
        assert_eq!(error, SelectiveError::NotFinite { case: 1, confidence: f64::INFINITY });
    }
}
