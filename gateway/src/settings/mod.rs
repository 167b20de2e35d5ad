//! Settings: `panel.yaml`, environment and flags become one valid [`Config`], or a list of everything that is wrong
//! with them, each with its place and the next step.
//!
//! The way of a file: text → `tree` (values with places) → `overrides` laid over it → `shape` (typed entries of
//! `file`, unknown keys, wrong types) → `servers`, `judges`, `rubrics`, `panels`, `aliases` (what one key means for
//! another) → [`Config`]. No step stops at its first finding.
//!
//! This is the only module that reads the environment. It must not call a server or open the store, and it renders a
//! prompt only to see that a template and a rubric go together.

mod address;
mod aliases;
mod asking;
mod checks;
mod config;
mod effective;
mod environment;
mod families;
pub mod file;
mod fingerprint;
mod judges;
mod load;
mod overrides;
mod panels;
mod prices;
mod problem;
mod quantity;
mod rubrics;
mod schema;
mod secret;
mod servers;
mod shape;
mod store;
#[cfg(test)]
pub(crate) mod tests;
mod tree;

pub use aliases::{Alias, AliasTarget, CATCH_ALL};
pub use config::{Config, ServerSettings};
pub use environment::Environment;
pub use families::{UNKNOWN as UNKNOWN_FAMILY, family};
pub use file::{BelowQuorum, OnTie, Reverse};
pub use fingerprint::{judge_fingerprint, model_fingerprint, panel_version};
pub use load::{Source, TemplateLoader, load, parse};
pub use overrides::Override;
pub(crate) use problem::suggestion;
pub use problem::{Problem, Problems};
pub use quantity::{ByteSize, Period};
pub use rubrics::built_in_names;
pub use schema::schema;
pub use secret::{ALLOW_ENV, KeyGap, MissingKey};
