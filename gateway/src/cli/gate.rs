//! `tribunal gate`: cases judged, or a stored run, held against thresholds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aggregation::Decision;
use aggregation::gate::{Claim, GateRule};

use super::case_run::{Job, Sink, judge_all};
use super::exit::{Exit, Failure};
use super::gate_outputs::Outputs;
use super::{Compare, Correct, GateArgs, OnInconclusive, Rule, budget, case_file, setup};
use crate::app::App;
use crate::gate::{
    BadTerms, BaselineReport, GateFault, GateReport, GateTerms, Labels, Threshold, measure_stored,
    without_checks,
};
use crate::intake::{Against, Baseline, BaselineFault, CaseFile, IntakeOptions};
use crate::judge::ProviderKind;
use crate::panel::Panel;
use crate::settings::{Config, Environment, Source};
use crate::shutdown::Signals;

/// A panel with what a run of it has to reach.
struct Asked {
    panel: Arc<Panel>,
    terms: GateTerms,
}

pub async fn run(source: &Source, args: GateArgs) -> Result<Exit, Failure> {
    let config = setup::load(source)?;
    let asked = asked(&config, &args)?;
    setup::print_warnings(&config);
    let signals = Signals::listen();
    let outputs = Outputs::open(&args, &Environment::of_process())?;
    let report = match (&args.stored, args.cases.as_deref()) {
        (Some(run), _) => of_stored(config, &asked, &args, outputs, run).await?,
        (None, Some(path)) => match of_cases(config, &asked, path, &args, outputs, &signals).await? {
            Ok(report) => report,
            Err(exit) => return Ok(exit),
        },
        (None, None) => return Err(Failure::usage("neither cases nor a run")),
    };
    Ok(exit(&report, args.terms.on_inconclusive))
}

/// The panels that were named, each with its terms; everything that needs no case is refused here.
fn asked(config: &Config, args: &GateArgs) -> Result<Vec<Asked>, Failure> {
    let names: Vec<Option<&str>> = if args.panels.is_empty() {
        vec![None]
    } else {
        args.panels.iter().map(|name| Some(name.as_str())).collect()
    };
    let mut panels: Vec<Arc<Panel>> = Vec::new();
    for name in names {
        let panel = setup::panel(config, name)?;
        if panels.iter().any(|known| known.name == panel.name) {
            return Err(Failure::usage(format!("panel `{}` is named twice", panel.name)));
        }
        panels.push(panel);
    }
    if panels.len() > 1 && (args.stored.is_some() || args.run.resume.is_some()) {
        return Err(Failure::usage("a run belongs to one panel; hint: name one with -p"));
    }
    if panels.len() > 1 && args.cases.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "standard input can be read for one panel only; hint: write the cases to a file",
        ));
    }
    let terms = &args.terms;
    if panels.len() > 1 && terms.labels.is_some() {
        return Err(Failure::usage("labels are of one rubric; hint: name one panel with -p"));
    }
    let min = shares(&panels, &terms.min)?;
    let pass_rate = shares(&panels, &terms.pass_rate)?;
    let mut asked = Vec::new();
    for (panel, (min, pass_rate)) in panels.into_iter().zip(min.into_iter().zip(pass_rate)) {
        let own = GateTerms::of(&panel, &min, &pass_rate).map_err(usage)?;
        let rule = match terms.rule {
            Rule::ThreeState => GateRule::ThreeState,
            Rule::Point => GateRule::Point,
        };
        let own = GateTerms {
            rule,
            claim: if terms.superior { Claim::Superior } else { Claim::NonInferior { margin: terms.margin } },
            min_cases: terms.min_cases,
            require_calibration: terms.require_calibration,
            correct: terms.correct == Some(Correct::Ppi),
            ..own
        };
        refuse_replay(&panel, terms.allow_replay)?;
        asked.push(Asked { panel, terms: own });
    }
    Ok(asked)
}

/// The thresholds that concern each panel: those of its own criteria and checks. One that concerns none is wrong.
fn shares(panels: &[Arc<Panel>], thresholds: &[Threshold]) -> Result<Vec<Vec<Threshold>>, Failure> {
    for threshold in thresholds {
        if let (Some(first), false) = (panels.first(), panels.iter().any(|panel| threshold.concerns(panel))) {
            GateTerms::of(first, std::slice::from_ref(threshold), &[]).map_err(usage)?;
        }
    }
    let of_panel =
        |panel: &Arc<Panel>| thresholds.iter().filter(|own| own.concerns(panel)).cloned().collect();
    Ok(panels.iter().map(of_panel).collect())
}

