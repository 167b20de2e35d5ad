//! The verdict of a JSON object: which members state it, and whether they agree.

use aggregation::scale::{Scale, Value};

use super::cleanup::Folded;
use super::cursor::plain;
use super::json::{Json, Member, Node, unescape};
use super::labels;
use super::quantity;
use super::slot::{self, Extent, Slot};

/// Keys that state a verdict on any scale, without their optional "final", "overall" or "total".
const VERDICT_KEYS: [&str; 27] = [
    "score",
    "rating",
    "verdict",
    "result",
    "grade",
    "label",
    "decision",
    "judgment",
    "judgement",
    "choice",
    "puntuacion",
    "calificacion",
    "nota",
    "veredicto",
    "resultado",
    "etiqueta",
    "评分",
    "得分",
    "总分",
    "分数",
    "结论",
    "判定",
    "裁决",
    "结果",
    "标签",
    "打分",
    "评级",
];
/// Keys that state pass or fail, and a count or something else on other scales.
const PASS_KEYS: [&str; 14] = [
    "pass",
    "passed",
    "passes",
    "passing",
    "correct",
    "iscorrect",
    "aprobado",
    "aprobada",
    "aprueba",
    "correcto",
    "cumple",
    "通过",
    "是否通过",
    "正确",
];
/// Keys that name the better one of two.
const WINNER_KEYS: [&str; 9] =
    ["winner", "preference", "preferred", "better", "ganador", "preferencia", "preferido", "胜者", "优胜者"];
const KEY_EXTRAS: [&str; 10] =
    ["final", "overall", "total", "global", "general", "最终", "总体", "综合", "整体", "总"];

/// The verdict that a JSON value states. `Placeholder` when it states none, so it is no verdict object.
pub(super) fn read(text: &str, node: &Node, scale: &Scale) -> Slot {
    match verdict_members(node, scale) {
        Found::Members(members) => read_members(text, members, scale),
        Found::Several(objects) => {
            let mut slots = objects.iter().map(|object| read_members(text, object, scale));
            let first = slots.next().unwrap_or(Slot::Placeholder);
            slots.fold(first, agreed)
        }
        Found::Nothing => Slot::Placeholder,
    }
}

/// What a single JSON value says: a criterion's own entry, or a verdict key's.
pub(super) fn read_value(text: &str, node: &Node, scale: &Scale) -> Slot {
    let holds = |value: Value| Slot::holds(value, node.span.clone());
    match (&node.json, scale) {
        (Json::String, _) => read_string(text, node, scale),
        (Json::Number(number), Scale::Ordinal(_) | Scale::Continuous(_)) => {
            quantity::place_number(*number, scale).map_or(Slot::OffScale, holds)
        }
        (Json::Number(number), Scale::PassFail) => {
            labels::pass_number(*number).map_or(Slot::Nothing, |passed| holds(Value::Pass(passed)))
        }
        (Json::Bool(passed), Scale::PassFail) => holds(Value::Pass(*passed)),
        // A label may look like a number or a boolean: what counts is how it is written.
        (Json::Number(_) | Json::Bool(_), Scale::Nominal(_)) => {
            slot::read(text, node.span.clone(), scale, Extent::Whole)
        }
        (Json::Number(_), Scale::Pairwise { .. })
        | (Json::Bool(_), Scale::Ordinal(_) | Scale::Continuous(_) | Scale::Pairwise { .. })
        | (Json::Null | Json::Array(_) | Json::Object(_), _) => Slot::Nothing,
    }
}

/// The members in which a verdict and its reasons are looked for; of an array, those of its last object.
pub(super) fn members<'n>(node: &'n Node, scale: &Scale) -> &'n [Member] {
    match verdict_members(node, scale) {
        Found::Members(members) => members,
        Found::Several(objects) => objects.last().copied().unwrap_or_default(),
        Found::Nothing => node.json.members().unwrap_or_default(),
    }
}

/// One wrapper, an object of one member or an array of one object, taken off; each kind at most once.
pub(super) fn unwrap(members: &[Member]) -> Option<&[Member]> {
    let [Member { value, .. }] = members else { return None };
    let element =
        value.json.elements().and_then(|elements| if let [one] = elements { Some(one) } else { None });
    element.unwrap_or(value).json.members()
}

/// A key as it is compared: lower case, without accents, spaces and punctuation.
pub(super) fn plain_key(key: &str) -> String {
    Folded::new(key).text().chars().filter(|c| c.is_alphanumeric()).map(plain).collect()
}

