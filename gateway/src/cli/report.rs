//! A run and a verdict as text for a terminal.

use std::fmt::Write as _;

use aggregation::vote::Exclusion;

use super::table::{Column, render};
use crate::repeats::{RepeatMeasure, Repeatability};
use crate::summary::{CriterionSummary, RunSummary};
use crate::verdict::{AbstentionReport, CaseVerdict, CriterionVerdict};

/// The verdicts one by one (when there are any in `rows`), then the summary.
pub fn run(summary: &RunSummary, rows: &[CaseVerdict]) -> String {
    let mut text = String::new();
    if !rows.is_empty() {
        text.push_str(&verdicts(rows));
        text.push('\n');
    }
    text.push_str(&criteria(summary));
    text.push('\n');
    if summary.criteria.iter().any(|criterion| criterion.is_check) {
        text.push_str(&checks(summary));
        text.push('\n');
    }
    text.push_str(&judges(summary));
    for (name, judge) in &summary.judges {
        for (failure, count) in &judge.failures {
            let votes = if *count == 1 { "vote" } else { "votes" };
            let _ = writeln!(text, "{name}: {} ({count} {votes})", one_line(failure));
        }
    }
    if !summary.repeats.is_empty() {
        text.push('\n');
        text.push_str(&repeats(&summary.repeats.report()));
    }
    text.push('\n');
    let cost = summary.cost_usd.map_or_else(|| String::from("unknown"), |usd| format!("{usd:.4} USD"));
    let _ = writeln!(
        text,
        "{} cases, {} escalated, {} without a value{}; {} judgments asked, {} reused, {} repaired, {} requests retried; cost {cost}",
        summary.cases,
        summary.escalated,
        summary.undecided,
        failed_checks(summary),
        summary.calls_asked,
        summary.calls_reused,
        summary.calls_repaired,
        summary.calls_retried,
    );
    if !summary.escalation_reasons.is_empty() {
        let reasons: Vec<String> =
            summary.escalation_reasons.iter().map(|(reason, n)| format!("{} {n}", name_of(reason))).collect();
        let _ = writeln!(text, "escalated for: {}", reasons.join(", "));
    }
    for (warning, count) in &summary.warnings {
        let of = if *count == summary.cases { String::new() } else { format!(" ({count} cases)") };
        let _ = writeln!(text, "warning: {warning}{of}");
    }
    text
}

fn failed_checks(summary: &RunSummary) -> String {
    match summary.failed_check {
        0 => String::new(),
        failed => format!(" ({failed} by a failed check)"),
    }
}

fn verdicts(rows: &[CaseVerdict]) -> String {
    let columns = [
        Column::left("case").at_most(28),
        Column::left("mode"),
        Column::left("criterion").at_most(20),
        Column::right("value"),
        Column::right("score"),
        Column::left("passed"),
        Column::right("disagr."),
        Column::left("votes").at_most(30),
        Column::left("missing").at_most(34),
        Column::left("escalated for").at_most(44),
    ];
    let mut lines = Vec::new();
    for verdict in rows {
        let mut reasons: Option<String> =
            Some(verdict.escalation_reasons.iter().map(name_of).collect::<Vec<_>>().join(", "));
        for (name, criterion) in &verdict.criteria {
            lines.push(vec![
                verdict.case.clone(),
                verdict.mode.to_string(),
                name.clone(),
                value(criterion),
                number(criterion.score),
                criterion.passed.map_or("", |passed| if passed { "yes" } else { "no" }).to_owned(),
                number(criterion.disagreement),
                votes(criterion),
                missing(criterion),
                reasons.take().unwrap_or_default(),
            ]);
        }
    }
    render(&columns, &lines)
}

