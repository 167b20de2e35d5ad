//! Which elements of several judges' lists are about the same thing.

use serde_json::Value;

use super::words;

/// Lists longer than this are not compared element by element.
const MAX_ELEMENTS: usize = 2000;

/// How lists go together. Inner vectors run over the voters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Alignment {
    /// By what names an element. Each slot holds every voter's index of it, in order of appearance.
    Named(Vec<Vec<Option<usize>>>),
    /// By place. Lists of another length have no part in the vote.
    Placed(Vec<Vec<Option<usize>>>),
    /// They do not: the judges split the text themselves.
    None,
}

/// By what names an element where that works, else by position: the lists of the length that the prompt's own list has
/// (`listed`), else all of one length, else those of the usual length.
pub(super) fn align(lists: &[Option<&Vec<Value>>], weights: &[f64], listed: Option<usize>) -> Alignment {
    let given: Vec<&Vec<Value>> = lists.iter().copied().flatten().collect();
    if given.iter().any(|list| list.len() > MAX_ELEMENTS) {
        return Alignment::None;
    }
    let named = element_key(&given);
    if let Some(slots) = named.and_then(|key| by_name(lists, key)).filter(|slots| is_good(slots, &given)) {
        return Alignment::Named(slots);
    }
    let is_given = |length: &usize| given.iter().any(|list| list.len() == *length);
    let length = match given.first().map(|list| list.len()) {
        Some(first) if given.iter().all(|list| list.len() == first) => Some(first),
        None => Some(0),
        Some(_) if named.is_some() => None,
        Some(_) => listed.filter(is_given).or_else(|| modal_length(lists, weights)),
    };
    length.map_or(Alignment::None, |length| Alignment::Placed(by_position(lists, length)))
}

/// The first field that names every element of every list.
fn element_key<'v>(lists: &[&'v Vec<Value>]) -> Option<&'v str> {
    let first = lists.iter().find_map(|list| list.first())?.as_object()?;
    let names_all = |key: &&String| {
        words::is_element_key(key)
            && lists.iter().all(|list| list.iter().all(|element| name_of(element, key).is_some()))
    };
    first.keys().find(names_all).map(String::as_str)
}

/// What an element is called, so that two judges' copies are equal.
pub(super) fn name_of(element: &Value, key: &str) -> Option<String> {
    match element.get(key)? {
        Value::String(text) => Some(name(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(super) fn name(text: &str) -> String {
    let name = words::normalised(text);
    // Names without letters, or that differ in their marks only, stay as they are.
    if name.is_empty() { text.trim().to_owned() } else { name }
}

/// `None` where a judge names two elements alike.
fn by_name(lists: &[Option<&Vec<Value>>], key: &str) -> Option<Vec<Vec<Option<usize>>>> {
    let mut names: Vec<String> = Vec::new();
    let mut slots: Vec<Vec<Option<usize>>> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for (voter, list) in lists.iter().enumerate() {
        for (index, element) in list.iter().copied().flatten().enumerate() {
            let name = name_of(element, key)?;
            let slot = *known.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                slots.push(vec![None; lists.len()]);
                slots.len() - 1
            });
            let place = slots.get_mut(slot)?.get_mut(voter)?;
            if place.replace(index).is_some() {
                return None;
            }
        }
    }
    Some(slots)
}

/// Whether most judges share at least half of what a judge lists on average.
fn is_good(slots: &[Vec<Option<usize>>], lists: &[&Vec<Value>]) -> bool {
    let shared = slots.iter().filter(|slot| slot.iter().flatten().count() * 2 > lists.len()).count();
    let total: usize = lists.iter().map(|list| list.len()).sum();
    shared * 2 * lists.len() >= total
}

fn by_position(lists: &[Option<&Vec<Value>>], length: usize) -> Vec<Vec<Option<usize>>> {
    let element = |list: Option<&Vec<Value>>, index| list.filter(|list| list.len() == length).map(|_| index);
    (0..length).map(|index| lists.iter().map(|list| element(*list, index)).collect()).collect()
}

/// The length with the most weight, if at least two judges share it and no other has as much.
fn modal_length(lists: &[Option<&Vec<Value>>], weights: &[f64]) -> Option<usize> {
    let mut lengths: Vec<(usize, f64, usize)> = Vec::new();
    for (list, weight) in lists.iter().zip(weights) {
        let Some(length) = list.map(Vec::len) else { continue };
        match lengths.iter_mut().find(|(known, _, _)| *known == length) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + weight, *count + 1),
            None => lengths.push((length, *weight, 1)),
        }
    }
    let most = lengths.iter().map(|(_, sum, _)| *sum).fold(0.0, f64::max);
    let mut modal = lengths.iter().filter(|(_, sum, _)| *sum >= most);
    match (modal.next(), modal.next()) {
        (Some((length, _, count)), None) if *count > 1 => Some(*length),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Alignment, align};

    type Slots<'s> = &'s [&'s [Option<usize>]];

    fn aligned(lists: &[Value], listed: Option<usize>) -> Alignment {
        let lists: Vec<Option<&Vec<Value>>> = lists.iter().map(Value::as_array).collect();
        align(&lists, &vec![1.0; lists.len()], listed)
    }

    fn slots(slots: Slots<'_>) -> Vec<Vec<Option<usize>>> {
        slots.iter().map(|slot| slot.to_vec()).collect()
    }

    #[test]
    fn elements_are_aligned_by_name_then_position_then_usual_length() {
        let named = |names: &[&str]| {
            Value::Array(names.iter().map(|name| json!({"claim": name, "ok": true})).collect())
        };
        let is_named = |lists: &[Value], expected| {
            assert_eq!(aligned(lists, None), Alignment::Named(slots(expected)), "{lists:?}");
        };
        let is_placed = |lists: &[Value], listed, expected| {
            assert_eq!(aligned(lists, listed), Alignment::Placed(slots(expected)), "{lists:?}");
        };
        is_named(&[named(&["A b.", "C"]), named(&["c", "a b"])], &[&[Some(0), Some(1)], &[Some(1), Some(0)]]);
        is_placed(&[json!([{"v": 1}]), json!([{"v": 2}])], Some(2), &[&[Some(0), Some(0)]]);
        let uneven = [json!([{"v": 1}]), json!([{"v": 2}]), json!([{"v": 1}, {"v": 2}])];
        is_placed(&uneven, None, &[&[Some(0), Some(0), None]]);
        is_placed(&uneven, Some(2), &[&[None, None, Some(0)], &[None, None, Some(1)]]);
        is_placed(&uneven, Some(5), &[&[Some(0), Some(0), None]]);
        is_placed(&[json!([]), json!([])], None, &[]);
        let strangers = [named(&["a"]), named(&["b", "c"]), named(&["d", "e", "f"])];
        assert_eq!(aligned(&strangers, Some(3)), Alignment::None);
        assert_eq!(aligned(&[json!([1]), json!([1, 2])], None), Alignment::None);
    }
}
