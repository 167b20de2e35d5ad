//! Tribunal: a panel-of-judges gateway.

pub mod case;
pub mod engine;
pub mod intake;
pub mod judge;
pub mod panel;
pub mod rubric;
pub mod store;
pub mod templates;
