//! Tribunal: a panel-of-judges gateway.
//!
//! `cli` and `api` build one `App` and call the same `engine`; the engine asks judges through `providers`, folds their
//! votes with `aggregation`, and keeps every judgment in the `store` as its reply is read.

pub mod access;
pub mod api;
pub mod app;
pub mod case;
pub mod checks;
pub mod cli;
pub mod clock;
pub mod dropin;
pub mod engine;
pub mod gate;
pub mod in_force;
pub mod intake;
pub mod judge;
pub mod judgment;
pub mod kinship;
pub mod panel;
pub mod perimeter;
pub mod reference;
pub mod reload;
pub mod repeats;
pub mod rubric;
pub mod run;
pub mod settings;
pub mod shutdown;
pub mod store;
pub mod summary;
pub mod telemetry;
pub mod templates;
pub mod verdict;
