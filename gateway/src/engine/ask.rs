//! One call: prompt, request, reply, reading, and at most one repair.

use std::sync::Arc;
use std::time::Duration;

use aggregation::scale::Scale;
use aggregation::vote::{Abstention, UnparseableClass};
use providers::chat::{Attempt, ChatRequest, ChatResponse, Usage};
use providers::error::{ErrorKind, ProviderError};
use providers::{Recall, pricing};
use tokio::time::Instant;
use tower::ServiceExt;

use super::plan::{Call, asked_scale};
use super::prompt::{self, Prompt, PromptError, Question};
use super::purse::NoRoom;
use super::reading::{self, Read};
use super::work::Work;
use crate::judge::{Judge, Price, ScoringMode};
use crate::judgment::{CallFacts, Judgment, Source};
use crate::perimeter;

/// Alternatives per token to ask for: what OpenAI and a default vLLM allow at most.
const TOP_LOGPROBS: u8 = 20;

/// A truncated reply is asked again once with this many times the tokens.
const TOKEN_RAISE: u32 = 4;

/// What came back on one criterion, and the text that decided it.
struct Answer {
    read: Result<Read, Abstention>,
    raw: Option<String>,
    /// The first reply, when the repair was asked for.
    unread_raw: Option<String>,
    detail: Option<String>,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The caller went away, and nothing was on the wire then.
    Recalled,
    /// The call did not fit into the budget, and was not sent.
    OverBudget,
    /// The kind of missing vote, and what happened in words.
    Failed {
        abstention: Abstention,
        detail: String,
        /// When the server wants to be asked again.
        retry_after: Option<Duration>,
    },
}

impl Unanswered {
    fn failed(abstention: Abstention, detail: String) -> Self {
        Self::Failed { abstention, detail, retry_after: None }
    }
}

/// Why a call was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsent {
    /// The caller went away before anything came back, so there is nothing to keep.
    Recalled,
    OverBudget,
}

/// What a call gave.
pub(super) struct Asked {
    /// One per criterion of the call.
    pub judgments: Vec<Judgment>,
    /// The prompt that was sent; `None` when it could not be made.
    pub prompt: Option<Prompt>,
}

/// Asks one judge. What goes wrong is an abstention.
pub(super) async fn ask(work: &Work, call: &Call) -> Result<Asked, Unsent> {
    match prompt_of(work, call) {
        Ok(prompt) => {
            let judgments = ask_with(work, call, &prompt).await?;
            Ok(Asked { judgments, prompt: Some(prompt) })
        }
        Err(error) => {
            let judgments = failed(call, Abstention::Unavailable, &error.to_string(), CallFacts::default());
            Ok(Asked { judgments, prompt: None })
        }
    }
}

fn prompt_of(work: &Work, call: &Call) -> Result<Prompt, PromptError> {
    prompt::render(&Question {
        case: &work.case,
        rubric: &work.panel.rubric,
        criteria: &call.criteria,
        template: &call.judge.template,
        order: call.order,
    })
}

async fn ask_with(work: &Work, call: &Call, prompt: &Prompt) -> Result<Vec<Judgment>, Unsent> {
    let mut facts = CallFacts::default();
    let started = Instant::now();
    let first = request(work, call, prompt);
    let answers = match send(work, call, first.clone(), &mut facts).await {
        Err(Unanswered::Recalled) => return Err(Unsent::Recalled),
        Err(Unanswered::OverBudget) => return Err(Unsent::OverBudget),
        Err(Unanswered::Failed { abstention, detail, .. }) => {
            facts.latency_us = micros_since(started);
            return Ok(failed(call, abstention, &detail, facts));
        }
        Ok(response) => answers(work, call, &response),
    };
    let answers = match worst_unread(&answers) {
        Some((class, raw)) if !work.cancel.is_cancelled() => {
            facts.repaired = true;
            let again = repair_request(&first, prompt, raw, class);
            match send(work, call, again, &mut facts).await {
                Ok(response) => prefer_read(answers, self::answers(work, call, &response)),
                Err(_) => answers,
            }
        }
        Some(_) | None => answers,
    };
    facts.latency_us = micros_since(started);
    Ok(judgments(call, answers, facts))
}

