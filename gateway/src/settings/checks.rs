//! `checks:` of a rubric, checked, completed and compiled.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value as Json;

use super::file::{CheckEntry, CheckKind};
use super::problem::{KeyPath, Report};
use crate::checks::{BadPattern, BadSchema, Check, Contains, Exact, Length, Numeric, Pattern, Rule, Schema};

/// Bounds the work on one case.
const MOST_CHECKS: usize = 64;
/// Every key that only some kinds have.
const KINDS: [CheckKind; 6] = [
    CheckKind::Exact,
    CheckKind::Contains,
    CheckKind::Regex,
    CheckKind::JsonSchema,
    CheckKind::Numeric,
    CheckKind::Length,
];

/// Checks with problems, which are reported, are left out. `names` are those of the criteria.
pub(super) fn check_all(
    entries: &[CheckEntry],
    names: &mut BTreeSet<String>,
    folder: &Path,
    rubric: &KeyPath,
    report: &mut Report<'_>,
) -> Vec<Check> {
    let path = rubric.key("checks");
    if entries.len() > MOST_CHECKS {
        let message = format!("{} checks are more than {MOST_CHECKS}", entries.len());
        report.problem(&path, message, "put several texts into one `contains`, or remove some");
    }
    let mut checks = Vec::new();
    for (i, written) in entries.iter().enumerate() {
        let place = path.index(i);
        let entry = written.completed();
        let Some(kind) = entry.kind else {
            if !report.is_broken(&place.key("kind")) {
                let words = KINDS.map(CheckKind::word).join("`, `");
                report.problem(&place, "`kind` is missing", format!("add `kind:` with one of `{words}`"));
            }
            continue;
        };
        let name = entry.name.clone().unwrap_or_default();
        if written.name.is_some() {
            super::load::check_name(&name, &place.key("name"), report);
        }
        if !names.insert(name.clone()) {
            let place = if written.name.is_some() { place.key("name") } else { place.clone() };
            let message = format!("`{name}` is the name of a criterion or check already");
            report.problem(&place, message, "give each check a `name` of its own");
        }
        refuse_strange_keys(kind, &place, report);
        let rule = rule(kind, &entry, folder, &place, report);
        checks.extend(rule.map(|rule| Check { name, required: entry.required.unwrap_or_default(), rule }));
    }
    checks
}

/// Keys of another kind would be read by nobody.
fn refuse_strange_keys(kind: CheckKind, path: &KeyPath, report: &mut Report<'_>) {
    let mut seen = BTreeSet::new();
    for key in KINDS.iter().flat_map(|other| other.keys()) {
        if !kind.keys().contains(key) && seen.insert(key) && report.has(&path.key(key)) {
            let of: Vec<&str> = KINDS.iter().filter(|k| k.keys().contains(key)).map(|k| k.word()).collect();
            let message = format!("`{}` has no such key", kind.word());
            report.problem(
                &path.key(key),
                message,
                format!("remove it; it belongs to `{}`", of.join("`, `")),
            );
        }
    }
}

fn rule(
    kind: CheckKind,
    entry: &CheckEntry,
    folder: &Path,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<Rule> {
    let case_sensitive = entry.case_sensitive.unwrap_or(true);
    match kind {
        CheckKind::Exact => {
            if report.is_broken(&path.key("text")) {
                return None;
            }
            let normalise = entry.normalise.unwrap_or_default();
            Some(Rule::Exact(Exact { text: entry.text.clone(), case_sensitive, normalise }))
        }
        CheckKind::Contains => contains(entry, case_sensitive, path, report).map(Rule::Contains),
        CheckKind::Regex => {
            let pattern = given(entry.pattern.as_deref(), "pattern", "`pattern: \"^[A-Z]\"`", path, report)?;
            let pattern = Pattern::new(pattern, case_sensitive);
            pattern.map(Rule::Regex).map_err(|error| refuse(&error, &path.key("pattern"), report)).ok()
        }
        CheckKind::JsonSchema => schema(entry, folder, path, report).map(Rule::JsonSchema),
        CheckKind::Numeric => numeric(entry, path, report).map(Rule::Numeric),
        CheckKind::Length => length(entry, path, report).map(Rule::Length),
    }
}

fn given<'e>(
    value: Option<&'e str>,
    key: &str,
    example: &str,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<&'e str> {
    let place = path.key(key);
    match value {
        Some(text) if !text.is_empty() => return Some(text),
        Some(_) => report.problem(&place, "this matches every answer", format!("write {example}")),
        None if report.is_broken(&place) => {}
        None => report.problem(path, format!("`{key}` is missing"), format!("add {example}")),
    }
    None
}

fn refuse(error: &BadPattern, place: &KeyPath, report: &mut Report<'_>) {
    let hint = match error {
        BadPattern::Syntax(_) => {
            "mend it; look-around and back references are not available, so that matching stays fast"
        }
        BadPattern::TooLarge => "use smaller repetitions",
    };
    report.problem(place, error.to_string(), hint);
}

