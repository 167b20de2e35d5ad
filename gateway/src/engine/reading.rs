//! From a reply to a rating: the one parser, the label probabilities, the evidence, and the case's own frame.

use aggregation::expected_score::{MassStatus, NextPosition, ScorePosition, Spellings, label_distribution};
use aggregation::scale::{Scale, Value};
use aggregation::vote::{Abstention, Distribution, Order, Rating, Scoring, UnparseableClass};
use providers::chat::{ChatResponse, FinishReason, TokenLogprob};
use serde_json::Value as Json;

use super::plan::{Call, asked_scale};
use super::replay::Recorded;
use super::reply::{self, Reading, Reply};
use super::work::Work;
use crate::case::Case;
use crate::intake::evidence::find_quote;
use crate::judge::ScoringMode;
use crate::rubric::{Criterion, Evidence};

/// A vote on one criterion, as one reply gives it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read {
    pub rating: Rating,
    pub rationale: Option<String>,
    /// The first quote.
    pub evidence: Option<String>,
}

/// Reads every criterion of a call from one response.
pub(super) fn read_all(work: &Work, call: &Call, response: &ChatResponse) -> Vec<Result<Read, Abstention>> {
    let reply = Reply {
        text: &response.text,
        finish: response.finish,
        refusal: response.refusal.as_deref(),
        logprobs: response.logprobs.as_deref(),
    };
    let scales: Vec<Scale> = call.criteria.iter().map(|c| asked_scale(c, work.mode)).collect();
    let readings = readings(&reply, call, &scales);
    let weighing = Weighing::of(call, response);
    readings
        .into_iter()
        .zip(call.criteria.iter().zip(&scales))
        .map(|(reading, (criterion, scale))| {
            let reading = reading?;
            let evidence = supported(&work.case, criterion, &reading)?;
            let rating = weighing.rate(&reply, &reading, scale);
            Ok(Read { rating: in_case_frame(rating, call.order), rationale: reading.rationale, evidence })
        })
        .collect()
}

/// Reads a recorded answer. The text is the judge's own, where there is one.
pub(super) fn read_recorded<'a>(
    recorded: &Recorded<'a>,
    case: &Case,
    criterion: &Criterion,
    scale: &Scale,
    order: Order,
) -> (Result<Read, Abstention>, Option<&'a str>) {
    match *recorded {
        Recorded::Raw { text, finish } => {
            let reply = Reply { text, finish: recorded_finish(finish), refusal: None, logprobs: None };
            let read = reply::read(&reply, scale).and_then(|reading| {
                let evidence = supported(case, criterion, &reading)?;
                let rating = in_case_frame(discrete(reading.value, false), order);
                Ok(Read { rating, rationale: reading.rationale, evidence })
            });
            (read, Some(text))
        }
        // Recorded verdicts are in the case's own frame already.
        Recorded::Verdict(value) | Recorded::Score(value) => (recorded_value(value, scale), None),
        Recorded::Nothing => (Err(Abstention::Unparseable(UnparseableClass::NoVerdict)), None),
    }
}

/// Rationale and first quote of a stored reply.
pub(super) fn reasons(
    text: &str,
    call: &Call,
    criterion: &Criterion,
    mode: crate::case::Mode,
) -> (Option<String>, Option<String>) {
    let reply = Reply { text, finish: FinishReason::Stop, refusal: None, logprobs: None };
    let scales: Vec<Scale> = call.criteria.iter().map(|c| asked_scale(c, mode)).collect();
    let place = call.criteria.iter().position(|c| c.name == criterion.name);
    let reading = place.and_then(|place| readings(&reply, call, &scales).into_iter().nth(place));
    match reading {
        Some(Ok(reading)) => (reading.rationale, reading.evidence.into_iter().next()),
        Some(Err(_)) | None => (None, None),
    }
}

fn readings(reply: &Reply<'_>, call: &Call, scales: &[Scale]) -> Vec<Result<Reading, Abstention>> {
    match (call.criteria.as_slice(), scales) {
        ([_], [scale]) => vec![reply::read(reply, scale)],
        (criteria, scales) => {
            let asked: Vec<(&str, &Scale)> = criteria.iter().map(|c| c.name.as_str()).zip(scales).collect();
            reply::read_together(reply, &asked)
        }
    }
}

/// The quote that supports the verdict; an abstention where one is required and the case does not hold it.
fn supported(case: &Case, criterion: &Criterion, reading: &Reading) -> Result<Option<String>, Abstention> {
    let first = reading.evidence.first().cloned();
    match criterion.evidence {
        Evidence::None => Ok(first),
        Evidence::Quote if reading.evidence.is_empty() => Err(Abstention::Unsupported),
        Evidence::Quote if reading.evidence.iter().all(|quote| find_quote(case, quote)) => Ok(first),
        Evidence::Quote => Err(Abstention::Unsupported),
    }
}

/// Whether and how token probabilities enter the rating.
#[derive(Debug, Clone, Copy)]
enum Weighing {
    /// The written label is what was asked for.
    Written,
    /// Probabilities are wanted; a reply without usable ones keeps its label, flagged.
    Weighted,
}

impl Weighing {
    fn of(call: &Call, response: &ChatResponse) -> Self {
        match call.judge.scoring {
            ScoringMode::Discrete | ScoringMode::Sampled => Self::Written,
            // A server that is known to have none is no fault of this reply.
            ScoringMode::Auto if response.dropped.contains(&"logprobs") => Self::Written,
            ScoringMode::Auto | ScoringMode::Expected => Self::Weighted,
        }
    }

