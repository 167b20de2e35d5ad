//! Model names that clients ask for.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// What answers to a name: `panel/NAME`, `NAME` or `judge/NAME`, alone or with settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AliasEntry {
    pub to: Option<String>,
    pub allow_outside: Option<bool>,
    pub below_quorum: Option<BelowQuorum>,
    pub cache: Option<bool>,
    pub on_tie: Option<OnTie>,
    pub rubric: Option<String>,
    pub reverse: Option<Reverse>,
}

/// Status of an answer below quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum BelowQuorum {
    #[default]
    #[serde(rename = "503")]
    Unavailable,
    /// For clients that ask again only after a 429.
    #[serde(rename = "429")]
    TooManyRequests,
}

/// What is answered when no label has a strict majority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTie {
    /// The lead judge's answer, marked as escalated.
    #[default]
    Lead,
    Refuse,
}

/// Where the two candidates stand in the client's own prompt, each as `start…end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reverse {
    /// Frame of the first candidate.
    pub a: String,
    /// Frame of the second candidate.
    pub b: String,
}

/// The long form.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "AliasSettings")]
struct AliasTable {
    /// `panel/NAME`, `NAME` or `judge/NAME`.
    to: Option<String>,
    /// Needed when `"*"` names a panel with outside judges: any client's text may then leave. Default `false`.
    allow_outside: Option<bool>,
    /// Status of an answer below quorum: 503 or 429. Default 503.
    #[schemars(schema_with = "statuses")]
    below_quorum: Option<BelowQuorum>,
    /// Whether an answered request is answered again from the store. Default `false`.
    cache: Option<bool>,
    /// What is answered when no label has a strict majority. Default `lead`.
    on_tie: Option<OnTie>,
    /// A calibrated rubric whose weights count. Default: equal weights.
    rubric: Option<String>,
    /// Where the two candidates stand in the client's prompt, so that both orders can be asked.
    reverse: Option<Reverse>,
}

impl<'de> Deserialize<'de> for AliasEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AliasVisitor)
    }
}

struct AliasVisitor;

impl<'de> Visitor<'de> for AliasVisitor {
    type Value = AliasEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`panel/NAME`, or a mapping with `to: panel/NAME`")
    }
    fn visit_str<E: de::Error>(self, to: &str) -> Result<AliasEntry, E> {
        Ok(AliasEntry { to: Some(to.to_owned()), ..AliasEntry::default() })
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AliasEntry, A::Error> {
        let table = AliasTable::deserialize(de::value::MapAccessDeserializer::new(map))?;
        let AliasTable { to, allow_outside, below_quorum, cache, on_tie, rubric, reverse } = table;
        Ok(AliasEntry { to, allow_outside, below_quorum, cache, on_tie, rubric, reverse })
    }
}

impl JsonSchema for AliasEntry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Alias".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "oneOf": [{"type": "string"}, generator.subschema_for::<AliasTable>()],
            "description": "`panel/NAME`, `NAME` or `judge/NAME`, or a mapping with `to` and settings."
        })
    }
}

fn statuses(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let _ = generator;
    schemars::json_schema!({"enum": [503, 429, "503", "429", null]})
}
