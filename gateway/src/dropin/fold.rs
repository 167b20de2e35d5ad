//! From replies to the one reply: reads each under the contract, votes, settles ties, and chooses the words.

use aggregation::vote::Abstention;
use providers::chat::FinishReason;
use serde_json::Value;

use crate::engine::reply::part_span;

use super::asked::{FoldPolicy, Member, OnTie, Reply};
use super::contract::Contract;
use super::folded::{Answer, DecidedBy, Folded, LeafVote, Outcome, Reading};
use super::leaf::{DOUBLE_BRACKET, Leaf};
use super::logprobs;
use super::panel::{self, Carrier, Panel};
use super::select;
use super::shape::{Fields, Shape};
use super::text;
use super::tree::{Builder, Node};
use super::voters::Voter;

/// How many of the replies that came so far have a vote.
pub fn answered(contract: &Contract, members: &[Member]) -> usize {
    panel::read(contract, members).answered()
}

/// Folds the replies. Total: whatever stands in them, there is an outcome.
pub fn fold(contract: &Contract, members: &[Member], policy: &FoldPolicy) -> Folded {
    let panel = panel::read(contract, members);
    let readings = panel.readings.clone();
    let answered = panel.answered();
    let needed = policy.quorum.max(1);
    if answered < needed {
        let outcome = refused(members, &readings).unwrap_or(Outcome::BelowQuorum { answered, needed });
        return Folded { outcome, leaves: Vec::new(), readings };
    }
    let weights: Vec<f64> = panel.voters.iter().map(|voter| voter.weight).collect();
    let values: Vec<Option<&Value>> = panel.voters.iter().map(|voter| Some(&voter.value)).collect();
    let mut builder = Builder {
        weights: &weights,
        domains: &contract.domains,
        listed: contract.listed,
        leaves: Vec::new(),
        pairs: Vec::new(),
    };
    let node = builder.build("", "", &panel.structure.shape, &values, 0);
    let mut leaves = builder.leaves;
    let escalated = match settle(&mut leaves, policy, answered) {
        Ok(escalated) => escalated,
        Err(outcome) => return Folded { outcome, leaves: reports(&leaves, &panel, members.len()), readings },
    };
    keep_pairs(&mut leaves, &builder.pairs);
    let mut answer = speak(contract, &panel, members, &node, &mut leaves);
    answer.escalated = escalated;
    let leaves = reports(&leaves, &panel, members.len());
    Folded { outcome: Outcome::Answer(Box::new(answer)), leaves, readings }
}

/// Where every judge that replied declined, and nobody was merely missing.
fn refused(members: &[Member], readings: &[Reading]) -> Option<Outcome> {
    let is_refusal = |reading: &Reading| *reading == Reading::Abstained(Abstention::Refused);
    let all = !readings.is_empty() && readings.iter().all(is_refusal);
    let words = |member: &Member| {
        let reply = member.reply.as_ref().ok()?;
        let own = reply.refusal.clone().filter(|text| !text.trim().is_empty());
        own.or_else(|| Some(reply.text.clone()).filter(|text| !text.trim().is_empty()))
    };
    let text = members.iter().find_map(words);
    all.then(|| Outcome::Refused {
        text: text.unwrap_or_else(|| "The judges declined to answer.".to_owned()),
    })
}

/// Ties by the contract's own label, then by the lead. Whether the lead had to settle any.
fn settle(leaves: &mut [Leaf], policy: &FoldPolicy, answered: usize) -> Result<bool, Outcome> {
    let tied = |leaves: &[Leaf]| -> Vec<String> {
        leaves.iter().filter(|leaf| leaf.is_tied).map(|leaf| leaf.path.clone()).collect()
    };
    let paths = tied(leaves);
    if paths.is_empty() {
        return Ok(false);
    }
    if !policy.is_final {
        return Err(Outcome::Tied { paths });
    }
    for leaf in leaves.iter_mut() {
        leaf.settle_by_tie_label();
    }
    let paths = tied(leaves);
    if paths.is_empty() {
        return Ok(false);
    }
    if answered < policy.seats {
        return Err(Outcome::BelowQuorum { answered, needed: policy.seats });
    }
    match policy.on_tie {
        OnTie::Lead => Ok(true),
        OnTie::Refuse => Err(Outcome::Tied { paths }),
    }
}

