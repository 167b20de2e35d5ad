//! How long a server asks to be left alone, read from its headers or from its error.
//!
//! Never reads a clock: a date counts from the response's own `date` header and means nothing without one.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use serde_json::Value;

/// Longer wishes are cut to this: a day.
pub const LONGEST_WISH: Duration = Duration::from_hours(24);

/// The wait that these headers ask for: `retry-after-ms`, else `retry-after` (seconds, whole or not, or an HTTP date),
/// else the `x-ratelimit-reset-*` or `anthropic-ratelimit-*-reset` of whatever is used up. `None` when there is nothing or only junk; a date in the past
/// means zero.
pub fn from_headers(headers: &HeaderMap) -> Option<Duration> {
    let wish = text(headers, "retry-after-ms")
        .and_then(|ms| seconds(ms, 1000.0))
        .or_else(|| text(headers, "retry-after").and_then(|value| seconds_or_date(value, headers)))
        .or_else(|| longest_reset(headers))?;
    Some(wish.min(LONGEST_WISH))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn seconds(value: &str, per_second: f64) -> Option<Duration> {
    let number: f64 = value.parse().ok()?;
    // Why: "inf" and "nan" parse as numbers, and negative waits are junk.
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(number / per_second).unwrap_or(LONGEST_WISH))
}

fn seconds_or_date(value: &str, headers: &HeaderMap) -> Option<Duration> {
    seconds(value, 1.0).or_else(|| {
        let until = httpdate::parse_http_date(value).ok()?;
        Some(until.duration_since(now(headers)?).unwrap_or(Duration::ZERO))
    })
}

/// The server's own clock.
fn now(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, "date")?).ok()
}

/// Gemini's `RetryInfo` among the details of an error: a protobuf duration such as `21.5s`.
pub fn from_error(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Some(seconds(delay.trim().strip_suffix('s')?, 1.0)?.min(LONGEST_WISH))
}

/// The longest reset among the limits with nothing remaining; of all limits when the server does not say what remains.
fn longest_reset(headers: &HeaderMap) -> Option<Duration> {
    const LIMITS: [(&str, &str); 7] = [
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("x-ratelimit-remaining", "x-ratelimit-reset"),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
        ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
        ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
        ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ];
    LIMITS
        .iter()
        .filter(|(remaining, _)| text(headers, remaining).is_none_or(|left| left == "0"))
        .filter_map(|(_, reset)| text(headers, reset).and_then(|value| until_reset(value, headers)))
        .max()
}

/// A duration, or a moment: RFC 3339 (Anthropic), seconds or milliseconds since 1970 (OpenRouter).
fn until_reset(value: &str, headers: &HeaderMap) -> Option<Duration> {
    /// Longer than any limit lasts, shorter than the time since 1970: 30 years.
    const MOMENT: Duration = Duration::from_hours(24 * 365 * 30);
    let moment = match go_duration(value) {
        Some(wait) if wait < MOMENT => return Some(wait),
        // Why: in seconds this would be the year 5000 or later.
        Some(ms) if ms > MOMENT * 100 => ms / 1000,
        Some(moment) => moment,
        None => rfc3339(value)?,
    };
    let until = SystemTime::UNIX_EPOCH.checked_add(moment)?;
    Some(until.duration_since(now(headers)?).unwrap_or(Duration::ZERO))
}

/// Time since 1970 of `2026-11-30T00:01:00Z`; a fraction of a second and an offset may follow. Days are counted as in
/// Hinnant, "chrono-Compatible Low-Level Date Algorithms" (`days_from_civil`).
fn rfc3339(value: &str) -> Option<Duration> {
    let (date, time) = value.split_once(['T', 't', ' '])?;
    let (clock, offset_s) = if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        (clock, 0)
    } else {
        let (clock, offset) = time.split_at_checked(time.rfind(['+', '-'])?)?;
        let (sign, [hours, minutes]) = (offset.get(..1)?, whole_numbers(offset.get(1..)?, ':')?);
        let ahead = (hours * 60 + minutes) * 60;
        (clock, if sign == "-" { -ahead } else { ahead })
    };
    let [year, month, day] = whole_numbers(date, '-')?;
    let [hours, minutes, seconds] = whole_numbers(clock.split('.').next()?, ':')?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // The year starts in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    let total = days * 86_400 + hours * 3_600 + minutes * 60 + seconds - offset_s;
    u64::try_from(total).ok().map(Duration::from_secs)
}

/// Exactly `N` numbers of at most four digits.
fn whole_numbers<const N: usize>(text: &str, separator: char) -> Option<[i64; N]> {
    let numbers: Option<Vec<i64>> = text
        .split(separator)
        .map(|part| {
            let is_number = (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse().ok())?
        })
        .collect();
    numbers?.try_into().ok()
}

