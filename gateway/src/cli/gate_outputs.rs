//! Where `tribunal gate` says what it found: files, GitHub's summary and annotations, and the terminal.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::exit::{Exit, Failure};
use super::project::Project;
use super::{GateArgs, OnInconclusive, gate_table, output};
use crate::engine::Engine;
use crate::gate::GateReport;
use crate::gate::render::{Open, annotations, html, junit, markdown};
use crate::settings::Environment;

/// The file to which a step of a GitHub workflow appends Markdown.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// `true` inside a GitHub workflow.
const IN_ACTIONS: &str = "GITHUB_ACTIONS";

/// A file that is open for writing, with its name for messages.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    file: File,
}

/// Everything that was asked for, opened before anything is spent.
#[derive(Debug)]
pub(super) struct Outputs {
    junit: Option<Target>,
    markdown: Option<Target>,
    html: Option<Target>,
    step_summary: Option<Target>,
    annotations: Option<Stream>,
    terminal: Terminal,
    open: Open,
    project: Project,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terminal {
    Table,
    Json,
    Nothing,
}

impl Outputs {
    /// Empties the files: what an earlier gate wrote must not be taken for the result of one that broke off.
    pub(super) fn open(args: &GateArgs, environment: &Environment) -> Result<Self, Failure> {
        let target = |path: &Option<PathBuf>| path.as_deref().map(create).transpose();
        let is_lines_on_stdout = args.run.out.as_deref() == Some(Path::new("-"));
        let stream = if args.outputs.json || is_lines_on_stdout { Stream::Error } else { Stream::Out };
        Ok(Self {
            junit: target(&args.outputs.junit)?,
            markdown: target(&args.outputs.markdown)?,
            html: target(&args.outputs.html)?,
            step_summary: environment
                .value(STEP_SUMMARY)
                .filter(|path| !path.is_empty())
                .and_then(|path| append_to(Path::new(path))),
            annotations: (environment.value(IN_ACTIONS) == Some("true")).then_some(stream),
            terminal: match (args.outputs.json, args.run.quiet) {
                (true, _) => Terminal::Json,
                (false, false) => Terminal::Table,
                (false, true) => Terminal::Nothing,
            },
            open: match args.terms.on_inconclusive {
                OnInconclusive::Fail => Open::Fails,
                OnInconclusive::Pass => Open::Passes,
            },
            project: args.run.project.name.clone(),
        })
    }

    /// The cases of the runs are read from the store once more, where an output shows them one by one.
    pub(super) async fn write(self, engine: &Engine, report: &GateReport) -> Result<(), Failure> {
        match self.terminal {
            Terminal::Json => {
                let json = serde_json::to_string(report).context("write the report")?;
                output::line(&json);
            }
            Terminal::Table => output::text(&gate_table::render(report)),
            Terminal::Nothing => {}
        }
        if let Some(stream) = self.annotations {
            let lines = annotations::render(report, self.open);
            match stream {
                Stream::Out => output::text(&lines),
                Stream::Error => output::note(lines.trim_end()),
            }
        }
        if self.markdown.is_some() || self.step_summary.is_some() {
            let text = markdown::render(report);
            for target in self.markdown.into_iter().chain(self.step_summary) {
                target.fill(text.as_bytes())?;
            }
        }
        if let Some(target) = self.html {
            target.fill(page(report)?.as_bytes())?;
        }
        if let Some(Target { path, file }) = self.junit {
            let mut out = BufWriter::new(file);
            junit::write(engine, self.project.as_str(), report, self.open, &mut out)
                .await
                .with_context(|| format!("write `{}`", path.display()))?;
        }
        Ok(())
    }
}

/// The report as a page.
pub(super) fn page(report: &GateReport) -> Result<String, Failure> {
    Ok(html::render(report).context("render the page")?)
}

pub(super) fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
    create(path)?.fill(page.as_bytes())
}

impl Target {
    fn fill(mut self, text: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(text).and_then(|()| self.file.flush());
        Ok(written.with_context(|| format!("write `{}`", self.path.display()))?)
    }
}

fn create(path: &Path) -> Result<Target, Failure> {
    let file = File::create(path)
        .with_context(|| format!("cannot write `{}`", path.display()))
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    Ok(Target { path: path.to_owned(), file })
}

/// Nobody asked for the summary by name, so a gate does not fail for it.
fn append_to(path: &Path) -> Option<Target> {
    match OpenOptions::new().append(true).create(true).open(path) {
        Ok(file) => Some(Target { path: path.to_owned(), file }),
        Err(error) => {
            output::note(&format!("warning: no step summary: cannot write `{}`: {error}", path.display()));
            None
        }
    }
}
