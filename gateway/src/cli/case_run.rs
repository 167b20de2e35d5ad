//! Checked cases judged as one resumable run, with progress, verdict lines and a table.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::case_file::CheckedFile;
use super::exit::{Exit, Failure};
use super::progress::Progress;
use super::{RunArgs, budget, output, report, setup};
use crate::app::App;
use crate::case::Case;
use crate::engine::run::{RunSpec, usual_concurrency};
use crate::engine::{EngineError, Purse};
use crate::gate::BaselineReport;
use crate::gate::render::{counted, plural};
use crate::intake::{CaseFile, IntakeOptions};
use crate::panel::Panel;
use crate::run::{RunSettings, Tally, judge_cases};
use crate::settings::Environment;
use crate::shutdown::Signals;
use crate::store::rows::{RunKind, RunRow, WorkStatus};
use crate::verdict::CaseVerdict;

/// Cases read ahead of the judges.
const READ_AHEAD: usize = 64;
/// Judgments that a comparison with a baseline may reuse are at most a week old.
const PINNED_FOR_US: i64 = 7 * 24 * 3600 * 1_000_000;
/// Verdicts that the table on screen shows one by one; larger runs show the summary only.
const MAX_ROWS: usize = 60;

/// Cases for one panel, ready to be judged.
pub(super) struct Job {
    /// The command with what it was given to read, as it was typed.
    pub command: String,
    pub panel: Arc<Panel>,
    pub cases: CheckedFile,
    /// Pinned outputs that the cases are held against.
    pub baseline: Option<BaselineReport>,
    /// Whether the summary is printed at the end.
    pub prints_table: bool,
}

/// How a run ended.
pub(super) struct Judged {
    pub run: String,
    pub exit: Exit,
}

/// Judges all cases as one run, and says how it went.
pub(super) async fn judge_all(
    app: &App,
    job: Job,
    args: &RunArgs,
    sink: &mut Sink,
    signals: &Signals,
) -> Result<Judged, Failure> {
    let (run_id, resumed) = begin_run(app, &job, args).await?;
    let project = &args.project.name;
    let stop = signals.soft.child_token();
    let budget = match args.max_cost {
        Some(usd) => Some(budget::budget(app, project.as_str(), &run_id, usd).await?),
        None => None,
    };
    let spec = RunSpec {
        id: Arc::from(run_id.as_str()),
        project: project.to_arc(),
        panel: Arc::clone(&job.panel),
        askers: Arc::clone(&app.in_force().askers),
        concurrency: args.jobs.map_or_else(|| usual_concurrency(&job.panel), usize::from),
        use_cache: !args.no_cache && args.repeat == 1,
        cache_since_us: job.baseline.as_ref().map_or(0, |_| app.engine().now_us() - PINNED_FOR_US),
        resumed,
        retry_errors: args.retry_errors,
        seed: args.seed,
        allow_kin: args.allow_kin,
        purse: Purse::capped(budget.clone()),
        stop: stop.clone(),
        cancel: signals.hard.clone(),
    };
    let resume = resume_command(&run_id, &job.command, args);
    if !args.quiet {
        announce(&run_id, &job);
    }
    let mut progress =
        Progress::new(job.cases.report.cases, args.quiet, Environment::of_process().is_in_ci());
    let (cases, reader) = read_cases(job.cases.file, job.cases.options, stop.clone());
    let most_rows = if job.prints_table { MAX_ROWS } else { 0 };
    let mut rows = Vec::new();
    let judging = judge_cases(app.engine(), spec, cases, |tally, verdict| {
        if let Some(verdict) = verdict {
            sink.write(&verdict)?;
            if rows.len() < most_rows {
                rows.push(verdict);
            }
        }
        progress.update(&tally.progress(None));
        Ok::<_, Failure>(())
    });
    let mut tally = Box::pin(judging).await?;
    progress.finish();
    sink.finish()?;
    reader
        .await
        .context("the reader of the cases stopped")?
        .map_err(|error| Failure::new(Exit::BadData, error))?;
    tally.is_interrupted = signals.soft.is_cancelled();
    app.engine().erase_expired_texts().await;
    end_run(app, project.as_str(), &run_id, &tally).await?;
    if job.prints_table {
        let rows = if job.cases.report.cases <= MAX_ROWS as u64 { &rows[..] } else { &[] };
        output::text(&report::run(&tally.summary, rows));
    }
    if let Some(budget) = budget.filter(|_| tally.is_capped && !tally.is_interrupted) {
        output::note(&format!(
            "{}; {} of {} {} judged",
            budget.explain("--max-cost"),
            tally.summary.cases,
            counted(job.cases.report.cases, "case"),
            plural(job.cases.report.cases, "is", "are")
        ));
    }
    let exit = conclude(tally, &resume)?;
    Ok(Judged { run: run_id, exit })
}

