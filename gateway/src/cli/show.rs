//! `tribunal show`: a run, one case of it, or a single verdict.

use serde_json::json;

use super::exit::{Exit, Failure};
use super::{ShowArgs, output, report, setup};
use crate::app::App;
use crate::clock::rfc3339;
use crate::engine::kind_of;
use crate::settings::Source;
use crate::store::rows::{JudgmentRow, JudgmentSource, RunSummary as StoredRun};
use crate::summary::RunSummary;
use crate::verdict::CaseVerdict;

/// Verdicts of one page while a run is read.
const PAGE: u32 = 200;
/// Verdicts that are shown one by one.
const MAX_ROWS: usize = 60;

pub async fn run(source: &Source, args: &ShowArgs) -> Result<Exit, Failure> {
    let app = App::build(setup::load(source)?).await.map_err(setup::app_failure)?;
    let shown = show(&app, args).await;
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    shown
}

async fn show(app: &App, args: &ShowArgs) -> Result<Exit, Failure> {
    let engine = app.engine();
    let project = args.project.name.as_str();
    if args.id != "last" {
        let found = engine.verdict(project, &args.id).await.map_err(|e| Failure::new(Exit::Internal, e))?;
        if let Some(verdict) = found {
            let scope = verdict.run.clone().unwrap_or_else(|| verdict.id.clone());
            return show_verdict(app, &scope, &verdict, args).await;
        }
    }
    let stored = setup::find_run(app, project, &args.id).await?;
    match &args.case {
        Some(case) => {
            let id = crate::case::CaseId(case.clone());
            let verdict = engine
                .stored_verdict(project, &stored.run.id, &id)
                .await
                .map_err(|e| Failure::new(Exit::Internal, e))?;
            let Some(verdict) = verdict else {
                return Err(Failure::new(
                    Exit::BadData,
                    anyhow::Error::msg(format!("run {} has no verdict for case `{case}`", stored.run.id)),
                ));
            };
            show_verdict(app, &stored.run.id, &verdict, args).await
        }
        None if args.judgments => print_all_judgments(app, &stored).await,
        None => show_run(app, &stored, args).await,
    }
}

async fn show_verdict(app: &App, run: &str, verdict: &CaseVerdict, args: &ShowArgs) -> Result<Exit, Failure> {
    if args.judgments {
        print_judgments(app, args.project.name.as_str(), run, &verdict.case).await?;
    } else if args.json {
        output::line(&serde_json::to_string(verdict).map_err(|e| Failure::new(Exit::Internal, e))?);
    } else {
        output::text(&report::verdict(verdict));
    }
    Ok(Exit::Pass)
}

/// Page by page: a run of any length needs constant memory.
async fn show_run(app: &App, stored: &StoredRun, args: &ShowArgs) -> Result<Exit, Failure> {
    let mut summary = RunSummary::new();
    let mut rows = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = app
            .engine()
            .verdicts_of_run(&stored.run.project, &stored.run.id, after.as_deref(), PAGE)
            .await
            .map_err(|e| Failure::new(Exit::Internal, e))?;
        let Some(last) = page.last() else { break };
        after = Some(last.case.clone());
        for verdict in page {
            if args.json {
                output::line(&serde_json::to_string(&verdict).map_err(|e| Failure::new(Exit::Internal, e))?);
            }
            summary.add(&verdict, false);
            if rows.len() < MAX_ROWS {
                rows.push(verdict);
            }
        }
    }
    if !args.json {
        let total = stored.run.case_total.map_or_else(|| String::from("?"), |n| n.to_string());
        output::line(&format!(
            "run {}  {}  begun {}  panel {} {}  {} of {total} cases finished\n",
            stored.run.id,
            stored.status.name(),
            rfc3339(stored.run.created_us),
            stored.run.panel,
            stored.run.panel_version,
            stored.totals.finished_cases,
        ));
        let shown = if summary.cases <= MAX_ROWS as u64 { &rows[..] } else { &[] };
        output::text(&report::run(&summary, shown));
    }
    Ok(Exit::Pass)
}

/// Also of cases that have no verdict yet: what an interrupted run has paid for.
async fn print_all_judgments(app: &App, stored: &StoredRun) -> Result<Exit, Failure> {
    let mut after: Option<String> = None;
    loop {
        let cases = app
            .engine()
            .judged_cases(&stored.run.project, &stored.run.id, after.as_deref(), PAGE)
            .await
            .map_err(|e| Failure::new(Exit::Internal, e))?;
        let Some(last) = cases.last() else { return Ok(Exit::Pass) };
        after = Some(last.clone());
        for case in &cases {
            print_judgments(app, &stored.run.project, &stored.run.id, case).await?;
        }
    }
}

async fn print_judgments(app: &App, project: &str, run: &str, case: &str) -> Result<(), Failure> {
    let judgments =
        app.engine().judgments(project, run, case).await.map_err(|e| Failure::new(Exit::Internal, e))?;
    for (row, reply) in judgments {
        output::line(&judgment_json(&row, reply.as_deref()).to_string());
    }
    Ok(())
}

/// One judgment for scripts; `raw` is null once its text was erased.
fn judgment_json(row: &JudgmentRow, raw: Option<&str>) -> serde_json::Value {
    let (rating, abstention) = match &row.outcome {
        Ok(rating) => (serde_json::from_str::<serde_json::Value>(rating).unwrap_or_default(), None),
        Err(abstention) => (serde_json::Value::Null, Some(kind_of(*abstention))),
    };
    let abstention =
        abstention.map(|(kind, class, reason)| json!({"kind": kind, "class": class, "reason": reason}));
    json!({
        "case": row.case_id,
        "judge": row.judge,
        "criterion": row.criterion,
        "order": row.order,
        "sample": row.sample,
        "value": rating.get("value"),
        "scoring": rating.get("scoring"),
        "label_mass": rating.pointer("/distribution/label_mass"),
        "abstention": abstention,
        "source": match row.source {
            JudgmentSource::Asked => "asked",
            JudgmentSource::Cache => "cache",
            JudgmentSource::Replay => "replay",
        },
        "repaired": row.repaired,
        "model": row.model_replied,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "cost_microusd": row.cost_microusd,
        "latency_ms": micros_as_millis(row.latency_us),
        "raw": raw,
    })
}

#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
fn micros_as_millis(us: i64) -> f64 {
    us as f64 / 1000.0
}
