//! Whether a judge still agrees with people as it did when it was calibrated.

use crate::estimate::UndefinedReason;

use super::{DriftError, SLACK};

/// A kappa with its standard error and the labels that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuditedKappa {
    pub kappa: f64,
    /// Not negative.
    pub error: f64,
    pub n: usize,
}

/// When a calibration is revoked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KappaAuditSettings {
    /// Fewer labels in the window say nothing.
    pub min_labels: usize,
    /// Drop of kappa that matters …
    pub least_drop: f64,
    /// … if its z exceeds this.
    pub least_z: f64,
    /// Kappa below which no drop is asked for: the least of a weak judge.
    pub least_kappa: f64,
}

impl Default for KappaAuditSettings {
    fn default() -> Self {
        Self { min_labels: 50, least_drop: 0.10, least_z: 1.645, least_kappa: 0.40 }
    }
}

/// Why a calibration is revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KappaAlarm {
    /// Kappa is below the least, whatever it was.
    BelowLeast,
    Dropped,
}

/// The comparison of two kappas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KappaAudit {
    /// Reference less now; positive is worse.
    pub drop: f64,
    /// The drop in standard errors of the difference. `TooFew` labels in the window; `NoVariation` without an error.
    pub z: Result<f64, UndefinedReason>,
    /// Revokes the calibration: the judge's weight is 0 from then on.
    pub alarm: Option<KappaAlarm>,
}

/// Compares the kappa of a window of fresh labels with that of the calibration: `z = (κ_ref - κ_now) / √(se² + se²)`.
/// Source: specification 8.
pub fn kappa_audit(
    reference: AuditedKappa,
    now: AuditedKappa,
    settings: KappaAuditSettings,
) -> Result<KappaAudit, DriftError> {
    for (list, own) in [("the reference", reference), ("the window", now)] {
        for (index, value) in [own.kappa, own.error].into_iter().enumerate() {
            if !value.is_finite() {
                return Err(DriftError::NotFinite { list, index, value });
            }
        }
        if own.error < 0.0 {
            return Err(DriftError::Setting { name: "standard error of kappa", value: own.error });
        }
    }
    let drop = reference.kappa - now.kappa;
    let error = reference.error.hypot(now.error);
    let z = if now.n < settings.min_labels {
        Err(UndefinedReason::TooFew)
    } else if error > SLACK {
        Ok(drop / error)
    } else {
        Err(UndefinedReason::NoVariation)
    };
    let has_dropped = drop >= settings.least_drop - SLACK && z.is_ok_and(|z| z > settings.least_z);
    let alarm = if now.n < settings.min_labels {
        None
    } else if now.kappa < settings.least_kappa - SLACK {
        Some(KappaAlarm::BelowLeast)
    } else if has_dropped {
        Some(KappaAlarm::Dropped)
    } else {
        None
    };
    Ok(KappaAudit { drop, z, alarm })
}

#[cfg(test)]
mod tests {
    use super::{AuditedKappa, KappaAlarm, KappaAuditSettings, kappa_audit};
    use crate::drift::DriftError;
    use crate::estimate::UndefinedReason;

    fn check(now: (f64, f64, usize), alarm: Option<KappaAlarm>) {
        let reference = AuditedKappa { kappa: 0.8, error: 0.05, n: 100 };
        let (kappa, error, n) = now;
        let now = AuditedKappa { kappa, error, n };
        let own = kappa_audit(reference, now, KappaAuditSettings::default()).unwrap();
        assert_eq!(own.alarm, alarm, "{own:?}");
    }

    #[test]
    fn a_sure_drop_or_a_low_kappa_revokes() {
        check((0.78, 0.05, 60), None);
        check((0.65, 0.05, 60), Some(KappaAlarm::Dropped));
        check((0.65, 0.20, 60), None);
        check((0.72, 0.0, 60), None);
        check((0.39, 0.50, 60), Some(KappaAlarm::BelowLeast));
        check((0.10, 0.05, 49), None);
    }

    #[test]
    fn what_cannot_be_compared_says_why() {
        let known = |kappa, error, n| AuditedKappa { kappa, error, n };
        let settings = KappaAuditSettings::default();
        let own = kappa_audit(known(0.8, 0.0, 50), known(0.8, 0.0, 50), settings).unwrap();
        assert_eq!(own.z, Err(UndefinedReason::NoVariation));
        let own = kappa_audit(known(0.8, 0.1, 50), known(0.8, 0.1, 10), settings).unwrap();
        assert_eq!(own.z, Err(UndefinedReason::TooFew));
        let error = kappa_audit(known(0.8, 0.1, 50), known(f64::NAN, 0.1, 50), settings).unwrap_err();
        assert!(matches!(error, DriftError::NotFinite { list: "the window", index: 0, .. }));
        assert!(kappa_audit(known(0.8, -0.1, 50), known(0.8, 0.1, 50), settings).is_err());
    }
}
