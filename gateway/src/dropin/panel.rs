//! All members' replies under one form: the one that the contract states, else the one that most replies have.

use std::borrow::Cow;

use aggregation::vote::{Abstention, UnparseableClass};
use serde_json::Value;

use crate::engine::reply::Unscaled;

use super::asked::{Member, Reply};
use super::candidates;
use super::contract::{Contract, Form, Structure, Tool};
use super::exchange;
use super::folded::Reading;
use super::infer;
use super::reading::{self, Read};
use super::repair;
use super::shape::Shape;
use super::text::{self, TextRead};
use super::voters::{Voter, usable_weights};

/// How the answer travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Carrier {
    /// Arguments of this function.
    Tool(String),
    Json,
    /// Text with verdicts in it.
    Text,
    /// Text in which nothing can be voted on.
    Free,
}

#[derive(Debug)]
pub(super) struct Panel<'c> {
    pub(super) carrier: Carrier,
    pub(super) structure: Cow<'c, Structure>,
    pub(super) voters: Vec<Voter>,
    /// One per member.
    pub(super) readings: Vec<Reading>,
}

impl Panel<'_> {
    /// The voters' replies, in the voters' order.
    pub(super) fn replies<'m>(&self, members: &'m [Member]) -> Vec<&'m Reply> {
        let reply = |voter: &Voter| {
            let member = members.get(voter.member)?;
            if voter.is_reversed {
                member.reversed.as_ref()?.as_ref().ok()
            } else {
                member.reply.as_ref().ok()
            }
        };
        self.voters.iter().filter_map(reply).collect()
    }
}

impl<'c> Panel<'c> {
    /// How many judges have a vote.
    pub(super) fn answered(&self) -> usize {
        self.voters.iter().filter(|voter| !voter.is_reversed).count()
    }

    /// Half of each vote is what its judge said of the exchanged candidates; who said nothing of them has no vote.
    fn with_reversed(mut self, contract: &'c Contract, members: &[Member]) -> Self {
        let exchanged: Vec<Member> = members
            .iter()
            .map(|member| Member {
                reply: member.reversed.clone().unwrap_or(Err(Abstention::Unavailable)),
                reversed: None,
                ..member.clone()
            })
            .collect();
        let others = in_one_order(contract, &exchanged);
        let mut voters = Vec::with_capacity(self.voters.len() * 2);
        for voter in std::mem::take(&mut self.voters) {
            let other = others.voters.iter().find(|other| other.member == voter.member);
            if let Some(other) = other.filter(|_| others.carrier == self.carrier) {
                let weight = voter.weight / 2.0;
                let value = exchange::back(&other.value);
                let reversed = Voter { is_reversed: true, weight, value, written: None, ..other.clone() };
                voters.extend([Voter { weight, ..voter }, reversed]);
                continue;
            }
            let why = match others.readings.get(voter.member) {
                Some(Reading::Abstained(why)) => *why,
                Some(Reading::Accepted) | None => Abstention::Unparseable(UnparseableClass::NoVerdict),
            };
            if let Some(reading) = self.readings.get_mut(voter.member) {
                *reading = Reading::Abstained(why);
            }
        }
        self.voters = voters;
        self
    }
}

/// What became of each member.
type Reads<T> = Vec<Result<T, Abstention>>;

pub(super) fn read<'c>(contract: &'c Contract, members: &[Member]) -> Panel<'c> {
    let panel = in_one_order(contract, members);
    let is_reversed = members.iter().any(|member| member.reversed.is_some());
    if is_reversed { panel.with_reversed(contract, members) } else { panel }
}

