//! The settings in force, as `tribunal check --print` shows them: every default visible, no secret in it. What is
//! printed is a file that means the same.

use serde_json::{Map, Value as Json, json};

use super::aliases::{Alias, AliasTarget};
use super::config::Config;
use super::file::{CheckEntry, CriterionType, KeyEntry, RubricEntry};
use super::prices;
use super::quantity::{ByteSize, Period};
use crate::judge::{Judge, ProviderKind, Server};
use crate::panel::Panel;

impl Config {
    /// Effective settings as data, passwords masked; keys are shown by the name of their variable or file.
    pub fn effective(&self) -> Json {
        let body_limit = ByteSize(u64::try_from(self.server.body_limit_bytes).unwrap_or(u64::MAX));
        let store = self.file.store.clone().unwrap_or_else(|| super::store::STORE.to_owned());
        json!({
            "server": {"bind": self.server.bind.to_string(), "hosts": self.server.hosts, "body_limit": body_limit.to_string()},
            "store": store,
            "servers": named(&self.servers, |name, server| self.server_entry(name, server)),
            "judges": named(&self.judges, |name, judge| self.judge_entry(name, judge)),
            "models": self.file.models,
            "rubrics": named(&self.file.rubrics, |_, rubric| rubric_entry(rubric)),
            "panels": named(&self.panels, |name, panel| self.panel_entry(name, panel)),
            "aliases": named(&self.aliases, |_, alias| alias_entry(alias)),
        })
    }

    /// As [`Self::effective`], in YAML.
    pub fn effective_yaml(&self) -> String {
        let mut text = String::new();
        write_value(&self.effective(), &[], &self.notes(), &mut text);
        text
    }

    /// What is said beside a value, by its place.
    fn notes(&self) -> Notes {
        let method = "by scale: median for numbers, majority for labels";
        let prices =
            self.judges.iter().map(|(name, judge)| (["judges", name, "price"], prices::source(judge)));
        let unset = self.panels.iter().filter(|(_, panel)| panel.method.is_none());
        let methods = unset.map(|(name, _)| (["panels", name, "method"], method.to_owned()));
        prices.chain(methods).map(|(path, note)| (path.map(str::to_owned).to_vec(), note)).collect()
    }

    fn server_entry(&self, name: &str, server: &Server) -> Json {
        if let Some(replay) = &server.replay {
            let written = self.file.servers.get(name).and_then(|s| s.path.clone());
            return json!({
                "provider": server.provider,
                "path": written.unwrap_or_else(|| replay.path.display().to_string()),
                "read": replay.read,
                "perimeter": server.perimeter,
            });
        }
        let written = self.file.servers.get(name).and_then(|s| s.api_key.clone());
        let key = written
            .or_else(|| server.api_key_source.clone().map(|name| KeyEntry { env: Some(name), file: None }));
        json!({
            "provider": server.provider,
            "base_url": server.base_url,
            "api_key": key,
            "perimeter": server.perimeter,
            "limits": server.limits,
        })
    }

    fn judge_entry(&self, name: &str, judge: &Judge) -> Json {
        let written = self.file.judges.get(name);
        let template =
            written.and_then(|j| j.template.clone()).unwrap_or_else(|| judge.template.name.clone());
        let mut params = json!({
            "temperature": judge.params.temperature,
            "top_p": judge.params.top_p,
            "max_tokens": judge.params.max_tokens,
            "seed": judge.params.seed,
        });
        if let Some(params) = params.as_object_mut().filter(|_| judge.params.samples > 1) {
            params.insert("samples".to_owned(), json!(judge.params.samples));
        }
        let mut entry = json!({
            "server": judge.server.name,
            "model": judge.model,
            "family": judge.family,
            "template": template,
            "scoring": judge.scoring,
            "price": judge.price,
            "params": params,
            "optional": written.and_then(|j| j.optional).unwrap_or(false),
        });
        if let Some(entry) = entry.as_object_mut().filter(|_| judge.server.provider == ProviderKind::Replay) {
            entry.insert("only".to_owned(), json!(judge.only));
        }
        entry
    }

    fn panel_entry(&self, name: &str, panel: &Panel) -> Json {
        let written = self.file.panels.get(name).cloned().unwrap_or_default();
        let off = |threshold: Option<f64>| threshold.map_or_else(|| json!("off"), |t| json!(t));
        json!({
            "judges": written.judges,
            "rubric": written.rubric,
            "method": panel.method,
            "orders": panel.orders,
            "quorum": panel.quorum,
            "deadline": {
                "attempt": Period(panel.deadline.attempt),
                "case": Period(panel.deadline.case),
                "grace": Period(panel.deadline.grace),
            },
            "escalate": {
                "disagreement": off(panel.escalate.disagreement),
                "near_threshold": off(panel.escalate.near_threshold),
                "random_review_share": panel.random_review_share,
            },
            "adaptive": "off",
            "replacements": written.replacements,
            "gate": panel.gate,
            "retain": {"texts": panel.retain_texts.map(Period)},
            "perimeter": written.perimeter,
        })
    }
}

