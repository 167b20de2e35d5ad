//! `tribunal judge`: a file of cases, or one answer given by flags.

use std::sync::Arc;

use anyhow::Context;

use super::case_run::{Job, Sink, judge_all};
use super::exit::{Exit, Failure};
use super::{JudgeArgs, budget, case_file, estimate, output, setup, single};
use crate::app::App;
use crate::settings::Source;
use crate::shutdown::Signals;

pub async fn run(source: &Source, args: JudgeArgs) -> Result<Exit, Failure> {
    let config = setup::load(source)?;
    let panel = setup::panel(&config, args.panel.as_deref())?;
    setup::refuse_unconnected(&config, &panel)?;
    if args.run.max_cost.is_some() {
        budget::refuse_unknown_prices(&panel)?;
    }
    let Some(path) = args.cases.as_deref() else {
        return single::run(config, panel, &args).await;
    };
    setup::print_warnings(&config);
    let cases = case_file::check(path, &config, &panel, &args.run, None).await?;
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
    let named = args.panel.as_ref().map(|panel| format!(" -p {panel}")).unwrap_or_default();
    let job = Job {
        command: format!("tribunal judge {}{named}", path.display()),
        panel: Arc::clone(&panel),
        cases,
        baseline: None,
        prints_table: !args.run.quiet && !args.json,
    };
    let mut sink = Sink::open(args.run.out.as_deref(), args.json)?;
    let exit = judge_all(&app, job, &args.run, &mut sink, &signals).await.map(|judged| judged.exit);
    setup::shut_down(&app, &signals).await;
    exit
}
