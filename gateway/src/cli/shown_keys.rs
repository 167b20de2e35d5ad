//! `tribunal keys list`: keys and what they spent. A key's text cannot be shown, and its hash is nobody's business.

use std::sync::Arc;

use serde_json::json;

use super::exit::{Exit, Failure};
use super::keys::ListArgs;
use super::table::{Column, render};
use super::{output, setup};
use crate::access::{AccessKey, UnreadableKey, Window};
use crate::clock::rfc3339;
use crate::store::Store;
use crate::store::rows::KeySpending;

const US_PER_DAY: i64 = 86_400_000_000;

/// A key with what is left to say of it.
struct Shown {
    key: AccessKey,
    /// In the window that is now.
    spent: KeySpending,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    InForce,
    Expired,
    Revoked,
}

impl Status {
    fn of(key: &AccessKey, now_us: i64) -> Self {
        match key.revoked_us {
            Some(_) => Self::Revoked,
            None if key.is_in_force(now_us) => Self::InForce,
            None => Self::Expired,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::InForce => "in force",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

pub(super) async fn list(store: &Arc<dyn Store>, args: &ListArgs, now_us: i64) -> Result<Exit, Failure> {
    let rows = store.access_keys().await.map_err(setup::store_failure)?;
    let is_without_keys = rows.is_empty();
    let mut unreadable: Vec<UnreadableKey> = Vec::new();
    let mut shown = Vec::new();
    for row in rows {
        match AccessKey::of_row(row) {
            Ok(key) if is_asked_for(&key, args, now_us) => shown.push(of_key(store, key, now_us).await?),
            Ok(_) => {}
            Err(error) => unreadable.push(error),
        }
    }
    if args.json {
        for key in &shown {
            output::line(&as_json(key).to_string());
        }
    } else if shown.is_empty() {
        output::note(if is_without_keys {
            "no keys yet, so requests need none; hint: tribunal keys create --name NAME"
        } else {
            "no such key is in force; hint: --all shows those that have expired or were revoked"
        });
    } else {
        output::text(&table(&shown));
    }
    for error in &unreadable {
        output::note(&format!("error: {error}"));
    }
    Ok(if unreadable.is_empty() { Exit::Pass } else { Exit::Configuration })
}

fn is_asked_for(key: &AccessKey, args: &ListArgs, now_us: i64) -> bool {
    let is_of_project = args.project.as_ref().is_none_or(|project| project.as_str() == &*key.project);
    is_of_project && (args.all || Status::of(key, now_us) == Status::InForce)
}

async fn of_key(store: &Arc<dyn Store>, key: AccessKey, now_us: i64) -> Result<Shown, Failure> {
    let window = key.allowance.map_or(Window::Never, |allowance| allowance.window);
    let spent = store.key_spending(&key.project, &key.id, window.first_day(now_us)).await;
    let spent = spent.map_err(setup::store_failure)?;
    let status = Status::of(&key, now_us);
    Ok(Shown { key, spent, status })
}

fn table(shown: &[Shown]) -> String {
    let columns = [
        Column::left("id"),
        Column::left("name").at_most(24),
        Column::left("role"),
        Column::left("project"),
        Column::left("may ask").at_most(32),
        Column::right("budget USD"),
        Column::right("spent USD"),
        Column::left("created"),
        Column::left("expires"),
        Column::left("last used"),
        Column::left("status"),
    ];
    let never = || String::from("never");
    let row = |Shown { key, spent, status }: &Shown| {
        vec![
            key.id.clone(),
            key.name.clone(),
            key.role.name().to_owned(),
            key.project.to_string(),
            if key.may_ask.is_empty() { String::from("all") } else { key.may_ask.join(", ") },
            key.allowance.map_or_else(|| String::from("none"), |allowance| allowance.to_string()),
            format!("{:.4}", usd(spent)),
            date(key.created_us),
            key.expires_us.map_or_else(never, date),
            spent.last_day.map_or_else(never, |day| date(day * US_PER_DAY)),
            status.word().to_owned(),
        ]
    };
    render(&columns, &shown.iter().map(row).collect::<Vec<_>>())
}

fn as_json(Shown { key, spent, status }: &Shown) -> serde_json::Value {
    json!({
        "id": key.id,
        "name": key.name,
        "project": &*key.project,
        "role": key.role.name(),
        "may_ask": key.may_ask,
        "sensitivity": key.sensitivity.name(),
        "budget": key.allowance.map(|allowance| allowance.to_string()),
        "spent_usd": usd(spent),
        "calls": spent.calls,
        "created": rfc3339(key.created_us),
        "expires": key.expires_us.map(rfc3339),
        "revoked": key.revoked_us.map(rfc3339),
        "last_used": spent.last_day.map(|day| date(day * US_PER_DAY)),
        "status": status.word(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "exact below 9 billion dollars")]
fn usd(spent: &KeySpending) -> f64 {
    spent.microusd as f64 / 1e6
}

/// The day in UTC.
fn date(us: i64) -> String {
    rfc3339(us).chars().take_while(|c| *c != 'T').collect()
}
