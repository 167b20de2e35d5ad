//! How long a server asks to be left alone, read from its headers.
//!
//! Never reads a clock: an HTTP date counts from the response's own `date` header and means nothing without one.

use std::time::Duration;

use http::HeaderMap;

/// Longer wishes are cut to this: a day.
pub const LONGEST_WISH: Duration = Duration::from_hours(24);

/// The wait that these headers ask for: `retry-after-ms`, else `retry-after` (seconds, whole or not, or an HTTP date),
/// else the `x-ratelimit-reset-*` of whatever is used up. `None` when there is nothing or only junk; a date in the past
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
        let now = httpdate::parse_http_date(text(headers, "date")?).ok()?;
        Some(until.duration_since(now).unwrap_or(Duration::ZERO))
    })
}

/// The longest reset among the limits with nothing remaining; of all limits when the server does not say what remains.
fn longest_reset(headers: &HeaderMap) -> Option<Duration> {
    ["requests", "tokens"]
        .iter()
        .filter(|limit| {
            text(headers, &format!("x-ratelimit-remaining-{limit}")).is_none_or(|left| left == "0")
        })
        .filter_map(|limit| text(headers, &format!("x-ratelimit-reset-{limit}")).and_then(go_duration))
        .max()
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
}
