//! `checks:` of a rubric: what is read, what is refused and where, and what belongs to a panel's version.

use super::*;
use crate::checks::{Contains, Length, LengthUnit, Numeric, Rule};
use crate::rubric::{FailedCheck, Rubric};

/// A file whose rubric has these checks on its fifth line.
fn file(checks: &str) -> String {
    format!(
        "\
panels:
  p: {{rubric: r, judges: [ollama/qwen3, ollama/phi4, ollama/llama3.2]}}
rubrics:
  r:
    checks: {checks}
    criteria: [{{name: good, type: pass_fail}}]
"
    )
}

fn rubric(checks: &str) -> Rubric {
    let config = read(&file(checks)).unwrap_or_else(|problems| panic!("{problems}"));
    Rubric::clone(&config.panels["p"].rubric)
}

/// The one problem: its column on the fifth line, its place below `checks`, its message and its next step.
#[track_caller]
fn refused(checks: &str, column: usize, place: &str, message: &str, hint: &str) {
    let found = problems(&file(checks));
    assert_eq!(found, [format!("panel.yaml:5:{column}: rubrics.r.checks{place}: {message}")], "{checks}");
    let problems = read(&file(checks)).unwrap_err().problems;
    assert!(problems[0].hint.contains(hint), "{checks}: {}", problems[0].hint);
}

#[test]
fn every_kind_is_read_with_its_defaults() {
    let rubric = rubric(
        "[{kind: exact}, {kind: contains, text: a, any_of: [b]}, {kind: regex, pattern: ^a},
      {kind: json_schema, schema: {type: object}}, {kind: numeric, value: 4}, {kind: length, max: 3, required: true}]",
    );
    let read: Vec<(&str, bool)> =
        rubric.checks.iter().map(|check| (check.name.as_str(), check.required)).collect();
    let names = ["exact", "contains", "regex", "json_schema", "numeric", "length"];
    assert_eq!(read, names.map(|name| (name, name == "length")));
    let rules: Vec<&Rule> = rubric.checks.iter().map(|check| &check.rule).collect();
    let Rule::Exact(exact) = rules[0] else { panic!("{:?}", rules[0]) };
    assert_eq!((&exact.text, exact.case_sensitive, exact.normalise), (&None, true, false));
    let texts = |text: &str| vec![text.to_owned()];
    assert_eq!(
        rules[1],
        &Rule::Contains(Contains {
            all_of: texts("a"),
            any_of: texts("b"),
            none_of: Vec::new(),
            case_sensitive: true
        })
    );
    let Rule::Regex(pattern) = rules[2] else { panic!("{:?}", rules[2]) };
    assert_eq!((pattern.pattern.as_str(), pattern.case_sensitive), ("^a", true));
    let numeric = Numeric { value: Some(4.0), tolerance: 0.0, relative_tolerance: 0.0 };
    assert_eq!(rules[4], &Rule::Numeric(numeric));
    assert_eq!(rules[5], &Rule::Length(Length { unit: LengthUnit::Characters, min: None, max: Some(3) }));
    assert_eq!(rubric.failed_check, FailedCheck::Exclude);
}

#[test]
fn names_and_kinds_are_checked() {
    let words = "`exact`, `contains`, `regex`, `json_schema`, `numeric`, `length`";
    refused("[{}]", 14, "[0]", "`kind` is missing", words);
    refused("[{kind: exakt}]", 21, "[0].kind", "unknown value `exakt`", "`exact`");
    refused("[{kind: exact, tekst: a}]", 28, "[0].tekst", "unknown key", "`text`");
    refused("[exact]", 14, "[0]", "expected a mapping of settings, found the text `exact`", "");
    refused("[{kind: exact, name: 'a b'}]", 34, "[0].name", "`a b` cannot be a name", "letters");
    let taken = "is the name of a criterion or check already";
    refused("[{kind: exact, name: good}]", 34, "[0].name", &format!("`good` {taken}"), "name");
    refused("[{kind: exact}, {kind: exact}]", 29, "[1]", &format!("`exact` {taken}"), "`name`");
    refused(
        "[{kind: exact, required: yes please}]",
        38,
        "[0].required",
        "expected `true` or `false`, found the text `yes please`",
        "",
    );
    let many = vec!["{kind: exact}"; 65].join(", ");
    assert!(problems(&file(&format!("[{many}]")))[0].ends_with("checks: 65 checks are more than 64"));
}

#[test]
fn keys_of_another_kind_are_refused() {
    refused(
        "[{kind: length, max: 1, text: a}]",
        43,
        "[0].text",
        "`length` has no such key",
        "`exact`, `contains`",
    );
    refused("[{kind: exact, pattern: a}]", 37, "[0].pattern", "`exact` has no such key", "`regex`");
    refused("[{kind: numeric, min: 1}]", 35, "[0].min", "`numeric` has no such key", "`length`");
}

#[test]
fn patterns_are_compiled_and_bounded() {
    refused("[{kind: regex}]", 14, "[0]", "`pattern` is missing", "add `pattern:");
    refused("[{kind: regex, pattern: ''}]", 37, "[0].pattern", "this matches every answer", "write");
    refused(
        "[{kind: regex, pattern: '('}]",
        37,
        "[0].pattern",
        "this is no pattern: unclosed group",
        "mend it",
    );
    refused(
        "[{kind: regex, pattern: '(?=a)'}]",
        37,
        "[0].pattern",
        "this is no pattern: look-around, including look-ahead and look-behind, is not supported",
        "look-around",
    );
    refused(
        "[{kind: regex, pattern: '(\\w{1000}){1000}'}]",
        37,
        "[0].pattern",
        "the compiled pattern is larger than 10 MiB",
        "smaller",
    );
}

