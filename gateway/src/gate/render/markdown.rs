//! A summary for a pull request or a job's page. GitHub shows at most 1 MiB of it, so everything in it is bounded.

use std::fmt::Write as _;

use aggregation::Decision;

use super::words::{
    LONGEST_NAME, counted, decision, figure, foremost, milliseconds, name_of, one_line, percent, plural,
    progress, usd, value,
};
use crate::gate::explain::apart;
use crate::gate::report::{
    CaseLine, Comparison, Correction, CriterionReport, FailedCheckLine, GateReport, JudgeReport, Regression,
    RequirementReport, RunGate, Slice,
};

/// Longest warning or explanation.
const LONGEST_TEXT: usize = 500;
/// Warnings that are shown; the others are counted.
const MOST_WARNINGS: usize = 5;

pub fn render(report: &GateReport) -> String {
    let mut text = format!("## {} Gate: {}\n", sign(report.decision), decision(report.decision));
    for run in &report.runs {
        one_run(&mut text, run);
    }
    text
}

fn one_run(text: &mut String, run: &RunGate) {
    let _ = writeln!(text, "\n### Panel {}: {}\n", name(&run.panel), decision(run.decision));
    if run.requirements.is_empty() {
        let _ = writeln!(text, "Nothing had to be reached.");
    } else {
        let columns = ["decision", "criterion", "measure", "figure", "bounds", "needed", "coverage", "cases"];
        let rows: Vec<Vec<String>> = run.requirements.iter().map(|own| requirement(run, own)).collect();
        table(text, &columns, &rows);
        text.push('\n');
        for own in &run.requirements {
            let _ = writeln!(text, "- {}: {}", name(&own.criterion), prose(&own.explanation));
            for line in beside(own) {
                let _ = writeln!(text, "  - {line}");
            }
        }
    }
    for own in &run.obstacles {
        let _ = writeln!(text, "- **inconclusive**: {}", prose(&own.to_string()));
    }
    let _ =
        writeln!(text, "\n{}, {} without a value; cost {}.", progress(run), run.undecided, usd(run.cost_usd));
    if let Some(own) = &run.baseline {
        let _ = writeln!(text, "\nCompared with baseline {} ({}).", name(&own.name), name(&own.hash));
    }
    if let Some(own) = &run.labels {
        let labels = counted(own.labels as u64, "label");
        let _ =
            writeln!(text, "\n{labels} of {}; {} stand for waiting cases.", name(&own.name), own.replaced);
    }
    warnings(text, run);
    folded(
        text,
        "Regressions against the baseline",
        &REGRESSIONS,
        &run.regressions.iter().map(regression).collect::<Vec<_>>(),
    );
    folded(text, "Failed checks", &CHECKS, &run.failed_checks.iter().map(check).collect::<Vec<_>>());
    folded(text, "Criteria", &CRITERIA, &run.criteria.iter().map(criterion).collect::<Vec<_>>());
    folded(text, "Worst cases", &CASES, &run.worst.iter().map(case).collect::<Vec<_>>());
    folded(text, "Most disputed cases", &CASES, &run.disputed.iter().map(case).collect::<Vec<_>>());
    folded(text, "Slices", &SLICES, &run.slices.iter().map(slice).collect::<Vec<_>>());
    folded(text, "Judges", &JUDGES, &run.judges.iter().map(judge).collect::<Vec<_>>());
    let _ = writeln!(
        text,
        "\n<sub>run {}, begun {}, panel version {}</sub>",
        name(&run.run),
        name(&run.begun),
        name(&run.panel_version)
    );
}

const CRITERIA: [&str; 8] =
    ["criterion", "mode", "cases", "coverage", "mean", "pass rate", "a / b / tie", "calibration"];
const CHECKS: [&str; 3] = ["check", "case", "found"];
const REGRESSIONS: [&str; 4] = ["case", "criterion", "baseline", "candidate"];
const CASES: [&str; 6] = ["case", "criterion", "value", "score", "disagreement", "votes"];
const SLICES: [&str; 5] = ["by", "name", "criterion", "cases", "mean"];
const JUDGES: [&str; 7] =
    ["judge", "models", "votes", "missing votes", "order flips", "cost", "mean latency"];

fn requirement(run: &RunGate, own: &RequirementReport) -> Vec<String> {
    let beside = |value: Option<f64>| value.map_or_else(|| figure(None), |value| apart(value, own.threshold));
    let of_criterion = run.criteria.iter().find(|c| c.criterion == own.criterion && c.mode == own.mode);
    vec![
        format!("{} {}", sign(own.decision), decision(own.decision)),
        name(&own.criterion),
        format!("{}, {}", own.measure.name(), own.mode),
        beside(own.estimate),
        format!("{} to {}", beside(own.lower), beside(own.upper)),
        own.threshold.to_string(),
        percent(of_criterion.and_then(|c| c.coverage)),
        own.n.to_string(),
    ]
}

