//! Names for ranges of kappa. Labels for people only: nothing is ever decided by a band's name.

use serde::{Deserialize, Serialize};

/// Landis and Koch 1977, with half-open ranges so that no value falls between two (specification 1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// Below 0.
    Poor,
    /// 0 to 0.2.
    Slight,
    /// Above 0.2, to 0.4.
    Fair,
    /// Above 0.4, to 0.6.
    Moderate,
    /// Above 0.6, to 0.8.
    Substantial,
    /// Above 0.8.
    AlmostPerfect,
}

/// The band of a kappa (`landis_koch.json`); `None` for NaN.
pub fn landis_koch(kappa: f64) -> Option<Band> {
    if kappa.is_nan() {
        return None;
    }
    let upper_ends =
        [(0.2, Band::Slight), (0.4, Band::Fair), (0.6, Band::Moderate), (0.8, Band::Substantial)];
    if kappa < 0.0 {
        return Some(Band::Poor);
    }
    let named = upper_ends.into_iter().find(|(end, _)| kappa <= *end).map(|(_, band)| band);
    Some(named.unwrap_or(Band::AlmostPerfect))
}

impl Band {
    /// The Spanish names in six bands, as pages in Spanish show them.
    pub fn spanish(self) -> &'static str {
        match self {
            Self::Poor => "peor_que_el_azar",
            Self::Slight => "insignificante",
            Self::Fair => "aceptable_bajo",
            Self::Moderate => "moderado",
            Self::Substantial => "sustancial",
            Self::AlmostPerfect => "casi_perfecto",
        }
    }

    /// The Spanish names in five bands, which do not tell values below 0 from values up to 0.2.
    pub fn spanish_in_five(self) -> &'static str {
        match self {
            Self::Poor | Self::Slight => "pobre",
            Self::Fair => "justo",
            Self::Moderate => "moderado",
            Self::Substantial => "sustancial",
            Self::AlmostPerfect => "casi_perfecto",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::landis_koch;

    #[test]
    fn what_is_no_number_has_no_band() {
        assert_eq!(landis_koch(f64::NAN), None);
    }
}
