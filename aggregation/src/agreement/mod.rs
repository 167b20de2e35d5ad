//! How far two raters agree beyond chance.

mod bands;
mod cohen;
mod confusion;
mod fleiss;
mod gwet;
mod krippendorff;
pub(crate) mod level;
mod ratings;
mod resampled;

pub use bands::{Band, landis_koch};
pub use cohen::{CohenKappa, Distance, Kappa, StandardError, cohen_kappa};
pub use confusion::{BinaryIndexes, Confusion, ConfusionError};
pub use fleiss::{FleissKappa, fleiss_kappa};
pub use gwet::{GwetAc, gwet_ac};
pub use krippendorff::{KrippendorffAlpha, bootstrap_alpha, krippendorff_alpha};
pub use level::{CoefficientError, Level, PositionsError};
pub use ratings::{RatingCounts, RatingsError};
pub use resampled::{ACCELERATED_FROM, IntervalMethod, bootstrap_kappa, jackknife_kappa, kappa_interval};
pub(crate) use resampled::{Kernel, interval_of};