fn in_one_order<'c>(contract: &'c Contract, members: &[Member]) -> Panel<'c> {
    match &contract.form {
        Form::Tool(index) => {
            if let Some(tool) = contract.tools.get(*index) {
                let reads = structured(members, &tool.structure, Some(&tool.name));
                return of_reads(
                    Carrier::Tool(tool.name.clone()),
                    Cow::Borrowed(&tool.structure),
                    members,
                    reads,
                );
            }
        }
        Form::Schema(structure) => {
            let reads = structured(members, structure, None);
            return of_reads(Carrier::Json, Cow::Borrowed(structure), members, reads);
        }
        Form::Prompted { structure, .. } => {
            let reads = structured(members, structure, None);
            let offering = members.iter().filter(|member| last_value(member).is_some()).count();
            let fitting = reads.iter().filter(|read| read.is_ok()).count();
            if fitting > 0 && fitting * 2 >= offering {
                return of_reads(Carrier::Json, Cow::Borrowed(structure), members, reads);
            }
        }
        Form::Open => {}
    }
    open(contract, members)
}

fn structured(members: &[Member], structure: &Structure, tool: Option<&str>) -> Reads<Read> {
    let read = |member: &Member| {
        let reply = member.reply.as_ref().map_err(|abstention| *abstention)?;
        reading::read(reply, structure, tool)
    };
    members.iter().map(read).collect()
}

fn of_reads<'c>(
    carrier: Carrier,
    structure: Cow<'c, Structure>,
    members: &[Member],
    reads: Reads<Read>,
) -> Panel<'c> {
    let voter = |member: usize, read: Read| Voter {
        member,
        is_reversed: false,
        weight: 1.0,
        value: read.value,
        written: read.written,
        span: read.candidate.span,
        places: Vec::new(),
        is_plain: true,
        body: 0..0,
    };
    panel(carrier, structure, members, reads, voter)
}

fn panel<'c, T>(
    carrier: Carrier,
    structure: Cow<'c, Structure>,
    members: &[Member],
    reads: Reads<T>,
    voter: impl Fn(usize, T) -> Voter,
) -> Panel<'c> {
    let mut readings = Vec::new();
    let mut voters = Vec::new();
    for (member, read) in reads.into_iter().enumerate() {
        readings.push(match read {
            Ok(read) => {
                voters.push(voter(member, read));
                Reading::Accepted
            }
            Err(abstention) => Reading::Abstained(abstention),
        });
    }
    let own = |voter: &Voter| members.get(voter.member).map_or(0.0, |member| member.weight);
    let weights = usable_weights(&voters.iter().map(own).collect::<Vec<_>>());
    for (voter, weight) in voters.iter_mut().zip(weights) {
        voter.weight = weight;
    }
    Panel { carrier, structure, voters, readings }
}

/// The replies decide: a function that most call, else objects, else a text form, else free text.
fn open<'c>(contract: &'c Contract, members: &[Member]) -> Panel<'c> {
    let usable = members.iter().filter(|member| is_usable(member)).count();
    if let Some(tool) = called(contract, members, usable) {
        let reads = structured(members, &tool.structure, Some(&tool.name));
        return of_reads(Carrier::Tool(tool.name.clone()), Cow::Borrowed(&tool.structure), members, reads);
    }
    let is_answer = |member: &&Member| contract.asks_json || !text::follows_object(member);
    let values: Vec<Value> = members.iter().filter(is_answer).filter_map(last_value).collect();
    if values.len() * 2 > usable {
        let structure = Structure::inferred(infer::shape(&values.iter().collect::<Vec<_>>()));
        let reads = structured(members, &structure, None);
        if has_shared_key(&structure.shape, &values)
            && reads.iter().filter(|read| read.is_ok()).count() * 2 > values.len()
        {
            return of_reads(Carrier::Json, Cow::Owned(structure), members, reads);
        }
    }
    in_text(contract, members)
}

/// Whether most of the objects share a key. Lists have none to share.
fn has_shared_key(shape: &Shape, values: &[Value]) -> bool {
    match shape {
        Shape::Any => false,
        Shape::Object(fields) => fields.known.iter().any(|field| {
            let has_it = |value: &&Value| repair::has_key(value, &field.key);
            values.iter().filter(has_it).count() * 2 > values.len()
        }),
        _ => true,
    }
}