fn named<T>(values: &std::collections::BTreeMap<String, T>, entry: impl Fn(&str, &T) -> Json) -> Json {
    Json::Object(values.iter().map(|(name, value)| (name.clone(), entry(name, value))).collect())
}

fn rubric_entry(rubric: &RubricEntry) -> Json {
    let criteria = rubric.criteria.iter().map(|criterion| {
        let is_numeric = matches!(criterion.kind, Some(CriterionType::Ordinal | CriterionType::Continuous));
        // Numbers are spelled as in the file; a valid rubric's are readable.
        let number = |label: &String| serde_json::from_str::<Json>(label).ok().filter(Json::is_number);
        let scale = criterion.scale.iter().map(|label| {
            let number = if is_numeric { number(label) } else { None };
            number.unwrap_or_else(|| json!(label))
        });
        json!({
            "name": criterion.name,
            "type": criterion.kind,
            "scale": scale.collect::<Vec<Json>>(),
            "levels": criterion.levels,
            "pass": criterion.pass,
            "evidence": criterion.evidence.unwrap_or_default(),
            "tie": criterion.tie.unwrap_or(true),
            "instructions": criterion.instructions,
            "examples": criterion.examples,
        })
    });
    json!({
        "guidelines": rubric.guidelines,
        "ask": rubric.ask.unwrap_or_default(),
        "empty": rubric.empty.unwrap_or_default(),
        "criteria": criteria.collect::<Vec<Json>>(),
        "checks": rubric.checks.iter().map(CheckEntry::completed).collect::<Vec<_>>(),
        "failed_check": rubric.failed_check.unwrap_or_default(),
    })
}

fn alias_entry(alias: &Alias) -> Json {
    let to = match &alias.target {
        AliasTarget::Panel(name) => format!("panel/{name}"),
        AliasTarget::Judge(name) => format!("judge/{name}"),
    };
    json!({
        "to": to,
        "allow_outside": alias.allow_outside,
        "below_quorum": alias.below_quorum,
        "cache": alias.cache,
        "on_tie": alias.on_tie,
        "rubric": alias.rubric,
        "reverse": alias.reverse,
    })
}

/// Block style for what is nested, JSON for the rest, which YAML includes.
fn write_value(value: &Json, path: &[&str], notes: &Notes, text: &mut String) {
    match value {
        Json::Object(map) if !map.is_empty() => write_map(map, path, notes, text),
        Json::Array(list) if list.iter().any(|v| v.is_object() || v.is_array()) => {
            for element in list {
                indent(path.len(), text);
                text.push_str("- ");
                text.push_str(&flow(element));
                text.push('\n');
            }
        }
        other => {
            text.push_str(&flow(other));
            text.push('\n');
        }
    }
}

fn write_map(map: &Map<String, Json>, path: &[&str], notes: &Notes, text: &mut String) {
    for (key, value) in map {
        indent(path.len(), text);
        text.push_str(&word(key));
        text.push(':');
        let path: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
        let place: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        if let Some(note) = notes.get(&place) {
            text.extend([" ", &flow(value), "  # ", note, "\n"]);
            continue;
        }
        let nested = match value {
            Json::Object(map) => !map.is_empty(),
            Json::Array(list) => list.iter().any(|v| v.is_object() || v.is_array()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
        };
        text.push(if nested { '\n' } else { ' ' });
        write_value(value, &path, notes, text);
    }
}

/// Comments by the keys that lead to a value.
type Notes = std::collections::BTreeMap<Vec<String>, String>;

fn indent(depth: usize, text: &mut String) {
    text.push_str(&"  ".repeat(depth));
}

fn flow(value: &Json) -> String {
    match value {
        Json::String(string) => word(string),
        Json::Array(list) => format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Json::Object(map) => {
            let pairs: Vec<String> = map.iter().map(|(k, v)| format!("{}: {}", word(k), flow(v))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
    }
}

/// Plain where YAML cannot take it for anything else, else quoted.
fn word(string: &str) -> String {
    let reserved = ["true", "false", "null", "yes", "no", "on", "y", "n"];
    let is_plain = string.starts_with(|c: char| c.is_ascii_alphabetic())
        && string.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && !reserved.contains(&string.to_lowercase().as_str());
    if is_plain { string.to_owned() } else { Json::from(string).to_string() }
}
