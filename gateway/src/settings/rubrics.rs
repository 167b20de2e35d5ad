//! `rubrics:` checked and completed, the built-in ones, and those that are one sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use aggregation::scale::{Interval, NominalLabels, OrdinalLabels, Scale};
use serde_json::Value as Json;

use super::file::{CriterionEntry, CriterionType, RubricEntry};
use super::problem::{KeyPath, Report, or_else, suggestion};
use super::tree::Node;
use crate::rubric::{Criterion, Example, Rubric};

/// Largest text file read: guidelines, a schema.
const LARGEST_TEXT_BYTES: u64 = 1024 * 1024;

const BUILT_IN: [(&str, &str); 5] = [
    ("correctness", include_str!("rubrics/correctness.yaml")),
    ("faithfulness", include_str!("rubrics/faithfulness.yaml")),
    ("relevance", include_str!("rubrics/relevance.yaml")),
    ("helpfulness", include_str!("rubrics/helpfulness.yaml")),
    ("safety", include_str!("rubrics/safety.yaml")),
];

/// The name of a rubric that is one sentence, and of its criterion.
const SENTENCE: &str = "sentence";
const SENTENCE_CRITERION: &str = "verdict";

/// Names of the rubrics that need no definition.
pub fn built_in_names<'a>() -> impl Iterator<Item = &'a str> + Clone {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Names of the file, then the built-in ones.
pub(super) fn known_names<'a>(own: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = own.map(String::as_str).collect();
    names.extend(built_in_names());
    names
}

/// `None` for a rubric with problems, which are reported.
pub(super) fn check_all(
    entries: &BTreeMap<String, RubricEntry>,
    folder: &Path,
    report: &mut Report<'_>,
) -> BTreeMap<String, Option<Arc<Rubric>>> {
    let mut rubrics = BTreeMap::new();
    for (name, entry) in entries {
        let path = KeyPath::of(&["rubrics", name]);
        super::load::check_name(name, &path, report);
        rubrics.insert(name.clone(), check(name, entry, folder, &path, report).map(Arc::new));
    }
    rubrics
}

