//! How figures, decisions and names are written, whatever the format.

use aggregation::Decision;

use crate::gate::report::RunGate;

/// Longer names are cut with an ellipsis.
pub(super) const LONGEST_NAME: usize = 200;

pub(super) fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "pass",
        Decision::Fail => "fail",
        Decision::Inconclusive => "inconclusive",
    }
}

/// What there is none of is a dash, never a zero.
pub(super) fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| String::from("–"), |value| format!("{value:.3}"))
}

pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| String::from("–"), |share| format!("{:.1} %", share * 100.0))
}

pub(super) fn usd(cost: Option<f64>) -> String {
    match cost {
        None => String::from("unknown"),
        Some(0.0) => String::from("0 USD"),
        Some(usd) if usd < 0.01 => format!("{usd:.6} USD"),
        Some(usd) => format!("{usd:.4} USD"),
    }
}

pub(super) fn milliseconds(latency_ms: Option<f64>) -> String {
    latency_ms.map_or_else(|| String::from("–"), |ms| format!("{ms:.0} ms"))
}

/// A value of a scale without quotes, numbers with at most two decimals.
pub(super) fn value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::from("–"),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => number.as_f64().map_or_else(
            || number.to_string(),
            |number| format!("{number:.2}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        ),
        other => other.to_string(),
    }
}

/// The name under which serde writes a plain enum variant, words apart.
pub(super) fn name_of(variant: &impl serde::Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(name)) => name.replace('_', " "),
        Ok(_) | Err(_) => String::from("?"),
    }
}

/// One line of at most so many characters, without what hides or turns around its neighbours on a screen.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let shown = |c: char| match c {
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => ' ',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    };
    let mut line: String = text.chars().take(most).map(shown).collect();
    if text.chars().nth(most).is_some() {
        line.push('…');
    }
    line
}

/// `1 case`, `2 cases`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", plural(count, "", "s"))
}

/// The word for one, or that for any other number.
pub(crate) fn plural<'a>(count: u64, one: &'a str, other: &'a str) -> &'a str {
    if count == 1 { one } else { other }
}

/// How far a run has come.
pub(crate) fn progress(run: &RunGate) -> String {
    let cases = run.cases.map_or_else(|| String::from("? cases"), |cases| counted(cases, "case"));
    let wait = plural(run.escalated, "waits", "wait");
    format!("{} of {cases} judged, {} {wait} for a person", run.finished, run.escalated)
}

/// The most frequent warnings, and how many are left out.
pub(super) fn foremost(
    warnings: &std::collections::BTreeMap<String, u64>,
    most: usize,
) -> (Vec<(&str, u64)>, u64) {
    let mut sorted: Vec<(&str, u64)> = warnings.iter().map(|(text, count)| (text.as_str(), *count)).collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = sorted.len().saturating_sub(most) as u64;
    sorted.truncate(most);
    (sorted, more)
}
