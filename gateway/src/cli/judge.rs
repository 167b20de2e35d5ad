//! `tribunal judge`: a file of cases, or one answer given by flags.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::case_run::{Job, judge_all};
use super::exit::{Exit, Failure};
use super::{JudgeArgs, budget, case_file, estimate, output, setup, single};
use crate::app::App;
use crate::settings::Source;
use crate::shutdown::Signals;

pub async fn run(source: &Source, args: JudgeArgs) -> Result<Exit, Failure> {
    let config = setup::load(source)?;
    let panel = setup::panel(&config, args.run.panel.as_deref())?;
    setup::refuse_unconnected(&config, &panel)?;
    if args.run.max_cost.is_some() {
        budget::refuse_unknown_prices(&panel)?;
    }
    let Some(path) = args.cases.as_deref() else {
        return single::run(config, panel, &args).await;
    };
    setup::print_warnings(&config);
    let cases = case_file::check(path, &config, &panel, &args.run).await?;
    if args.dry_run {
        let estimated = tokio::task::spawn_blocking(move || {
            estimate::estimate(&panel, &cases.file, &cases.options, &config.models, args.run.allow_kin)
        });
        let table = estimated.await.context("the estimate stopped")?;
        output::text(&table.map_err(|error| Failure::new(Exit::BadData, error))?);
        return Ok(Exit::Pass);
    }
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let signals = Signals::listen();
    let job = Job { path: path.to_owned(), panel: Arc::clone(&panel), cases };
    let exit = judge_all(&app, job, &args.run, &signals).await;
    // Sent calls finish and are recorded, unless a second signal wants the end at once.
    tokio::select! {
        () = app.shut_down(crate::api::SHUTDOWN_GRACE) => {}
        () = signals.hard.cancelled() => app.shut_down(Duration::ZERO).await,
    }
    exit
}