fn announce(run_id: &str, job: &Job) {
    let Panel { name, version, judges, .. } = &*job.panel;
    let judges = counted(judges.len() as u64, "judge");
    let cases = match job.cases.options.repeat {
        0 | 1 => counted(job.cases.report.cases, "case"),
        times => {
            format!("{}, {times} times each", counted(job.cases.report.cases / u64::from(times), "case"))
        }
    };
    output::note(&format!("run {run_id}: {cases}, panel {name} {version} ({judges})"));
}

fn conclude(tally: Tally, resume: &str) -> Result<Exit, Failure> {
    let summary = &tally.summary;
    let go_on = format!("go on with: {resume}");
    if tally.is_interrupted {
        output::note(&format!("interrupted; {go_on}"));
        return Ok(Exit::Interrupted);
    }
    if let Some(error) = tally.first_error {
        let (lost, were) = (counted(summary.errors, "case"), plural(summary.errors, "was", "were"));
        output::note(&format!("{lost} {were} not recorded; {go_on}"));
        let exit = if matches!(error, EngineError::CaseChanged(_)) { Exit::BadData } else { Exit::Internal };
        return Err(Failure::new(exit, error));
    }
    if tally.is_capped {
        output::note(&format!("{go_on} --max-cost MORE"));
        return Ok(Exit::Inconclusive);
    }
    if summary.is_silent() {
        output::note("no judge answered; hint: `tribunal check --probe` calls each judge once");
        return Ok(Exit::NoAnswer);
    }
    if !summary.has_values() {
        output::note("nothing was judged: no case has a value");
        return Ok(Exit::Inconclusive);
    }
    Ok(Exit::Pass)
}

/// A new run, or the one to go on with.
async fn begin_run(app: &App, job: &Job, args: &RunArgs) -> Result<(String, bool), Failure> {
    let engine = app.engine();
    let Some(wanted) = &args.resume else {
        let id = app.draw_id();
        let settings = RunSettings {
            seed: args.seed,
            allow_kin: args.allow_kin,
            cache: !args.no_cache && args.repeat == 1,
            repeat: args.repeat,
            baseline: job.baseline.clone(),
        };
        let run = RunRow {
            id: id.clone(),
            project: args.project.name.as_str().to_owned(),
            kind: RunKind::Judge,
            panel: job.panel.name.clone(),
            panel_version: job.panel.version.clone(),
            input_hash: None,
            case_total: i64::try_from(job.cases.report.cases).ok(),
            settings: serde_json::to_string(&settings).context("write the settings of the run")?,
            created_us: engine.now_us(),
        };
        engine.create_run(&run).await.map_err(|error| Failure::new(Exit::Internal, error))?;
        return Ok((id, false));
    };
    let stored = setup::find_run(app, args.project.name.as_str(), wanted).await?;
    if stored.work.as_ref().is_some_and(|work| work.status == WorkStatus::Waiting) {
        return Err(Failure::usage(format!(
            "run {id} is judged by the gateway; hint: `POST /v1/runs/{id}/stop` ends it there",
            id = stored.run.id
        )));
    }
    if stored.run.panel_version != job.panel.version {
        return Err(Failure::new(
            Exit::Configuration,
            anyhow::Error::msg(format!(
                "run {} was begun under panel version {}, and panel.yaml now gives {}; hint: restore the file, or begin a new run (its unchanged judgments come from the cache)",
                stored.run.id, stored.run.panel_version, job.panel.version
            )),
        ));
    }
    let begun_with = RunSettings::of(&stored).repeat;
    if begun_with != args.repeat {
        return Err(Failure::usage(format!(
            "run {} was begun with --repeat {begun_with}; hint: give the same again",
            stored.run.id
        )));
    }
    engine
        .reopen_run(&stored.run.project, &stored.run.id)
        .await
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    Ok((stored.run.id, true))
}

