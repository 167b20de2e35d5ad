//! `tribunal report`: a stored run as a page.

use std::path::Path;

use super::exit::{Exit, Failure};
use super::{ReportArgs, gate_outputs, output, setup};
use crate::app::App;
use crate::gate::{GateReport, RunGate, describe_stored};
use crate::settings::Source;

pub async fn run(source: &Source, args: &ReportArgs) -> Result<Exit, Failure> {
    let config = setup::load(source)?;
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let measured = measured(&app, args).await;
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    let page = gate_outputs::page(&GateReport::of(vec![measured?]))?;
    match args.out.as_deref() {
        Some(path) if path != Path::new("-") => gate_outputs::write_page(path, &page)?,
        Some(_) | None => output::text(&page),
    }
    Ok(Exit::Pass)
}

async fn measured(app: &App, args: &ReportArgs) -> Result<RunGate, Failure> {
    let stored = setup::find_run(app, args.project.name.as_str(), &args.run).await?;
    let panel =
        setup::panel(&app.in_force().config, Some(args.panel.as_deref().unwrap_or(&stored.run.panel)))?;
    describe_stored(app.engine(), &stored, &panel).await.map_err(super::gate::fault)
}