fn request(work: &Work, call: &Call, prompt: &Prompt) -> ChatRequest {
    let judge = &call.judge;
    let scorable = call.criteria.iter().any(|c| !matches!(asked_scale(c, work.mode), Scale::Continuous(_)));
    let wants_logprobs = match judge.scoring {
        ScoringMode::Auto | ScoringMode::Expected => scorable,
        ScoringMode::Sampled | ScoringMode::Discrete => false,
    };
    ChatRequest {
        messages: Arc::clone(&prompt.messages),
        caller: None,
        max_tokens: Some(judge.params.max_tokens),
        temperature: judge.params.temperature,
        top_p: judge.params.top_p,
        seed: judge.params.seed.map(|seed| seed.wrapping_add(u64::from(call.sample))),
        stop: Vec::new(),
        top_logprobs: wants_logprobs.then_some(TOP_LOGPROBS),
        response_schema: prompt.schema.clone(),
        choices: prompt.choices.clone(),
        deadline: Some(work.deadline.saturating_duration_since(Instant::now())),
        recall: Recall::on(work.cancel.clone()),
        relay: None,
    }
}

/// The one repair: a cut reply gets more room, any other unreadable one is told the form again.
fn repair_request(first: &ChatRequest, prompt: &Prompt, raw: &str, class: UnparseableClass) -> ChatRequest {
    match class {
        UnparseableClass::Truncated => ChatRequest {
            max_tokens: first.max_tokens.map(|tokens| tokens.saturating_mul(TOKEN_RAISE)),
            ..first.clone()
        },
        UnparseableClass::NoVerdict | UnparseableClass::Ambiguous | UnparseableClass::OutOfRange => {
            ChatRequest { messages: prompt::repair_messages(prompt, raw, class), ..first.clone() }
        }
    }
}

pub(super) async fn send(
    work: &Work,
    call: &Call,
    mut request: ChatRequest,
    facts: &mut CallFacts,
) -> Result<ChatResponse, Unanswered> {
    let Some(provider) = work.askers.provider(&work.panel.name, &call.judge.id) else {
        let detail = format!("no provider is wired for judge `{}`", call.judge.id);
        return Err(Unanswered::failed(Abstention::Unavailable, detail));
    };
    request.deadline = Some(work.deadline.saturating_duration_since(Instant::now()));
    let cleared = perimeter::clear(request, &work.case, &work.panel, &call.judge).map_err(|exclusion| {
        Unanswered::failed(Abstention::Excluded(exclusion), String::from("the case may not leave"))
    })?;
    let cleared = cleared.into_inner();
    let room = work.purse.room_for(&call.judge, &cleared, &work.waits_for_budget, &work.cancel).await;
    let room = room.map_err(|no_room| match no_room {
        NoRoom::Recalled => Unanswered::Recalled,
        NoRoom::OverBudget => Unanswered::OverBudget,
    })?;
    match provider.oneshot(cleared).await {
        Ok(response) => {
            let cost = response.usage.and_then(|usage| cost_microusd(&call.judge, &usage));
            facts.charged_microusd += room.settle(cost);
            work.askers.note_reply(&call.judge.id, response.model.as_deref());
            note(call, facts, &response);
            Ok(response)
        }
        Err(error) => {
            facts.charged_microusd += room.settle(cost_of_failure(&call.judge, &error));
            note_failure(call, facts, &error);
            Err(unanswered(&error))
        }
    }
}

/// What a failure has cost; `None`: unknown.
pub(super) fn cost_of_failure(judge: &Judge, error: &ProviderError) -> Option<u64> {
    let paid = error.usage.and_then(|usage| cost_microusd(judge, &usage));
    paid.or((!may_be_billed(&error.kind)).then_some(0))
}

/// Whether the vendor may have worked for this failure.
fn may_be_billed(kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::Timeout { .. }
        | ErrorKind::Connection { .. }
        | ErrorKind::Garbage { .. }
        | ErrorKind::ContentFilter { .. } => true,
        ErrorKind::BadRequest { .. }
        | ErrorKind::Unauthorized { .. }
        | ErrorKind::TooLong { .. }
        | ErrorKind::RateLimited { .. }
        | ErrorKind::Server { .. }
        | ErrorKind::BreakerOpen
        | ErrorKind::LimitExceeded { .. }
        | ErrorKind::Recalled => false,
    }
}

fn note(call: &Call, facts: &mut CallFacts, response: &ChatResponse) {
    facts.model.clone_from(&response.model);
    facts.system_fingerprint.clone_from(&response.system_fingerprint);
    let cost = response.usage.and_then(|usage| cost_microusd(&call.judge, &usage));
    charge(facts, &response.attempts, response.usage, cost);
}

/// A failure may have been paid for as well: by attempts that came back without an answer.
fn note_failure(call: &Call, facts: &mut CallFacts, error: &ProviderError) {
    let free = (!may_be_billed(&error.kind)).then(Usage::default);
    let cost = error.usage.or(free).and_then(|usage| cost_microusd(&call.judge, &usage));
    charge(facts, &error.attempts, error.usage, cost);
}

