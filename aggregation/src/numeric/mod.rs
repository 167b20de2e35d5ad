//! Formulas without domain words.

mod clustered;
mod correlation;
mod hypothesis;
mod intervals;
mod quantile;

pub use clustered::{Clustered, clustered_mean};
pub use correlation::{Correlation, CorrelationError, partial, partial_spearman, pearson, spearman};
pub use hypothesis::{HypothesisError, McNemar, holm, mc_nemar, sign_test};
pub use intervals::{normal_quantile, student_quantile, wilson};
pub use quantile::quantile;