/// A duration as Go prints it: `120ms`, `6m0s`, `1h2m3.5s`; a bare number is seconds.
fn go_duration(value: &str) -> Option<Duration> {
    if let Some(bare) = seconds(value, 1.0) {
        return Some(bare);
    }
    let mut total = Duration::ZERO;
    let mut rest = value;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let (unit, next) = after.split_at(after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()));
        let per_second = match unit {
            "h" => 1.0 / 3600.0,
            "m" => 1.0 / 60.0,
            "s" => 1.0,
            "ms" => 1e3,
            "us" | "µs" => 1e6,
            "ns" => 1e9,
            _ => return None,
        };
        total = total.checked_add(seconds(number, per_second)?)?;
        rest = next;
    }
    (!value.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn check(headers: &[(&str, &str)], expected_ms: Option<u64>) {
        let map: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect();
        assert_eq!(from_headers(&map), expected_ms.map(Duration::from_millis), "{headers:?}");
    }

    #[test]
    fn seconds_dates_and_milliseconds_are_read() {
        check(&[], None);
        check(&[("retry-after", "3")], Some(3_000));
        check(&[("retry-after", "0.35")], Some(350));
        check(&[("retry-after", " 2 ")], Some(2_000));
        check(&[("retry-after", "1"), ("retry-after-ms", "200")], Some(200));
        let date = ("date", "Thu, 01 Jan 2026 00:00:00 GMT");
        check(&[date, ("retry-after", "Thu, 01 Jan 2026 00:00:30 GMT")], Some(30_000));
        check(&[date, ("retry-after", "Wed, 31 Dec 2025 00:00:30 GMT")], Some(0));
    }

    #[test]
    fn date_without_the_servers_clock_is_ignored() {
        check(&[("retry-after", "Wed, 21 Oct 2037 07:28:00 GMT")], None);
    }

    #[test]
    fn junk_is_ignored() {
        check(&[("retry-after", "soon"), ("retry-after-ms", "-5")], None);
        for junk in ["", "-1", "nan", "inf", "1e999", "3 s", "Thu, 99 Foo"] {
            check(&[("retry-after", junk)], None);
        }
        check(&[("retry-after", "4"), ("retry-after-ms", "later")], Some(4_000));
    }

    #[test]
    fn hours_are_kept_and_years_are_cut_to_a_day() {
        check(&[("retry-after", "3600")], Some(3_600_000));
        check(&[("retry-after", "1e15")], Some(86_400_000));
        check(&[("retry-after", "1e300")], Some(86_400_000));
        let date = ("date", "Thu, 01 Jan 2026 00:00:00 GMT");
        check(&[date, ("retry-after", "Wed, 21 Oct 2037 07:28:00 GMT")], Some(86_400_000));
    }

    #[test]
    fn reset_of_the_used_up_limit_counts() {
        let reset = |value: &'static str| [("x-ratelimit-reset-tokens", value)];
        check(&reset("120ms"), Some(120));
        check(&reset("6m0s"), Some(360_000));
        check(&reset("1h0m1.5s"), Some(3_601_500));
        check(&reset("7"), Some(7_000));
        check(&reset("7 parsecs"), None);
        check(&reset("s"), None);
        check(
            &[
                ("x-ratelimit-remaining-requests", "499"),
                ("x-ratelimit-reset-requests", "9s"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "200ms"),
            ],
            Some(200),
        );
    }

    #[test]
    fn reset_as_a_moment_counts_from_the_servers_clock() {
        let date = ("date", "Mon, 30 Nov 2026 00:00:30 GMT");
        let reset = |value: &'static str| {
            [
                date,
                ("anthropic-ratelimit-input-tokens-remaining", "0"),
                ("anthropic-ratelimit-input-tokens-reset", value),
            ]
        };
        check(&reset("2026-11-30T00:01:00Z"), Some(30_000));
        check(&reset("2026-11-30T00:01:00.250Z"), Some(30_000));
        check(&reset("2026-11-30T01:01:00+01:00"), Some(30_000));
        check(&reset("2026-11-29T19:01:00-05:00"), Some(30_000));
        check(&reset("2026-11-29T00:01:00Z"), Some(0));
        check(&reset("2026-13-30T00:01:00Z"), None);
        check(&reset("2026-11-30"), None);
        check(&reset("2026-11-30T00:01:00"), None);
        check(&[("anthropic-ratelimit-requests-reset", "2026-11-30T00:01:00Z")], None);
        check(&[date, ("x-ratelimit-reset", "1796000460")], Some(3_630_000));
        check(&[date, ("x-ratelimit-reset", "1796000460000")], Some(3_630_000));
    }

    #[test]
    fn limits_that_are_not_used_up_ask_for_nothing() {
        check(
            &[
                ("date", "Mon, 30 Nov 2026 00:00:30 GMT"),
                ("anthropic-ratelimit-requests-remaining", "49"),
                ("anthropic-ratelimit-requests-reset", "2026-11-30T00:05:00Z"),
                ("anthropic-ratelimit-output-tokens-remaining", "0"),
                ("anthropic-ratelimit-output-tokens-reset", "2026-11-30T00:00:40Z"),
            ],
            Some(10_000),
        );
    }

    #[test]
    fn delay_of_an_error_is_read() {
        let check = |delay: Value, expected_ms: Option<u64>| {
            let error = serde_json::json!({"details": [{"@type": "Help"}, {"retryDelay": delay}]});
            assert_eq!(from_error(&error), expected_ms.map(Duration::from_millis), "{error}");
        };
        check("21.5s".into(), Some(21_500));
        check("0s".into(), Some(0));
        check("1000000s".into(), Some(86_400_000));
        check("21".into(), None);
        check("-1s".into(), None);
        check(21.into(), None);
        assert_eq!(from_error(&serde_json::json!({"details": "x"})), None);
    }
}
