//! Formulas without domain words.

mod clustered;
mod correlation;
mod intervals;
mod quantile;

pub use clustered::{Clustered, clustered_mean};
pub use correlation::{Correlation, CorrelationError, partial, partial_spearman, pearson, spearman};
pub use intervals::{normal_quantile, wilson};
pub use quantile::quantile;
