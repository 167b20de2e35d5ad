//! A gate's report as text for a terminal.

use std::fmt::Write as _;

use aggregation::Decision;

use super::table::{Column, render as table};
use crate::gate::render::{counted, percent, progress};
use crate::gate::{GateReport, RequirementReport, RunGate, apart};

pub(super) fn render(report: &GateReport) -> String {
    let mut text = String::new();
    for run in &report.runs {
        text.push_str(&one_run(run));
        text.push('\n');
    }
    let _ = writeln!(text, "gate: {}", word(report.decision));
    text
}

fn one_run(run: &RunGate) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "run {}  panel {} {}  {}\n", run.run, run.panel, run.panel_version, progress(run));
    let columns = [
        Column::left("decision"),
        Column::left("criterion").at_most(24),
        Column::left("mode"),
        Column::left("measure"),
        Column::right("figure"),
        Column::right("lower"),
        Column::right("upper"),
        Column::right("needed"),
        Column::right("coverage"),
        Column::right("cases"),
    ];
    let rows: Vec<Vec<String>> = run.requirements.iter().map(|own| row(run, own)).collect();
    text.push_str(&table(&columns, &rows));
    text.push('\n');
    text.push_str(&checks(run));
    for own in &run.requirements {
        let _ = writeln!(text, "{}: {}", own.criterion, own.explanation);
    }
    for obstacle in &run.obstacles {
        let _ = writeln!(text, "inconclusive: {obstacle}");
    }
    for (warning, count) in &run.warnings {
        let of =
            if *count == run.finished { String::new() } else { format!(" ({})", counted(*count, "case")) };
        let _ = writeln!(text, "warning: {warning}{of}");
    }
    text
}

fn row(run: &RunGate, own: &RequirementReport) -> Vec<String> {
    let figure =
        |value: Option<f64>| value.map_or_else(|| String::from("-"), |value| apart(value, own.threshold));
    let covered =
        run.criteria.iter().find(|known| known.criterion == own.criterion && known.mode == own.mode);
    let coverage = covered.and_then(|known| known.coverage);
    vec![
        word(own.decision).to_owned(),
        own.criterion.clone(),
        own.mode.to_string(),
        own.measure.name().to_owned(),
        figure(own.estimate),
        figure(own.lower),
        figure(own.upper),
        own.threshold.to_string(),
        shown(coverage),
        own.n.to_string(),
    ]
}

/// The checks of a run by themselves, whether or not anything is asked of them.
fn checks(run: &RunGate) -> String {
    let columns = [
        Column::left("check").at_most(24),
        Column::left("mode"),
        Column::right("cases"),
        Column::right("coverage"),
        Column::right("pass rate"),
    ];
    let checks = run.criteria.iter().filter(|own| own.is_check);
    let rows: Vec<Vec<String>> = checks
        .map(|own| {
            let figures = [own.cases.to_string(), shown(own.coverage), shown(own.pass_rate)];
            [own.criterion.clone(), own.mode.to_string()].into_iter().chain(figures).collect()
        })
        .collect();
    if rows.is_empty() { String::new() } else { format!("{}\n", table(&columns, &rows)) }
}

fn shown(share: Option<f64>) -> String {
    share.map_or_else(|| String::from("-"), |share| percent(Some(share)))
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Pass => "pass",
        Decision::Fail => "FAIL",
        Decision::Inconclusive => "inconclusive",
    }
}
