//! The parser against its policy: recorded cases, one test a policy point, and laws.

mod cases;
mod evidence;
mod laws;
mod policy;
mod tokens;

use aggregation::scale::{Preference, Scale, Value};
use aggregation::vote::{Abstention, UnparseableClass};
use providers::chat::FinishReason;

use super::{Reading, Reply, read};

fn reply(text: &str) -> Reply<'_> {
    Reply { text, finish: FinishReason::Stop, refusal: None, logprobs: None }
}

fn one_to(max: u32) -> Scale {
    Scale::Ordinal((1..=max).map(f64::from).collect::<Vec<_>>().try_into().unwrap())
}

fn interval(min: f64, max: f64) -> Scale {
    Scale::Continuous((min, max).try_into().unwrap())
}

fn menu(labels: &[&str]) -> Scale {
    Scale::Nominal(labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>().try_into().unwrap())
}

const PAIR: Scale = Scale::Pairwise { tie: true };

/// The verdict as the case files write it: the value, or the class of the abstention.
fn written(read: &Result<Reading, Abstention>, scale: &Scale) -> String {
    match read {
        Ok(reading) => match (reading.value, scale) {
            (Value::Number(number), _) => number.to_string(),
            (Value::Category(index), Scale::Nominal(labels)) => labels.values()[index].clone(),
            (Value::Category(index), _) => format!("category {index}"),
            (Value::Pass(true), _) => "pass".to_owned(),
            (Value::Pass(false), _) => "fail".to_owned(),
            (Value::Preference(Preference::A), _) => "A".to_owned(),
            (Value::Preference(Preference::B), _) => "B".to_owned(),
            (Value::Preference(Preference::Tie), _) => "tie".to_owned(),
        },
        Err(Abstention::Refused) => "refusal".to_owned(),
        Err(Abstention::Unparseable(class)) => match class {
            UnparseableClass::NoVerdict => "no_verdict",
            UnparseableClass::Ambiguous => "ambiguous",
            UnparseableClass::OutOfRange => "out_of_range",
            UnparseableClass::Truncated => "truncated",
        }
        .to_owned(),
        Err(other) => format!("unexpected {other:?}"),
    }
}

#[track_caller]
fn check(scale: &Scale, text: &str, expected: &str) {
    assert_eq!(written(&read(&reply(text), scale), scale), expected, "{text:?}");
}

/// All texts mean the same.
#[track_caller]
fn check_all(scale: &Scale, texts: &[&str], expected: &str) {
    let wrong: Vec<String> = texts
        .iter()
        .map(|text| (text, written(&read(&reply(text), scale), scale)))
        .filter(|(_, found)| found != expected)
        .map(|(text, found)| format!("{text:?}: {found}"))
        .collect();
    assert!(wrong.is_empty(), "expected {expected}\n{}", wrong.join("\n"));
}
