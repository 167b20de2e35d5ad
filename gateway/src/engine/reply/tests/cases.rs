//! The recorded cases, one a line, and further files of the same form.

use aggregation::scale::Scale;
use providers::chat::FinishReason;
use serde_json::Value;

use super::{interval, menu, written};
use crate::engine::reply::{Reply, read};

#[test]
#[expect(clippy::disallowed_methods, reason = "a further case file is handed in by the environment")]
fn verdict_cases_read_as_expected() {
    let own = include_str!("../cases/verdict-parsing.jsonl").to_owned();
    let lines = std::env::var("TRIBUNAL_VERDICT_CASES")
        .map_or(own, |path| std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")));
    check_lines(&lines, |case| {
        let meta = &case["meta"];
        (case["raw"].as_str().unwrap(), meta["finish_reason"].as_str(), meta["refusal"].as_str())
    });
}

#[test]
fn field_faults_read_as_expected() {
    check_lines(include_str!("../cases/field-faults-parse.jsonl"), |case| {
        let input = &case["input"];
        (input["reply"].as_str().unwrap(), input["finish_reason"].as_str(), None)
    });
}

type Raw<'c> = (&'c str, Option<&'c str>, Option<&'c str>);

/// Reports all failures at once.
fn check_lines(lines: &str, raw: impl for<'c> Fn(&'c Value) -> Raw<'c>) {
    let cases: Vec<Value> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!cases.is_empty());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let format = if case["format"].is_null() { &case["input"]["format"] } else { &case["format"] };
            let scale = scale(format)?;
            let (text, finish, refusal) = raw(case);
            let finish = finish.map_or(FinishReason::Stop, finish_reason);
            let found = written(&read(&Reply { text, finish, refusal, logprobs: None }, &scale), &scale);
            let expected = expected(&case["expected"]);
            (found != expected)
                .then(|| format!("{}: expected {expected}, found {found}: {text:?}", case["id"]))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// `None` for formats of several criteria, which have tests of their own.
fn scale(format: &Value) -> Option<Scale> {
    let number = |name: &str| format[name].as_f64().unwrap();
    match format["kind"].as_str().unwrap() {
        "scale" if format["step"].is_null() => Some(interval(number("min"), number("max"))),
        "scale" => {
            let label = |index: u32| number("min") + f64::from(index) * number("step");
            let labels: Vec<f64> = (0..1000).map(label).take_while(|label| *label <= number("max")).collect();
            Some(Scale::Ordinal(labels.try_into().unwrap()))
        }
        "binary" => Some(Scale::PassFail),
        "pairwise" => Some(Scale::Pairwise { tie: format["tie"].as_bool().unwrap() }),
        "grade" | "labels" => {
            let labels = format.get("letters").or(format.get("labels")).and_then(Value::as_array).unwrap();
            Some(menu(&labels.iter().map(|label| label.as_str().unwrap()).collect::<Vec<_>>()))
        }
        "checklist" => None,
        other => panic!("unknown format {other}"),
    }
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "tool_calls" => FinishReason::ToolCalls,
        _ => FinishReason::Other,
    }
}

fn expected(expected: &Value) -> String {
    match (&expected["error"], &expected["verdict"]) {
        (Value::String(class), _) => class.clone(),
        (_, Value::String(verdict)) => verdict.clone(),
        (_, verdict) => verdict.as_f64().unwrap().to_string(),
    }
}
