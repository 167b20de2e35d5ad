//! Values against a limit: bounds, the decision, its guards, and how many more cases would decide.
//!
//! Owns what all gates share; does not know where the values come from.

use crate::estimate::{ConfidenceInterval, Decision, UndefinedReason};
use crate::numeric::{Clustered, clustered_mean, student_quantile, wilson};

use super::share::{exact_bounds, more_for_share, two_values};
use super::skew::with_one_more;
use super::{GateBounds, GateOutcome, GateReason, GateRule, SLACK, ShareReport, SkewGuard};

/// A limit with everything that decides how to compare with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub threshold: f64,
    /// Least and greatest value that there can be.
    pub ends: (f64, f64),
    /// Whether the threshold itself is not enough.
    pub is_strict: bool,
    pub rule: GateRule,
    pub confidence: f64,
    pub min_n: usize,
    pub max_missing: f64,
    pub skew: SkewGuard,
}

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Mean,
    /// Of values that are 0 or 1.
    Share,
}

/// One case as its gate reads it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    /// `None`: missing.
    pub range: Option<Range>,
    pub source: Option<u64>,
    pub covered: bool,
}

/// A value with the lowest and the highest that it may become; all the same unless it is pending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub value: f64,
    pub lowest: f64,
    pub highest: f64,
    pub is_pending: bool,
}

