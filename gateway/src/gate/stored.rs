//! A stored run against its panel's terms: what it was compared with is in its own settings.

use std::sync::Arc;

use super::held::without_checks;
use super::labels::Labels;
use super::measure::{Beside, GateFault, measure};
use super::report::RunGate;
use super::terms::GateTerms;
use crate::engine::Engine;
use crate::panel::Panel;
use crate::run::RunSettings;
use crate::store::rows::RunSummary;

/// For a page of any run: held against its panel's own thresholds, or against nothing where the panel has none, or those
/// of other cases than this run's.
pub async fn describe_stored(
    engine: &Engine,
    run: &RunSummary,
    panel: &Arc<Panel>,
) -> Result<RunGate, GateFault> {
    let terms = GateTerms::of(panel, &[], &[])?;
    match measure_stored(engine, run, panel, &terms, None).await {
        Err(GateFault::Terms(_) | GateFault::NotPinned { .. }) => {
            let nothing = GateTerms { requirements: Vec::new(), ..terms };
            measure(engine, run, panel, &nothing, Beside::default()).await
        }
        measured => measured,
    }
}

/// `terms` are those of outputs by themselves; a run that was compared with a baseline is held against their claim.
pub async fn measure_stored(
    engine: &Engine,
    run: &RunSummary,
    panel: &Arc<Panel>,
    terms: &GateTerms,
    labels: Option<&Labels>,
) -> Result<RunGate, GateFault> {
    if run.run.panel != panel.name {
        return Err(GateFault::OtherPanel { run: run.run.id.clone(), panel: run.run.panel.clone() });
    }
    let Some(pinned) = RunSettings::of(run).baseline else {
        terms.check_any(panel)?;
        return measure(engine, run, panel, terms, Beside { labels, baseline: None }).await;
    };
    let Some(id) = pinned.run else {
        let (panel, terms) = (without_checks(panel), terms.for_pairs(panel));
        return measure(engine, run, &panel, &terms, Beside { labels, baseline: None }).await;
    };
    let other = engine.find_run(&run.run.project, &id).await?;
    let other = other.ok_or_else(|| GateFault::NoBaselineRun { run: run.run.id.clone(), baseline: id })?;
    let terms = terms.with_differences(panel)?;
    measure(engine, run, panel, &terms, Beside { labels, baseline: Some(&other) }).await
}
