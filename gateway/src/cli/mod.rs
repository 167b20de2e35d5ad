//! The command line: what can be typed. Each command lives in a file of its own and calls the same engine as the API.

mod budget;
mod case_file;
mod case_run;
mod check;
mod estimate;
pub mod exit;
mod gate;
mod gate_outputs;
mod gate_table;
mod init;
mod judge;
pub mod keys;
mod new_key;
mod output;
mod progress;
pub mod project;
mod report;
mod report_page;
mod runs;
mod serve;
mod setup;
mod show;
mod shown_keys;
mod single;
mod table;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use self::exit::{Exit, Failure};
use self::keys::KeysArgs;
use self::project::ProjectArg;
use crate::gate::{Threshold, USUAL_MARGIN};
use crate::intake::Tool;
use crate::run::checks::MOST_REPEATS;

/// A panel of LLM judges: cases in, one verdict with its evidence out.
#[derive(Debug, Parser)]
#[command(name = "tribunal", version, propagate_version = true, max_term_width = 110)]
pub struct Cli {
    /// The configuration file.
    #[arg(short, long, global = true, default_value = "panel.yaml", value_name = "FILE")]
    pub config: PathBuf,
    /// Environment variables that `panel.yaml` may name for keys; others are refused. Without it, any.
    #[arg(long, global = true, value_name = "NAME", value_delimiter = ',')]
    pub allow_env: Vec<String>,
    /// Log filter on standard error, such as `info` or `gateway=debug`.
    #[arg(long, global = true, default_value = "warn", value_name = "FILTER", env = "TRIBUNAL_LOG")]
    pub log: String,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a panel.yaml from the keys and servers that are there.
    Init(InitArgs),
    /// Judge a file of cases, or one answer given by flags.
    Judge(Box<JudgeArgs>),
    /// Judge cases and hold them against thresholds: exit code 0 passes, 1 fails, 2 is inconclusive.
    Gate(Box<GateArgs>),
    /// Write a stored run as a page: scores, agreement, worst cases, cost.
    Report(ReportArgs),
    /// Serve the HTTP API.
    Serve(ServeArgs),
    /// Check panel.yaml: every problem with its place and the next step.
    Check(CheckArgs),
    /// Print the JSON Schema of panel.yaml.
    Schema,
    /// List stored runs, newest first.
    Runs(RunsArgs),
    /// Show a run, one case of it, or a single verdict.
    Show(ShowArgs),
    /// Make, list and revoke the keys of those who use the gateway.
    Keys(KeysArgs),
    /// Print a completion script.
    Completions {
        /// The shell to complete for.
        shell: clap_complete::Shell,
    },
    /// Write the generated pages of docs/reference (for this repository's own use).
    #[command(hide = true)]
    Reference {
        /// The folder to write into.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Take the suggested answers.
    #[arg(short, long)]
    pub yes: bool,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
    /// What to judge: a sentence, or a built-in rubric.
    #[arg(long, value_name = "RUBRIC")]
    pub rubric: Option<String>,
    /// Do not call the judges afterwards.
    #[arg(long)]
    pub no_probe: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 judged · 2 nothing judged · 64 usage · 65 bad data · 69 no judge answered · \
                        78 configuration · 130 interrupted"
)]
pub struct JudgeArgs {
    /// Cases: JSONL, JSON array, CSV or TSV, plain or .gz; `-` reads standard input.
    #[arg(value_name = "FILE", required_unless_present_any = ["output", "a"])]
    pub cases: Option<PathBuf>,
    /// The panel; the only one, or `default`, when left out.
    #[arg(short, long, value_name = "NAME")]
    pub panel: Option<String>,
    #[command(flatten)]
    pub run: RunArgs,
    /// Verdicts as JSON lines on standard output, instead of the table.
    #[arg(long)]
    pub json: bool,
    /// Print the number of calls and what they would cost at most; call nothing.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub one: OneCase,
}