#[test]
fn schemas_are_compiled_and_fetch_nothing() {
    refused("[{kind: json_schema}]", 14, "[0]", "`schema` is missing", "schema_file");
    refused(
        "[{kind: json_schema, schema: {}, schema_file: a.json}]",
        59,
        "[0].schema_file",
        "`schema` and `schema_file` stand together",
        "keep one",
    );
    refused(
        "[{kind: json_schema, schema_file: no/such.json}]",
        47,
        "[0].schema_file",
        "`no/such.json` cannot be read: No such file or directory (os error 2)",
        "relative to this file",
    );
    let at_schema = |schema: &str, place: &str, word: &str| {
        let found = problems(&file(&format!("[{{kind: json_schema, schema: {schema}}}]")));
        let (found_at, message) = found[0]
            .split_once(": this is no JSON Schema that can be used: ")
            .unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!((found.len(), found_at), (1, place), "{schema}");
        assert!(message.contains(word), "{message}");
    };
    let whole = "panel.yaml:5:34: rubrics.r.checks[0].schema";
    at_schema("{type: objekt}", "panel.yaml:5:49: rubrics.r.checks[0].schema.type", "objekt");
    at_schema(
        "{anyOf: [{}, {minimum: x}]}",
        "panel.yaml:5:65: rubrics.r.checks[0].schema.anyOf[1].minimum",
        "number",
    );
    at_schema("{pattern: '(?=a)'}", "panel.yaml:5:52: rubrics.r.checks[0].schema.pattern", "regex");
    at_schema("{$ref: '#/$defs/none'}", whole, "does not exist");
    for elsewhere in ["http://127.0.0.1:9/s.json", "https://example.com/s.json", "file:///etc/hostname"] {
        at_schema(&format!("{{$ref: '{elsewhere}'}}"), whole, "Retrieval is disabled");
    }
}

#[test]
fn bounds_are_checked() {
    refused("[{kind: contains}]", 14, "[0]", "`text` is missing", "`any_of`");
    refused("[{kind: contains, text: ''}]", 37, "[0].text", "every answer has an empty text", "write some");
    refused("[{kind: contains, any_of: []}]", 31, "[0].any_of", "the list is empty", "at least one");
    refused(
        "[{kind: contains, none_of: [a, '']}]",
        44,
        "[0].none_of[1]",
        "every answer has an empty text",
        "write",
    );
    refused("[{kind: numeric, tolerance: -1}]", 41, "[0].tolerance", "`-1` is no distance", "0 or more");
    refused(
        "[{kind: numeric, value: four}]",
        37,
        "[0].value",
        "expected a number, found the text `four`",
        "",
    );
    refused("[{kind: length}]", 14, "[0]", "`max` is missing", "`min`");
    refused("[{kind: length, min: 3, max: 2}]", 34, "[0].min", "`3` is more than `max`, `2`", "change one");
    refused("[{kind: length, max: -1}]", 34, "[0].max", "expected a whole number, found `-1`", "");
    refused("[{kind: length, unit: bytes, max: 1}]", 35, "[0].unit", "unknown value `bytes`", "`words`");
}

#[test]
fn checks_change_the_version_of_the_panel_and_no_judge() {
    let prints = |checks: &str, more: &str| {
        let config = read(&format!("{}{more}", file(checks))).unwrap();
        let panel = &config.panels["p"];
        let judge =
            judge_fingerprint(&panel.judges[0], &panel.rubric, &panel.rubric.criteria[0], Mode::Pointwise);
        (panel.version.clone(), judge)
    };
    let (without, judge) = prints("[]", "");
    let (with, same_judge) = prints("[{kind: length, max: 3}]", "");
    assert_ne!(with, without);
    assert_eq!(same_judge, judge, "recorded judgments can still be reused");
    assert_eq!(prints("[{max: 3, kind: length, name: length, unit: characters}]", "").0, with);
    for other in [
        "[{kind: length, max: 4}]",
        "[{kind: length, max: 3, required: true}]",
        "[{kind: length, max: 3, name: short}]",
        "[{kind: length, max: 3, unit: words}]",
        "[{kind: regex, pattern: a}]",
        "[{kind: regex, pattern: a, case_sensitive: false}]",
        "[{kind: json_schema, schema: {type: object}}]",
        "[{kind: json_schema, schema: {type: array}}]",
    ] {
        let (version, judge_then) = prints(other, "");
        assert_ne!(version, with, "{other}");
        assert_eq!(judge_then, judge, "{other}");
    }
    assert_ne!(prints("[{kind: length, max: 3}]", "    failed_check: fail\n").0, with);
}

#[test]
fn gates_hold_how_many_pass_a_check_and_no_mean_of_it() {
    let gated = |key: &str, name: &str| {
        let gate = format!("rubric: r, gate: {{{key}: {{{name}: 0.9}}}},");
        problems(&file("[{kind: length, max: 3}]").replace("rubric: r,", &gate))
    };
    let check = |key: &str, name: &str, words: &str| {
        let found = gated(key, name);
        assert!(found.len() == 1 && found[0].contains(words), "{found:?}");
    };
    assert_eq!(gated("min", "good"), Vec::<String>::new());
    assert_eq!(gated("pass_rate", "length"), Vec::<String>::new());
    check("min", "length", "panels.p.gate.min.length: `length` is a check, which passes or fails");
    check("pass_rate", "lenght", "rubric `r` has no criterion `lenght`");
}
