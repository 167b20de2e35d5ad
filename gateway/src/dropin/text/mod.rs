//! Verdicts in plain text: which form most replies share, what each says in it, and the text that goes out.

mod forms;
mod patterns;
mod render;

use std::ops::Range;

use aggregation::vote::{Abstention, UnparseableClass};
use providers::chat::FinishReason;
use serde_json::{Map, Value};

use crate::engine::reply::{Step, Unscaled};

use super::asked::{Member, Reply};
use super::contract::Contract;
use super::reading;

pub(super) use self::render::render;

use self::forms::{Form, Place};

/// What one reply says in the panel's form.
#[derive(Debug, Clone)]
pub(super) struct TextRead {
    pub(super) value: Value,
    /// Where each value stands in the reply.
    pub(super) places: Vec<(Vec<Step>, Vec<Range<usize>>)>,
    /// In the form as it stands, without marks around it and signs that look alike.
    pub(super) is_plain: bool,
    /// The part of the reply that goes out.
    pub(super) body: Range<usize>,
}

/// All replies under the form that most of them share. `None`: free text, nothing can be voted on.
pub(super) fn read(
    replies: &[Option<&Reply>],
    contract: &Contract,
) -> Option<Vec<Result<TextRead, Abstention>>> {
    let readable: Vec<Option<Unscaled<'_>>> = replies
        .iter()
        .map(|reply| reply.filter(|reply| !reading::is_refused(reply)).map(|reply| Unscaled::of(&reply.text)))
        .collect();
    let usable =
        readable.iter().flatten().filter(|read| !read.text().trim().is_empty() && !read.is_refusal()).count();
    let (form, found) = shared_form(&readable, contract, usable)?;
    let observed: Vec<&str> = found.iter().flatten().flatten().map(|place| place.text.as_str()).collect();
    let reads = replies.iter().zip(&readable).zip(&found).map(|((reply, read), places)| {
        let (Some(reply), Some(read)) = (reply, read) else { return Err(Abstention::Refused) };
        let late;
        let is_in_form = places.is_some();
        let places = if let Some(places) = places {
            places
        } else {
            late =
                form.only_label(read, &observed).ok_or_else(|| reading::without_value(reply, read, None))?;
            &late
        };
        let taken = taken(reply, read, form, places, contract)?;
        Ok(TextRead { is_plain: taken.is_plain && is_in_form, ..taken })
    });
    Some(reads.collect())
}

/// Whether a marked verdict stands behind the reply's last object: then that object is something it quotes.
pub(super) fn follows_object(member: &Member) -> bool {
    let Ok(reply) = &member.reply else { return false };
    let read = Unscaled::of(&reply.text);
    let Some(object) = read.values().pop() else { return false };
    let is_behind = |place: &Place| {
        place.spans.last().is_some_and(|span| read.original(span.clone()).start >= object.span.end)
    };
    let marked = Form::ALL.into_iter().filter(|form| form.is_marked());
    marked.filter_map(|form| form.find(&read)).flatten().any(|place| is_behind(&place))
}

type FoundPlaces = Vec<Option<Vec<Place>>>;

/// The first form that more than half of the usable replies have.
fn shared_form(
    replies: &[Option<Unscaled<'_>>],
    contract: &Contract,
    usable: usize,
) -> Option<(Form, FoundPlaces)> {
    let mut best: Option<(usize, Form, FoundPlaces)> = None;
    for form in Form::ALL {
        let found: FoundPlaces =
            replies.iter().map(|read| read.as_ref().and_then(|read| form.find(read))).collect();
        let found = forms::common(form, found, &contract.domains);
        let count = found.iter().flatten().count();
        if count * 2 > usable {
            return Some((form, found));
        }
        if count > 0 && best.as_ref().is_none_or(|(most, _, _)| count > *most) {
            best = Some((count, form, found));
        }
    }
    // Two judges of two or four with a marked verdict; prose that ends in one word is none.
    best.filter(|(count, form, _)| count * 2 >= usable && form.is_marked())
        .map(|(_, form, found)| (form, found))
}

fn taken(
    reply: &Reply,
    read: &Unscaled<'_>,
    form: Form,
    found: &[Place],
    contract: &Contract,
) -> Result<TextRead, Abstention> {
    let end = found.iter().map(|place| place.end).max().unwrap_or(0);
    let is_last = read.text().get(end..).is_none_or(|rest| !rest.chars().any(char::is_alphanumeric));
    let is_whole = form.is_closed() && is_last || form == Form::Label && contract.is_terse();
    if reply.finish == FinishReason::Length && !is_whole {
        return Err(Abstention::Unparseable(UnparseableClass::Truncated));
    }
    let mut value = Map::new();
    let mut places: Vec<(Vec<Step>, Vec<Range<usize>>)> = Vec::new();
    for place in found {
        let spans: Vec<Range<usize>> = place.spans.iter().map(|span| read.original(span.clone())).collect();
        let mut path = vec![Step::Key(place.key.clone())];
        if form.is_list() {
            let list = value.entry(place.key.clone()).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                path.push(Step::Index(list.len()));
                list.push(forms::value(&place.text));
            }
        } else {
            value.insert(place.key.clone(), forms::value(&place.text));
        }
        places.push((path, spans));
    }
    let body = body(reply, read, form, end, &places, contract);
    let is_plain = is_plain(reply, form, found, &places);
    Ok(TextRead { value: Value::Object(value), places, is_plain, body })
}

/// Whether the values stand in the reply as they were read, and a label is alone on its line.
fn is_plain(reply: &Reply, form: Form, found: &[Place], places: &[(Vec<Step>, Vec<Range<usize>>)]) -> bool {
    let text = reply.text.as_str();
    let is_alone = |span: &Range<usize>| {
        let before = text.get(..span.start).unwrap_or_default();
        let behind = text.get(span.end..).unwrap_or_default();
        (before.is_empty() || before.ends_with('\n'))
            && behind.trim_start_matches(['.', ' ', '\t', '\n']).is_empty()
    };
    found.iter().zip(places).all(|(place, (_, spans))| {
        let last = spans.last().filter(|span| text.get((*span).clone()) == Some(place.text.as_str()));
        last.is_some_and(|span| form != Form::Label || is_alone(span))
    })
}

/// Without leaked reasoning. Nothing stands behind `[RESULT] v`, and nothing but the verdict where only that has room.
fn body(
    reply: &Reply,
    read: &Unscaled<'_>,
    form: Form,
    end: usize,
    places: &[(Vec<Step>, Vec<Range<usize>>)],
    contract: &Contract,
) -> Range<usize> {
    let text = reply.text.as_str();
    let answer = read.answer_start();
    let skipped = text.get(answer..).map_or(0, |rest| rest.len() - rest.trim_start().len());
    let start = if answer == 0 { 0 } else { answer + skipped };
    let is_bare = |span: &Range<usize>| {
        let around = [text.get(start..span.start), text.get(span.end..)];
        around.into_iter().flatten().all(|part| !part.chars().any(char::is_alphanumeric))
    };
    if let ([(_, spans)], true) = (places, contract.is_terse())
        && let Some(span) = spans.last().filter(|span| !is_bare(span))
    {
        return span.clone();
    }
    let behind = read.text().get(end..).unwrap_or_default();
    if (form == Form::Result || contract.top_logprobs.is_some() && form.is_single())
        && behind.chars().any(char::is_alphanumeric)
    {
        return start..read.original(0..end).end;
    }
    start..text.len()
}