/// Flags of commands that judge a file of cases.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Where verdicts go, one JSON line a case, in the order of the cases.
    #[arg(short = 'o', long = "out", value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Cases in flight at once; without it, as many as keep the limited servers busy, at most 16.
    #[arg(short = 'j', long, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub jobs: Option<u16>,
    /// Go on with an interrupted run (`last` is the newest): nothing stored is asked again.
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,
    /// With --resume: ask again for votes that are missing through failures (unavailable, timed out, rate limited) or
    /// whose reply could not be read.
    #[arg(long, requires = "resume")]
    pub retry_errors: bool,
    /// Seed of the draw for random reviews.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Ask every judge afresh.
    #[arg(long)]
    pub no_cache: bool,
    /// Judge every case so many times, afresh each time, and report how often the answers differ.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_REPEATS)), value_name = "N")]
    pub repeat: u32,
    /// Stop before more is spent, in US dollars, over all sessions of a resumed run. Exit code 2 when it stops the run.
    #[arg(long, value_name = "USD", value_parser = budget::usd)]
    pub max_cost: Option<f64>,
    /// No progress and no table.
    #[arg(short, long)]
    pub quiet: bool,
    /// Rename fields, such as `output=answer,reference=ideal`.
    #[arg(long, value_name = "FIELD=NAME,…")]
    pub map: Option<String>,
    /// Read a result file of another tool: promptfoo (.json, .jsonl), inspect (.eval, .json), mt-bench (an answer file, or
    /// the folder with two of them).
    #[arg(long, value_name = "TOOL", value_parser = from_tool())]
    pub from: Option<Tool>,
    /// Leave out lines that cannot be read, and list them.
    #[arg(long)]
    pub skip_bad_lines: bool,
    /// Allow pointwise and reference cases in one run, and report them apart.
    #[arg(long)]
    pub by_mode: bool,
    /// Let judges vote on answers of their own model or family; printed in every report.
    #[arg(long)]
    pub allow_kin: bool,
    #[command(flatten)]
    pub project: ProjectArg,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 pass · 1 failed · 2 inconclusive, nothing judged, or stopped by --max-cost · 64 usage · \
                        65 bad data · 69 no judge answered · 78 configuration · 130 interrupted"
)]
pub struct GateArgs {
    /// Cases to judge: JSONL, JSON array, CSV or TSV, plain or .gz; `-` reads standard input.
    #[arg(value_name = "FILE", required_unless_present = "stored")]
    pub cases: Option<PathBuf>,
    /// A stored run in place of cases (`last` is the newest): nothing is asked.
    #[arg(long = "run", value_name = "RUN", conflicts_with = "cases")]
    pub stored: Option<String>,
    /// The panel, several times for several; the only one, or `default`, when left out.
    #[arg(short, long = "panel", value_name = "NAME")]
    pub panels: Vec<String>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub terms: GateTermsArgs,
    #[command(flatten)]
    pub outputs: GateOutputs,
}