/// The rubric that a panel names at `path`: of the file, built in, or a sentence.
pub(super) fn named(
    text: &str,
    rubrics: &BTreeMap<String, Option<Arc<Rubric>>>,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<Arc<Rubric>> {
    let text = text.trim();
    if let Some(known) = rubrics.get(text) {
        return known.clone();
    }
    if report.has(&KeyPath::of(&["rubrics", text])) {
        return None;
    }
    if let Some((name, yaml)) = BUILT_IN.iter().find(|(name, _)| *name == text) {
        return built_in(name, yaml).map(Arc::new);
    }
    if text.contains(char::is_whitespace) {
        return Some(Arc::new(sentence(text)));
    }
    let known: Vec<&str> = known_names(rubrics.keys());
    let hint = suggestion(text, known.iter().copied());
    let hint = or_else(&hint, "write a sentence, which becomes one pass/fail criterion");
    report.problem(path, format!("unknown rubric `{text}`"), hint);
    None
}

/// Read by the same code as a file's rubrics; a test reads all of them.
fn built_in(name: &str, yaml: &str) -> Option<Rubric> {
    let tree = Node::parse(yaml).ok()?;
    let mut report = Report::new(&tree, name);
    let entry: RubricEntry = super::shape::read(&tree, &mut report)?;
    let rubric = check(name, &entry, Path::new(""), &KeyPath::default(), &mut report);
    rubric.filter(|_| report.finish().0.is_empty())
}

fn sentence(text: &str) -> Rubric {
    let criterion = Criterion {
        name: SENTENCE_CRITERION.to_owned(),
        scale: Scale::PassFail,
        tie: true,
        levels: BTreeMap::new(),
        pass: None,
        evidence: crate::rubric::Evidence::None,
        instructions: Some(text.to_owned()),
        examples: Vec::new(),
    };
    Rubric {
        name: SENTENCE.to_owned(),
        guidelines: None,
        ask: crate::rubric::Ask::PerCriterion,
        criteria: vec![Arc::new(criterion)],
        empty: crate::rubric::EmptyCandidate::Exclude,
        checks: Vec::new(),
        failed_check: crate::rubric::FailedCheck::Exclude,
    }
}

fn check(
    name: &str,
    entry: &RubricEntry,
    folder: &Path,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<Rubric> {
    let guidelines = entry.guidelines.as_ref().map(|written| {
        read_text(&folder.join(written)).unwrap_or_else(|error| {
            let message = format!("`{written}` cannot be read: {error}");
            report.problem(&path.key("guidelines"), message, "name a text file, relative to this file");
            String::new()
        })
    });
    let place = path.key("criteria");
    if entry.criteria.is_empty() && !report.is_broken(&place) {
        report.problem(
            path,
            "a rubric needs at least one criterion",
            "add `criteria: [{name: …, type: pass_fail}]`",
        );
    }
    let mut names = BTreeSet::new();
    let mut criteria = Vec::new();
    for (i, criterion) in entry.criteria.iter().enumerate() {
        let place = place.index(i);
        if let Some(name) = &criterion.name
            && !names.insert(name.clone())
        {
            let message = format!("criterion `{name}` stands twice");
            report.problem(&place.key("name"), message, "give each criterion its own name");
        }
        criteria.extend(check_criterion(criterion, &place, report).map(Arc::new));
    }
    let checks = super::checks::check_all(&entry.checks, &mut names, folder, path, report);
    (criteria.len() == entry.criteria.len() && !criteria.is_empty()).then(|| Rubric {
        name: name.to_owned(),
        guidelines,
        ask: entry.ask.unwrap_or_default(),
        criteria,
        empty: entry.empty.unwrap_or_default(),
        checks,
        failed_check: entry.failed_check.unwrap_or_default(),
    })
}

/// A small text file that the settings name.
pub(super) fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(LARGEST_TEXT_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|bytes| bytes > LARGEST_TEXT_BYTES) {
        return Err(std::io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

fn check_criterion(entry: &CriterionEntry, path: &KeyPath, report: &mut Report<'_>) -> Option<Criterion> {
    match &entry.name {
        Some(name) => super::load::check_name(name, &path.key("name"), report),
        None if report.is_broken(&path.key("name")) => {}
        None => report.problem(path, "`name` is missing", "add `name: …`, one word that reports will show"),
    }
    let scale = check_scale(entry, path, report)?;
    check_pass(entry, &scale, path, report);
    check_label_tokens(&scale, path, report);
    let levels = check_levels(entry, &scale, path, report);
    for (i, example) in entry.examples.iter().enumerate() {
        check_example(example, &scale, entry.tie.unwrap_or(true), &path.key("examples").index(i), report);
    }
    Some(Criterion {
        name: entry.name.clone()?,
        scale,
        tie: entry.tie.unwrap_or(true),
        levels,
        pass: entry.pass,
        evidence: entry.evidence.unwrap_or_default(),
        instructions: entry.instructions.clone(),
        examples: entry.examples.clone(),
    })
}

fn check_scale(entry: &CriterionEntry, path: &KeyPath, report: &mut Report<'_>) -> Option<Scale> {
    let Some(kind) = entry.kind else {
        if !report.is_broken(&path.key("type")) {
            let hint = "add `type: ordinal`, `nominal`, `continuous` or `pass_fail`; a scale is declared, never guessed";
            report.problem(path, "`type` is missing", hint);
        }
        return None;
    };
    let place = path.key("scale");
    if report.is_broken(&place) {
        return None;
    }
    if kind == CriterionType::PassFail {
        if !entry.scale.is_empty() {
            report.problem(&place, "`pass_fail` has its own scale", "remove `scale`");
        }
        return Some(Scale::PassFail);
    }
    let scale = match kind {
        CriterionType::Nominal => NominalLabels::try_from(entry.scale.clone()).map(Scale::Nominal),
        CriterionType::Ordinal => {
            OrdinalLabels::try_from(numbers(entry, &place, report)?).map(Scale::Ordinal)
        }
        CriterionType::Continuous => {
            let values = numbers(entry, &place, report)?;
            let [min, max] = values[..] else {
                let message = format!("a continuous scale has two bounds, got {} values", values.len());
                report.problem(&place, message, "write the least and the greatest value: `scale: [0, 10]`");
                return None;
            };
            Interval::try_from((min, max)).map(Scale::Continuous)
        }
        CriterionType::PassFail => Ok(Scale::PassFail),
    };
    match scale {
        Ok(scale) => Some(scale),
        Err(error) => {
            let hint = match kind {
                CriterionType::Ordinal => "write all labels, rising: `scale: [1, 2, 3, 4, 5]`",
                CriterionType::Continuous => "write the least and the greatest value: `scale: [0, 10]`",
                CriterionType::Nominal | CriterionType::PassFail => {
                    "write all labels: `scale: [yes, partly, no]`"
                }
            };
            report.problem(&place, error.to_string(), hint);
            None
        }
    }
}

/// `None` if a label is no number; each such label is reported at its place.
fn numbers(entry: &CriterionEntry, place: &KeyPath, report: &mut Report<'_>) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    for (i, label) in entry.scale.iter().enumerate() {
        if let Ok(value) = label.parse::<f64>() {
            values.push(value);
        } else {
            let hint = "numbers only; for words use `type: nominal`";
            report.problem(&place.index(i), format!("`{label}` is no number"), hint);
        }
    }
    (values.len() == entry.scale.len()).then_some(values)
}

fn check_pass(entry: &CriterionEntry, scale: &Scale, path: &KeyPath, report: &mut Report<'_>) {
    let Some(pass) = entry.pass else { return };
    let place = path.key("pass");
    match scale.range() {
        Some((min, max)) if !(min..=max).contains(&pass) => {
            let message = format!("`{pass}` is not on the scale");
            report.problem(&place, message, format!("`pass` is a raw value from {min} to {max}"));
        }
        Some(_) => {}
        None => report.problem(&place, "only numeric scales have a pass value", "remove `pass`"),
    }
}

/// `10` on a 1–10 scale may be two tokens, so that its probability cannot be read beside `1`.
fn check_label_tokens(scale: &Scale, path: &KeyPath, report: &mut Report<'_>) {
    let Scale::Ordinal(labels) = scale else { return };
    if let Some(long) = labels.values().iter().find(|v| v.to_string().len() > 1) {
        let message = format!("label `{long}` may take several tokens, which blurs expected scores");
        report.warning(&path.key("scale"), message, "prefer labels of one digit, such as 1 to 5");
    }
}

fn check_levels(
    entry: &CriterionEntry,
    scale: &Scale,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> BTreeMap<String, String> {
    let mut levels = BTreeMap::new();
    for (written, condition) in &entry.levels {
        let place = path.key("levels").key(written);
        match label(written, scale) {
            None => {
                let hint = format!("levels describe values of the scale: {}", described(scale));
                report.problem(&place, format!("`{written}` is not on the scale"), hint);
            }
            Some(label) => {
                if levels.insert(label, condition.clone()).is_some() {
                    report.problem(&place, format!("`{written}` is described twice"), "keep one of them");
                }
            }
        }
    }
    levels
}

/// The value in its plain spelling (`4.0` is `4`); `None` off the scale.
fn label(written: &str, scale: &Scale) -> Option<String> {
    match scale {
        Scale::Ordinal(labels) => {
            let value = written.parse::<f64>().ok()?;
            labels.values().iter().find(|v| v.total_cmp(&value).is_eq()).map(f64::to_string)
        }
        Scale::Continuous(interval) => {
            let value = written.parse::<f64>().ok()?;
            (interval.min()..=interval.max()).contains(&value).then(|| value.to_string())
        }
        Scale::Nominal(labels) => labels.values().iter().find(|l| *l == written).cloned(),
        Scale::PassFail => ["pass", "fail"].into_iter().find(|l| *l == written).map(str::to_owned),
        Scale::Pairwise { .. } => None,
    }
}

fn described(scale: &Scale) -> String {
    match scale {
        Scale::Ordinal(labels) => labels.values().iter().map(f64::to_string).collect::<Vec<_>>().join(", "),
        Scale::Continuous(interval) => format!("{} to {}", interval.min(), interval.max()),
        Scale::Nominal(labels) => labels.values().join(", "),
        Scale::PassFail => "pass, fail".to_owned(),
        Scale::Pairwise { .. } => "a, b, tie".to_owned(),
    }
}

fn check_example(example: &Example, scale: &Scale, tie: bool, path: &KeyPath, report: &mut Report<'_>) {
    let is_pair = example.a.is_some() && example.b.is_some() && example.output.is_none();
    let is_single = example.output.is_some() && example.a.is_none() && example.b.is_none();
    if !is_pair && !is_single {
        let hint = "give `output` for one answer, or `a` and `b` for a pair";
        report.problem(path, "an example shows one answer or a pair", hint);
        return;
    }
    let written = match &example.value {
        Json::String(text) => text.clone(),
        Json::Bool(true) if *scale == Scale::PassFail => "pass".to_owned(),
        Json::Bool(false) if *scale == Scale::PassFail => "fail".to_owned(),
        other => other.to_string(),
    };
    let (fits, choices) = if is_pair {
        let lower = written.to_lowercase();
        let fits = lower == "a" || lower == "b" || (tie && lower == "tie");
        (fits, if tie { "a, b, tie".to_owned() } else { "a, b".to_owned() })
    } else {
        (label(&written, scale).is_some(), described(scale))
    };
    if !fits {
        let message = format!("`{written}` is not on the scale");
        report.problem(&path.key("value"), message, format!("write one of: {choices}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_rubric_is_valid() {
        for (name, yaml) in BUILT_IN {
            let rubric = built_in(name, yaml).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(rubric.name, name);
            for criterion in &rubric.criteria {
                assert!(criterion.instructions.is_some(), "{name}");
                let is_decidable = criterion.pass.is_some() || criterion.scale == Scale::PassFail;
                assert!(is_decidable, "{name} has no pass value");
                if let Scale::Ordinal(labels) = &criterion.scale {
                    assert_eq!(criterion.levels.len(), labels.values().len(), "{name} describes each level");
                }
            }
        }
    }
}
