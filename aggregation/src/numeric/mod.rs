//! Formulas without domain words.

mod clustered;
mod intervals;
mod quantile;

pub use clustered::{Clustered, clustered_mean};
pub use intervals::{normal_quantile, wilson};
pub use quantile::quantile;
