//! What a judge is asked to write: the declared values in words, the form of the reply, and the JSON Schema.

use std::borrow::Cow;
use std::sync::Arc;

use aggregation::scale::Scale;
use providers::chat::ResponseSchema;
use serde_json::{Map, Value, json};

use crate::case::Mode;
use crate::rubric::{Criterion, Evidence};
use crate::templates::AnswerFormat;

/// The scale on which the criterion is asked in this mode: pairs have their own.
pub fn asked_scale(criterion: &Criterion, mode: Mode) -> Cow<'_, Scale> {
    match mode {
        Mode::Pairwise => Cow::Owned(Scale::Pairwise { tie: criterion.tie }),
        Mode::Pointwise | Mode::Reference => Cow::Borrowed(&criterion.scale),
    }
}

/// The key of the verdict in a JSON answer: `score`, `verdict` or `winner`.
pub fn answer_key(scale: &Scale) -> &'static str {
    match scale {
        Scale::Ordinal(_) | Scale::Continuous(_) => "score",
        Scale::Nominal(_) | Scale::PassFail => "verdict",
        Scale::Pairwise { .. } => "winner",
    }
}

/// The texts of which a bare answer is one; `None` for the other formats, and for values between two bounds.
pub fn choices(criteria: &[Arc<Criterion>], mode: Mode, answer: AnswerFormat) -> Option<Arc<[String]>> {
    match (answer, criteria) {
        (AnswerFormat::Bare, [one]) => labels(&asked_scale(one, mode)).map(Arc::from),
        (AnswerFormat::Json | AnswerFormat::Result | AnswerFormat::Bare, _) => None,
    }
}

/// The declared values as a judge writes them; `None` where there are too many to list.
fn labels(scale: &Scale) -> Option<Vec<String>> {
    let words = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
    match scale {
        Scale::Ordinal(labels) => Some(labels.values().iter().map(f64::to_string).collect()),
        Scale::Continuous(_) => None,
        Scale::Nominal(labels) => Some(labels.values().to_vec()),
        Scale::PassFail => words(&["pass", "fail"]),
        Scale::Pairwise { tie: true } => words(&["A", "B", "tie"]),
        Scale::Pairwise { tie: false } => words(&["A", "B"]),
    }
}

/// The declared values in words, such as `a whole number from 1 to 5`.
pub(super) fn values_in_words(scale: &Scale) -> String {
    match scale {
        Scale::Ordinal(labels) => {
            let values = labels.values();
            let steps_of_one =
                values.windows(2).all(|pair| matches!(pair, [x, y] if (y - x - 1.0).abs() < f64::EPSILON));
            if steps_of_one && labels.min().fract() == 0.0 {
                return format!("a whole number from {} to {}", labels.min(), labels.max());
            }
            format!("one of {}", any_of(values.iter().map(f64::to_string)))
        }
        Scale::Continuous(interval) => {
            format!("a number from {} to {}, with decimals if needed", interval.min(), interval.max())
        }
        Scale::Nominal(labels) => {
            let plain =
                labels.values().iter().all(|label| label.chars().all(|c| c.is_alphanumeric() || c == '_'));
            let quoted = |label: &String| if plain { label.clone() } else { format!("\"{label}\"") };
            format!("one of {}", any_of(labels.values().iter().map(quoted)))
        }
        Scale::PassFail => "pass or fail".to_owned(),
        Scale::Pairwise { tie: true } => "A, B or tie".to_owned(),
        Scale::Pairwise { tie: false } => "A or B".to_owned(),
    }
}

