//! Formulas without domain words.

mod bootstrap;
mod clustered;
mod correlation;
mod exact;
mod hypothesis;
mod intervals;
mod mann_whitney;
mod quantile;
mod special;

pub use bootstrap::{Distribution, MOST_UNDEFINED, Resampling, bootstrap};
pub use clustered::{Clustered, clustered_mean};
pub use correlation::{Correlation, CorrelationError, partial, partial_spearman, pearson, spearman};
pub use exact::{clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
pub use hypothesis::{HypothesisError, McNemar, holm, mc_nemar, sign_test};
pub use intervals::{normal_quantile, wilson};
pub use mann_whitney::{MannWhitney, MannWhitneyError, mann_whitney};
pub use quantile::quantile;
pub use special::{beta_quantile, binomial_cdf, normal_cdf, student_quantile};
