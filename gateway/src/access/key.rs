//! A key and what it allows.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

use super::secret::{Secret, SecretHash};
use crate::case::Sensitivity;

const US_PER_DAY: i64 = 86_400_000_000;

/// A key that was created, in force or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessKey {
    pub id: String,
    /// What its owner is called.
    pub name: String,
    /// The only project whose rows it sees.
    pub project: Arc<str>,
    pub role: Role,
    /// Panels by name, and judges as `judge/NAME`; empty: all.
    pub may_ask: Vec<String>,
    /// The least that everything sent with it counts as.
    pub sensitivity: Sensitivity,
    pub allowance: Option<Allowance>,
    pub hash: SecretHash,
    /// Microseconds since 1970, as all times here.
    pub created_us: i64,
    pub expires_us: Option<i64>,
    pub revoked_us: Option<i64>,
}

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Asks panels and judges, and reads what came of it.
    Judge,
    /// Labels cases, and never sees what judges said.
    Annotate,
    /// All of its project, and how the gateway is doing.
    Admin,
}

/// What may be spent in each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Millionths of a US dollar.
    pub microusd: u64,
    pub window: Window,
}

/// When spending is counted from anew, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    Day,
    Month,
    Never,
}

/// The text is no amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write US dollars above 0, over all or by `/day` or `/month`, such as 25, 2.50/day or 100/month")]
pub struct BadAllowance;

/// The text is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a role is judge, annotate or admin")]
pub struct BadRole;

impl AccessKey {
    /// A key that asks everything of its project, without a budget or an end.
    pub fn of(secret: &Secret, name: &str, project: &str) -> Self {
        Self {
            id: secret.id().to_owned(),
            name: name.to_owned(),
            project: Arc::from(project),
            role: Role::Judge,
            may_ask: Vec::new(),
            sensitivity: Sensitivity::Public,
            allowance: None,
            hash: secret.hash(),
            created_us: 0,
            expires_us: None,
            revoked_us: None,
        }
    }

    pub fn is_in_force(&self, now_us: i64) -> bool {
        self.revoked_us.is_none() && self.expires_us.is_none_or(|expires_us| now_us < expires_us)
    }

    pub fn may_ask_panel(&self, panel: &str) -> bool {
        self.may_ask.is_empty() || self.may_ask.iter().any(|allowed| allowed == panel)
    }

    /// A judge by itself, outside a panel.
    pub fn may_ask_judge(&self, judge: &str) -> bool {
        self.may_ask.is_empty()
            || self.may_ask.iter().any(|allowed| allowed.strip_prefix("judge/") == Some(judge))
    }
}

impl Role {
    pub const NAMES: [&str; 3] = ["judge", "annotate", "admin"];

    pub fn name(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Annotate => "annotate",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = BadRole;

    fn from_str(text: &str) -> Result<Self, BadRole> {
        [Self::Judge, Self::Annotate, Self::Admin].into_iter().find(|role| role.name() == text).ok_or(BadRole)
    }
}

impl Window {
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Never => "never",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Day, Self::Month, Self::Never].into_iter().find(|window| window.name() == name)
    }

    /// The first day that counts now, in days since 1970.
    pub fn first_day(self, now_us: i64) -> i64 {
        match self {
            Self::Day => day(now_us),
            Self::Month => date(now_us).map_or(day(now_us), |date| days(date.first_of_month())),
            Self::Never => 0,
        }
    }

    /// When spending is counted from anew; `None`: never.
    pub fn ends_us(self, now_us: i64) -> Option<i64> {
        match self {
            Self::Day => Some((day(now_us) + 1) * US_PER_DAY),
            Self::Month => Some((days(date(now_us)?.last_of_month()) + 1) * US_PER_DAY),
            Self::Never => None,
        }
    }
}