fn criteria(summary: &RunSummary) -> String {
    let columns = [
        Column::left("criterion"),
        Column::left("mode"),
        Column::right("cases"),
        Column::right("coverage"),
        Column::right("mean score"),
        Column::right("pass rate"),
        Column::left("a / b / tie"),
        Column::right("mean disagr."),
    ];
    let rows: Vec<Vec<String>> = summary
        .criteria
        .iter()
        .filter(|criterion| !criterion.is_check)
        .map(|c: &CriterionSummary| {
            vec![
                c.criterion.clone(),
                c.mode.to_string(),
                c.cases.to_string(),
                percent(c.coverage()),
                number(c.mean_score()),
                percent(c.pass_rate()),
                if c.a + c.b + c.ties > 0 {
                    format!("{} / {} / {}", c.a, c.b, c.ties)
                } else {
                    String::new()
                },
                number(c.mean_disagreement()),
            ]
        })
        .collect();
    render(&columns, &rows)
}

fn checks(summary: &RunSummary) -> String {
    let columns = [
        Column::left("check"),
        Column::left("mode"),
        Column::right("cases"),
        Column::right("passed"),
        Column::right("failed"),
        Column::right("undecidable"),
    ];
    let checks = summary.criteria.iter().filter(|criterion| criterion.is_check);
    let rows: Vec<Vec<String>> = checks
        .map(|check| {
            vec![
                check.criterion.clone(),
                check.mode.to_string(),
                check.cases.to_string(),
                check.passed.to_string(),
                (check.with_value - check.passed).to_string(),
                (check.cases - check.with_value).to_string(),
            ]
        })
        .collect();
    render(&columns, &rows)
}

fn judges(summary: &RunSummary) -> String {
    let columns = [
        Column::left("judge"),
        Column::right("votes"),
        Column::right("expected"),
        Column::right("order flips"),
        Column::left("missing votes"),
    ];
    let rows: Vec<Vec<String>> = summary
        .judges
        .iter()
        .map(|(name, judge)| {
            let missing: Vec<String> =
                judge.abstentions.iter().map(|(kind, n)| format!("{} {n}", name_of(kind))).collect();
            let flips = if judge.order_measured > 0 {
                format!("{} of {}", judge.order_inconsistent, judge.order_measured)
            } else {
                String::new()
            };
            vec![name.clone(), judge.votes.to_string(), judge.expected.to_string(), flips, missing.join(", ")]
        })
        .collect();
    render(&columns, &rows)
}

/// How far the answers to the same question are apart.
fn repeats(found: &[Repeatability]) -> String {
    let columns = [
        Column::left("same case again"),
        Column::left("mode"),
        Column::left("asked"),
        Column::right("cases"),
        Column::left("measure"),
        Column::right("value"),
        Column::left("95 % interval"),
    ];
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|of| {
            let interval = match (of.low, of.high) {
                (Some(low), Some(high)) => format!("{low:.2} to {high:.2}"),
                (_, _) => String::new(),
            };
            let why = of.undefined.map(|reason| reason.to_string());
            vec![
                of.criterion.clone(),
                of.mode.to_string(),
                of.judge.clone().unwrap_or_else(|| String::from("panel")),
                of.cases.to_string(),
                match of.measure {
                    RepeatMeasure::RepeatRate => String::from("pairs that differ"),
                    RepeatMeasure::MeanDistance => String::from("mean distance"),
                },
                number(of.value),
                why.unwrap_or(interval),
            ]
        })
        .collect();
    render(&columns, &rows)
}