async fn end_run(app: &App, project: &str, id: &str, tally: &Tally) -> Result<(), Failure> {
    let end = tally.end(app.engine().now_us());
    app.engine().finish_run(project, id, &end).await.map_err(|error| Failure::new(Exit::Internal, error))?;
    Ok(())
}

type ReaderTask = tokio::task::JoinHandle<Result<(), crate::intake::IntakeError>>;

/// Reads cases on a blocking thread into a bounded channel.
fn read_cases(
    file: CaseFile,
    options: IntakeOptions,
    stop: CancellationToken,
) -> (impl futures::Stream<Item = Case> + Send, ReaderTask) {
    let (sender, receiver) = mpsc::channel(READ_AHEAD);
    let task = tokio::task::spawn_blocking(move || {
        // Bad lines were reported by the check, and are left out here only when that was asked for.
        for case in file.read(&options)?.flatten() {
            if stop.is_cancelled() || sender.blocking_send(case).is_err() {
                break;
            }
        }
        Ok(())
    });
    let stream = futures::stream::unfold(receiver, |mut receiver: mpsc::Receiver<Case>| async move {
        receiver.recv().await.map(|case| (case, receiver))
    });
    (stream, task)
}

fn resume_command(run_id: &str, command: &str, args: &RunArgs) -> String {
    let mut words = vec![command.to_owned()];
    words.extend(args.from.map(|tool| format!("--from {tool}")));
    words.extend(args.map.as_ref().map(|map| format!("--map {map}")));
    let flags = [
        (args.skip_bad_lines, "--skip-bad-lines"),
        (args.by_mode, "--by-mode"),
        (args.allow_kin, "--allow-kin"),
    ];
    words.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned()));
    words.extend((args.repeat > 1).then(|| format!("--repeat {}", args.repeat)));
    words.extend(args.out.as_ref().map(|out| format!("-o {}", out.display())));
    words.extend(args.project.name.flag());
    words.push(format!("--resume {run_id}"));
    words.join(" ")
}

/// Where verdict lines go: a file, standard output, or nowhere.
pub(super) enum Sink {
    None,
    Out(BufWriter<Box<dyn Write + Send>>),
}

impl Sink {
    /// The file that was named; else standard output, if lines are wanted there.
    pub(super) fn open(out: Option<&Path>, on_stdout: bool) -> Result<Self, Failure> {
        match out {
            Some(path) if path != Path::new("-") => {
                let file = std::fs::File::create(path)
                    .with_context(|| format!("write verdicts to `{}`", path.display()))
                    .map_err(|error| Failure::new(Exit::Usage, error))?;
                Ok(Self::Out(BufWriter::new(Box::new(file))))
            }
            Some(_) => Ok(Self::Out(BufWriter::new(Box::new(std::io::stdout())))),
            None if on_stdout => Ok(Self::Out(BufWriter::new(Box::new(std::io::stdout())))),
            None => Ok(Self::None),
        }
    }

    fn write(&mut self, verdict: &CaseVerdict) -> Result<(), Failure> {
        let Self::Out(out) = self else { return Ok(()) };
        serde_json::to_writer(&mut *out, verdict).context("write a verdict")?;
        out.write_all(b"\n").context("write a verdict")?;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Self::Out(out) = self else { return Ok(()) };
        out.flush().context("write verdicts")?;
        Ok(())
    }
}