impl FromStr for Allowance {
    type Err = BadAllowance;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between a millionth and a billion dollars, and rounded to millionths"
    )]
    fn from_str(text: &str) -> Result<Self, BadAllowance> {
        let (amount, window) = match text.split_once('/') {
            None => (text, Window::Never),
            Some((amount, "day")) => (amount, Window::Day),
            Some((amount, "month")) => (amount, Window::Month),
            Some(_) => return Err(BadAllowance),
        };
        let usd: f64 = amount.trim().parse().map_err(|_| BadAllowance)?;
        let microusd = (usd * 1e6).round();
        if !(1.0..=1e15).contains(&microusd) {
            return Err(BadAllowance);
        }
        Ok(Self { microusd: microusd as u64, window })
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, rest) = (self.microusd / 1_000_000, self.microusd % 1_000_000);
        let cents = format!("{rest:06}");
        let cents = cents.trim_end_matches('0');
        write!(f, "{dollars}")?;
        if !cents.is_empty() {
            write!(f, ".{cents:0<2}")?;
        }
        match self.window {
            Window::Never => Ok(()),
            Window::Day | Window::Month => write!(f, "/{}", self.window.name()),
        }
    }
}

/// Days since 1970, in UTC.
pub fn day(now_us: i64) -> i64 {
    now_us.div_euclid(US_PER_DAY)
}

fn date(now_us: i64) -> Option<Date> {
    Some(Timestamp::from_microsecond(now_us).ok()?.to_zoned_datetime(TimeZone::UTC).date())
}

fn days(date: Date) -> i64 {
    date.to_zoned_datetime(TimeZone::UTC).map_or(0, |zoned| day(zoned.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> AccessKey {
        AccessKey::of(&Secret::draw().unwrap(), "nightly", "default")
    }

    #[test]
    fn a_key_is_in_force_until_it_expires_or_is_revoked() {
        assert!(key().is_in_force(i64::MAX));
        let expiring = AccessKey { expires_us: Some(10), ..key() };
        assert_eq!((expiring.is_in_force(9), expiring.is_in_force(10)), (true, false));
        assert!(!AccessKey { revoked_us: Some(5), ..key() }.is_in_force(1));
    }

    #[test]
    fn a_key_without_names_asks_all_and_one_with_names_only_those() {
        assert!(key().may_ask_panel("a") && key().may_ask_judge("a"));
        let narrow = AccessKey { may_ask: vec!["a".into(), "judge/b".into()], ..key() };
        assert!(narrow.may_ask_panel("a") && narrow.may_ask_judge("b"));
        assert!(!narrow.may_ask_panel("b") && !narrow.may_ask_judge("a"));
    }

    #[test]
    fn allowances_are_dollars_by_window() {
        for (text, microusd, window, written) in [
            ("25", 25_000_000, Window::Never, "25"),
            ("2.5/day", 2_500_000, Window::Day, "2.50/day"),
            ("100/month", 100_000_000, Window::Month, "100/month"),
            ("0.000001", 1, Window::Never, "0.000001"),
            ("0.1", 100_000, Window::Never, "0.10"),
        ] {
            let allowance: Allowance = text.parse().unwrap();
            assert_eq!(allowance, Allowance { microusd, window });
            assert_eq!(allowance.to_string(), written);
            assert_eq!(allowance.to_string().parse(), Ok(allowance));
        }
        for text in ["", "0", "-1", "NaN", "inf", "1e12", "25/week", "$25", "25/day/month", "0.0000001"] {
            assert_eq!(text.parse::<Allowance>(), Err(BadAllowance), "{text}");
        }
    }

    #[test]
    fn windows_begin_and_end_at_midnight_utc() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_microsecond();
        let now = at("2026-02-17T13:45:00Z");
        let first = |window: Window| window.first_day(now) * US_PER_DAY;
        assert_eq!(first(Window::Day), at("2026-02-17T00:00:00Z"));
        assert_eq!(first(Window::Month), at("2026-02-01T00:00:00Z"));
        assert_eq!(first(Window::Never), 0);
        assert_eq!(Window::Day.ends_us(now), Some(at("2026-02-18T00:00:00Z")));
        assert_eq!(Window::Month.ends_us(now), Some(at("2026-03-01T00:00:00Z")));
        assert_eq!(Window::Month.ends_us(at("2026-12-31T23:59:59Z")), Some(at("2027-01-01T00:00:00Z")));
        assert_eq!(Window::Never.ends_us(now), None);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in Role::NAMES {
            assert_eq!(name.parse::<Role>().map(Role::name), Ok(name));
        }
        assert_eq!("root".parse::<Role>(), Err(BadRole));
        for window in [Window::Day, Window::Month, Window::Never] {
            assert_eq!(Window::of_name(window.name()), Some(window));
        }
    }
}