/// What has to be reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Thresholds")]
pub struct GateTermsArgs {
    /// Least mean score, 0 to 1; in place of the one in panel.yaml.
    #[arg(long, value_name = "CRITERION=SHARE", value_delimiter = ',')]
    pub min: Vec<Threshold>,
    /// Least share of cases that pass, 0 to 1; in place of the one in panel.yaml.
    #[arg(long, value_name = "CRITERION=SHARE", value_delimiter = ',')]
    pub pass_rate: Vec<Threshold>,
    /// Pinned outputs to compare with, one `output` an id; `b`: the `b` of the cases' own pairs.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Refuse a baseline with another hash than this one.
    #[arg(long, requires = "baseline", value_name = "HASH")]
    pub baseline_hash: Option<String>,
    /// How outputs are compared with the baseline's.
    #[arg(long, value_enum, default_value_t = Compare::Pairs, requires = "baseline", value_name = "HOW")]
    pub compare: Compare,
    /// How much worse than the baseline is still no worse, as a share.
    #[arg(long, default_value_t = USUAL_MARGIN, value_parser = share, value_name = "SHARE")]
    pub margin: f64,
    /// Demand that the outputs are better than the baseline's.
    #[arg(long, conflicts_with = "margin")]
    pub superior: bool,
    /// People's labels, a JSON line each: id, criterion, label. They stand for cases that wait for a person.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Correct the judges' figures by the labels, which have to be of cases drawn at random (or carry a `weight`).
    #[arg(long, value_enum, requires = "labels", value_name = "HOW")]
    pub correct: Option<Correct>,
    /// How a figure is held against its threshold.
    #[arg(long, value_enum, default_value_t = Rule::ThreeState, value_name = "RULE")]
    pub rule: Rule,
    /// What an open question counts as.
    #[arg(long, value_enum, default_value_t = OnInconclusive::Fail, value_name = "HOW")]
    pub on_inconclusive: OnInconclusive,
    /// Scored cases below which the gate is inconclusive.
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub min_cases: usize,
    /// Let recorded judgments decide.
    #[arg(long)]
    pub allow_replay: bool,
    /// Demand that every judge of the panel is freshly calibrated on every criterion.
    #[arg(long)]
    pub require_calibration: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rule {
    /// Its lower bound has to reach it; where the bounds hold it, the gate is inconclusive.
    ThreeState,
    /// The figure alone.
    Point,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Compare {
    /// The judges see both and say which is better: a win rate.
    Pairs,
    /// Both are judged by themselves: the mean difference of their scores.
    Scores,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Correct {
    /// Prediction-powered inference.
    Ppi,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnInconclusive {
    /// Exit code 2.
    Fail,
    /// Exit code 0.
    Pass,
}

/// Where a gate says what it found.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct GateOutputs {
    /// The report as JSON on standard output, instead of the table.
    #[arg(long)]
    pub json: bool,
    /// A JUnit file: failure is below a threshold or not passed, error is not judged, skipped waits for a person.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// A summary in Markdown; in a GitHub workflow it is on the job's page without this.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// The report as one page that needs nothing else.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run; `last` is the newest.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The panel; without it, the one that judged the run.
    #[arg(short, long, value_name = "NAME")]
    pub panel: Option<String>,
    /// Where the page goes; without it, standard output.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub project: ProjectArg,
}

/// One answer without a file.
#[derive(Debug, Args)]
#[command(next_help_heading = "One case")]
pub struct OneCase {
    /// The question or task.
    #[arg(long, value_name = "TEXT", conflicts_with = "cases")]
    pub input: Option<String>,
    /// The answer to judge.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["cases", "a", "b"])]
    pub output: Option<String>,
    /// The right answer to compare with.
    #[arg(long, value_name = "TEXT", conflicts_with = "cases")]
    pub reference: Option<String>,
    /// The first of two answers to compare.
    #[arg(long, value_name = "TEXT", conflicts_with = "cases", requires = "b")]
    pub a: Option<String>,
    /// The second of two answers to compare.
    #[arg(long, value_name = "TEXT", conflicts_with = "cases", requires = "a")]
    pub b: Option<String>,
    /// The model that wrote the answer: judges of its family are left out.
    #[arg(long, value_name = "NAME", conflicts_with = "cases")]
    pub model: Option<String>,
    /// `public`, `internal` or `confidential`.
    #[arg(long, value_name = "LEVEL", conflicts_with = "cases")]
    pub sensitivity: Option<String>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on; overrides `server.bind`.
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<String>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Call each judge once: latency, logprobs, structured output, model identity.
    #[arg(long)]
    pub probe: bool,
    /// Print the settings in force, defaults included, secrets masked.
    #[arg(long)]
    pub print: bool,
    /// The settings as JSON: panels with their versions, warnings, what each judge answered.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunsArgs {
    /// At most this many.
    #[arg(short, long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// One JSON line a run.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub project: ProjectArg,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A run's id, the id of a single verdict, or `last`.
    pub id: String,
    /// One case of the run, with every vote, reason and reply.
    #[arg(long, value_name = "CASE")]
    pub case: Option<String>,
    /// Every judgment as a JSON line, raw replies included.
    #[arg(long)]
    pub judgments: bool,
    /// One JSON line a verdict.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub project: ProjectArg,
}

fn from_tool() -> impl TypedValueParser<Value = Tool> {
    PossibleValuesParser::new(Tool::NAMES).try_map(|name| name.parse::<Tool>())
}

/// A share from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        Ok(_) | Err(_) => Err(String::from("write a share from 0 to 1, such as 0.05")),
    }
}

/// Parses the arguments and runs the command; everything that goes wrong ends as an exit code.
pub fn run(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let is_help = !error.use_stderr();
            // Nothing can be done about a closed terminal.
            let _ = error.print();
            return if is_help { Exit::Pass } else { Exit::Usage };
        }
    };
    crate::telemetry::logs::init(&cli.log);
    match dispatch(cli) {
        Ok(exit) => exit,
        Err(Failure { exit, error }) => {
            output::error(&error);
            exit
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    if let Command::Completions { shell } = cli.command {
        clap_complete::generate(shell, &mut Cli::command(), "tribunal", &mut std::io::stdout());
        return Ok(Exit::Pass);
    }
    if matches!(cli.command, Command::Schema) {
        output::line(&format!("{:#}", crate::settings::schema()));
        return Ok(Exit::Pass);
    }
    if let Command::Reference { folder } = &cli.command {
        crate::reference::write(folder).map_err(|error| Failure::new(Exit::Internal, error))?;
        return Ok(Exit::Pass);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    runtime.block_on(command(cli))
}

async fn command(cli: Cli) -> Result<Exit, Failure> {
    let source = output::source(&cli);
    match cli.command {
        Command::Init(args) => init::run(&cli.config, args).await,
        Command::Gate(args) => Box::pin(gate::run(&source, *args)).await,
        Command::Judge(args) => Box::pin(judge::run(&source, *args)).await,
        Command::Report(args) => report_page::run(&source, &args).await,
        Command::Serve(args) => serve::run(&source, args).await,
        Command::Check(args) => check::run(&source, &args).await,
        Command::Runs(args) => runs::run(&source, &args).await,
        Command::Show(args) => show::run(&source, &args).await,
        Command::Keys(args) => keys::run(&source, &args).await,
        Command::Schema | Command::Completions { .. } | Command::Reference { .. } => Ok(Exit::Pass),
    }
}
