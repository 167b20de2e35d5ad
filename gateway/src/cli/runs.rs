//! `tribunal runs`: what the store holds, newest first.

use serde_json::json;

use super::exit::{Exit, Failure};
use super::table::{Column, render};
use super::{RunsArgs, output, setup};
use crate::api::DEFAULT_PROJECT;
use crate::app::App;
use crate::settings::Source;
use crate::store::rows::{RunStatus, RunSummary};

pub async fn run(source: &Source, args: &RunsArgs) -> Result<Exit, Failure> {
    let app = App::build(setup::load(source)?).await.map_err(setup::app_failure)?;
    let runs = app
        .engine()
        .runs(DEFAULT_PROJECT, u32::from(args.limit))
        .await
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    if args.json {
        for run in &runs {
            output::line(&as_json(run).to_string());
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

/// A run as JSON, for scripts.
pub fn as_json(run: &RunSummary) -> serde_json::Value {
    json!({
        "id": run.run.id,
        "begun": time(run.run.created_us),
        "ended": run.finished_us.map(time),
        "status": status(run.status),
        "panel": run.run.panel,
        "panel_version": run.run.panel_version,
        "cases": run.run.case_total,
        "finished": run.totals.finished_cases,
        "decided": run.totals.decided_cases,
        "escalated": run.totals.escalated_cases,
        "cost_usd": run.totals.cost_microusd.map(usd),
    })
}

fn row(run: &RunSummary) -> Vec<String> {
    let total = run.run.case_total.map_or_else(|| String::from("?"), |n| n.to_string());
    vec![
        run.run.id.clone(),
        time(run.run.created_us),
        status(run.status).to_owned(),
        run.run.panel.clone(),
        format!("{}/{total}", run.totals.finished_cases),
        run.totals.decided_cases.to_string(),
        run.totals.escalated_cases.to_string(),
        run.totals
            .cost_microusd
            .map_or_else(|| String::from("unknown"), |micro| format!("{:.4}", usd(micro))),
    ]
}

pub fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Finished => "finished",
        RunStatus::Stopped => "stopped",
    }
}

/// RFC 3339, whole seconds, UTC.
pub fn time(us: i64) -> String {
    jiff::Timestamp::from_microsecond(us)
        .map_or_else(|_| String::from("?"), |t| t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[expect(clippy::cast_precision_loss, reason = "exact below 9 billion dollars")]
fn usd(micro: i64) -> f64 {
    micro as f64 / 1e6
}
