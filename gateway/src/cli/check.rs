//! `tribunal check`: every problem of panel.yaml with its place; `--probe` calls each judge once.

use std::collections::BTreeSet;

use futures::StreamExt;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::table::{Column, render};
use super::{CheckArgs, output, setup};
use crate::app::App;
use crate::engine::probe::{Probe, probe};
use crate::settings::{Config, Source};

/// Judges called at once: a local server should not be judged by the queue that the probe itself makes.
const PROBES_AT_ONCE: usize = 2;

pub async fn run(source: &Source, args: &CheckArgs) -> Result<Exit, Failure> {
    let config = setup::load(source)?;
    if args.print {
        output::text(&config.effective_yaml());
    }
    if !args.json {
        setup::print_warnings(&config);
    }
    let gaps: BTreeSet<String> =
        config.panels.keys().flat_map(|panel| config.missing_keys(panel)).map(ToString::to_string).collect();
    for gap in &gaps {
        output::note(&format!("warning: {gap}"));
    }
    if !args.probe {
        if args.json {
            output::line(&report(&config, &[]).to_string());
        } else if !args.print {
            let (panels, judges) = (config.panels.len(), config.judges.len());
            output::line(&format!("{} is valid: {panels} panels, {judges} judges", source.path.display()));
        }
        return Ok(Exit::Pass);
    }
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let probes = probe_all(&app).await;
    if args.json {
        output::line(&report(&app.in_force().config, &probes).to_string());
    } else {
        show(&probes);
    }
    app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    let answering = probes.iter().filter(|probe| probe.is_answering).count();
    if answering < probes.len() {
        output::note(&format!("{} of {} judges did not answer", probes.len() - answering, probes.len()));
        return Ok(Exit::NoAnswer);
    }
    Ok(Exit::Pass)
}

/// Each judge once, whatever number of panels it sits on.
pub(super) async fn probe_all(app: &App) -> Vec<Probe> {
    let in_force = app.in_force();
    let mut seen = BTreeSet::new();
    let mut jobs = Vec::new();
    for panel in in_force.config.panels.values() {
        for judge in panel.judges.iter().chain(&panel.replacements) {
            if seen.insert(judge.id.clone()) {
                jobs.push((std::sync::Arc::clone(panel), std::sync::Arc::clone(judge)));
            }
        }
    }
    let askers = &in_force.askers;
    futures::stream::iter(jobs)
        .map(|(panel, judge)| async move { probe(askers, &panel, &judge).await })
        .buffered(PROBES_AT_ONCE)
        .collect()
        .await
}

/// The table, and below it why a judge did not answer.
pub(super) fn show(probes: &[Probe]) {
    output::text(&table(probes));
    for probe in probes {
        if let Some(error) = &probe.error {
            output::note(&format!("judge `{}`: {error}", probe.judge));
        }
    }
}

fn table(probes: &[Probe]) -> String {
    let columns = [
        Column::left("judge"),
        Column::left("answers"),
        Column::right("latency"),
        Column::right("tokens/s"),
        Column::left("logprobs"),
        Column::left("structured"),
        Column::left("model replied").at_most(40),
        Column::left("left out").at_most(30),
    ];
    let yes = |is: bool| String::from(if is { "yes" } else { "no" });
    let rows: Vec<Vec<String>> = probes
        .iter()
        .map(|probe| {
            let known = |text: String| if probe.is_answering { text } else { String::new() };
            vec![
                probe.judge.clone(),
                yes(probe.is_answering),
                known(format!("{:.0} ms", probe.latency_ms)),
                probe.tokens_per_second.map_or_else(String::new, |rate| format!("{rate:.0}")),
                known(yes(probe.logprobs)),
                known(yes(probe.structured_output)),
                probe.model.clone().unwrap_or_default(),
                probe.dropped.join(", "),
            ]
        })
        .collect();
    render(&columns, &rows)
}

fn report(config: &Config, probes: &[Probe]) -> serde_json::Value {
    json!({
        "valid": true,
        "warnings": config.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "panels": config.panels.values().map(|panel| json!({"name": panel.name, "version": panel.version})).collect::<Vec<_>>(),
        "probes": probes,
    })
}
