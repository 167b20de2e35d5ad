//! `tribunal gate`: cases judged, or a stored run, held against thresholds.

use std::path::Path;
use std::sync::Arc;

use aggregation::Decision;
use aggregation::gate::GateRule;

use super::case_run::{Job, Sink, judge_all};
use super::exit::{Exit, Failure};
use super::gate_outputs::Outputs;
use super::{GateArgs, OnInconclusive, Rule, budget, case_file, setup};
use crate::app::App;
use crate::gate::{BadTerms, GateFault, GateReport, GateTerms, RunGate, Threshold, measure};
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
        (Some(run), _) => of_stored(config, &asked, run, outputs).await?,
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
            min_cases: terms.min_cases,
            require_calibration: terms.require_calibration,
            ..own
        };
        refuse_replay(&panel, terms.allow_replay)?;
        asked.push(Asked { panel, terms: own });
    }
    Ok(asked)
}

/// The thresholds that concern each panel: those of its own criteria. One that concerns none is wrong.
fn shares(panels: &[Arc<Panel>], thresholds: &[Threshold]) -> Result<Vec<Vec<Threshold>>, Failure> {
    let concerns = |panel: &Panel, threshold: &Threshold| {
        let name = threshold.criterion.as_deref();
        name.is_none_or(|name| panel.rubric.criteria.iter().any(|criterion| criterion.name == name))
    };
    for threshold in thresholds {
        if let (Some(first), false) = (panels.first(), panels.iter().any(|panel| concerns(panel, threshold)))
        {
            GateTerms::of(first, std::slice::from_ref(threshold), &[]).map_err(usage)?;
        }
    }
    let of_panel =
        |panel: &Arc<Panel>| thresholds.iter().filter(|own| concerns(panel, own)).cloned().collect();
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
    run: &str,
    outputs: Outputs,
) -> Result<GateReport, Failure> {
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let reported = async {
        let report = GateReport::of(vec![measure_stored(&app, asked, run).await?]);
        outputs.write(app.engine(), &report).await.map(|()| report)
    };
    let reported = reported.await;
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    reported
}

async fn measure_stored(app: &App, asked: &[Asked], run: &str) -> Result<RunGate, Failure> {
    let Some(Asked { panel, terms }) = asked.first() else { return Err(Failure::usage("no panel")) };
    let stored = setup::find_run(app, run).await?;
    if stored.run.panel != panel.name {
        return Err(Failure::usage(format!(
            "run {} was judged by panel `{}`; hint: -p {}",
            stored.run.id, stored.run.panel, stored.run.panel
        )));
    }
    measure(app.engine(), &stored, panel, terms).await.map_err(fault)
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
    let mut jobs = Vec::new();
    for Asked { panel, terms } in asked {
        setup::refuse_unconnected(&config, panel)?;
        if args.run.max_cost.is_some() {
            budget::refuse_unknown_prices(panel)?;
        }
        let cases = case_file::check(path, &config, panel, &args.run).await?;
        terms.check_modes(cases.report.modes.keys().copied()).map_err(usage)?;
        let command = format!("tribunal gate {} -p {}", path.display(), panel.name);
        jobs.push(Job { command, panel: Arc::clone(panel), cases, prints_table: false });
    }
    let mut sink = Sink::open(args.run.out.as_deref(), false)?;
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let mut runs = Vec::new();
    let mut worst = Exit::Pass;
    for (job, Asked { panel, terms }) in jobs.into_iter().zip(asked) {
        let measured = async {
            let judged = judge_all(&app, job, &args.run, &mut sink, signals).await?;
            if judged.exit != Exit::Pass {
                return Ok(Err(judged.exit));
            }
            let stored = setup::find_run(&app, &judged.run).await?;
            measure(app.engine(), &stored, panel, terms).await.map(Ok).map_err(fault)
        };
        match measured.await {
            Ok(Ok(run)) => runs.push(run),
            Ok(Err(exit)) => worst = worst.and(exit),
            Err(failure) => {
                setup::shut_down(&app, signals).await;
                return Err(failure);
            }
        }
        if worst == Exit::Interrupted {
            break;
        }
    }
    let report = GateReport::of(runs);
    let written = if worst == Exit::Pass { outputs.write(app.engine(), &report).await } else { Ok(()) };
    setup::shut_down(&app, signals).await;
    written?;
    Ok(if worst == Exit::Pass { Ok(report) } else { Err(worst) })
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

fn usage(error: BadTerms) -> Failure {
    Failure::new(Exit::Usage, error)
}

pub(super) fn fault(error: GateFault) -> Failure {
    let exit = match &error {
        GateFault::OtherVersion { .. } | GateFault::MixedVersions { .. } => Exit::Configuration,
        GateFault::Terms(_) => Exit::Usage,
        GateFault::Engine(_) | GateFault::Store(_) | GateFault::Scores { .. } => Exit::Internal,
    };
    Failure::new(exit, error)
}
