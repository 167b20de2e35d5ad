//! The text that goes out: the chosen reply with the panel's values in their places.

use std::ops::Range;

use serde_json::Value;

use crate::engine::reply::Step;

use super::super::voters::Voter;

/// Where each value stands in a text.
type Places = Vec<(Vec<Step>, Range<usize>)>;

/// What replaces a part of a text, and which value it is.
struct Patch<'p> {
    span: Range<usize>,
    path: &'p [Step],
    text: Option<String>,
}

/// The text and the last place of each value in it. `None` where the panel has other values than the reply has
/// places for.
pub(in crate::dropin) fn render(voter: &Voter, text: &str, panel: &Value) -> Option<(String, Places)> {
    let mut patches = Vec::new();
    for (path, spans) in &voter.places {
        let own = at(&voter.value, path)?;
        let new = at(panel, path)?;
        let replaced = (own != new).then(|| written(new));
        let within = |span: &&Range<usize>| span.start >= voter.body.start && span.end <= voter.body.end;
        for span in spans.iter().filter(within) {
            patches.push(Patch { span: span.clone(), path, text: replaced.clone() });
        }
    }
    if leaf_count(panel) != voter.places.len() {
        return None;
    }
    patches.sort_by_key(|patch| patch.span.start);
    let mut out = String::new();
    let mut from = voter.body.start;
    let mut located: Places = Vec::new();
    for patch in &patches {
        out.push_str(text.get(from..patch.span.start)?);
        let start = out.len();
        out.push_str(patch.text.as_deref().or_else(|| text.get(patch.span.clone()))?);
        located.retain(|(path, _)| path != patch.path);
        located.push((patch.path.to_vec(), start..out.len()));
        from = patch.span.end;
    }
    out.push_str(text.get(from..voter.body.end)?);
    Some((out, located))
}

fn at<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn leaf_count(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(leaf_count).sum(),
        Value::Object(members) => members.values().map(leaf_count).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
