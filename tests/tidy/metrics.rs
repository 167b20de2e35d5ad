//! Metrics: declared once with help, documented, and known to every dashboard that names them.

use std::collections::BTreeSet;

use super::{assert_none, code_before_tests, text_files};

const DECLARED_IN: &str = "gateway/src/telemetry/metrics.rs";
const DOCUMENTED_IN: &str = "docs/reference/metrics.md";

/// Names and help texts: a string that starts with the prefix, and the string that follows it.
fn declared(text: &str) -> Vec<(&str, &str)> {
    let strings: Vec<&str> = code_before_tests(text).split('"').skip(1).step_by(2).collect();
    let followed = strings.iter().zip(strings.iter().skip(1).chain(&[""]));
    followed.filter(|(name, _)| is_metric(name)).map(|(name, help)| (*name, *help)).collect()
}

fn is_metric(word: &str) -> bool {
    word.starts_with("tribunal_")
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Metric names in a dashboard, a rule or a page, without the suffixes that a histogram adds.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    let names = words.filter(|word| is_metric(word)).map(|word| {
        let plain = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| word.strip_suffix(suffix));
        plain.unwrap_or(word).to_owned()
    });
    names.collect()
}

fn undocumented(declarations: &str, reference: Option<&str>) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, help) in declared(declarations) {
        if help.split_whitespace().count() < 2 || is_metric(help) {
            findings.push(format!("{DECLARED_IN}: `{name}` has no help"));
        }
        if reference.is_some_and(|text| !text.contains(name)) {
            findings.push(format!("{DOCUMENTED_IN}: `{name}` is missing"));
        }
    }
    findings
}

fn unknown(path: &str, text: &str, declarations: &str) -> Vec<String> {
    let known: BTreeSet<&str> = declared(declarations).into_iter().map(|(name, _)| name).collect();
    // A counter or gauge may itself end like a histogram's series.
    let is_known = |name: &str| {
        known.contains(name)
            || ["_bucket", "_sum", "_count"].iter().any(|end| known.contains(format!("{name}{end}").as_str()))
    };
    let names = named(text);
    let strange = names.iter().filter(|name| !is_known(name));
    strange.map(|name| format!("{path}: `{name}` is not declared in {DECLARED_IN}")).collect()
}

#[test]
fn metrics_are_documented_and_dashboards_name_only_known_ones() {
    let files = text_files();
    let find = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let declarations = find(DECLARED_IN).unwrap_or_default();
    assert_none(&undocumented(declarations, find(DOCUMENTED_IN)));
    let readers = files.iter().filter(|file| {
        ["dashboards/grafana/", "dashboards/prometheus/"].iter().any(|folder| file.path.starts_with(folder))
            || file.path == DOCUMENTED_IN
    });
    assert_none(&readers.flat_map(|file| unknown(&file.path, &file.text, declarations)).collect::<Vec<_>>());
}

#[test]
fn faults_in_metrics_are_found() {
    let declarations = "Opts::new(\"tribunal_calls_total\", \"Calls sent to judges.\"); Opts::new(\"tribunal_queue_cases\", \"\")";
    assert_eq!(undocumented(declarations, Some("`tribunal_calls_total`")).len(), 2);
    assert_eq!(undocumented("(\"tribunal_a_total\", \"All of a.\")", None).len(), 0);
    let query = "rate(tribunal_calls_total[5m]) / tribunal_wait_seconds_bucket";
    assert_eq!(unknown("dashboards/grafana/a.json", query, declarations).len(), 1);
}
