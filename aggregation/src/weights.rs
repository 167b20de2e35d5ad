//! From kappa to weight, and the refusal to weigh when too few judges have any.
//!
//! With three judges weights change a majority only if one weight is greater than the sum of the other two, and no
//! weights can mend errors that judges share.

use crate::calibration::Status;
use crate::estimate::{Estimated, UndefinedReason};
use crate::panel_vote::Weights;
use crate::vote::JudgeId;

/// Kappa above which log-odds stop growing: at 0.9 a judge weighs 2.94, at 1 it would silence all others.
pub const LOG_ODDS_CLIP: f64 = 0.9;

/// How a kappa becomes a weight (specification 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `w = max(0, kappa)`.
    Kappa,
    /// `w = 2 atanh(min(kappa, 0.9))` for positive kappa: optimal for independent binary judges on balanced
    /// classes, whose accuracy is `(1 + kappa) / 2`.
    LogOdds,
}

impl Scheme {
    /// The weight of a judge, at least 0. A kappa that is not a number weighs 0.
    pub fn weight(self, kappa: f64) -> f64 {
        if !kappa.is_finite() {
            return 0.0;
        }
        match self {
            Self::Kappa => kappa.clamp(0.0, 1.0),
            Self::LogOdds => 2.0 * kappa.clamp(0.0, LOG_ODDS_CLIP).atanh(),
        }
    }
}

/// The kappas that weights are made of, from each judge's calibration on **this** criterion: its status and its headline
/// kappa. A judge that failed, or of which too little is known, is left out and weighs 0, as does one that was never
/// calibrated (specification 4.3).
pub fn calibrated_weights(calibrations: impl IntoIterator<Item = (JudgeId, Status, Estimated)>) -> Weights {
    let usable = |(judge, status, kappa): (JudgeId, Status, Estimated)| {
        let kappa = kappa.ok().filter(|_| status.has_weight())?;
        Some((judge, kappa.value))
    };
    Weights(calibrations.into_iter().filter_map(usable).collect())
}

/// The weights of the judges that voted, in their order; a judge without calibration weighs 0.
///
/// `NoPositiveWeight` if fewer than `quorum` judges (at least one) have a positive weight: the caller gives the
/// unweighted result, warns and escalates.
pub fn weigh<'a>(
    judges: impl IntoIterator<Item = &'a JudgeId>,
    weights: &Weights,
    scheme: Scheme,
    quorum: usize,
) -> Result<Vec<f64>, UndefinedReason> {
    let weighed: Vec<f64> = judges
        .into_iter()
        .map(|judge| weights.0.get(judge).map_or(0.0, |&kappa| scheme.weight(kappa)))
        .collect();
    let positive = weighed.iter().filter(|weight| **weight > 0.0).count();
    if positive < quorum.max(1) { Err(UndefinedReason::NoPositiveWeight) } else { Ok(weighed) }
}

#[cfg(test)]
mod tests {
    use super::{Scheme, calibrated_weights, weigh};
    use crate::calibration::Status;
    use crate::estimate::{Estimate, Undefined, UndefinedReason};
    use crate::panel_vote::Weights;
    use crate::vote::JudgeId;

    #[test]
    fn useless_judges_weigh_nothing() {
        for scheme in [Scheme::Kappa, Scheme::LogOdds] {
            for kappa in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
                assert!(scheme.weight(kappa).abs() <= 0.0, "{scheme:?} {kappa}");
            }
        }
    }

    #[test]
    fn log_odds_stop_growing_at_nine_tenths() {
        assert!((Scheme::LogOdds.weight(1.0) - Scheme::LogOdds.weight(0.9)).abs() <= 0.0);
        assert!((Scheme::LogOdds.weight(0.9) - 2.944_438_979_166_44).abs() < 1e-12);
        // To first order twice the kappa.
        assert!((Scheme::LogOdds.weight(0.01) - 0.02).abs() < 1e-5);
    }

    #[test]
    fn only_statuses_that_can_be_trusted_give_weight() {
        let known = |value| Ok(Estimate { value, interval: None, n: 60, n_dropped: 0 });
        let unknown = Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 0 });
        let check = |status, kappa, weight: Option<f64>| {
            let weights = calibrated_weights([(JudgeId::new("a"), status, kappa)]);
            assert_eq!(weights.0.get(&JudgeId::new("a")).copied(), weight, "{status:?}");
        };
        check(Status::Calibrated, known(0.8), Some(0.8));
        check(Status::CalibratedAtCeiling, known(0.5), Some(0.5));
        check(Status::Weak, known(0.45), Some(0.45));
        check(Status::Failed, known(0.35), None);
        check(Status::Inconclusive, known(0.9), None);
        check(Status::Calibrated, unknown, None);
        let judges = ["a", "b"].map(JudgeId::new);
        let weights = calibrated_weights([(judges[0].clone(), Status::Weak, known(0.45))]);
        assert_eq!(weigh(&judges, &weights, Scheme::Kappa, 1), Ok(vec![0.45, 0.0]));
    }

    #[test]
    fn fewer_positive_weights_than_the_quorum_are_refused() {
        let judges = ["a", "b", "c"].map(JudgeId::new);
        let weights = Weights([(JudgeId::new("a"), 0.5), (JudgeId::new("b"), 0.25)].into());
        let check = |quorum| weigh(&judges, &weights, Scheme::Kappa, quorum);
        assert_eq!(check(2), Ok(vec![0.5, 0.25, 0.0]));
        assert_eq!(check(3), Err(UndefinedReason::NoPositiveWeight));
        assert_eq!(
            weigh(&judges, &Weights::default(), Scheme::Kappa, 0),
            Err(UndefinedReason::NoPositiveWeight)
        );
    }
}
