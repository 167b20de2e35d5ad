//! Servers, judges and the kinship of candidate models.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::judge::{Perimeter, Price, ProviderKind, ReplayField, ScoringMode};
use crate::settings::shape::HINT;

/// One account or machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerEntry {
    /// Whose API the server speaks.
    pub provider: Option<ProviderKind>,
    /// Address up to and including `/v1`. Default: the provider's own.
    pub base_url: Option<String>,
    /// Where the key is found, never the key itself. Default: the provider's usual variable, for its own address only.
    pub api_key: Option<KeyEntry>,
    /// Whether confidential cases may go there. Default: `inside` for loopback and private addresses, else `outside`.
    pub perimeter: Option<Perimeter>,
    /// Limits of the account or machine. Default: none.
    pub limits: Option<LimitsEntry>,
    /// Recorded judgments to answer from (`replay` only): JSONL, plain or `.gz`, relative to this file.
    pub path: Option<String>,
    /// Which field of a recorded line is read (`replay` only). Default `auto`.
    pub read: Option<ReplayField>,
}

/// Where a key is found: one of `env` and `file`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeyEntry {
    /// Name of the environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// File that holds the key and nothing else, relative to this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// What the server is asked at most. A limit that is absent is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsEntry {
    /// Calls in flight at once.
    pub concurrency: Option<NonZeroU32>,
    /// Calls in any minute.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens in any minute, prompts and answers together.
    pub tokens_per_minute: Option<NonZeroU32>,
}

/// A model on a server, with its prompt template and parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeEntry {
    /// A name from `servers`, or a provider (`openai`, `ollama`, …) at its usual address.
    pub server: Option<String>,
    /// The model's name as its server knows it.
    pub model: Option<String>,
    /// Judges do not judge candidates of their own family. Default: from a built-in table of model names.
    pub family: Option<String>,
    /// `g-eval`, `prometheus-2`, `direct`, or a folder (relative to this file) with one file per mode.
    /// Default `g-eval`; `prometheus-2` for models of that name.
    pub template: Option<String>,
    /// How an answer becomes a value. Default `auto`.
    pub scoring: Option<ScoringMode>,
    /// USD per million tokens. Default: the vendor's list price from a built-in, dated table where it is known; else
    /// unknown, so costs are null.
    pub price: Option<Price>,
    /// Sampling parameters.
    pub params: Option<ParamsEntry>,
    /// Whether the judge is left out, with a warning, when its server's key is missing. Default `false`.
    pub optional: Option<bool>,
    /// Recorded lines that belong to this judge, by their fields (`replay` only). Default: `judge` is the model's name.
    pub only: Option<BTreeMap<String, String>>,
}

/// Sampling parameters sent with each call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParamsEntry {
    /// 0 to 2. Default 0; 1 under `scoring: sampled`.
    pub temperature: Option<f64>,
    /// Above 0, at most 1. Default: the server's.
    pub top_p: Option<f64>,
    /// Cap on generated tokens. Default 512.
    pub max_tokens: Option<NonZeroU32>,
    /// Sample number i uses `seed + i`. Default: none.
    pub seed: Option<u64>,
    /// Answers per call under `scoring: sampled`, 2 to 64. Default 5.
    pub samples: Option<NonZeroU32>,
}

/// Where a candidate's model comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelEntry {
    /// The model that it was trained from: a judge of that model is excluded for its candidates.
    pub base: Option<String>,
    /// Its family. Default: from the built-in table, by its own name, then by `base`.
    pub family: Option<String>,
}

impl<'de> Deserialize<'de> for KeyEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

/// Written by hand so that a key pasted into the file is never repeated in a message.
struct KeyVisitor;

impl KeyVisitor {
    fn plain_text<E: de::Error>() -> E {
        E::custom(format_args!(
            "a key in plain text does not belong into this file{HINT}put it into an environment variable and write \
             `api_key: {{env: NAME}}`, or into a file and write `api_key: {{file: PATH}}`; treat the key that stood \
             here as leaked"
        ))
    }
}

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = KeyEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`{env: NAME}` or `{file: PATH}`")
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<KeyEntry, E> {
        Err(Self::plain_text())
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<KeyEntry, E> {
        Err(Self::plain_text())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeyEntry, A::Error> {
        let (mut env, mut file) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "env" => env = Some(map.next_value::<String>()?),
                "file" => file = Some(map.next_value::<String>()?),
                _ => {
                    return Err(de::Error::custom(format_args!(
                        "`api_key` has neither `env` nor `file`{HINT}write `{{env: NAME}}` or `{{file: PATH}}`"
                    )));
                }
            }
        }
        if env.is_some() == file.is_some() {
            return Err(de::Error::custom(format_args!(
                "`api_key` needs one of `env` and `file`{HINT}write `{{env: NAME}}` or `{{file: PATH}}`"
            )));
        }
        Ok(KeyEntry { env, file })
    }
}
