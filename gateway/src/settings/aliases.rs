//! `aliases:` checked and completed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::file::{AliasEntry, BelowQuorum, OnTie, PanelFile, Reverse};
use super::judges::Roster;
use super::panels::CheckedPanel;
use super::problem::{KeyPath, Report, or_else, suggestion};
use super::rubrics;
use crate::judge::{Judge, Perimeter};

/// What answers when a client asks for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    pub target: AliasTarget,
    pub allow_outside: bool,
    pub below_quorum: BelowQuorum,
    pub cache: bool,
    pub on_tie: OnTie,
    pub rubric: Option<String>,
    pub reverse: Option<Reverse>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AliasTarget {
    Panel(String),
    Judge(String),
}

/// The name that stands for all names without an alias of their own.
pub const CATCH_ALL: &str = "*";

pub(super) fn check_all(
    file: &PanelFile,
    panels: &BTreeMap<String, CheckedPanel>,
    roster: &mut Roster<'_>,
    report: &mut Report<'_>,
) -> BTreeMap<String, Alias> {
    let mut aliases = BTreeMap::new();
    for (name, entry) in &file.aliases {
        let path = KeyPath::of(&["aliases", name]);
        let Some(target) = check_target(entry, file, roster, &path, report) else { continue };
        let outside = outside_judges(&target, panels, roster);
        if name == CATCH_ALL && !outside.is_empty() && entry.allow_outside != Some(true) {
            let message = format!("any client's text would reach outside judges: `{}`", outside.join("`, `"));
            let to = entry.to.as_deref().unwrap_or_default();
            report.problem(
                &path,
                message,
                format!("if that is meant, write `{{to: {to}, allow_outside: true}}`"),
            );
        }
        check_settings(entry, file, &path, report);
        let alias = Alias {
            target,
            allow_outside: entry.allow_outside.unwrap_or(false),
            below_quorum: entry.below_quorum.unwrap_or_default(),
            cache: entry.cache.unwrap_or(false),
            on_tie: entry.on_tie.unwrap_or_default(),
            rubric: entry.rubric.clone(),
            reverse: entry.reverse.clone(),
        };
        aliases.insert(name.clone(), alias);
    }
    aliases
}

fn check_target(
    entry: &AliasEntry,
    file: &PanelFile,
    roster: &mut Roster<'_>,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<AliasTarget> {
    let Some(to) = entry.to.as_deref().map(str::trim).filter(|t| !t.is_empty()) else {
        if !report.is_broken(&path.key("to")) {
            report.problem(path, "`to` is missing", "add `to: panel/NAME` or `to: judge/NAME`");
        }
        return None;
    };
    let place = path.key("to");
    let place = if report.has(&place) { place } else { path.clone() };
    if let Some(judge) = to.strip_prefix("judge/") {
        roster.judge(judge, &place, report)?;
        return Some(AliasTarget::Judge(judge.to_owned()));
    }
    let panel = to.strip_prefix("panel/").unwrap_or(to);
    if !report.has(&KeyPath::of(&["panels", panel])) {
        let hint = suggestion(panel, file.panels.keys().map(String::as_str));
        report.problem(
            &place,
            format!("unknown panel `{panel}`"),
            or_else(&hint, "write `judge/NAME` for a judge"),
        );
        return None;
    }
    Some(AliasTarget::Panel(panel.to_owned()))
}

fn outside_judges(
    target: &AliasTarget,
    panels: &BTreeMap<String, CheckedPanel>,
    roster: &Roster<'_>,
) -> Vec<String> {
    let judges: Vec<Arc<Judge>> = match target {
        AliasTarget::Panel(name) => panels
            .get(name)
            .filter(|p| !p.panel.inside_only)
            .map_or_else(Vec::new, |p| p.panel.judges.iter().chain(&p.panel.replacements).cloned().collect()),
        AliasTarget::Judge(name) => {
            roster.judges.get(name).and_then(Option::as_ref).map(|c| c.judge.clone()).into_iter().collect()
        }
    };
    let outside = judges.iter().filter(|j| j.server.perimeter == Perimeter::Outside);
    outside.map(|j| j.id.to_string()).collect()
}

fn check_settings(entry: &AliasEntry, file: &PanelFile, path: &KeyPath, report: &mut Report<'_>) {
    if let Some(name) = &entry.rubric
        && !report.has(&KeyPath::of(&["rubrics", name]))
        && !rubrics::built_in_names().any(|built_in| built_in == name)
    {
        let known: Vec<&str> = rubrics::known_names(file.rubrics.keys());
        let hint = suggestion(name, known.iter().copied());
        report.problem(&path.key("rubric"), format!("unknown rubric `{name}`"), hint);
    }
    for (key, layout) in entry.reverse.iter().flat_map(|r| [("a", &r.a), ("b", &r.b)]) {
        let is_framed =
            layout.split_once('…').is_some_and(|(start, end)| !start.is_empty() && !end.is_empty());
        if !is_framed {
            let hint = "write what stands before and after it: `<start A>…<end A>`";
            report.problem(&path.key("reverse").key(key), "the candidate's place is not marked", hint);
        }
    }
}
