//! How far two raters agree beyond chance.

mod bands;
mod cohen;
mod confusion;
mod resampled;

pub use bands::{Band, landis_koch};
pub use cohen::{CohenKappa, Distance, Kappa, StandardError, cohen_kappa};
pub use confusion::{BinaryIndexes, Confusion, ConfusionError};
pub use resampled::{bootstrap_kappa, jackknife_kappa};
