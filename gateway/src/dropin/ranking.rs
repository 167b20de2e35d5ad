//! Rankings: lists of names with places. Folded by Borda: the mean of each name's places, then 1 to n.

use aggregation::disagreement::mean_distance;
use serde_json::{Number, Value};

use super::align::{self, Alignment};
use super::folded::{DecidedBy, LeafKind};
use super::leaf::Leaf;
use super::shape::Shape;
use super::words;

/// What a list of this shape ranks by: the key of the name and the key of the place.
pub(super) fn keys(element: &Shape) -> Option<(String, String)> {
    let Shape::Object(fields) = element else { return None };
    let is_number = |shape: &Shape| matches!(shape, Shape::Integer(_) | Shape::Number(_) | Shape::Levels(_));
    let place = fields.known.iter().find(|field| words::is_rank(&field.key) && is_number(&field.shape))?;
    let is_name = |shape: &Shape| matches!(shape, Shape::Text | Shape::Category(_));
    let name =
        fields.known.iter().find(|field| words::is_element_key(&field.key) && is_name(&field.shape))?;
    Some((name.key.clone(), place.key.clone()))
}

#[derive(Debug, Clone)]
pub(super) struct Ranked {
    pub(super) place_key: String,
    /// Every ranked thing from best to worst: each voter's index of its element, and its leaf.
    pub(super) order: Vec<(Vec<Option<usize>>, usize)>,
}

/// Ranks what most voters rank; their leaves are added from best to worst. `None` where they rank different things.
pub(super) fn rank(
    path: &str,
    (name_key, place_key): (String, String),
    lists: &[Option<&Vec<Value>>],
    weights: &[f64],
    leaves: &mut Vec<Leaf>,
) -> Option<Ranked> {
    let slots = match align::align(lists, weights, None) {
        Alignment::Named(slots) | Alignment::Placed(slots) => slots,
        Alignment::None => return None,
    };
    let element =
        |voter: usize, index: usize| lists.get(voter).copied().flatten().and_then(|list| list.get(index));
    let places: Vec<Vec<f64>> = lists.iter().map(|list| places(list.as_deref(), &place_key)).collect();
    let given = lists.iter().flatten().count();
    let mut things: Vec<(f64, f64, Vec<Option<usize>>)> = Vec::new();
    for slot in slots {
        let ranked: Vec<(f64, f64)> = slot
            .iter()
            .enumerate()
            .filter_map(|(voter, index)| {
                let place = places.get(voter)?.get((*index)?)?;
                Some((*place, *weights.get(voter)?))
            })
            .collect();
        if ranked.len() * 2 > given {
            let total: f64 = ranked.iter().map(|(_, weight)| weight).sum();
            let sum: f64 = ranked.iter().map(|(place, weight)| place * weight).sum();
            let mean = if total > 0.0 { sum / total } else { 0.0 };
            let lead = slot.iter().enumerate().find_map(|(voter, index)| places.get(voter)?.get((*index)?));
            // Rounded, so that sums in another order are still equal.
            things.push(((mean * 1e9).round(), lead.copied().unwrap_or(0.0), slot));
        }
    }
    if things.is_empty() && given > 0 && lists.iter().flatten().any(|list| !list.is_empty()) {
        return None;
    }
    // Equal sums stand in the lead's order.
    things.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let count = things.len();
    let mut order = Vec::new();
    for (position, (_, _, slot)) in things.into_iter().enumerate() {
        let votes: Vec<Option<Value>> = slot
            .iter()
            .enumerate()
            .map(|(voter, index)| element(voter, (*index)?)?.get(&place_key).cloned())
            .collect();
        let name = slot
            .iter()
            .enumerate()
            .find_map(|(voter, index)| element(voter, (*index)?)?.get(&name_key)?.as_str());
        leaves.push(leaf(
            format!("{path}[{}].{place_key}", name.unwrap_or_default()),
            position + 1,
            count,
            votes,
        ));
        order.push((slot, leaves.len() - 1));
    }
    Some(Ranked { place_key, order })
}

/// Each element's place as the voter ordered them: 1 for the best, the mean for equal ranks.
fn places(list: Option<&Vec<Value>>, place_key: &str) -> Vec<f64> {
    let rank = |element: &Value| element.get(place_key).and_then(Value::as_f64).unwrap_or(f64::MAX);
    let ranks: Vec<f64> = list.into_iter().flatten().map(rank).collect();
    let place = |own: &f64| {
        let before = ranks.iter().filter(|other| *other < own).count();
        let equal = ranks.iter().filter(|other| other.total_cmp(own).is_eq()).count();
        count(before) + f64::midpoint(count(equal), 1.0)
    };
    ranks.iter().map(place).collect()
}

fn leaf(path: String, place: usize, things: usize, votes: Vec<Option<Value>>) -> Leaf {
    let width = count(things.saturating_sub(1)).max(1.0);
    let score = |vote: &Value| vote.as_f64().map(|x| ((x - 1.0) / width).clamp(0.0, 1.0));
    let scores: Vec<f64> = votes.iter().flatten().filter_map(score).collect();
    Leaf {
        path,
        kind: LeafKind::Rank,
        domain: Some((1..=things).map(Value::from).collect()),
        value: Value::Number(Number::from(place)),
        decided_by: DecidedBy::Borda,
        is_tied: false,
        disagreement: mean_distance(&scores).ok(),
        votes,
        range: None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of list elements are far below 2^52")]
fn count(n: usize) -> f64 {
    n as f64
}
