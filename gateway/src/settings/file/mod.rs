//! `panel.yaml` as it is written: shapes only, nothing checked across keys.
//!
//! The doc comments here become the descriptions of the JSON Schema and of the reference page.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod alias;
mod check;
mod panel;
mod rubric;
mod servers;

pub use alias::{AliasEntry, BelowQuorum, OnTie, Reverse};
pub use check::{CheckEntry, CheckKind};
pub use panel::{
    AdaptiveEntry, DeadlineEntry, EscalateEntry, GateEntry, MethodEntry, PanelEntry, RetainEntry,
};
pub use rubric::{CriterionEntry, CriterionType, RubricEntry};
pub use servers::{JudgeEntry, KeyEntry, LimitsEntry, ModelEntry, ParamsEntry, ServerEntry};

use super::quantity::ByteSize;

/// Configuration of Tribunal: who judges what, and how their votes become one verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Tribunal panel.yaml")]
pub struct PanelFile {
    /// The gateway's own listener.
    pub server: ListenerEntry,
    /// Where judgments and verdicts are kept: a file for SQLite (relative to this file), or `postgres://…`.
    /// Default `tribunal.db`. A database password belongs into the environment variable `TRIBUNAL__STORE`.
    pub store: Option<String>,
    /// Accounts and machines that answer for judges. Limits belong here and are shared by all judges of a server.
    pub servers: BTreeMap<String, ServerEntry>,
    /// Models with their prompt template and parameters.
    pub judges: BTreeMap<String, JudgeEntry>,
    /// Kinship of the models that write candidates: a name, `*` for any characters, and what it was made from.
    pub models: BTreeMap<String, ModelEntry>,
    /// Named sets of criteria.
    pub rubrics: BTreeMap<String, RubricEntry>,
    /// Judges with the policy that folds their votes. At least one.
    pub panels: BTreeMap<String, PanelEntry>,
    /// Model names that clients may ask for, and the panel or judge that answers. `"*"` stands for every other name.
    pub aliases: BTreeMap<String, AliasEntry>,
}

/// The gateway's own listener.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListenerEntry {
    /// Address and port. Default `127.0.0.1:4600`; addresses that others can reach need keys.
    pub bind: Option<String>,
    /// Host names under which clients reach the gateway, such as `tribunal.example.com`. Requests under other names are refused; `localhost` and addresses need no entry.
    pub hosts: Vec<String>,
    /// Largest request body. Default `2MiB`.
    pub body_limit: Option<ByteSize>,
}

/// A list value or mapping key that may be written as a number: kept as text, spelled as in the file.
pub(super) fn word_list(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let _ = generator;
    schemars::json_schema!({"type": "array", "items": {"type": ["string", "number", "boolean"]}})
}