/// Adds one request of the call. A cost is known only when each of them has one.
fn charge(facts: &mut CallFacts, attempts: &[Attempt], usage: Option<Usage>, cost: Option<u64>) {
    facts.cost_microusd = match (facts.attempts.is_empty(), facts.cost_microusd, cost) {
        (true, _, cost) => cost,
        (false, Some(before), Some(now)) => Some(before.saturating_add(now)),
        (false, _, _) => None,
    };
    facts.attempts.extend_from_slice(attempts);
    facts.usage = match (facts.usage, usage) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    };
}

/// `None` when the price is unknown.
pub(super) fn cost_microusd(judge: &Judge, usage: &Usage) -> Option<u64> {
    let Price { input, output, cached_input } = judge.price?;
    pricing::cost_microusd(usage, &pricing::Price { input, output, cached_input })
}

fn answers(work: &Work, call: &Call, response: &ChatResponse) -> Vec<Answer> {
    reading::read_all(work, call, response)
        .into_iter()
        .map(|read| Answer { detail: None, raw: Some(response.text.clone()), unread_raw: None, read })
        .collect()
}

/// The first unreadable answer, whose reply goes into the repair.
fn worst_unread(answers: &[Answer]) -> Option<(UnparseableClass, &str)> {
    answers.iter().find_map(|answer| match answer.read {
        Err(Abstention::Unparseable(class)) => Some((class, answer.raw.as_deref().unwrap_or_default())),
        Ok(_) | Err(_) => None,
    })
}

/// Criterion by criterion: what the first reply said stands, what it left unreadable is taken from the second.
fn prefer_read(first: Vec<Answer>, second: Vec<Answer>) -> Vec<Answer> {
    first
        .into_iter()
        .zip(second)
        .map(|(first, second)| match first.read {
            Err(Abstention::Unparseable(_)) => Answer { unread_raw: first.raw, ..second },
            Ok(_) | Err(_) => first,
        })
        .collect()
}

fn judgments(call: &Call, answers: Vec<Answer>, facts: CallFacts) -> Vec<Judgment> {
    let mut facts = Some(facts);
    let model = facts.as_ref().and_then(|f| f.model.clone());
    call.criteria
        .iter()
        .zip(answers)
        .map(|(criterion, answer)| {
            let (outcome, rationale, evidence) = match answer.read {
                Ok(read) => (Ok(read.rating), read.rationale, read.evidence),
                Err(abstention) => (Err(abstention), None, None),
            };
            Judgment {
                judge: call.judge.id.clone(),
                criterion: Arc::from(criterion.name.as_str()),
                order: call.order,
                sample: call.sample,
                outcome,
                rationale,
                evidence,
                raw: answer.raw,
                unread_raw: answer.unread_raw,
                detail: answer.detail,
                source: Source::Asked,
                origin_id: None,
                // The call is paid once: only its first criterion carries the facts.
                call: facts
                    .take()
                    .unwrap_or_else(|| CallFacts { model: model.clone(), ..CallFacts::default() }),
            }
        })
        .collect()
}

fn failed(call: &Call, abstention: Abstention, detail: &str, facts: CallFacts) -> Vec<Judgment> {
    let answers = call
        .criteria
        .iter()
        .map(|_| Answer {
            read: Err(abstention),
            raw: None,
            unread_raw: None,
            detail: Some(detail.to_owned()),
        })
        .collect();
    judgments(call, answers, facts)
}

/// Each failure is one kind of abstention, never a number.
fn unanswered(error: &ProviderError) -> Unanswered {
    let abstention = match &error.kind {
        ErrorKind::Recalled => return Unanswered::Recalled,
        ErrorKind::TooLong { .. } => Abstention::TooLong,
        ErrorKind::ContentFilter { .. } => Abstention::Refused,
        ErrorKind::RateLimited { .. } | ErrorKind::LimitExceeded { .. } => Abstention::RateLimited,
        ErrorKind::Timeout { .. } => Abstention::TimedOut,
        ErrorKind::BadRequest { .. }
        | ErrorKind::Unauthorized { .. }
        | ErrorKind::Server { .. }
        | ErrorKind::Connection { .. }
        | ErrorKind::Garbage { .. }
        | ErrorKind::BreakerOpen => Abstention::Unavailable,
    };
    Unanswered::Failed { abstention, detail: error.to_string(), retry_after: error.retry_after }
}

pub(super) fn micros_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
