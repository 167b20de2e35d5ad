//! Tribunal: a panel-of-judges gateway.

pub mod case;
pub mod engine;
pub mod judge;
pub mod kinship;
pub mod panel;
pub mod rubric;
pub mod settings;
pub mod templates;
