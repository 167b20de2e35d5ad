//! One answer for all criteria: one JSON object with one entry a criterion, each read on its own.

use aggregation::scale::Scale;
use aggregation::vote::{Abstention, UnparseableClass};
use providers::chat::FinishReason;

use super::decide::last_of_style;
use super::json::{Json, Member, Node};
use super::markers::{Marker, Place, Style};
use super::rationale;
use super::slot::Slot;
use super::verdict_object::{self, plain_key};
use super::visible::Visible;
use super::{Reading, Reply};

/// An entry is `{"NAME": value}` or `{"NAME": {"score": value, "reason": …}}`, with any verdict key. Missing entries
/// are missing, not agreed.
pub fn read_together(reply: &Reply<'_>, criteria: &[(&str, &Scale)]) -> Vec<Result<Reading, Abstention>> {
    if super::is_refused_by_provider(reply) {
        return vec![Err(Abstention::Refused); criteria.len()];
    }
    let visible = Visible::of(reply.text);
    let names: Vec<&str> = criteria.iter().map(|(name, _)| *name).collect();
    let markers: Vec<Marker> = visible
        .layout
        .objects
        .iter()
        .enumerate()
        .filter(|(_, node)| !entries(node, &names).is_empty())
        .map(|(index, node)| Marker {
            style: Style::Json,
            span: node.span.clone(),
            place: Place::Object(index),
        })
        .collect();
    if markers.is_empty() {
        return vec![Err(visible.without_verdict(reply)); criteria.len()];
    }
    let is_cut = reply.finish == FinishReason::Length
        && !markers.last().is_some_and(|marker| visible.ends_with(marker));
    criteria
        .iter()
        .map(|(name, scale)| read_criterion(&visible, &markers, &names, (name, scale), is_cut))
        .collect()
}

fn read_criterion(
    visible: &Visible<'_>,
    markers: &[Marker],
    names: &[&str],
    (name, scale): (&str, &Scale),
    is_cut: bool,
) -> Result<Reading, Abstention> {
    if is_cut {
        return Err(Abstention::Unparseable(UnparseableClass::Truncated));
    }
    let text = visible.text();
    let members_of =
        |marker: &Marker| visible.object(marker).map(|node| entries(node, names)).unwrap_or_default();
    let holds = |marker: &Marker| {
        let slots =
            named(members_of(marker), name).into_iter().map(|member| read_entry(text, &member.value, scale));
        slots.reduce(|earlier, later| verdict_object::repeated(&earlier, later)).unwrap_or(Slot::Placeholder)
    };
    let decision = last_of_style(&visible.layout.own, &markers.iter().collect::<Vec<_>>(), &holds)
        .ok_or(Abstention::Unparseable(UnparseableClass::NoVerdict))?;
    let (value, span) = super::value_of(decision.slot)?;
    let members = members_of(&decision.marker);
    let own = named(members, name).last().and_then(|member| member.value.json.members()).unwrap_or_default();
    let source = visible.source();
    let evidence = rationale::quoted_in(source, own);
    Ok(Reading {
        value,
        span: visible.folded.original(span),
        rationale: rationale::reason(source, own).or_else(|| rationale::reason(source, members)),
        evidence: if evidence.is_empty() { rationale::quoted_in(source, members) } else { evidence },
    })
}

/// The members among which the criteria are named: the object's own, or those inside one wrapper.
fn entries<'n>(node: &'n Node, names: &[&str]) -> &'n [Member] {
    let elements = node.json.elements().unwrap_or(std::slice::from_ref(node));
    let [Node { json: Json::Object(members), .. }] = elements else { return &[] };
    let has_any = |members: &&[Member]| names.iter().any(|name| !named(members, name).is_empty());
    [Some(members.as_slice()), verdict_object::unwrap(members)]
        .into_iter()
        .flatten()
        .find(has_any)
        .unwrap_or_default()
}

/// The members of this name: as written, else whatever their case and punctuation.
fn named<'n>(members: &'n [Member], name: &str) -> Vec<&'n Member> {
    let exact: Vec<&Member> = members.iter().filter(|member| member.key == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    let plain_name = plain_key(name);
    members.iter().filter(|member| plain_key(&member.key) == plain_name).collect()
}

fn read_entry(text: &str, node: &Node, scale: &Scale) -> Slot {
    let slot = match node.json.members() {
        Some(members) => verdict_object::read_members(text, members, scale),
        None => verdict_object::read_value(text, node, scale),
    };
    // The entry is there, so it is the criterion's last word even when it holds nothing.
    if slot == Slot::Placeholder { Slot::Nothing } else { slot }
}