/// Decides by specification 7.1: the bounds first, then the guards that may make the decision inconclusive.
pub(super) fn decide(limit: &Limit, kind: Kind, observed: &[Observation]) -> GateOutcome {
    let own = compare(limit, kind, observed, |range| range.value);
    let n_missing = observed.len() - own.n;
    let n_pending = observed.iter().filter(|one| one.range.is_some_and(|range| range.is_pending)).count();
    let moved = (n_pending > 0).then(|| {
        let low = compare(limit, kind, observed, |range| range.lowest);
        (low, compare(limit, kind, observed, |range| range.highest))
    });
    let pending_may_change = moved
        .as_ref()
        .is_some_and(|(low, high)| low.decision != own.decision || high.decision != own.decision);
    let reason = if own.n == 0 {
        GateReason::NothingScored
    } else if too_many(n_missing, observed.len(), limit.max_missing) {
        GateReason::TooManyMissing
    } else if limit.rule == GateRule::ThreeState && own.n < limit.min_n {
        GateReason::TooFewCases
    } else if own.decision == Decision::Inconclusive {
        own.reason
    } else if pending_may_change {
        GateReason::PendingCouldChange
    } else if covered_decide_otherwise(limit, kind, observed, own.decision) {
        GateReason::CoveredDecideOtherwise
    } else {
        GateReason::Decided
    };
    let is_decided = reason == GateReason::Decided;
    GateOutcome {
        decision: if is_decided { own.decision } else { Decision::Inconclusive },
        reason,
        estimate: own.estimate,
        bounds: own.bounds,
        n: own.n,
        clusters: own.clusters,
        n_pending,
        n_missing,
        pending_range: moved.and_then(|(low, high)| low.estimate.ok().zip(high.estimate.ok())),
        needed_more: if is_decided { None } else { own.needed_more(limit, kind) },
        share: own.share(limit, kind),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub(super) fn too_many(missing: usize, all: usize, most: f64) -> bool {
    missing as f64 > most * all as f64 + SLACK
}

fn covered_decide_otherwise(limit: &Limit, kind: Kind, observed: &[Observation], decision: Decision) -> bool {
    let covered: Vec<Observation> = observed.iter().copied().filter(|one| one.covered).collect();
    let is_whole = covered.iter().filter(|one| one.range.is_some()).count()
        == observed.iter().filter(|one| one.range.is_some()).count();
    !is_whole && compare(limit, kind, &covered, |range| range.value).decision != decision
}

/// The bare comparison.
struct Compared {
    decision: Decision,
    /// Of an inconclusive decision.
    reason: GateReason,
    estimate: Result<f64, UndefinedReason>,
    bounds: Result<GateBounds, UndefinedReason>,
    /// The bounds under the guard against skew, where they stopped a decision.
    guarded: Option<(f64, GateBounds)>,
    n: usize,
    clusters: usize,
}

fn compare(limit: &Limit, kind: Kind, observed: &[Observation], pick: impl Fn(&Range) -> f64) -> Compared {
    let (mut values, mut sources) = (Vec::new(), Vec::new());
    for one in observed {
        if let Some(range) = &one.range {
            values.push(pick(range));
            sources.push(one.source);
        }
    }
    let mean = clustered_mean(&values, sources.iter().copied());
    let estimate = if mean.n == 0 { Err(UndefinedReason::Empty) } else { Ok(mean.mean) };
    let bounds = estimate.and_then(|_| bounds(limit, kind, &values, mean));
    let bare = match limit.rule {
        GateRule::Point => limit.by_point(estimate),
        GateRule::ThreeState => limit.by_bounds(bounds),
    };
    let guarded = match limit.rule {
        GateRule::Point => None,
        GateRule::ThreeState => guarded(limit, kind, &values, &sources, bare),
    };
    let stopped = guarded.filter(|(_, own)| limit.by_bounds(Ok(*own)) != bare);
    let reason = match (bounds, stopped) {
        (Err(_), _) => GateReason::NoVarianceEstimate,
        (Ok(_), Some(_)) => GateReason::OneMoreCouldChange,
        (Ok(_), None) => GateReason::BoundsHoldThreshold,
    };
    let decision = if stopped.is_some() { Decision::Inconclusive } else { bare };
    Compared { decision, reason, estimate, bounds, guarded: stopped, n: mean.n, clusters: mean.clusters }
}

impl Limit {
    fn reaches(&self, value: f64) -> bool {
        if self.is_strict { value > self.threshold + SLACK } else { value >= self.threshold - SLACK }
    }

    fn by_point(&self, estimate: Result<f64, UndefinedReason>) -> Decision {
        match estimate {
            Ok(value) if self.reaches(value) => Decision::Pass,
            Ok(_) => Decision::Fail,
            Err(_) => Decision::Inconclusive,
        }
    }

    fn by_bounds(&self, bounds: Result<GateBounds, UndefinedReason>) -> Decision {
        match bounds {
            Ok(own) if self.reaches(own.lower) => Decision::Pass,
            Ok(own) if !self.reaches(own.upper) => Decision::Fail,
            Ok(_) | Err(_) => Decision::Inconclusive,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    fn quantile(&self, clusters: usize) -> Option<f64> {
        student_quantile(self.confidence, clusters as f64 - 1.0)
    }
}

fn bounds(limit: &Limit, kind: Kind, values: &[f64], mean: Clustered) -> Result<GateBounds, UndefinedReason> {
    if mean.clusters < 2 {
        return Err(UndefinedReason::NoVarianceEstimate);
    }
    let half = limit.quantile(mean.clusters).ok_or(UndefinedReason::NoVarianceEstimate)? * mean.error;
    let student = GateBounds { error: mean.error, lower: mean.mean - half, upper: mean.mean + half };
    Ok(match kind {
        Kind::Mean => student,
        Kind::Share if mean.clusters == mean.n => exact_bounds(values, 0.0, 1.0, mean.n, limit.confidence)
            .map_or(student, |(lower, upper)| GateBounds { lower, upper, ..student }),
        // Sources that do not differ say nothing of how much sources vary: each counts as one case.
        Kind::Share => {
            let trials = if mean.error > 0.0 { mean.n } else { mean.clusters };
            exact_bounds(values, 0.0, 1.0, trials, limit.confidence).map_or(student, |(lower, upper)| {
                GateBounds { lower: lower.min(student.lower), upper: upper.max(student.upper), ..student }
            })
        }
    })
}

/// Mean and bounds as the guard against skew sees them; `None` where it has nothing to say.
fn guarded(
    limit: &Limit,
    kind: Kind,
    values: &[f64],
    sources: &[Option<u64>],
    bare: Decision,
) -> Option<(f64, GateBounds)> {
    let lowest = match (limit.skew, bare) {
        (SkewGuard::None, _) | (SkewGuard::OneMore, Decision::Inconclusive) => return None,
        (SkewGuard::OneMore, Decision::Pass) => true,
        (SkewGuard::OneMore, Decision::Fail) => false,
    };
    let is_shared = clustered_mean(values, sources.iter().copied()).clusters < values.len();
    if kind == Kind::Share && !is_shared {
        return None;
    }
    let (more, more_sources) = with_one_more(values, sources, lowest);
    let mean = clustered_mean(&more, more_sources);
    let mut own = bounds(limit, kind, &more, mean).ok()?;
    if let Some((low, high)) = two_values(values, limit.ends).filter(|_| !is_shared) {
        let (lower, upper) = exact_bounds(values, low, high, values.len(), limit.confidence)?;
        own = GateBounds { lower: own.lower.min(lower), upper: own.upper.max(upper), ..own };
    }
    Some((mean.mean, own))
}

impl Compared {
    /// `n* = (t · s / (mean - threshold))²`, less those that are there; the standard error carries the clusters.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    fn needed_more(&self, limit: &Limit, kind: Kind) -> Option<u64> {
        let (mean, bounds) = self.guarded.or_else(|| self.estimate.ok().zip(self.bounds.ok()))?;
        let distance = (mean - limit.threshold).abs();
        let ratio = limit.quantile(self.clusters)? * bounds.error / distance;
        let n = self.n as f64;
        let mut least = (n * ratio * ratio).max(limit.min_n as f64);
        if kind == Kind::Share {
            least = least.max(more_for_share(mean, limit, n)?);
        }
        let more = least.ceil() - n;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 10^15")]
        (distance > SLACK && (1.0..1e15).contains(&more)).then_some(more as u64)
    }

    /// The counts behind a share; none of a mean.
    fn share(&self, limit: &Limit, kind: Kind) -> Option<ShareReport> {
        let estimate = self.estimate.ok().filter(|_| kind == Kind::Share)?;
        #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and n")]
        let passed = (estimate * self.n as f64).round() as u64;
        let n = u64::try_from(self.n).ok()?;
        let interval: ConfidenceInterval = wilson(passed, n, limit.confidence).ok()?.interval?;
        let most_failures = crate::numeric::clopper_pearson_upper(n - passed.min(n), n, limit.confidence)?;
        Some(ShareReport { passed, failed: n - passed.min(n), interval, most_failures })
    }
}
