//! JUnit's XML: a suite a run, a test for each thing that had to be reached, and one for each case and criterion.
//!
//! Valid against the schema of Jenkins (`junit-10.xsd`) and against the stricter one of Ant (`JUnit.xsd`), which is why the
//! root has no counts and every suite a host. Cases stream from the store into a scratch file, as a suite begins with its
//! counts: memory stays constant.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use aggregation::Decision;

use super::Open;
use super::words::{LONGEST_NAME, decision, name_of, one_line, value};
use super::xml::Escaped;
use crate::engine::{Engine, EngineError};
use crate::gate::report::{GateReport, Obstacle, RequirementReport, RunGate};
use crate::verdict::{AbstentionReport, CaseVerdict, CriterionVerdict, VoteReport};

/// Verdicts read from the store at once.
const PAGE: u32 = 200;
/// Longest reason of a judge.
const LONGEST_REASON: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum JunitError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the file cannot be written")]
    Write(#[from] io::Error),
}

/// Writes all suites; cases are read from the store page by page.
pub async fn write(
    engine: &Engine,
    project: &str,
    report: &GateReport,
    open: Open,
    out: &mut (impl Write + Send),
) -> Result<(), JunitError> {
    begin(out)?;
    for (index, run) in report.runs.iter().enumerate() {
        let mut suite = Suite::begin(run, index, open)?;
        let mut after: Option<String> = None;
        loop {
            let page = engine.verdicts_of_run(project, &run.run, after.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.case.clone());
            for verdict in &page {
                suite.add(verdict)?;
            }
        }
        suite.finish(out)?;
    }
    Ok(end(out)?)
}

fn begin(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n")
}

fn end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"</testsuites>\n")?;
    out.flush()
}

/// How a test ended; what is left out passed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bad {
    kind: Kind,
    /// What sort of thing it was, for tools that group by it.
    sort: &'static str,
    message: String,
    details: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It was judged and is too low.
    Failure,
    /// It was not judged, or not surely enough.
    Error,
    /// It waits for a person, or may stay open.
    Skipped,
}

impl Kind {
    fn element(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// One run, with its tests in a scratch file until they are counted.
pub(super) struct Suite<'a> {
    run: &'a RunGate,
    index: usize,
    tests: BufWriter<File>,
    count: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    seconds: f64,
}

impl<'a> Suite<'a> {
    pub(super) fn begin(run: &'a RunGate, index: usize, open: Open) -> io::Result<Self> {
        let tests = BufWriter::new(tempfile::tempfile()?);
        let mut suite =
            Self { run, index, tests, count: 0, failures: 0, errors: 0, skipped: 0, seconds: 0.0 };
        for own in &run.requirements {
            let name = format!(
                "{} of {} ({}) reaches {}",
                own.measure.name(),
                own.criterion,
                own.mode,
                own.threshold
            );
            suite.test("gate", &name, 0.0, requirement(own, open).as_ref())?;
        }
        for own in &run.obstacles {
            suite.test("gate", obstacle_name(own), 0.0, Some(&obstacle(own, open)))?;
        }
        Ok(suite)
    }

    pub(super) fn add(&mut self, verdict: &CaseVerdict) -> io::Result<()> {
        // The time of a case stands on its first criterion, so that the sum is right.
        let mut seconds = verdict.latency_ms / 1000.0;
        for (name, given) in &verdict.criteria {
            self.test(name, &verdict.case, seconds, case(verdict, name, given).as_ref())?;
            seconds = 0.0;
        }
        Ok(())
    }

    fn test(&mut self, class: &str, name: &str, seconds: f64, bad: Option<&Bad>) -> io::Result<()> {
        self.count += 1;
        self.seconds += seconds;
        // Viewers cut a class name at its last dot: the panel is the package.
        let class = format!("{}.{class}", self.run.panel);
        let (class, name) = (one_line(&class, LONGEST_NAME), one_line(name, LONGEST_NAME));
        write!(
            self.tests,
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"",
            Escaped(&class),
            Escaped(&name)
        )?;
        let Some(Bad { kind, sort, message, details }) = bad else {
            return self.tests.write_all(b"/>\n");
        };
        match kind {
            Kind::Failure => self.failures += 1,
            Kind::Error => self.errors += 1,
            Kind::Skipped => self.skipped += 1,
        }
        let element = kind.element();
        writeln!(
            self.tests,
            ">\n      <{element} type=\"{sort}\" message=\"{}\">{}</{element}>\n    </testcase>",
            Escaped(message),
            Lines(details)
        )
    }

    pub(super) fn finish(self, out: &mut impl Write) -> io::Result<()> {
        let run = self.run;
        writeln!(
            out,
            "  <testsuite name=\"{panel}\" package=\"tribunal\" id=\"{}\" hostname=\"localhost\" timestamp=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\">",
            self.index,
            Escaped(local_time(&run.begun)),
            self.count,
            self.failures,
            self.errors,
            self.skipped,
            self.seconds,
            panel = Escaped(&run.panel),
        )?;
        out.write_all(b"    <properties>\n")?;
        for (name, text) in properties(run) {
            writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", Escaped(&text))?;
        }
        out.write_all(b"    </properties>\n")?;
        let mut tests = self.tests.into_inner().map_err(io::IntoInnerError::into_error)?;
        tests.rewind()?;
        io::copy(&mut tests, out)?;
        out.write_all(b"    <system-out/>\n    <system-err/>\n  </testsuite>\n")
    }
}

/// Escaped content with its line breaks as they are.
struct Lines<'a>(&'a str);

