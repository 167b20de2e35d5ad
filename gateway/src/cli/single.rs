//! `tribunal judge --output …`: one answer without a file.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::exit::{Exit, Failure};
use super::{JudgeArgs, OneCase, budget, output, report, setup};
use crate::app::App;
use crate::case::Case;
use crate::engine::{EngineError, JudgeRequest, Purse};
use crate::panel::Panel;
use crate::settings::Config;
use crate::summary::RunSummary;

pub async fn run(config: Config, panel: Arc<Panel>, args: &JudgeArgs) -> Result<Exit, Failure> {
    let case = case(&args.one)?;
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let in_force = app.in_force();
    in_force
        .check_ready(&panel, &case, args.run.allow_kin)
        .map_err(|error| Failure::new(Exit::Configuration, error))?;
    let verdict = app
        .engine()
        .judge(JudgeRequest {
            case: Arc::new(case),
            panel,
            askers: Arc::clone(&in_force.askers),
            project: args.run.project.name.to_arc(),
            run: None,
            position: 0,
            use_cache: !args.run.no_cache,
            cache_since_us: 0,
            resumed: false,
            retry: None,
            seed: args.run.seed,
            allow_kin: args.run.allow_kin,
            purse: Purse::capped(args.run.max_cost.map(budget::fresh)),
            cancel: CancellationToken::new(),
        })
        .await;
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    let verdict = verdict.map_err(|error| {
        let exit = if matches!(error, EngineError::OverBudget) { Exit::Inconclusive } else { Exit::Internal };
        Failure::new(exit, error)
    })?;
    let json = serde_json::to_string(&verdict).map_err(|error| Failure::new(Exit::Internal, error))?;
    if let Some(path) = &args.run.out {
        std::fs::write(path, format!("{json}\n")).map_err(|error| Failure::new(Exit::Usage, error))?;
    }
    if args.json {
        output::line(&json);
    } else if !args.run.quiet {
        output::text(&report::verdict(&verdict));
    }
    let mut summary = RunSummary::new();
    summary.add(&verdict, false);
    Ok(match (summary.is_silent(), summary.has_values()) {
        (true, _) => Exit::NoAnswer,
        (false, false) => Exit::Inconclusive,
        (false, true) => Exit::Pass,
    })
}

/// The case from the flags, under the same rules as a line of a file.
fn case(one: &OneCase) -> Result<Case, Failure> {
    let mut fields = Map::new();
    let mut candidate = |name: &str, text: &Option<String>| {
        if let Some(text) = text {
            fields.insert(name.to_owned(), Value::from(text.as_str()));
        }
    };
    candidate("input", &one.input);
    candidate("output", &one.output);
    candidate("reference", &one.reference);
    candidate("a", &one.a);
    candidate("b", &one.b);
    candidate("model", &one.model);
    candidate("sensitivity", &one.sensitivity);
    Case::try_from(Value::Object(fields)).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::usage(problems.join("\n"))
    })
}