fn contains(
    entry: &CheckEntry,
    case_sensitive: bool,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<Contains> {
    let lists = [("all_of", &entry.all_of), ("any_of", &entry.any_of), ("none_of", &entry.none_of)];
    let mut is_usable = true;
    for (key, list) in lists {
        let place = path.key(key);
        is_usable &= !report.is_broken(&place);
        if list.as_ref().is_some_and(Vec::is_empty) && !report.is_broken(&place) {
            report.problem(&place, "the list is empty", "write at least one text, or remove the key");
            is_usable = false;
        }
        for (i, text) in list.iter().flatten().enumerate() {
            if text.is_empty() {
                report.problem(&place.index(i), "every answer has an empty text", "write some text");
                is_usable = false;
            }
        }
    }
    if entry.text.as_ref().is_some_and(String::is_empty) {
        report.problem(&path.key("text"), "every answer has an empty text", "write some text");
        is_usable = false;
    }
    is_usable &= !report.is_broken(&path.key("text"));
    if is_usable && entry.text.is_none() && lists.iter().all(|(_, list)| list.is_none()) {
        report.problem(path, "`text` is missing", "add `text`, `all_of`, `any_of` or `none_of`");
        is_usable = false;
    }
    let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
    is_usable.then(|| Contains {
        all_of: entry.text.iter().cloned().chain(list(&entry.all_of)).collect(),
        any_of: list(&entry.any_of),
        none_of: list(&entry.none_of),
        case_sensitive,
    })
}

fn schema(entry: &CheckEntry, folder: &Path, path: &KeyPath, report: &mut Report<'_>) -> Option<Schema> {
    let (inline, file) = (path.key("schema"), path.key("schema_file"));
    let (schema, place) = match (&entry.schema, &entry.schema_file) {
        (Some(schema), None) => (Json::Object(schema.clone()), inline),
        (None, Some(written)) => (read_schema(&folder.join(written), written, &file, report)?, file),
        (Some(_), Some(_)) => {
            report.problem(&file, "`schema` and `schema_file` stand together", "keep one of them");
            return None;
        }
        (None, None) => {
            if !report.is_broken(&inline) && !report.is_broken(&file) {
                let hint = "add `schema: {type: object}`, or `schema_file:` with a JSON file";
                report.problem(path, "`schema` is missing", hint);
            }
            return None;
        }
    };
    let hint = "mend the schema; nothing is fetched, so `$ref` may name its own `$defs` only";
    let refuse = |error: BadSchema| {
        if entry.schema.is_some() {
            report.problem(&within(&schema, &place, &error.at), error.to_string(), hint);
        } else {
            let at = if error.at.is_empty() { String::new() } else { format!(" (at `{}`)", error.at) };
            report.problem(&place, format!("{error}{at}"), hint);
        }
    };
    Schema::new(&schema).map_err(refuse).ok()
}

/// The key that a JSON Pointer into the schema names.
fn within(schema: &Json, path: &KeyPath, pointer: &str) -> KeyPath {
    let (mut path, mut value) = (path.clone(), schema);
    for step in pointer.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        let below = match value {
            Json::Object(map) => map.get(&key).map(|below| (path.key(&key), below)),
            Json::Array(list) => {
                key.parse().ok().and_then(|i| list.get(i).map(|below| (path.index(i), below)))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
        };
        let Some((place, below)) = below else { break };
        (path, value) = (place, below);
    }
    path
}

fn read_schema(file: &Path, written: &str, place: &KeyPath, report: &mut Report<'_>) -> Option<Json> {
    let message = match super::rubrics::read_text(file) {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(schema) => return Some(schema),
            Err(error) => format!("`{written}` is no JSON: {error}"),
        },
        Err(error) => format!("`{written}` cannot be read: {error}"),
    };
    report.problem(place, message, "name a JSON file, relative to this file");
    None
}

fn numeric(entry: &CheckEntry, path: &KeyPath, report: &mut Report<'_>) -> Option<Numeric> {
    let mut is_usable = !report.is_broken(&path.key("value"));
    for (key, tolerance) in [("tolerance", entry.tolerance), ("relative_tolerance", entry.relative_tolerance)]
    {
        let tolerance = tolerance.unwrap_or_default();
        is_usable &= !report.is_broken(&path.key(key));
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            let message = format!("`{tolerance}` is no distance");
            report.problem(&path.key(key), message, "write 0 or more, such as 0.01");
            is_usable = false;
        }
    }
    is_usable.then(|| Numeric {
        value: entry.value,
        tolerance: entry.tolerance.unwrap_or_default(),
        relative_tolerance: entry.relative_tolerance.unwrap_or_default(),
    })
}

fn length(entry: &CheckEntry, path: &KeyPath, report: &mut Report<'_>) -> Option<Length> {
    let (min, max) = (entry.min, entry.max);
    if report.is_broken(&path.key("min")) || report.is_broken(&path.key("max")) {
        return None;
    }
    match (min, max) {
        (None, None) => {
            report.problem(path, "`max` is missing", "add `min`, `max` or both");
            return None;
        }
        (Some(min), Some(max)) if min > max => {
            let message = format!("`{min}` is more than `max`, `{max}`");
            report.problem(&path.key("min"), message, "no answer is that long and that short: change one");
            return None;
        }
        (Some(_) | None, _) => {}
    }
    Some(Length { unit: entry.unit.unwrap_or_default(), min, max })
}