/// One verdict with every vote and reason.
pub fn verdict(verdict: &CaseVerdict) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "case {}  ({}, panel {} {})",
        verdict.case, verdict.mode, verdict.panel, verdict.panel_version
    );
    for (name, criterion) in &verdict.criteria {
        let _ = writeln!(text, "\n{name}: {}", gist(criterion));
        for vote in &criterion.votes {
            let mut facts = vec![name_of(&vote.scoring)];
            if let Some(mass) = vote.label_mass {
                facts.push(format!("label mass {mass:.2}"));
            }
            if vote.fallback {
                facts.push(String::from("logprobs unusable"));
            }
            if vote.order_consistent == Some(false) {
                facts.push(String::from("orders disagree"));
            }
            if vote.replacement {
                facts.push(String::from("replacement"));
            }
            let _ = writeln!(text, "  {}: {}  ({})", vote.judge, plain(&vote.value), facts.join(", "));
            if let Some(rationale) = &vote.rationale {
                let _ = writeln!(text, "      {}", one_line(rationale));
            }
            if let Some(evidence) = &vote.evidence {
                let _ = writeln!(text, "      evidence: \"{}\"", one_line(evidence));
            }
        }
        for missing in &criterion.abstentions {
            let detail = missing.detail.as_deref().map_or_else(String::new, |detail| format!(" ({detail})"));
            let _ = writeln!(text, "  {}: no vote{detail}", abstention(missing));
        }
    }
    let q = verdict.quorum;
    let _ = writeln!(
        text,
        "\nquorum {} of {} ({} needed){}",
        q.voted,
        q.asked,
        q.required,
        if q.met { "" } else { ", not met" }
    );
    if verdict.escalated {
        let reasons: Vec<String> = verdict.escalation_reasons.iter().map(name_of).collect();
        let _ = writeln!(text, "escalated for: {}", reasons.join(", "));
    }
    for warning in &verdict.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    let cost = verdict.cost_usd.map_or_else(|| String::from("unknown"), |usd| format!("{usd:.6} USD"));
    let _ = writeln!(
        text,
        "cost {cost}  latency {:.0} ms  overhead {:.1} ms  id {}",
        verdict.latency_ms, verdict.overhead_ms, verdict.id
    );
    text
}

/// The outcome of one criterion or check in one line.
fn gist(criterion: &CriterionVerdict) -> String {
    let value = value(criterion);
    if criterion.is_check() {
        let detail = criterion.detail.as_deref().map_or_else(String::new, |d| format!(": {}", one_line(d)));
        return format!("{value}  (check{detail})");
    }
    format!(
        "{value}  score {}  disagreement {}{}",
        or_dash(&number(criterion.score)),
        or_dash(&number(criterion.disagreement)),
        criterion.passed.map_or("", |passed| if passed { "  passed" } else { "  not passed" }),
    )
}

fn value(criterion: &CriterionVerdict) -> String {
    match (&criterion.value, &criterion.undefined) {
        (Some(value), _) => plain(value),
        (None, Some(why)) => name_of(why),
        (None, None) => String::from("-"),
    }
}

fn votes(criterion: &CriterionVerdict) -> String {
    criterion
        .votes
        .iter()
        .map(|vote| {
            let flag = if vote.order_consistent == Some(false) { "~" } else { "" };
            format!("{}{flag}", plain(&vote.value))
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Why votes are missing; of a failed check, which says so in place of the value, nothing more.
fn missing(criterion: &CriterionVerdict) -> String {
    let by_check = |missing: &&AbstentionReport| missing.reason == Some(Exclusion::FailedCheck);
    let others = criterion.abstentions.iter().filter(|missing| !by_check(missing));
    others.map(abstention).collect::<Vec<_>>().join(", ")
}

fn abstention(missing: &AbstentionReport) -> String {
    let more = missing.class.as_ref().map(name_of).or_else(|| missing.reason.as_ref().map(name_of));
    match more {
        Some(more) => format!("{} {}/{more}", missing.judge, name_of(&missing.kind)),
        None => format!("{} {}", missing.judge, name_of(&missing.kind)),
    }
}

/// A value without quotes, numbers with at most two decimals.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(n) => n.as_f64().map_or_else(
            || n.to_string(),
            |x| format!("{x:.2}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        ),
        other => other.to_string(),
    }
}

/// The name under which serde writes a plain enum variant, words apart.
fn name_of(variant: &impl serde::Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(name)) => name.replace('_', " "),
        Ok(_) | Err(_) => String::from("?"),
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |x| format!("{x:.2}"))
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(String::new, |x| format!("{:.1} %", x * 100.0))
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