enum Found<'n> {
    Members(&'n [Member]),
    /// An array of several objects.
    Several(Vec<&'n [Member]>),
    Nothing,
}

fn verdict_members<'n>(node: &'n Node, scale: &Scale) -> Found<'n> {
    let has_verdict =
        |members: &[Member]| members.iter().any(|member| is_verdict_key(&plain_key(&member.key), scale));
    let objects = objects(node);
    match objects.as_slice() {
        [] => Found::Nothing,
        [_, _, ..] => Found::Several(objects),
        [members] => {
            // The wrapper's own key may sound like a verdict: {"result": {"score": 4}}.
            let inner = unwrap(members).filter(|inner| has_verdict(inner));
            if let Some(inner) = inner {
                Found::Members(inner)
            } else if has_verdict(members) {
                Found::Members(members)
            } else {
                Found::Nothing
            }
        }
    }
}

/// The object, or the objects of an array that has nothing else.
fn objects(node: &Node) -> Vec<&[Member]> {
    let elements = node.json.elements().unwrap_or(std::slice::from_ref(node));
    elements.iter().map(|element| element.json.members()).collect::<Option<_>>().unwrap_or_default()
}

fn is_verdict_key(key: &str, scale: &Scale) -> bool {
    let is_listed = |key: &str| {
        VERDICT_KEYS.contains(&key)
            || match scale {
                Scale::PassFail => PASS_KEYS.contains(&key),
                Scale::Pairwise { .. } => WINNER_KEYS.contains(&key),
                Scale::Ordinal(_) | Scale::Continuous(_) | Scale::Nominal(_) => false,
            }
    };
    is_listed(key)
        || KEY_EXTRAS.iter().any(|extra| {
            key.strip_prefix(extra).is_some_and(is_listed) || key.strip_suffix(extra).is_some_and(is_listed)
        })
}

/// Several verdict keys, and duplicates of one key, have to agree. `Placeholder` without any.
pub(super) fn read_members(text: &str, members: &[Member], scale: &Scale) -> Slot {
    let mut by_key: Vec<(String, Slot)> = Vec::new();
    let mut fractions = Vec::new();
    for member in members {
        let key = plain_key(&member.key);
        if !is_verdict_key(&key, scale) {
            continue;
        }
        if let Json::Number(number) = member.value.json {
            fractions.push(number);
        }
        let slot = read_value(text, &member.value, scale);
        match by_key.iter_mut().find(|(known, _)| *known == key) {
            Some((_, earlier)) => *earlier = repeated(earlier, slot),
            None => by_key.push((key, slot)),
        }
    }
    let slot = by_key.into_iter().map(|(_, slot)| slot).reduce(agreed).unwrap_or(Slot::Placeholder);
    match slot {
        Slot::Holds { value: Value::Pass(passed), .. } if contradicts(&fractions, passed) => Slot::Conflict,
        slot => slot,
    }
}

/// The same key twice: even "nothing" and a value are two different statements.
pub(super) fn repeated(earlier: &Slot, later: Slot) -> Slot {
    if std::mem::discriminant(earlier) == std::mem::discriminant(&later) {
        agreed(earlier.clone(), later)
    } else {
        Slot::Conflict
    }
}

/// `{"pass": true, "score": 0.1}`: a score beside pass or fail passes from one half.
fn contradicts(scores: &[f64], passed: bool) -> bool {
    scores.iter().any(|score| (0.0..=1.0).contains(score) && (*score >= 0.5) != passed)
}

/// The later of two statements, or their conflict. One that states nothing gives way.
fn agreed(earlier: Slot, later: Slot) -> Slot {
    match (&earlier, &later) {
        _ if later.disagrees_with(&earlier) => Slot::Conflict,
        (_, Slot::Placeholder) | (Slot::Holds { .. } | Slot::OffScale | Slot::Conflict, Slot::Nothing) => {
            earlier
        }
        _ => later,
    }
}

fn read_string(text: &str, node: &Node, scale: &Scale) -> Slot {
    let content = node.content();
    let raw = text.get(content.clone()).unwrap_or_default();
    if !raw.contains('\\') {
        return slot::read(text, content, scale, Extent::Whole);
    }
    let plain = Folded::new(&unescape(raw));
    match slot::read(plain.text(), 0..plain.text().len(), scale, Extent::Whole) {
        // Offsets of the unescaped text mean nothing in the reply.
        Slot::Holds { value, .. } => Slot::holds(value, content),
        slot => slot,
    }
}
