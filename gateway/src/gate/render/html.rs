//! The report as one page that needs nothing else: no script, no picture, no request.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use super::plot::{Bar, IntervalPlot, KappaMatrix, histogram};
use super::words::{self, LONGEST_NAME, one_line};
use crate::gate::explain::apart;
use crate::gate::report::{
    BaselineReport, Comparison, Correction, CriterionReport, FailedCheckLine, GateReport, JudgeReport,
    LabelReport, Regression, RequirementReport, RunGate,
};
use crate::verdict::AbstentionKind;

const PAGE: &str = include_str!("../../../../dashboards/web/templates/gate_report.html");
const NAME: &str = "gate_report.html";
/// Longest warning or explanation.
const LONGEST_TEXT: usize = 1000;
/// Warnings that are shown; the others are counted.
const MOST_WARNINGS: usize = 8;

/// What the page is drawn from.
#[derive(Debug, Serialize)]
struct Page<'a> {
    decision: &'a str,
    /// Whether anything had to be reached.
    is_gate: bool,
    runs: Vec<RunPage<'a>>,
}

#[derive(Debug, Serialize)]
struct RunPage<'a> {
    own: &'a RunGate,
    decision: &'a str,
    obstacles: Vec<String>,
    baseline: Option<&'a BaselineReport>,
    labels: Option<&'a LabelReport>,
    regressions: &'a [Regression],
    failed_checks: &'a [FailedCheckLine],
    requirements: Vec<RequirementPage<'a>>,
    criteria: Vec<CriterionPage<'a>>,
    /// Kinds of missing votes that there are, in the order of their cells.
    abstentions: Vec<String>,
    /// A row a judge.
    missing: Vec<Vec<u64>>,
    /// The most frequent ones with how many verdicts carry them.
    warnings: Vec<(&'a str, u64)>,
    more_warnings: u64,
    votes: u64,
    fresh: u64,
    has_several_modes: bool,
}

#[derive(Debug, Serialize)]
struct RequirementPage<'a> {
    own: &'a RequirementReport,
    decision: &'a str,
    measure: &'a str,
    plot: IntervalPlot,
    comparison: Option<&'a Comparison>,
    correction: Option<&'a Correction>,
    is_check: bool,
    failures: Option<u64>,
    most_failures: Option<f64>,
    coverage: Option<f64>,
    votes: u64,
    fresh: u64,
}

#[derive(Debug, Serialize)]
struct CriterionPage<'a> {
    own: &'a CriterionReport,
    bars: Vec<Bar>,
    scored: u64,
    kappas: KappaMatrix,
}

/// A template that ships with the program does not fail; a test renders every part of it.
pub fn render(report: &GateReport) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_filter("figure", words::figure);
    environment.add_filter("percent", words::percent);
    environment.add_filter("usd", words::usd);
    environment.add_filter("ms", words::milliseconds);
    environment.add_filter("name", |text: &str| one_line(text, LONGEST_NAME));
    environment.add_filter("prose", |text: &str| one_line(text, LONGEST_TEXT));
    environment.add_filter("value", |value: Serde<serde_json::Value>| {
        one_line(&words::value(&value.0), LONGEST_NAME)
    });
    environment.add_filter("beside", |figure: Option<f64>, threshold: f64| {
        figure.map_or_else(|| words::figure(None), |figure| apart(figure, threshold))
    });
    environment.add_filter("counted", |count: u64, noun: &str| words::counted(count, noun));
    environment.add_template(NAME, PAGE)?;
    let page = Page {
        decision: words::decision(report.decision),
        is_gate: report.runs.iter().any(|run| !run.requirements.is_empty() || run.finished == 0),
        runs: report.runs.iter().map(run_page).collect(),
    };
    environment.get_template(NAME)?.render(minijinja::context! { page => Serde(&page) })
}

fn run_page(run: &RunGate) -> RunPage<'_> {
    let kinds: std::collections::BTreeSet<AbstentionKind> =
        run.judges.iter().flat_map(|judge| judge.abstentions.keys().copied()).collect();
    let of_judge = |judge: &JudgeReport| {
        kinds.iter().map(|kind| judge.abstentions.get(kind).copied().unwrap_or(0)).collect()
    };
    let (warnings, more_warnings) = words::foremost(&run.warnings, MOST_WARNINGS);
    RunPage {
        own: run,
        warnings,
        more_warnings,
        decision: words::decision(run.decision),
        obstacles: run.obstacles.iter().map(ToString::to_string).collect(),
        baseline: run.baseline.as_ref(),
        labels: run.labels.as_ref(),
        regressions: &run.regressions,
        failed_checks: &run.failed_checks,
        requirements: run.requirements.iter().map(|own| requirement_page(run, own)).collect(),
        criteria: run.criteria.iter().map(criterion_page).collect(),
        abstentions: kinds.iter().map(words::name_of).collect(),
        missing: run.judges.iter().map(of_judge).collect(),
        votes: run.criteria.iter().map(votes).sum(),
        fresh: run.criteria.iter().map(fresh).sum(),
        has_several_modes: run
            .criteria
            .iter()
            .any(|own| Some(own.mode) != run.criteria.first().map(|c| c.mode)),
    }
}

fn requirement_page<'a>(run: &RunGate, own: &'a RequirementReport) -> RequirementPage<'a> {
    let of_criterion = run.criteria.iter().find(|c| c.criterion == own.criterion && c.mode == own.mode);
    RequirementPage {
        own,
        decision: words::decision(own.decision),
        measure: own.measure.name(),
        plot: IntervalPlot::of(own),
        comparison: own.comparison.as_ref(),
        correction: own.correction.as_ref(),
        is_check: of_criterion.is_some_and(|c| c.is_check),
        failures: own.failures,
        most_failures: own.most_failures,
        coverage: of_criterion.and_then(|c| c.coverage),
        votes: of_criterion.map_or(0, votes),
        fresh: of_criterion.map_or(0, fresh),
    }
}

fn criterion_page(own: &CriterionReport) -> CriterionPage<'_> {
    CriterionPage {
        own,
        bars: histogram(own),
        scored: own.histogram.iter().sum(),
        kappas: KappaMatrix::of(&own.agreement),
    }
}

fn votes(own: &CriterionReport) -> u64 {
    own.calibration.values().sum()
}

fn fresh(own: &CriterionReport) -> u64 {
    own.calibration.get("fresh").copied().unwrap_or(0)
}