fn is_usable(member: &Member) -> bool {
    member.reply.as_ref().is_ok_and(|reply| {
        let is_empty = reply.text.trim().is_empty() && reply.tool_calls.is_empty();
        !is_empty && !reading::is_refused(reply)
    })
}

/// The function that more than half of the usable replies call; where one has to be called, the one that most call,
/// the first called among equals.
fn called<'c>(contract: &'c Contract, members: &[Member], usable: usize) -> Option<&'c Tool> {
    let last = |member: &Member| -> Option<usize> {
        let name = &member.reply.as_ref().ok()?.tool_calls.last()?.name;
        contract.tools.iter().position(|tool| tool.name == *name)
    };
    let calls: Vec<usize> = members.iter().filter_map(last).collect();
    let count = |tool: usize| calls.iter().filter(|call| **call == tool).count();
    let most = calls.iter().rev().copied().max_by_key(|tool| count(*tool))?;
    let is_enough = contract.must_call || count(most) * 2 > usable;
    contract.tools.get(most).filter(|_| is_enough)
}

/// The last object that a reply offers.
fn last_value(member: &Member) -> Option<Value> {
    let reply = member.reply.as_ref().ok().filter(|reply| !reading::is_refused(reply))?;
    candidates::of(reply, &Unscaled::of(&reply.text), false)
        .into_iter()
        .next()
        .map(|candidate| candidate.value)
}

fn in_text<'c>(contract: &'c Contract, members: &[Member]) -> Panel<'c> {
    let replies: Vec<Option<&Reply>> = members.iter().map(|member| member.reply.as_ref().ok()).collect();
    let Some(reads) = text::read(&replies, contract) else { return free(members) };
    let reads: Reads<TextRead> = members
        .iter()
        .zip(reads)
        .map(|(member, read)| member.reply.as_ref().map_err(|abstention| *abstention).and(read))
        .collect();
    let values: Vec<&Value> = reads.iter().flatten().map(|read| &read.value).collect();
    let structure = Structure::inferred(infer::shape(&values));
    let fitting = |read: TextRead| match repair::repaired(&read.value, &structure.shape) {
        Ok(value) => Ok(TextRead { is_plain: read.is_plain && value == read.value, value, ..read }),
        Err(_) => Err(Abstention::Unparseable(UnparseableClass::NoVerdict)),
    };
    let reads: Reads<TextRead> = reads.into_iter().map(|read| read.and_then(fitting)).collect();
    let voter = |member: usize, read: TextRead| Voter {
        member,
        is_reversed: false,
        weight: 1.0,
        value: read.value,
        written: None,
        span: None,
        places: read.places,
        is_plain: read.is_plain,
        body: read.body,
    };
    panel(Carrier::Text, Cow::Owned(structure), members, reads, voter)
}

/// Every reply that says something counts, and the lead's goes out.
fn free<'c>(members: &[Member]) -> Panel<'c> {
    let read = |member: &Member| {
        let reply = member.reply.as_ref().map_err(|abstention| *abstention)?;
        if reading::is_refused(reply) {
            return Err(Abstention::Refused);
        }
        let read = Unscaled::of(&reply.text);
        if read.is_refusal() {
            return Err(Abstention::Refused);
        }
        if read.text().trim().is_empty() {
            return Err(Abstention::Unparseable(UnparseableClass::NoVerdict));
        }
        let answer = read.answer_start();
        let rest = reply.text.get(answer..).unwrap_or_default();
        let start = if answer == 0 { 0 } else { answer + rest.len() - rest.trim_start().len() };
        Ok(start..reply.text.len())
    };
    let reads = members.iter().map(read).collect();
    let voter = |member: usize, body| Voter {
        member,
        is_reversed: false,
        weight: 1.0,
        value: Value::Null,
        written: None,
        span: None,
        places: Vec::new(),
        is_plain: true,
        body,
    };
    panel(Carrier::Free, Cow::Owned(Structure::inferred(Shape::Any)), members, reads, voter)
}