/// Recorded judgments say nothing of what is to be merged, unless the caller knows that they do.
fn refuse_replay(panel: &Panel, allowed: bool) -> Result<(), Failure> {
    let recorded = panel.judges.iter().find(|judge| judge.server.provider == ProviderKind::Replay);
    match recorded {
        Some(judge) if !allowed => Err(Failure::usage(format!(
            "judge `{}` of panel `{}` repeats recorded judgments, which may be of other answers; hint: --allow-replay lets them decide",
            judge.id, panel.name
        ))),
        Some(_) | None => Ok(()),
    }
}

async fn of_stored(
    config: Config,
    asked: &[Asked],
    args: &GateArgs,
    outputs: Outputs,
    run: &str,
) -> Result<GateReport, Failure> {
    let Some(Asked { panel, terms }) = asked.first() else { return Err(Failure::usage("no panel")) };
    if args.terms.baseline.is_some() {
        return Err(Failure::usage(
            "a stored run has its baseline; hint: leave --baseline out, or name cases",
        ));
    }
    let labels = labels(args, panel)?;
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let reported = async {
        let stored = setup::find_run(&app, args.run.project.name.as_str(), run).await?;
        let measured = measure_stored(app.engine(), &stored, panel, terms, labels.as_ref()).await;
        let report = GateReport::of(vec![measured.map_err(fault)?]);
        outputs.write(app.engine(), &report).await.map(|()| report)
    };
    let reported = reported.await;
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    reported
}

fn labels(args: &GateArgs, panel: &Panel) -> Result<Option<Labels>, Failure> {
    let read = |path: &PathBuf| Labels::read(path, panel).map_err(|error| Failure::new(Exit::BadData, error));
    args.terms.labels.as_ref().map(read).transpose()
}

/// What one run of a panel is for.
struct Part {
    panel: Arc<Panel>,
    /// `None`: the outputs of the baseline, judged by themselves for the next part.
    terms: Option<GateTerms>,
    job: Job,
}

/// Judges the cases with each panel, then measures the runs; an exit code where a run ended without anything to measure.
async fn of_cases(
    config: Config,
    asked: &[Asked],
    path: &Path,
    args: &GateArgs,
    outputs: Outputs,
    signals: &Signals,
) -> Result<Result<GateReport, Exit>, Failure> {
    let baseline = baseline(path, args)?;
    let mut parts = Vec::new();
    for Asked { panel, terms } in asked {
        setup::refuse_unconnected(&config, panel)?;
        if args.run.max_cost.is_some() {
            budget::refuse_unknown_prices(panel)?;
        }
        parts.extend(plan(&config, panel, terms, baseline.as_ref(), path, args).await?);
    }
    if parts.len() > 1 && args.run.resume.is_some() {
        return Err(Failure::usage(
            "this gate makes several runs, and one run is resumed; hint: begin again, what was judged comes from the cache",
        ));
    }
    let labels = match asked.first() {
        Some(first) => labels(args, &first.panel)?,
        None => None,
    };
    let mut sink = Sink::open(args.run.out.as_deref(), false)?;
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let judged = judge_parts(&app, parts, labels.as_ref(), args, &mut sink, signals).await;
    let written = match &judged {
        Ok(Ok(report)) => outputs.write(app.engine(), report).await,
        Ok(Err(_)) | Err(_) => Ok(()),
    };
    setup::shut_down(&app, signals).await;
    written.and(judged)
}

async fn judge_parts(
    app: &App,
    parts: Vec<Part>,
    labels: Option<&Labels>,
    args: &GateArgs,
    sink: &mut Sink,
    signals: &Signals,
) -> Result<Result<GateReport, Exit>, Failure> {
    let mut runs = Vec::new();
    let mut worst = Exit::Pass;
    let mut pinned: Option<String> = None;
    for Part { panel, terms, mut job } in parts {
        if let (Some(_), Some(own)) = (&terms, &mut job.baseline) {
            own.run = pinned.take();
        }
        let judged = judge_all(app, job, &args.run, sink, signals).await?;
        worst = worst.and(judged.exit);
        if judged.exit == Exit::Interrupted {
            break;
        }
        match terms {
            None => pinned = Some(judged.run),
            Some(terms) if worst == Exit::Pass => {
                let stored = setup::find_run(app, args.run.project.name.as_str(), &judged.run).await?;
                let measured = measure_stored(app.engine(), &stored, &panel, &terms, labels).await;
                runs.push(measured.map_err(fault)?);
            }
            Some(_) => {}
        }
    }
    Ok(if worst == Exit::Pass { Ok(GateReport::of(runs)) } else { Err(worst) })
}