/// A score goes with the pass that it was given for: where judges differ on the pass, both come from one judge.
fn keep_pairs(leaves: &mut [Leaf], pairs: &[(usize, usize)]) {
    for (pass, score) in pairs {
        let (Some(pass), Some(panel)) = (leaves.get(*pass), leaves.get(*score)) else { continue };
        let is_split = pass.votes.iter().flatten().any(|vote| *vote != pass.value);
        let with_panel = (0..pass.votes.len()).filter(|voter| pass.agrees(*voter));
        let own = |voter: usize| panel.votes.get(voter).and_then(Option::as_ref);
        let nearest = with_panel
            .filter(|voter| own(*voter).is_some())
            .min_by(|a, b| panel.distance(*a).total_cmp(&panel.distance(*b)))
            .and_then(own)
            .cloned();
        if let (true, Some(nearest), Some(leaf)) = (is_split, nearest, leaves.get_mut(*score))
            && leaf.value != nearest
        {
            leaf.value = nearest;
            leaf.decided_by = DecidedBy::SameJudge;
        }
    }
}

/// The answer in the words of the voter that speaks best for the panel.
fn speak(contract: &Contract, panel: &Panel, members: &[Member], node: &Node, leaves: &mut [Leaf]) -> Answer {
    let values: Vec<Option<&Value>> = panel.voters.iter().map(|voter| Some(&voter.value)).collect();
    let order = select::ranked(&panel.voters, leaves, node);
    let replies: Vec<&Reply> = panel.replies(members);
    let order: Vec<usize> = order
        .into_iter()
        .filter(|index| panel.voters.get(*index).is_some_and(|own| !own.is_reversed))
        .collect();
    for index in &order {
        let (Some(voter), Some(reply)) = (panel.voters.get(*index), replies.get(*index)) else { continue };
        let (value, located) = select::assemble(node, *index, &values, leaves);
        let Some(value) = value else { continue };
        let Some(spoken) = spoken(panel, voter, reply, &value, located) else { continue };
        return answer(contract, panel, &replies, leaves, voter, spoken);
    }
    whole(contract, panel, &replies, leaves, order.first().copied().unwrap_or(0))
}

/// Content or arguments, and where the leaves stand in it.
struct Spoken {
    text: String,
    is_verbatim: bool,
    located: Vec<(usize, Vec<crate::engine::reply::Step>, std::ops::Range<usize>)>,
}

fn spoken(
    panel: &Panel,
    voter: &Voter,
    reply: &Reply,
    value: &Value,
    located: select::Located,
) -> Option<Spoken> {
    let is_own = *value == voter.value;
    if panel.carrier == Carrier::Free {
        let text = reply.text.get(voter.body.clone())?.to_owned();
        return Some(Spoken { text, is_verbatim: true, located: Vec::new() });
    }
    if panel.carrier == Carrier::Text {
        let (text, places) = text::render(voter, &reply.text, value)?;
        let find = |(leaf, path): (usize, Vec<_>)| {
            let span = places.iter().find(|(own, _)| *own == path).map(|(_, span)| span.clone())?;
            Some((leaf, path, span))
        };
        return Some(Spoken {
            text,
            is_verbatim: is_own,
            located: located.into_iter().filter_map(find).collect(),
        });
    }
    if !is_own && !panel.structure.accepts(value) {
        return None;
    }
    let written = voter.written.clone().filter(|_| is_own);
    let is_verbatim = written.is_some();
    let text = written.unwrap_or_else(|| in_order(value, &panel.structure.shape).to_string());
    let find = |(leaf, path): (usize, Vec<_>)| {
        let span = part_span(&text, &path)?;
        Some((leaf, path, span))
    };
    let located = located.into_iter().filter_map(find).collect();
    Some(Spoken { text, is_verbatim, located })
}

