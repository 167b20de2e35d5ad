//! `GET /v1/panels`.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::Caller;
use crate::app::App;
use crate::panel::{MethodName, Orders, Panel};

#[derive(Debug, Serialize, ToSchema)]
pub struct PanelList {
    pub panels: Vec<PanelReport>,
    /// Other names for panels.
    pub aliases: BTreeMap<String, String>,
}

/// A panel as it is in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct PanelReport {
    pub name: String,
    pub version: String,
    pub judges: Vec<String>,
    pub replacements: Vec<String>,
    pub rubric: String,
    pub criteria: Vec<String>,
    /// What code decides; verdicts report each as a criterion.
    pub checks: Vec<String>,
    /// Null: by scale (median for numbers, majority for labels).
    #[schema(value_type = Option<String>)]
    pub method: Option<MethodName>,
    #[schema(value_type = String)]
    pub orders: Orders,
    pub quorum: usize,
    pub inside_only: bool,
    pub warnings: Vec<String>,
}

impl From<&Panel> for PanelReport {
    fn from(panel: &Panel) -> Self {
        Self {
            name: panel.name.clone(),
            version: panel.version.clone(),
            judges: panel.judges.iter().map(|judge| judge.id.to_string()).collect(),
            replacements: panel.replacements.iter().map(|judge| judge.id.to_string()).collect(),
            rubric: panel.rubric.name.clone(),
            criteria: panel.rubric.criteria.iter().map(|criterion| criterion.name.clone()).collect(),
            checks: panel.rubric.checks.iter().map(|check| check.name.clone()).collect(),
            method: panel.method,
            orders: panel.orders,
            quorum: panel.quorum,
            inside_only: panel.inside_only,
            warnings: panel.warnings.clone(),
        }
    }
}

/// The panels in force, those that the caller's key may ask.
#[utoipa::path(get, path = "/v1/panels", tag = "panels", responses((status = 200, body = PanelList)))]
pub async fn list(State(app): State<App>, caller: Caller) -> Json<PanelList> {
    let in_force = app.in_force();
    let config = &in_force.config;
    let panels = config.panels.values().filter(|panel| caller.may_ask_panel(&panel.name));
    let mut aliases = in_force.aliases();
    aliases.retain(|_, target| caller.may_ask_target(target));
    Json(PanelList { panels: panels.map(|panel| PanelReport::from(&**panel)).collect(), aliases })
}
