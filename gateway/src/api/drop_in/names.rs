//! What answers to a model's name.

use std::sync::Arc;

use super::super::caller::Caller;
use super::error::DropInError;
use crate::in_force::{InForce, panel_of};
use crate::judge::Judge;
use crate::panel::Panel;
use crate::settings::{Alias, AliasTarget, BelowQuorum, CATCH_ALL};

/// A panel or a judge, with what its alias says.
#[derive(Debug, Clone)]
pub struct Named {
    pub target: Target,
    pub alias: Option<Alias>,
}

#[derive(Debug, Clone)]
pub enum Target {
    Panel(Arc<Panel>),
    Judge(Arc<Judge>),
}

impl Named {
    /// `panel/NAME`, `judge/NAME`, an alias, a panel's bare name; then the catch-all. Without a name the only panel, or
    /// `default`. An error where there is none, or where the caller may not ask it.
    pub fn of(in_force: &InForce, caller: &Caller, name: Option<&str>) -> Result<Self, DropInError> {
        let named = Self::whoever(in_force, caller, name)?;
        match &named.target {
            Target::Panel(panel) => caller.check_panel(panel)?,
            Target::Judge(judge) => caller.check_judge(judge)?,
        }
        Ok(named)
    }

    fn whoever(in_force: &InForce, caller: &Caller, name: Option<&str>) -> Result<Self, DropInError> {
        let config = &in_force.config;
        let plain = |target| Self { target, alias: None };
        let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
            let found =
                panel_of(config, caller.only_panel()).map(|panel| plain(Target::Panel(Arc::clone(panel))));
            return found
                .or_else(|| Self::by_alias(in_force, CATCH_ALL))
                .ok_or_else(|| unknown(in_force, caller, ""));
        };
        if let Some(judge) = name.strip_prefix("judge/") {
            let judge = config.judges.get(judge).ok_or_else(|| unknown(in_force, caller, name))?;
            return Ok(plain(Target::Judge(Arc::clone(judge))));
        }
        if let Some(alias) = Self::by_alias(in_force, name).filter(|_| name != CATCH_ALL) {
            return Ok(alias);
        }
        if let Some(panel) = config.panels.get(name.strip_prefix("panel/").unwrap_or(name)) {
            return Ok(plain(Target::Panel(Arc::clone(panel))));
        }
        Self::by_alias(in_force, CATCH_ALL).ok_or_else(|| unknown(in_force, caller, name))
    }

    fn by_alias(in_force: &InForce, name: &str) -> Option<Self> {
        let alias = in_force.config.aliases.get(name)?;
        let target = match &alias.target {
            AliasTarget::Panel(panel) => Target::Panel(Arc::clone(in_force.config.panels.get(panel)?)),
            AliasTarget::Judge(judge) => Target::Judge(Arc::clone(in_force.config.judges.get(judge)?)),
        };
        Some(Self { target, alias: Some(alias.clone()) })
    }

    /// The status of an answer that too few judges gave.
    pub fn is_below_quorum_429(&self) -> bool {
        self.alias.as_ref().is_some_and(|alias| alias.below_quorum == BelowQuorum::TooManyRequests)
    }
}

/// Every name that the caller may ask for, the catch-all left out, each with what it leads to.
pub fn all(in_force: &InForce, caller: &Caller) -> Vec<(String, String)> {
    let config = &in_force.config;
    let panels = config.panels.keys().map(|name| (name.clone(), format!("panel/{name}")));
    let own = config.panels.keys().map(|name| (format!("panel/{name}"), format!("panel/{name}")));
    let aliases = in_force.aliases().into_iter().filter(|(name, _)| name != CATCH_ALL);
    let judges = config.judges.keys().map(|name| (format!("judge/{name}"), format!("judge/{name}")));
    let mut names: Vec<(String, String)> = Vec::new();
    for (name, target) in aliases.chain(panels).chain(own).chain(judges) {
        if caller.may_ask_target(&target) && !names.iter().any(|(known, _)| *known == name) {
            names.push((name, target));
        }
    }
    names
}

fn unknown(in_force: &InForce, caller: &Caller, name: &str) -> DropInError {
    let known: Vec<String> = all(in_force, caller).into_iter().map(|(name, _)| name).collect();
    DropInError::UnknownModel { name: name.to_owned(), known: known.join(", ") }
}
