//! Rows of keys and of what they spent.

/// A key as it is kept; `access::AccessKey` is what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessKeyRow {
    pub id: String,
    pub project: String,
    pub name: String,
    pub role: String,
    /// JSON: a list of panels and `judge/NAME`; empty: all.
    pub may_ask: String,
    pub sensitivity: String,
    /// `None`: as much as it likes.
    pub budget_microusd: Option<i64>,
    /// `never` without a budget.
    pub budget_window: String,
    pub secret_hash: String,
    pub created_us: i64,
    pub expires_us: Option<i64>,
    pub revoked_us: Option<i64>,
}

/// What a key spent; added to what it spent before on that day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingRow {
    pub project: String,
    pub key_id: String,
    /// Days since 1970, UTC.
    pub day: i64,
    pub microusd: i64,
    pub calls: i64,
}

/// What a key has spent since a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeySpending {
    pub microusd: i64,
    pub calls: i64,
    /// The last day on which it was used at all; `None`: it never was.
    pub last_day: Option<i64>,
}
