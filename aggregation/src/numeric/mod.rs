//! Formulas without domain words.

mod intervals;
mod quantile;

pub use intervals::{normal_quantile, wilson};
pub use quantile::quantile;