/// The pinned outputs that cases are compared with.
fn baseline(cases: &Path, args: &GateArgs) -> Result<Option<Arc<Baseline>>, Failure> {
    let bad_data = |error: BaselineFault| Failure::new(Exit::BadData, error);
    let Some(path) = &args.terms.baseline else { return Ok(None) };
    let baseline = if is_b(path) {
        if cases == Path::new("-") {
            return Err(Failure::usage("pairs to be pinned come from a file; hint: write the cases to one"));
        }
        let options = IntakeOptions {
            map: case_file::map(&args.run)?,
            from: args.run.from,
            ..IntakeOptions::default()
        };
        let file = CaseFile::open(cases).map_err(|error| bad_data(error.into()))?;
        Baseline::of_pairs(&file, &options).map_err(bad_data)?
    } else {
        Baseline::read(path).map_err(bad_data)?
    };
    match &args.terms.baseline_hash {
        Some(wanted) if *wanted != baseline.hash => Err(Failure::new(
            Exit::Configuration,
            anyhow::Error::msg(format!(
                "baseline `{}` has the hash {}, not {wanted}; hint: a new baseline begins a new series: pin it with --baseline-hash {}",
                baseline.name, baseline.hash, baseline.hash
            )),
        )),
        Some(_) | None => Ok(Some(Arc::new(baseline))),
    }
}

/// `b`: the second answers of the cases themselves.
fn is_b(path: &Path) -> bool {
    path == Path::new("b")
}

/// The runs that one panel needs: its own thresholds, and what is compared with a baseline.
async fn plan(
    config: &Config,
    panel: &Arc<Panel>,
    terms: &GateTerms,
    baseline: Option<&Arc<Baseline>>,
    path: &Path,
    args: &GateArgs,
) -> Result<Vec<Part>, Failure> {
    let named =
        baseline.map(|own| BaselineReport { name: own.name.clone(), hash: own.hash.clone(), run: None });
    let is_b = args.terms.baseline.as_deref().is_some_and(is_b);
    let part = async |judging: &Arc<Panel>,
                      held: Option<&GateTerms>,
                      against: Option<Against>,
                      baseline: Option<BaselineReport>| {
        let cases = case_file::check(path, config, judging, &args.run, against).await?;
        if let Some(held) = held {
            held.check_modes(cases.report.modes.keys().copied()).map_err(usage)?;
        }
        let command = format!("tribunal gate {} -p {}", path.display(), panel.name);
        let job = Job { command, panel: Arc::clone(judging), cases, baseline, prints_table: false };
        Ok::<_, Failure>(Part { panel: Arc::clone(panel), terms: held.map(|_| terms.clone()), job })
    };
    let Some(baseline) = baseline else {
        terms.check_any(panel).map_err(usage)?;
        return Ok(vec![part(panel, Some(terms), None, None).await?]);
    };
    match args.terms.compare {
        Compare::Scores if is_b => {
            Err(Failure::usage("pairs have no scores of their own; hint: --compare pairs"))
        }
        Compare::Scores => {
            let instead = Against::Instead(Arc::clone(baseline));
            let differences = terms.with_differences(panel).map_err(usage)?;
            Ok(vec![
                part(panel, None, Some(instead), named.clone()).await?,
                part(panel, Some(&differences), None, named).await?,
            ])
        }
        Compare::Pairs => {
            let pair = (!is_b).then(|| Against::Pair(Arc::clone(baseline)));
            let (bare, compared) = (without_checks(panel), terms.for_pairs(panel));
            let mut parts = vec![part(&bare, Some(&compared), pair, named).await?];
            // Thresholds are for outputs by themselves, and pairs have none.
            if !terms.requirements.is_empty() && !is_b {
                parts.push(part(panel, Some(terms), None, None).await?);
            }
            Ok(parts)
        }
    }
}

/// Each by itself: an open question that counts as passed must not hide a failure.
fn exit(report: &GateReport, on_inconclusive: OnInconclusive) -> Exit {
    let exit = |decision: Decision| match (decision, on_inconclusive) {
        (Decision::Pass, _) | (Decision::Inconclusive, OnInconclusive::Pass) => Exit::Pass,
        (Decision::Fail, _) => Exit::Failed,
        (Decision::Inconclusive, OnInconclusive::Fail) => Exit::Inconclusive,
    };
    let decisions = report.runs.iter().flat_map(|run| {
        let open = (!run.obstacles.is_empty()).then_some(Decision::Inconclusive);
        run.requirements.iter().map(|requirement| requirement.decision).chain(open)
    });
    decisions.map(exit).reduce(Exit::and).unwrap_or(Exit::Inconclusive)
}

pub(super) fn usage(error: BadTerms) -> Failure {
    Failure::new(Exit::Usage, error)
}

pub(super) fn fault(error: GateFault) -> Failure {
    let exit = match &error {
        GateFault::OtherVersion { .. } | GateFault::MixedVersions { .. } => Exit::Configuration,
        GateFault::Terms(_) | GateFault::NotPinned { .. } | GateFault::OtherPanel { .. } => Exit::Usage,
        GateFault::Labels(_) | GateFault::NoBaselineRun { .. } => Exit::BadData,
        GateFault::Engine(_) | GateFault::Store(_) | GateFault::Scores { .. } => Exit::Internal,
    };
    Failure::new(exit, error)
}
