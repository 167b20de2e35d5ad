//! The judges whose replies could be read, with what they said in the contract's form.

use std::ops::Range;

use crate::engine::reply::Step;
use serde_json::Value;

/// One accepted reply.
#[derive(Debug, Clone)]
pub(super) struct Voter {
    /// Index of the member.
    pub(super) member: usize,
    /// Whether it is what the judge said of the exchanged candidates, which nobody is shown.
    pub(super) is_reversed: bool,
    /// Positive and finite.
    pub(super) weight: f64,
    pub(super) value: Value,
    /// The reply's bytes if they say exactly `value`.
    pub(super) written: Option<String>,
    /// Where `written` or the text form's values stand in the member's text.
    pub(super) span: Option<Range<usize>>,
    /// Text forms: where each value stands in the member's text, which may be several places.
    pub(super) places: Vec<(Vec<Step>, Vec<Range<usize>>)>,
    /// Whether the reply keeps to the form as it stands, so that its words may carry the panel's verdict.
    pub(super) is_plain: bool,
    /// Text forms: the part of the reply that goes out.
    pub(super) body: Range<usize>,
}

/// Weights as they count: equal if none of them is positive and finite.
pub(super) fn usable_weights(weights: &[f64]) -> Vec<f64> {
    let usable = |weight: &f64| weight.is_finite() && *weight > 0.0;
    if weights.iter().any(usable) {
        weights.iter().map(|weight| if usable(weight) { *weight } else { 0.0 }).collect()
    } else {
        vec![1.0; weights.len()]
    }
}

/// Whether two values say the same: 1 and 1.0 do.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}