/// What a requirement's figure is to be read with.
fn beside(own: &RequirementReport) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(failures), Some(most)) = (own.failures, own.most_failures) {
        let of = counted(own.n as u64, "case");
        lines
            .push(format!("{failures} of {of} failed; {} at most with 95 % confidence", percent(Some(most))));
    }
    if let Some(Comparison { wins, ties, losses, p_sign, detectable, .. }) = &own.comparison {
        let counts = [
            counted(*wins, "win"),
            counted(*ties, "tie"),
            format!("{losses} {}", plural(*losses, "loss", "losses")),
        ];
        lines.push(format!("{}; sign test p {}", counts.join(", "), figure(Some(*p_sign))));
        if detectable.is_some() {
            lines.push(format!(
                "so many cases find a difference of {} four times in five",
                figure(*detectable)
            ));
        }
    }
    if let Some(Correction { judge_only, human_only, labelled, .. }) = &own.correction {
        let labelled = counted(*labelled as u64, "labelled case");
        let (judges, people) = (figure(Some(*judge_only)), figure(Some(*human_only)));
        lines.push(format!("judges alone {judges}, people alone {people} on {labelled}"));
    }
    lines
}

fn check(own: &FailedCheckLine) -> Vec<String> {
    let found = own.detail.as_deref().map_or_else(|| figure(None), prose);
    vec![name(&own.check), name(&own.case), found]
}

fn criterion(own: &CriterionReport) -> Vec<String> {
    let pairs = own.a + own.b + own.ties;
    vec![
        format!("{}{}", name(&own.criterion), if own.is_check { ", check" } else { "" }),
        own.mode.to_string(),
        own.cases.to_string(),
        percent(own.coverage),
        figure(own.mean),
        percent(own.pass_rate),
        if pairs > 0 { format!("{} / {} / {}", own.a, own.b, own.ties) } else { figure(None) },
        list(own.calibration.iter().map(|(status, votes)| format!("{} {votes}", prose(status)))),
    ]
}

fn case(own: &CaseLine) -> Vec<String> {
    let votes = own.votes.iter().map(|(judge, vote)| format!("{} {}", name(judge), name(&value(vote))));
    vec![
        format!("{}{}", name(&own.case), if own.escalated { " waits for a person" } else { "" }),
        format!("{}, {}", name(&own.criterion), own.mode),
        own.value.as_ref().map_or_else(|| figure(None), |own| name(&value(own))),
        figure(own.score),
        figure(own.disagreement),
        list(votes),
    ]
}

fn regression(own: &Regression) -> Vec<String> {
    vec![name(&own.case), name(&own.criterion), figure(Some(own.baseline)), figure(Some(own.candidate))]
}

fn slice(own: &Slice) -> Vec<String> {
    vec![
        prose(&own.by),
        name(&own.name),
        format!("{}, {}", name(&own.criterion), own.mode),
        own.cases.to_string(),
        figure(own.mean),
    ]
}

fn judge(own: &JudgeReport) -> Vec<String> {
    let missing = own.abstentions.iter().map(|(kind, count)| format!("{} {count}", name_of(kind)));
    let flips = if own.order_measured > 0 {
        format!("{} of {}", own.order_inconsistent, own.order_measured)
    } else {
        figure(None)
    };
    vec![
        name(&own.judge),
        list(own.models.iter().map(|model| name(model))),
        own.votes.to_string(),
        list(missing),
        flips,
        usd(own.cost_usd),
        milliseconds(own.mean_latency_ms),
    ]
}

fn warnings(text: &mut String, run: &RunGate) {
    if run.warnings.is_empty() {
        return;
    }
    text.push('\n');
    let (warnings, more) = foremost(&run.warnings, MOST_WARNINGS);
    for (warning, count) in warnings {
        let of = if count == run.finished { String::new() } else { format!(" ({})", counted(count, "case")) };
        let _ = writeln!(text, "- warning: {}{of}", prose(warning));
    }
    if more > 0 {
        let _ = writeln!(text, "- and {}", counted(more, "rarer warning"));
    }
}

fn list(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { figure(None) } else { parts.join(", ") }
}

/// A table behind a heading that opens it; blank lines around it are part of the syntax.
fn folded(text: &mut String, heading: &str, columns: &[&str], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n<details><summary>{heading}</summary>\n");
    table(text, columns, rows);
    text.push_str("\n</details>\n");
}

fn table(text: &mut String, columns: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(text, "| {} |\n|{}", columns.join(" | "), " --- |".repeat(columns.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
}

fn sign(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "✅",
        Decision::Fail => "❌",
        Decision::Inconclusive => "⚠️",
    }
}

/// A name of a stranger. Inside `<code>` GitHub makes no mention, emoji or link of it; a reference can be no markup.
fn name(text: &str) -> String {
    format!("<code>{}</code>", inert(&one_line(text, LONGEST_NAME)))
}

/// A sentence that may hold such a name; the invisible blank keeps `@name` from calling somebody.
fn prose(text: &str) -> String {
    inert(&one_line(text, LONGEST_TEXT)).replace("&#64;", "&#64;\u{200b}")
}

/// Every ASCII mark that Markdown or HTML could read becomes a reference to itself; those left make nothing alone.
fn inert(text: &str) -> String {
    let mut inert = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | '-' | '(' | ')' | '%' | ';') {
            let _ = write!(inert, "&#{};", u32::from(c));
        } else {
            inert.push(c);
        }
    }
    inert
}
