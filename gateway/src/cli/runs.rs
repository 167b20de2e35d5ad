//! `tribunal runs`: what the store holds, newest first.

use super::exit::{Exit, Failure};
use super::table::{Column, render};
use super::{RunsArgs, output, setup};
use crate::app::App;
use crate::run::RunReport;
use crate::settings::Source;

pub async fn run(source: &Source, args: &RunsArgs) -> Result<Exit, Failure> {
    let app = App::build(setup::load(source)?).await.map_err(setup::app_failure)?;
    let runs = app
        .engine()
        .runs(args.project.name.as_str(), u32::from(args.limit))
        .await
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let runs: Vec<RunReport> = runs.iter().map(RunReport::of).collect();
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    if args.json {
        for run in &runs {
            let line = serde_json::to_string(run).map_err(|error| Failure::new(Exit::Internal, error))?;
            output::line(&line);
        }
    } else if runs.is_empty() {
        output::note("no runs yet; hint: tribunal judge cases.jsonl");
    } else {
        let columns = [
            Column::left("run"),
            Column::left("begun"),
            Column::left("status"),
            Column::left("panel"),
            Column::right("cases"),
            Column::right("with value"),
            Column::right("escalated"),
            Column::right("cost USD"),
        ];
        output::text(&render(&columns, &runs.iter().map(row).collect::<Vec<_>>()));
    }
    Ok(Exit::Pass)
}

fn row(run: &RunReport) -> Vec<String> {
    let total = run.cases.map_or_else(|| String::from("?"), |n| n.to_string());
    vec![
        run.id.clone(),
        run.begun.clone(),
        run.status.clone(),
        run.panel.clone(),
        format!("{}/{total}", run.finished),
        run.decided.to_string(),
        run.escalated.to_string(),
        run.cost_usd.map_or_else(|| String::from("unknown"), |usd| format!("{usd:.4}")),
    ]
}