/// One judge's whole reply, where nothing that was put together keeps to the contract.
fn whole(
    contract: &Contract,
    panel: &Panel,
    replies: &[&Reply],
    leaves: &mut [Leaf],
    index: usize,
) -> Answer {
    for leaf in leaves.iter_mut() {
        if let Some(own) = leaf.votes.get(index).cloned().flatten().filter(|own| *own != leaf.value) {
            leaf.value = own;
            leaf.decided_by = DecidedBy::Whole;
        }
    }
    let Some(voter) = panel.voters.get(index) else { return Answer::empty(index) };
    let text = match panel.carrier {
        Carrier::Text | Carrier::Free => replies
            .get(index)
            .and_then(|reply| reply.text.get(voter.body.clone()))
            .unwrap_or_default()
            .to_owned(),
        Carrier::Json | Carrier::Tool(_) => voter.written.clone().unwrap_or_else(|| voter.value.to_string()),
    };
    let spoken = Spoken { text, is_verbatim: true, located: Vec::new() };
    answer(contract, panel, replies, leaves, voter, spoken)
}

fn answer(
    contract: &Contract,
    panel: &Panel,
    replies: &[&Reply],
    leaves: &[Leaf],
    voter: &Voter,
    spoken: Spoken,
) -> Answer {
    let mut answer = Answer { verbatim: spoken.is_verbatim, ..Answer::empty(voter.member) };
    if let Carrier::Tool(name) = &panel.carrier {
        answer.tool_call = Some((name.clone(), spoken.text));
        answer.finish = FinishReason::ToolCalls;
        return answer;
    }
    answer.logprobs = contract.top_logprobs.map(|alternatives| {
        let panel = logprobs::Panel { voters: &panel.voters, replies, leaves, alternatives };
        panel.tokens(&spoken.text, &spoken.located)
    });
    if panel.carrier == Carrier::Free {
        // Nothing is made up: where the judge's text was cut off, so is the answer.
        let own = panel.voters.iter().zip(replies).find(|(own, _)| own.member == voter.member);
        answer.finish = own.map_or(FinishReason::Stop, |(_, reply)| reply.finish);
    }
    answer.content = Some(spoken.text);
    answer
}

impl Answer {
    fn empty(representative: usize) -> Self {
        Self {
            content: None,
            tool_call: None,
            representative,
            verbatim: true,
            escalated: false,
            logprobs: None,
            finish: FinishReason::Stop,
        }
    }
}

/// Keys in the order of the schema, others behind them.
fn in_order(value: &Value, shape: &Shape) -> Value {
    match (value, shape) {
        (_, Shape::Nullable(inner)) => in_order(value, inner),
        (Value::Array(values), Shape::List(element)) => {
            values.iter().map(|value| in_order(value, element)).collect()
        }
        (Value::Object(members), Shape::Object(Fields { known, .. })) => {
            let of_schema = known.iter().filter_map(|field| {
                members.get(&field.key).map(|value| (field.key.clone(), in_order(value, &field.shape)))
            });
            let is_other = |key: &String| !known.iter().any(|field| field.key == *key);
            let others = members.iter().filter(|(key, _)| is_other(key));
            Value::Object(of_schema.chain(others.map(|(key, value)| (key.clone(), value.clone()))).collect())
        }
        _ => value.clone(),
    }
}

/// Leaves as they are reported: votes per member.
fn reports(leaves: &[Leaf], panel: &Panel, members: usize) -> Vec<LeafVote> {
    let report = |leaf: &Leaf| {
        let (mut votes, mut reversed_votes) = (vec![None; members], vec![None; members]);
        for (voter, vote) in panel.voters.iter().zip(&leaf.votes) {
            let order = if voter.is_reversed { &mut reversed_votes } else { &mut votes };
            if let Some(place) = order.get_mut(voter.member) {
                place.clone_from(vote);
            }
        }
        LeafVote {
            path: if leaf.path == DOUBLE_BRACKET { "verdict".to_owned() } else { leaf.path.clone() },
            kind: leaf.kind,
            domain: leaf.domain.clone(),
            value: leaf.value.clone(),
            votes,
            reversed_votes,
            disagreement: leaf.disagreement,
            decided_by: leaf.decided_by,
        }
    };
    leaves.iter().map(report).collect()
}