impl std::fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, line) in self.0.split('\n').enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            Escaped(line).fmt(f)?;
        }
        Ok(())
    }
}

fn properties(run: &RunGate) -> Vec<(&'static str, String)> {
    let known = |cases: Option<u64>| cases.map_or_else(|| String::from("unknown"), |cases| cases.to_string());
    vec![
        ("run", run.run.clone()),
        ("panel_version", run.panel_version.clone()),
        ("decision", decision(run.decision).to_owned()),
        ("cases", known(run.cases)),
        ("judged", run.finished.to_string()),
        ("escalated", run.escalated.to_string()),
        ("undecided", run.undecided.to_string()),
        ("cost_usd", run.cost_usd.map_or_else(|| String::from("unknown"), |usd| format!("{usd:.6}"))),
    ]
}

fn requirement(own: &RequirementReport, open: Open) -> Option<Bad> {
    let bad = |kind, sort| {
        Some(Bad { kind, sort, message: own.explanation.clone(), details: own.explanation.clone() })
    };
    match (own.decision, open) {
        (Decision::Pass, _) => None,
        (Decision::Fail, _) => bad(Kind::Failure, "below_threshold"),
        (Decision::Inconclusive, Open::Fails) => bad(Kind::Error, "inconclusive"),
        (Decision::Inconclusive, Open::Passes) => bad(Kind::Skipped, "inconclusive"),
    }
}

fn obstacle(own: &Obstacle, open: Open) -> Bad {
    let kind = match open {
        Open::Fails => Kind::Error,
        Open::Passes => Kind::Skipped,
    };
    Bad { kind, sort: "inconclusive", message: own.to_string(), details: own.to_string() }
}

fn obstacle_name(own: &Obstacle) -> &'static str {
    match own {
        Obstacle::ModelChanged { .. } => "every judge is one model",
        Obstacle::Unfinished { .. } => "all cases are judged",
        Obstacle::Uncalibrated { .. } => "judges are freshly calibrated",
        Obstacle::SingleFamily => "judges are of several families",
    }
}

/// A case that waits for a person is neither good nor bad yet; one without a value was not judged at all.
fn case(verdict: &CaseVerdict, criterion: &str, given: &CriterionVerdict) -> Option<Bad> {
    let shown = given.value.as_ref().map(value);
    let score = given.score.map_or_else(String::new, |score| format!(" (score {score:.2})"));
    let (kind, sort, message) = match (&shown, given.passed) {
        (None, _) => {
            let why = given.undefined.as_ref().map_or_else(|| String::from("no value"), name_of);
            (Kind::Error, "not_judged", format!("{criterion} has no value: {why}"))
        }
        // Whoever looks at the case, what code found of it stays.
        (Some(_), Some(false)) if given.is_check() => {
            let found = given.detail.as_deref().unwrap_or("it does not pass");
            (Kind::Failure, "failed_check", format!("{criterion} failed: {found}"))
        }
        (Some(_), _) if given.is_check() => return None,
        (Some(shown), _) if verdict.escalated => {
            let reasons: Vec<String> = verdict.escalation_reasons.iter().map(name_of).collect();
            let message =
                format!("waits for a person: {}; {criterion} is {shown}{score}", reasons.join(", "));
            (Kind::Skipped, "escalated", message)
        }
        (Some(shown), Some(false)) => {
            (Kind::Failure, "not_passed", format!("{criterion} is {shown}{score}, which does not pass"))
        }
        (Some(_), Some(true) | None) => return None,
    };
    Some(Bad { kind, sort, message: one_line(&message, LONGEST_REASON), details: details(given) })
}

/// Every vote and every missing one, a line each.
fn details(given: &CriterionVerdict) -> String {
    let mut text = String::new();
    if let Some(found) = &given.detail {
        let _ = write!(text, "\n{}", one_line(found, LONGEST_REASON));
    }
    for VoteReport { judge, value: vote, rationale, .. } in &given.votes {
        let _ = write!(text, "\n{}: {}", one_line(judge, LONGEST_NAME), one_line(&value(vote), LONGEST_NAME));
        if let Some(rationale) = rationale {
            let _ = write!(text, " — {}", one_line(rationale, LONGEST_REASON));
        }
    }
    for AbstentionReport { judge, kind, class, reason, detail } in &given.abstentions {
        let more = class.as_ref().map(name_of).or_else(|| reason.as_ref().map(name_of));
        let more = more.map_or_else(String::new, |more| format!(", {more}"));
        let _ = write!(text, "\n{}: no vote ({}{more})", one_line(judge, LONGEST_NAME), name_of(kind));
        if let Some(detail) = detail {
            let _ = write!(text, " — {}", one_line(detail, LONGEST_REASON));
        }
    }
    text.push('\n');
    text
}

/// Seconds without a zone, as the stricter schema wants it: `2026-01-31T12:00:00.5Z` → `2026-01-31T12:00:00`.
fn local_time(rfc3339: &str) -> &str {
    rfc3339.get(..19).unwrap_or(rfc3339)
}
