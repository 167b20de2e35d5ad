//! `tribunal keys`: who may use the gateway. Opens the store and nothing else: no judge is connected.

use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::exit::{Exit, Failure};
use super::project::Project;
use super::{new_key, output, setup, shown_keys};
use crate::access::{Allowance, LOOKED_AT_EVERY, Role, Secret};
use crate::api::DEFAULT_PROJECT;
use crate::case::Sensitivity;
use crate::clock::{Clock, rfc3339};
use crate::settings::{Period, Source};
use crate::store::Store;

/// Longest name of a key, in characters.
const LONGEST_NAME: usize = 64;
/// Longest time that a key may be made for.
const LONGEST_DAYS: u64 = 36_500;

#[derive(Debug, Args)]
pub struct KeysArgs {
    #[command(subcommand)]
    pub command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key and show it, this once: alone on standard output, what it may do on standard error.
    Create(CreateArgs),
    /// List keys: what each may do, what it has spent, when it was last used.
    List(ListArgs),
    /// Revoke a key: from then on it opens nothing.
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub struct CreateArgs {
    /// What its owner is called; lists show it.
    #[arg(long, value_name = "NAME", value_parser = key_name)]
    pub name: String,
    /// judge: asks panels and judges; annotate: labels cases; admin: all of its project, and how the gateway is doing.
    #[arg(long, default_value = Role::Judge.name(), value_parser = role(), value_name = "ROLE")]
    pub role: Role,
    /// A panel that it may ask, or `judge/NAME`; several times for several. Without it: all.
    #[arg(long = "panel", value_name = "NAME")]
    pub panels: Vec<String>,
    /// What may be spent with it in US dollars: over all (`25`), by day or by month in UTC (`2.50/day`, `100/month`).
    #[arg(long, value_name = "USD[/WINDOW]")]
    pub budget: Option<Allowance>,
    /// The only project whose runs and verdicts it makes and sees.
    #[arg(long, value_name = "NAME", env = "TRIBUNAL_PROJECT", default_value = DEFAULT_PROJECT, value_parser = Project::parse)]
    pub project: Project,
    /// The least that everything sent with it counts as; confidential cases never reach an outside judge.
    #[arg(long, default_value = Sensitivity::Public.name(), value_parser = sensitivity(), value_name = "LEVEL")]
    pub sensitivity: Sensitivity,
    /// How long it is in force, such as `12h` or `90d`. Without it: until it is revoked.
    #[arg(long, value_name = "TIME", value_parser = period)]
    pub expires: Option<Period>,
    /// The key with what it may do as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Keys of this project alone.
    #[arg(long, value_name = "NAME", value_parser = Project::parse)]
    pub project: Option<Project>,
    /// Expired and revoked keys too.
    #[arg(long)]
    pub all: bool,
    /// One JSON line a key.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RevokeArgs {
    /// The key's id, as `tribunal keys list` shows it.
    #[arg(value_name = "ID")]
    pub id: String,
}

pub async fn run(source: &Source, args: &KeysArgs) -> Result<Exit, Failure> {
    let config = setup::load(source)?;
    let opened = setup::OpenStore::open(&config).await?;
    let now_us = Clock::System.now_us();
    let store: &Arc<dyn Store> = &opened.store;
    let done = match &args.command {
        KeysCommand::Create(args) => new_key::create(&config, store, args, now_us).await,
        KeysCommand::List(args) => shown_keys::list(store, args, now_us).await,
        KeysCommand::Revoke(args) => revoke(store, args, now_us).await,
    };
    opened.close().await;
    done
}

async fn revoke(store: &Arc<dyn Store>, args: &RevokeArgs, now_us: i64) -> Result<Exit, Failure> {
    // Somebody who finds a key has no id, but the whole of it.
    let id = Secret::parse(&args.id).map_or_else(|_| args.id.clone(), |secret| secret.id().to_owned());
    let known = store.access_key(&id).await.map_err(setup::store_failure)?;
    let Some(key) = known else {
        return Err(Failure::usage("no key has this id; hint: `tribunal keys list --all` shows the ids"));
    };
    if store.revoke_access_key(&id, now_us).await.map_err(setup::store_failure)? {
        output::note(&format!(
            "key {id} `{}` is revoked: gateways that are running refuse it within {} seconds",
            key.name,
            LOOKED_AT_EVERY.as_secs()
        ));
    } else {
        let since = key.revoked_us.map(|us| format!(" since {}", rfc3339(us))).unwrap_or_default();
        output::note(&format!("key {id} `{}` was revoked before{since}: nothing to do", key.name));
    }
    Ok(Exit::Pass)
}

fn role() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::NAMES).try_map(|name| name.parse::<Role>())
}

fn sensitivity() -> impl TypedValueParser<Value = Sensitivity> {
    PossibleValuesParser::new(Sensitivity::ALL.map(Sensitivity::name))
        .try_map(|name| Sensitivity::of_name(&name).ok_or("no such level"))
}

/// Printable, so that a list shows it as it is.
fn key_name(text: &str) -> Result<String, String> {
    let is_printable = |c: char| c == ' ' || !(c.is_control() || c.is_whitespace());
    let length = text.chars().count();
    if text.trim() != text || !(1..=LONGEST_NAME).contains(&length) || !text.chars().all(is_printable) {
        return Err(format!("write 1 to {LONGEST_NAME} printable characters, such as nightly-evals"));
    }
    Ok(text.to_owned())
}

fn period(text: &str) -> Result<Period, String> {
    let days = |period: &Period| period.0.as_secs() / 86_400;
    Period::parse(text).filter(|period| !period.0.is_zero() && days(period) <= LONGEST_DAYS).ok_or_else(
        || format!("write a whole number with a unit, such as 12h or 90d, at most {LONGEST_DAYS}d"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_printable() {
        for name in ["n", "nightly evals", "Zoë's laptop", &"ñ".repeat(64)] {
            assert_eq!(key_name(name).as_deref(), Ok(name));
        }
        for name in ["", " ", " a", "a\nb", "a\u{1b}[31m", "a\u{2028}b", &"n".repeat(65)] {
            assert!(key_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_key_is_made_for_some_time_and_not_for_ever() {
        assert_eq!(period("90d").map(|period| period.to_string()).as_deref(), Ok("90d"));
        assert!(period("36500d").is_ok());
        for text in ["0s", "90", "soon", "-1d", "36501d", "999999999999999999d"] {
            assert!(period(text).is_err(), "{text}");
        }
    }
}
