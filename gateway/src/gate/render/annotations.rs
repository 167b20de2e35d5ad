//! GitHub's workflow commands: what shows at the top of a job without opening its log.

use std::fmt::Write as _;

use aggregation::Decision;

use super::Open;
use super::words::{LONGEST_NAME, decision, one_line};
use crate::gate::report::GateReport;

const LONGEST_MESSAGE: usize = 1000;

/// One line each: errors and warnings first, as GitHub shows the first ten of a step.
pub fn render(report: &GateReport, open: Open) -> String {
    let unsettled = match open {
        Open::Fails => Level::Error,
        Open::Passes => Level::Warning,
    };
    let mut lines: Vec<(Level, String, String)> = Vec::new();
    for run in &report.runs {
        for own in &run.obstacles {
            lines.push((unsettled, format!("gate inconclusive: {}", run.panel), own.to_string()));
        }
        for own in &run.requirements {
            let level = match own.decision {
                Decision::Pass => Level::Notice,
                Decision::Fail => Level::Error,
                Decision::Inconclusive => unsettled,
            };
            let title = format!("gate {}: {}", decision(own.decision), run.panel);
            lines.push((level, title, format!("{}: {}", own.criterion, own.explanation)));
        }
    }
    lines.sort_by_key(|(level, ..)| *level);
    let mut text = String::new();
    for (level, title, message) in lines {
        let (title, message) = (one_line(&title, LONGEST_NAME), one_line(&message, LONGEST_MESSAGE));
        let _ = writeln!(text, "::{} title={}::{}", level.command(), property(&title), data(&message));
    }
    text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    fn command(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

/// A message ends with its line, so line breaks are written out.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Properties also end at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
