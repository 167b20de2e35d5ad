//! How far two raters agree beyond chance.

mod bands;
mod cohen;
mod confusion;

pub use bands::{Band, landis_koch};
pub use cohen::{CohenKappa, Distance, Kappa, cohen_kappa};
pub use confusion::{BinaryIndexes, Confusion, ConfusionError};