    fn rate(self, reply: &Reply<'_>, reading: &Reading, scale: &Scale) -> Rating {
        match (self, scale) {
            // An interval has no labels to weigh.
            (Self::Written, _) | (Self::Weighted, Scale::Continuous(_)) => discrete(reading.value, false),
            (Self::Weighted, _) => {
                weighted(reply, reading, scale).unwrap_or_else(|| discrete(reading.value, true))
            }
        }
    }
}

fn discrete(value: Value, fallback: bool) -> Rating {
    Rating { value, scoring: Scoring::Discrete, distribution: None, fallback }
}

/// The probability-weighted rating; `None` where the tokens say nothing usable.
fn weighted(reply: &Reply<'_>, reading: &Reading, scale: &Scale) -> Option<Rating> {
    let tokens = reply::read_distribution(reply, reading).ok()?;
    let written = reply.text.get(reading.span.clone())?;
    let at = listed(&tokens.at);
    let next = tokens.next.as_deref().map(listed);
    let after = String::from_utf8_lossy(&tokens.sampled.bytes);
    let (at, next) = (borrowed(&at), next.as_deref().map(borrowed));
    let next = next.as_deref().map(|top| NextPosition { after: &after, top });
    let position = ScorePosition { top: &at, next };
    let labels = label_distribution(&position, &spellings(scale, written));
    let distribution = labels.for_vote(scale)?;
    let status = labels.status().ok()?;
    if labels.degenerate || status == MassStatus::Fallback {
        // The label stands; what the tokens said is kept beside it.
        let kept = (!labels.degenerate).then_some(distribution);
        return Some(Rating { distribution: kept, ..discrete(reading.value, true) });
    }
    Some(rating(reading.value, &labels, distribution, scale))
}

fn rating(
    written: Value,
    labels: &aggregation::expected_score::LabelDistribution,
    distribution: Distribution,
    scale: &Scale,
) -> Rating {
    let with = |value, scoring| Rating { value, scoring, distribution: Some(distribution), fallback: false };
    match scale {
        Scale::Ordinal(values) => match labels.expected(values.values()) {
            Ok(expected) => with(Value::Number(expected.score), Scoring::Expected),
            Err(_) => with(written, Scoring::Discrete),
        },
        Scale::PassFail => match labels.most_probable() {
            Some(label) => with(Value::Pass(label == 1), Scoring::Expected),
            None => with(written, Scoring::Discrete),
        },
        // The fold of both orders weighs the two probabilities; the written label names the pass.
        Scale::Pairwise { .. } => with(written, Scoring::Expected),
        // Unordered labels have no expectation.
        Scale::Nominal(_) | Scale::Continuous(_) => with(written, Scoring::Discrete),
    }
}

fn spellings(scale: &Scale, written: &str) -> Spellings {
    let per_label = reply::label_spellings(scale, written);
    let firsts = per_label.iter().map(|spellings| spellings.first().cloned().unwrap_or_default());
    let mut all = Spellings::new(firsts);
    for (label, spellings) in per_label.iter().enumerate() {
        for spelling in spellings.iter().skip(1) {
            all = all.with_alias(label, spelling);
        }
    }
    all
}

fn listed(tokens: &[TokenLogprob]) -> Vec<(String, f64)> {
    tokens.iter().map(|token| (String::from_utf8_lossy(&token.bytes).into_owned(), token.logprob)).collect()
}

fn borrowed(tokens: &[(String, f64)]) -> Vec<(&str, f64)> {
    tokens.iter().map(|(text, logprob)| (text.as_str(), *logprob)).collect()
}

/// `A` on screen is the second candidate when the order was reversed. The distribution stays as displayed: the fold
/// of the two orders un-maps it.
fn in_case_frame(rating: Rating, order: Order) -> Rating {
    match (rating.value, order) {
        (Value::Preference(shown), Order::Reversed) => {
            Rating { value: Value::Preference(shown.swapped()), ..rating }
        }
        (Value::Preference(_) | Value::Number(_) | Value::Category(_) | Value::Pass(_), _) => rating,
    }
}

/// How whoever recorded the answer wrote down why it ended.
fn recorded_finish(finish: Option<&str>) -> FinishReason {
    let Some(finish) = finish else { return FinishReason::Stop };
    let finish = finish.to_ascii_lowercase();
    match finish.as_str() {
        "stop" | "end_turn" | "eos" => FinishReason::Stop,
        "length" | "max_tokens" => FinishReason::Length,
        blocked
            if blocked.contains("content") || blocked.contains("safety") || blocked.contains("filter") =>
        {
            FinishReason::ContentFilter
        }
        _ => FinishReason::Other,
    }
}

/// A value that was read by whoever recorded it: a number, a label, or the words of a verdict. Null is no verdict.
fn recorded_value(value: &Json, scale: &Scale) -> Result<Read, Abstention> {
    let text = match value {
        Json::Null => return Err(Abstention::Unparseable(UnparseableClass::NoVerdict)),
        Json::String(text) => text.clone(),
        Json::Number(_) | Json::Bool(_) | Json::Array(_) | Json::Object(_) => value.to_string(),
    };
    let reply = Reply { text: &text, finish: FinishReason::Stop, refusal: None, logprobs: None };
    let reading = reply::read(&reply, scale)?;
    Ok(Read { rating: discrete(reading.value, false), rationale: None, evidence: None })
}
