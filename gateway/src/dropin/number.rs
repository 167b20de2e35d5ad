//! Voted numbers.

use aggregation::disagreement::mean_distance;
use aggregation::panel_vote::{weighted_mean, weighted_median};
use serde_json::{Number, Value};

use super::domain::Domains;
use super::folded::{DecidedBy, LeafKind};
use super::leaf::Leaf;
use super::repair;
use super::shape::{Bounds, Shape};

/// Votes on one number: a median that some judge gave for integers and levels, a mean for the others.
pub(super) fn decide(
    path: String,
    kind: LeafKind,
    shape: &Shape,
    votes: Vec<Option<Value>>,
    weights: &[f64],
    domains: &Domains,
) -> Leaf {
    let bounds = shape.bounds();
    let given: Vec<(f64, f64)> = votes
        .iter()
        .zip(weights)
        .filter_map(|(vote, weight)| vote.as_ref().and_then(Value::as_f64).map(|x| (x, *weight)))
        .collect();
    let values: Vec<f64> = given.iter().map(|(x, _)| *x).collect();
    let range = bounds.range().or_else(|| domains.range(&values));
    let levels = levels(shape);
    let (value, decided_by) = if kind == LeafKind::Number && levels.is_none() {
        mean(&votes, &given, bounds, range)
    } else {
        (median_member(&votes, &given), DecidedBy::Median)
    };
    let scores: Option<Vec<f64>> =
        range.map(|(min, max)| values.iter().map(|x| ((x - min) / (max - min)).clamp(0.0, 1.0)).collect());
    Leaf {
        path,
        kind,
        domain: levels.or_else(|| whole_numbers(kind, range)),
        value,
        decided_by,
        is_tied: false,
        disagreement: scores.and_then(|scores| mean_distance(&scores).ok()),
        votes,
        range,
    }
}

fn levels(shape: &Shape) -> Option<Vec<Value>> {
    match shape {
        Shape::Levels(levels) => Some(levels.iter().cloned().map(Value::Number).collect()),
        Shape::Nullable(inner) => levels(inner),
        _ => None,
    }
}

fn whole_numbers(kind: LeafKind, range: Option<(f64, f64)>) -> Option<Vec<Value>> {
    let (min, max) = range.filter(|_| kind == LeafKind::Integer)?;
    let ends = [min.ceil(), max.floor()].map(|end| Number::from_f64(end).and_then(|end| repair::whole(&end)));
    let [Some(min), Some(max)] = ends else { return None };
    (max - min <= 100).then(|| (min..=max).map(Value::from).collect())
}

/// The lower median: always a value that some judge gave.
fn median_member(votes: &[Option<Value>], given: &[(f64, f64)]) -> Value {
    let lower = weighted_median(given.iter().copied()).ok().map(|median| median.lower);
    let is_it = |vote: &&Value| lower.is_some() && vote.as_f64() == lower;
    votes
        .iter()
        .flatten()
        .find(is_it)
        .or_else(|| votes.iter().flatten().next())
        .cloned()
        .unwrap_or(Value::Null)
}

/// The mean within the range, or the median when some judge is half the scale away from it.
fn mean(
    votes: &[Option<Value>],
    given: &[(f64, f64)],
    bounds: Bounds,
    range: Option<(f64, f64)>,
) -> (Value, DecidedBy) {
    let (Ok(mean), Ok(median)) =
        (weighted_mean(given.iter().copied()), weighted_median(given.iter().copied()))
    else {
        return (median_member(votes, given), DecidedBy::Median);
    };
    let (min, max) = range.unwrap_or_else(|| likely_range(given));
    let is_outlier = |(x, _): &(f64, f64)| (x - median.midpoint).abs() * 2.0 >= max - min;
    let (value, decided_by) = if given.iter().any(is_outlier) {
        (median.midpoint, DecidedBy::Median)
    } else {
        (mean, DecidedBy::Mean)
    };
    let own = votes.iter().flatten().find(|vote| vote.as_f64() == Some(value));
    (own.cloned().unwrap_or_else(|| rounded(bounds.clamp(value), votes)), decided_by)
}

/// The smallest usual scale that holds all numbers, where nobody says which one it is.
fn likely_range(given: &[(f64, f64)]) -> (f64, f64) {
    let least = given.iter().map(|(x, _)| *x).fold(0.0, f64::min);
    let most = given.iter().map(|(x, _)| *x).fold(0.0, f64::max);
    let usual = [1.0, 5.0, 10.0, 100.0].into_iter().find(|max| *max >= most).unwrap_or(most);
    (least, usual)
}

/// Two decimals more than any judge wrote: rounding stays within what they said.
fn rounded(x: f64, votes: &[Option<Value>]) -> Value {
    let decimals = |vote: &Value| vote.to_string().split_once('.').map_or(0, |(_, after)| after.len());
    let places = votes.iter().flatten().map(decimals).max().unwrap_or(0).max(1) + 2;
    let text = format!("{x:.places$}");
    let near = text.parse().ok().filter(|near: &f64| (near - x).abs() <= 1e-2);
    Number::from_f64(near.unwrap_or(x)).map_or(Value::Null, Value::Number)
}
