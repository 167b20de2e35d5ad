//! Keys as rows of the store. A row that cannot be read is an error: no key is let in, or limited, by a guess.

use std::sync::Arc;

use super::key::{AccessKey, Allowance, Window};
use super::secret::SecretHash;
use crate::case::Sensitivity;
use crate::store::rows::AccessKeyRow;

/// A key whose row this program cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "key `{id}`: column `{column}` holds what this program does not know; hint: use the version of the program that wrote it"
)]
pub struct UnreadableKey {
    pub id: String,
    pub column: &'static str,
}

impl AccessKey {
    /// As it is kept.
    pub fn to_row(&self) -> AccessKeyRow {
        let window = self.allowance.map_or(Window::Never, |allowance| allowance.window);
        AccessKeyRow {
            id: self.id.clone(),
            project: self.project.to_string(),
            name: self.name.clone(),
            role: self.role.name().to_owned(),
            may_ask: serde_json::Value::from(self.may_ask.clone()).to_string(),
            sensitivity: self.sensitivity.name().to_owned(),
            // Why: no allowance can be written that is larger than the column.
            budget_microusd: self
                .allowance
                .map(|allowance| i64::try_from(allowance.microusd).unwrap_or(i64::MAX)),
            budget_window: window.name().to_owned(),
            secret_hash: self.hash.to_string(),
            created_us: self.created_us,
            expires_us: self.expires_us,
            revoked_us: self.revoked_us,
        }
    }

    /// What a row means.
    pub fn of_row(row: AccessKeyRow) -> Result<Self, UnreadableKey> {
        let unreadable = |column| UnreadableKey { id: row.id.clone(), column };
        let window = Window::of_name(&row.budget_window).ok_or_else(|| unreadable("budget_window"))?;
        let allowance = match row.budget_microusd.map(u64::try_from) {
            None => None,
            Some(Ok(microusd)) => Some(Allowance { microusd, window }),
            Some(Err(_)) => return Err(unreadable("budget_microusd")),
        };
        Ok(Self {
            role: row.role.parse().map_err(|_| unreadable("role"))?,
            may_ask: serde_json::from_str(&row.may_ask).map_err(|_| unreadable("may_ask"))?,
            sensitivity: Sensitivity::of_name(&row.sensitivity).ok_or_else(|| unreadable("sensitivity"))?,
            hash: SecretHash::parse(&row.secret_hash).map_err(|_| unreadable("secret_hash"))?,
            allowance,
            project: Arc::from(row.project),
            created_us: row.created_us,
            expires_us: row.expires_us,
            revoked_us: row.revoked_us,
            id: row.id,
            name: row.name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Role, Secret};

    fn key() -> AccessKey {
        AccessKey {
            id: String::from("0011aabbccdd"),
            name: String::from("nightly \"1\""),
            project: Arc::from("search"),
            role: Role::Annotate,
            may_ask: vec![String::from("default"), String::from("judge/ann")],
            sensitivity: Sensitivity::Confidential,
            allowance: Some(Allowance { microusd: 2_500_000, window: Window::Day }),
            hash: Secret::draw().unwrap().hash(),
            created_us: 5,
            expires_us: Some(6),
            revoked_us: Some(7),
        }
    }

    #[test]
    fn a_key_returns_from_its_row() {
        let full = key();
        let bare = AccessKey {
            may_ask: Vec::new(),
            sensitivity: Sensitivity::Public,
            allowance: None,
            expires_us: None,
            revoked_us: None,
            ..key()
        };
        for key in [full, bare] {
            assert_eq!(AccessKey::of_row(key.to_row()), Ok(key));
        }
    }

    #[test]
    fn a_row_that_cannot_be_read_names_its_column() {
        let check = |column: &'static str, change: fn(&mut AccessKeyRow)| {
            let mut row = key().to_row();
            change(&mut row);
            let error = AccessKey::of_row(row).unwrap_err();
            assert_eq!(error, UnreadableKey { id: String::from("0011aabbccdd"), column });
            assert!(error.to_string().starts_with(&format!("key `0011aabbccdd`: column `{column}` holds")));
        };
        check("role", |row| row.role = String::from("root"));
        check("may_ask", |row| row.may_ask = String::from("default"));
        check("may_ask", |row| row.may_ask = String::from(r#"{"default": true}"#));
        check("sensitivity", |row| row.sensitivity = String::from("secret"));
        check("budget_microusd", |row| row.budget_microusd = Some(-1));
        check("budget_window", |row| row.budget_window = String::from("week"));
        check("secret_hash", |row| row.secret_hash = String::from("00ff"));
    }
}