/// `x, y or z`.
fn any_of(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

/// The form of the whole reply. It names the declared values and suggests none of them.
pub fn form(criteria: &[Arc<Criterion>], mode: Mode, answer: AnswerFormat) -> String {
    let first = criteria.first();
    let words = first.map(|c| values_in_words(&asked_scale(c, mode))).unwrap_or_default();
    match (answer, criteria) {
        (AnswerFormat::Json, [one]) => json_form(one, mode),
        (AnswerFormat::Json, several) => {
            let parts: Vec<String> =
                several.iter().map(|c| format!("{}: {}", json!(c.name), json_form(c, mode))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        (AnswerFormat::Result, _) => {
            let evidence = if asks_evidence(criteria) { "\nEvidence: <the passage>\n" } else { " " };
            format!("Feedback: <your reasons>{evidence}[RESULT] <{words}>")
        }
        (AnswerFormat::Bare, _) => words,
    }
}

pub(super) fn asks_evidence(criteria: &[Arc<Criterion>]) -> bool {
    criteria.iter().any(|criterion| criterion.evidence == Evidence::Quote)
}

fn json_form(criterion: &Criterion, mode: Mode) -> String {
    let scale = asked_scale(criterion, mode);
    let words = values_in_words(&scale);
    let value = match scale.range() {
        Some(_) => format!("<{words}>"),
        // Why: quoted labels inside a JSON text would have to be escaped; the judge needs the words only.
        None => format!("\"<{}>\"", words.replace('"', "'")),
    };
    let evidence = match criterion.evidence {
        Evidence::None => "",
        Evidence::Quote => "\"evidence\": \"<the passage>\", ",
    };
    let key = answer_key(&scale);
    format!("{{\"reason\": \"<one or two sentences>\", {evidence}\"{key}\": {value}}}")
}

/// The schema of a JSON answer; `None` for the other formats. Keys stand in the order in which they are to be written.
pub fn response_schema(
    criteria: &[Arc<Criterion>],
    mode: Mode,
    answer: AnswerFormat,
) -> Option<ResponseSchema> {
    match answer {
        AnswerFormat::Json => {}
        AnswerFormat::Result | AnswerFormat::Bare => return None,
    }
    let schema = match criteria {
        [one] => criterion_schema(one, mode),
        several => {
            object_schema(&several.iter().map(|c| (c.name.clone(), criterion_schema(c, mode))).collect())
        }
    };
    Some(ResponseSchema { name: "verdict".to_owned(), schema })
}

fn criterion_schema(criterion: &Criterion, mode: Mode) -> Value {
    let scale = asked_scale(criterion, mode);
    let mut properties = Map::new();
    properties.insert("reason".to_owned(), text_schema());
    match criterion.evidence {
        Evidence::None => {}
        Evidence::Quote => {
            properties.insert("evidence".to_owned(), text_schema());
        }
    }
    properties.insert(answer_key(&scale).to_owned(), value_schema(&scale));
    object_schema(&properties)
}

fn object_schema(properties: &Map<String, Value>) -> Value {
    let required: Vec<String> = properties.keys().cloned().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Why a length: a small model that is held to the schema may write on and on, and never reach the value.
fn text_schema() -> Value {
    json!({"type": "string", "maxLength": MAX_TEXT_CHARS})
}

/// Twice what one or two sentences take.
const MAX_TEXT_CHARS: u32 = 600;

fn value_schema(scale: &Scale) -> Value {
    let words = |scale| json!({"type": "string", "enum": labels(scale)});
    match scale {
        Scale::Ordinal(labels) => {
            let whole: Option<Vec<i64>> = labels.values().iter().copied().map(whole_number).collect();
            match whole {
                Some(values) => json!({"type": "integer", "enum": values}),
                None => json!({"type": "number", "enum": labels.values()}),
            }
        }
        Scale::Continuous(interval) => {
            json!({"type": "number", "minimum": interval.min(), "maximum": interval.max()})
        }
        Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. } => words(scale),
    }
}

/// `None` for numbers with a fraction or beyond what every JSON reader keeps exactly.
fn whole_number(value: f64) -> Option<i64> {
    // Why: `4.0` prints as `4`, and the text of a whole number parses without a cast that could round.
    if value.fract() == 0.0 && value.abs() < 1e15 { value.to_string().parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::sample::criterion;

    fn ordinal(values: &[f64]) -> Scale {
        Scale::Ordinal(values.to_vec().try_into().unwrap())
    }

    fn nominal(labels: &[&str]) -> Scale {
        Scale::Nominal(labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>().try_into().unwrap())
    }

    #[test]
    fn the_declared_values_are_named() {
        let check = |scale: Scale, words: &str, schema: Value| {
            assert_eq!(values_in_words(&scale), words);
            assert_eq!(value_schema(&scale), schema);
        };
        check(
            ordinal(&[0.0, 1.0, 2.0]),
            "a whole number from 0 to 2",
            json!({"type": "integer", "enum": [0, 1, 2]}),
        );
        check(ordinal(&[1.0, 3.0, 5.0]), "one of 1, 3 or 5", json!({"type": "integer", "enum": [1, 3, 5]}));
        check(
            ordinal(&[0.0, 0.5, 1.0]),
            "one of 0, 0.5 or 1",
            json!({"type": "number", "enum": [0.0, 0.5, 1.0]}),
        );
        check(
            ordinal(&[-1.0, 0.0, 1.0]),
            "a whole number from -1 to 1",
            json!({"type": "integer", "enum": [-1, 0, 1]}),
        );
        check(
            Scale::Continuous((0.0, 10.0).try_into().unwrap()),
            "a number from 0 to 10, with decimals if needed",
            json!({"type": "number", "minimum": 0.0, "maximum": 10.0}),
        );
        check(
            nominal(&["low", "high"]),
            "one of low or high",
            json!({"type": "string", "enum": ["low", "high"]}),
        );
        check(
            nominal(&["no", "not sure"]),
            "one of \"no\" or \"not sure\"",
            json!({"type": "string", "enum": ["no", "not sure"]}),
        );
        check(Scale::PassFail, "pass or fail", json!({"type": "string", "enum": ["pass", "fail"]}));
        check(
            Scale::Pairwise { tie: true },
            "A, B or tie",
            json!({"type": "string", "enum": ["A", "B", "tie"]}),
        );
        check(Scale::Pairwise { tie: false }, "A or B", json!({"type": "string", "enum": ["A", "B"]}));
    }

    #[test]
    fn the_reason_comes_before_the_value() {
        let one = [criterion("tone", ordinal(&[1.0, 2.0]), Evidence::Quote)];
        let text = form(&one, Mode::Pointwise, AnswerFormat::Json);
        let expected = "{\"reason\": \"<one or two sentences>\", \"evidence\": \"<the passage>\", \
                        \"score\": <a whole number from 1 to 2>}";
        assert_eq!(text, expected);
        let schema = response_schema(&one, Mode::Pointwise, AnswerFormat::Json).unwrap().schema;
        assert_eq!(schema["required"], json!(["reason", "evidence", "score"]));
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["reason", "evidence", "score"]);
    }

    #[test]
    fn several_criteria_are_keyed_by_name() {
        let two = [
            criterion("tone", Scale::PassFail, Evidence::None),
            criterion("facts", ordinal(&[1.0, 2.0]), Evidence::None),
        ];
        let text = form(&two, Mode::Pointwise, AnswerFormat::Json);
        assert!(
            text.starts_with("{\"tone\": {\"reason\"") && text.contains("\"verdict\": \"<pass or fail>\"")
        );
        let schema = response_schema(&two, Mode::Pairwise, AnswerFormat::Json).unwrap().schema;
        assert_eq!(schema["required"], json!(["tone", "facts"]));
        assert_eq!(schema["properties"]["tone"]["properties"]["winner"]["enum"], json!(["A", "B", "tie"]));
    }

    #[test]
    fn the_other_formats_have_a_form_and_no_schema() {
        let one = [criterion("tone", Scale::PassFail, Evidence::Quote)];
        let result = form(&one, Mode::Pointwise, AnswerFormat::Result);
        assert_eq!(result, "Feedback: <your reasons>\nEvidence: <the passage>\n[RESULT] <pass or fail>");
        assert_eq!(form(&one, Mode::Pairwise, AnswerFormat::Bare), "A, B or tie");
        for answer in [AnswerFormat::Result, AnswerFormat::Bare] {
            assert_eq!(response_schema(&one, Mode::Pointwise, answer), None);
        }
    }

    #[test]
    fn texts_have_a_longest_length() {
        let one = [criterion("tone", Scale::PassFail, Evidence::Quote)];
        let schema = response_schema(&one, Mode::Pointwise, AnswerFormat::Json).unwrap().schema;
        for key in ["reason", "evidence"] {
            assert_eq!(schema["properties"][key], json!({"type": "string", "maxLength": 600}));
        }
    }

    #[test]
    fn only_a_bare_answer_on_a_scale_of_labels_has_choices() {
        let check = |scale: Scale, mode: Mode, answer: AnswerFormat, expected: Option<&[&str]>| {
            let expected = expected.map(|texts| texts.iter().map(|&text| text.to_owned()).collect());
            assert_eq!(choices(&[criterion("tone", scale, Evidence::None)], mode, answer), expected);
        };
        let bare = AnswerFormat::Bare;
        check(ordinal(&[-1.0, 0.5, 10.0]), Mode::Pointwise, bare, Some(&["-1", "0.5", "10"]));
        check(nominal(&["no", "not sure"]), Mode::Reference, bare, Some(&["no", "not sure"]));
        check(Scale::PassFail, Mode::Pointwise, bare, Some(&["pass", "fail"]));
        check(Scale::PassFail, Mode::Pairwise, bare, Some(&["A", "B", "tie"]));
        check(Scale::Continuous((0.0, 1.0).try_into().unwrap()), Mode::Pointwise, bare, None);
        check(Scale::PassFail, Mode::Pointwise, AnswerFormat::Json, None);
        check(Scale::PassFail, Mode::Pointwise, AnswerFormat::Result, None);
    }
}
