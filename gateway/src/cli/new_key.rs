//! `tribunal keys create`: the one moment in which a key can be seen.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::exit::{Exit, Failure};
use super::keys::CreateArgs;
use super::{budget, output, setup};
use crate::access::{AccessKey, LOOKED_AT_EVERY, Role, Secret};
use crate::case::Sensitivity;
use crate::clock::rfc3339;
use crate::settings::Config;
use crate::store::Store;

pub(super) async fn create(
    config: &Config,
    store: &Arc<dyn Store>,
    args: &CreateArgs,
    now_us: i64,
) -> Result<Exit, Failure> {
    let may_ask = may_ask(config, &args.panels)?;
    if args.budget.is_some() {
        budget::refuse_unknown_prices_of_key(config, &may_ask)?;
    }
    let secret = Secret::draw().map_err(|error| Failure::new(Exit::Internal, error))?;
    let key = AccessKey {
        role: args.role,
        may_ask,
        sensitivity: args.sensitivity,
        allowance: args.budget,
        created_us: now_us,
        expires_us: args.expires.map(|period| now_us.saturating_add(micros(period.0))),
        ..AccessKey::of(&secret, &args.name, args.project.as_str())
    };
    let is_first = store.access_keys().await.map_err(setup::store_failure)?.is_empty();
    store.add_access_key(&key.to_row()).await.map_err(setup::store_failure)?;
    if args.json {
        output::line(&as_json(&key, &secret).to_string());
    } else {
        output::line(secret.expose());
    }
    output::note(&explanation(&key, is_first));
    Ok(Exit::Pass)
}

/// Names that panel.yaml has, each once, without `panel/`.
fn may_ask(config: &Config, wanted: &[String]) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = Vec::new();
    for wanted in wanted {
        let name = wanted.strip_prefix("panel/").unwrap_or(wanted);
        let is_known = match name.strip_prefix("judge/") {
            Some(judge) => config.judges.contains_key(judge),
            None => config.panels.contains_key(name),
        };
        if !is_known {
            let panels = config.panels.keys().cloned();
            let judges = config.judges.keys().map(|judge| format!("judge/{judge}"));
            let known: Vec<String> = panels.chain(judges).collect();
            return Err(Failure::usage(format!(
                "--panel {wanted}: no such panel or judge; hint: there are {}",
                known.join(", ")
            )));
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn as_json(key: &AccessKey, secret: &Secret) -> serde_json::Value {
    json!({
        "key": secret.expose(),
        "id": key.id,
        "name": key.name,
        "project": &*key.project,
        "role": key.role.name(),
        "may_ask": key.may_ask,
        "budget": key.allowance.map(|allowance| allowance.to_string()),
        "sensitivity": key.sensitivity.name(),
        "created": rfc3339(key.created_us),
        "expires": key.expires_us.map(rfc3339),
    })
}

fn explanation(key: &AccessKey, is_first: bool) -> String {
    let mut lines = vec![
        format!("key {} `{}`: shown this once, the store keeps its hash only", key.id, key.name),
        format!("  role      {}, {}", key.role.name(), meaning(key.role)),
        format!("  project   {}", key.project),
        format!("  may ask   {}", asks(key)),
        format!(
            "  budget    {}",
            key.allowance.map_or_else(|| String::from("none"), |it| format!("{it} USD"))
        ),
    ];
    lines.extend(counts_as(key.sensitivity).map(|level| format!("  counts as {level}, whatever is sent")));
    let expires = key.expires_us.map_or_else(|| String::from("when it is revoked"), rfc3339);
    lines.push(format!("  expires   {expires}"));
    lines.push(String::from(
        "clients send it as `Authorization: Bearer KEY` or `x-api-key: KEY`; OpenAI clients take it as OPENAI_API_KEY",
    ));
    if is_first {
        lines.push(format!(
            "this is the first key of this store: within {} seconds its gateways refuse every request without a key",
            LOOKED_AT_EVERY.as_secs()
        ));
    }
    lines.join("\n")
}

fn meaning(role: Role) -> &'static str {
    match role {
        Role::Judge => "asks panels and judges, and reads what came of it",
        Role::Annotate => "labels cases, and never sees what judges said",
        Role::Admin => "all of its project, and how the gateway is doing",
    }
}

fn asks(key: &AccessKey) -> String {
    if key.may_ask.is_empty() { String::from("every panel and judge") } else { key.may_ask.join(", ") }
}

/// `None`: nothing is raised.
fn counts_as(sensitivity: Sensitivity) -> Option<&'static str> {
    match sensitivity {
        Sensitivity::Public => None,
        Sensitivity::Internal => Some("internal at least"),
        Sensitivity::Confidential => Some("confidential"),
    }
}
