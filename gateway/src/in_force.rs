//! One version of the settings with its connected judges: what one request is served by, whatever changes meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::ApiError;
use crate::case::Case;
use crate::engine::{Askers, WiringError, kinship_gap, plan};
use crate::judge::Judge;
use crate::panel::Panel;
use crate::settings::{Alias, AliasTarget, Config};

/// Swapped as a whole when the settings change; who holds one goes on with it.
#[derive(Debug)]
pub struct InForce {
    pub config: Arc<Config>,
    pub askers: Arc<Askers>,
}

impl InForce {
    pub fn new(config: Config, askers: Askers) -> Self {
        Self { config: Arc::new(config), askers: Arc::new(askers) }
    }

    /// The next version: what its servers have counted so far goes over to it.
    pub async fn followed_by(&self, config: Config) -> Result<Self, WiringError> {
        let askers = self.askers.followed_by(&config).await?;
        Ok(Self::new(config, askers))
    }

    /// The panel of this name or alias; without a name `default`, or the only one.
    pub fn panel(&self, name: Option<&str>) -> Result<Arc<Panel>, ApiError> {
        panel_of(&self.config, name).cloned().ok_or_else(|| ApiError::UnknownPanel {
            name: name.unwrap_or("default").to_owned(),
            known: self.config.panels.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })
    }

    pub fn aliases(&self) -> BTreeMap<String, String> {
        let target = |alias: &Alias| match &alias.target {
            AliasTarget::Panel(name) => format!("panel/{name}"),
            AliasTarget::Judge(name) => format!("judge/{name}"),
        };
        self.config.aliases.iter().map(|(name, alias)| (name.clone(), target(alias))).collect()
    }

    /// Refuses what can be known before the first call: missing keys, and kinship that leaves no quorum.
    pub fn check_ready(&self, panel: &Panel, case: &Case, allow_kin: bool) -> Result<(), ApiError> {
        if let Some(missing) = self.config.missing_keys(&panel.name).first().cloned() {
            return Err(ApiError::MissingKey {
                judge: missing.judge.to_string(),
                source_name: missing.gap.to_string(),
            });
        }
        if let Some(reason) = plan::unaskable(panel, case) {
            return Err(ApiError::Unaskable { reason });
        }
        if allow_kin {
            return Ok(());
        }
        match kinship_gap(panel, case, &self.config.models) {
            None => Ok(()),
            Some(gap) => Err(ApiError::NoQuorumByKinship {
                panel: panel.name.clone(),
                model: gap.model,
                judges: gap.judges.join(", "),
            }),
        }
    }

    /// Whether a call to this judge can be made.
    pub fn is_wired(&self, judge: &Judge) -> bool {
        judge.server.replay.is_some() || self.askers.is_wired(&judge.id)
    }

    /// The state of the judge's breaker; `None` where nothing is called.
    pub fn breaker(&self, judge: &Judge) -> Option<&'static str> {
        let server = self.askers.server(&judge.server.name)?;
        if judge.server.replay.is_some() {
            return None;
        }
        Some(match server.breaker(&judge.model).state() {
            providers::BreakerState::Closed => "closed",
            providers::BreakerState::Open => "open",
            providers::BreakerState::HalfOpen => "half_open",
        })
    }
}

/// The panel of this name, of `panel/NAME`, or of an alias; without a name `default`, or the only one.
pub fn panel_of<'a>(config: &'a Config, name: Option<&str>) -> Option<&'a Arc<Panel>> {
    let Some(name) = name else {
        let only = config.panels.values().next().filter(|_| config.panels.len() == 1);
        return config.panels.get("default").or(only);
    };
    if let Some(panel) = config.panels.get(name.strip_prefix("panel/").unwrap_or(name)) {
        return Some(panel);
    }
    match &config.aliases.get(name)?.target {
        AliasTarget::Panel(panel) => config.panels.get(panel),
        AliasTarget::Judge(_) => None,
    }
}
