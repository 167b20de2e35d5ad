//! One judge's part in a caller's request: the call, what is kept of it, and what was kept of an earlier one.
//!
//! A reply is kept as a judgment on one criterion, `reply`, which passes when there is a reply; what it says is read by
//! the fold, and stands in the verdict.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use aggregation::scale::{Scale, Value};
use aggregation::vote::{Abstention, Order, Rating, Scoring};
use providers::Recall;
use providers::chat::{CallerBody, ChatRequest, ChatResponse, FinishReason};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;

use super::{Asking, PanelQuestion, Reuse};
use crate::dropin::caller::Sampling;
use crate::dropin::{FoldPolicy, Member, Reading, Reply, ToolCall, fold};
use crate::engine::ask::{self, Unanswered};
use crate::engine::plan::Call;
use crate::engine::recorder::Ack;
use crate::engine::{EngineError, rows};
use crate::judge::Judge;
use crate::judgment::{CallFacts, Judgment, Source};
use crate::rubric::{Criterion, Evidence};
use crate::settings::model_fingerprint;
use crate::store::rows::{JudgmentRow, Record};

/// How long replies to a request that got no answer are used again.
const REUSED_FOR_US: i64 = 10 * 60 * 1_000_000;

/// A cap of so few tokens is meant for one word, which a judge that reasons first never comes to.
const WORD_CAP: u32 = 8;

const OVER_BUDGET: &str = "the call may cost more than is left of the key's budget";

/// What a reply is kept under.
static REPLY: LazyLock<Arc<Criterion>> = LazyLock::new(|| {
    Arc::new(Criterion {
        name: String::from("reply"),
        scale: Scale::PassFail,
        tie: false,
        levels: BTreeMap::new(),
        pass: None,
        evidence: Evidence::None,
        instructions: None,
        examples: Vec::new(),
    })
});

/// One judge's part.
pub(super) struct Part {
    pub judge: Arc<Judge>,
    pub reply: Result<Reply, Abstention>,
    pub judgment: Judgment,
    /// When the server wants to be asked again.
    pub retry_after: Option<Duration>,
}

pub(super) type Arrival = (Part, Result<Ack, EngineError>);

impl Part {
    fn new(judge: Arc<Judge>, reply: Result<Reply, Abstention>, source: Source) -> Self {
        let outcome = reply.as_ref().map(|_| ()).map_err(|abstention| *abstention);
        let judgment = Judgment {
            raw: reply.as_ref().ok().map(kept_text),
            source,
            ..judged(&judge, outcome, CallFacts::default())
        };
        Self { judge, reply, judgment, retry_after: None }
    }

    fn missing(judge: Arc<Judge>, abstention: Abstention, why: &str) -> Self {
        let mut part = Self::new(judge, Err(abstention), Source::Asked);
        part.judgment.detail = Some(why.to_owned());
        part
    }

    /// No answer in time.
    pub(super) fn late(judge: Arc<Judge>, order: Order) -> Self {
        Self::missing(judge, Abstention::TimedOut, "no answer within the panel's deadline").in_order(order)
    }

    fn in_order(mut self, order: Order) -> Self {
        self.judgment.order = order;
        self
    }

    pub(super) fn order(&self) -> Order {
        self.judgment.order
    }
}

/// One a judge, with what it said of either order.
pub(super) fn members(parts: &[Part]) -> Vec<Member> {
    let given = parts.iter().filter(|part| part.order() == Order::AsGiven);
    let reversed = |judge: &Judge| {
        parts.iter().find(|part| part.order() == Order::Reversed && part.judge.id == judge.id)
    };
    let member = |part: &Part| Member {
        judge: part.judge.id.to_string(),
        weight: 1.0,
        reply: part.reply.clone(),
        reversed: reversed(&part.judge).map(|part| part.reply.clone()),
    };
    given.map(member).collect()
}

/// What judges are asked with in one order of the candidates.
#[derive(Debug, Clone)]
pub(super) struct Wording {
    pub order: Order,
    pub body: Arc<CallerBody>,
    /// Of everything that can change what a judge says.
    pub hash: String,
}

impl Wording {
    /// The request as it came; and with its two candidates exchanged, where they were found.
    pub(super) fn all(question: &PanelQuestion) -> Vec<Self> {
        let of = |order: Order, body: &Arc<CallerBody>| Self {
            order,
            body: Arc::clone(body),
            hash: request_hash(body, &question.sampling),
        };
        let exchanged = question.layout.as_ref().and_then(|layout| layout.exchanged(&question.body.messages));
        let reversed =
            exchanged.map(|messages| Arc::new(CallerBody { messages, ..(*question.body).clone() }));
        let given = of(Order::AsGiven, &question.body);
        std::iter::once(given).chain(reversed.map(|body| of(Order::Reversed, &body))).collect()
    }
}

/// A call for a reply as a judgment: it passes when there is one.
pub(in crate::engine) fn judged(judge: &Judge, outcome: Result<(), Abstention>, call: CallFacts) -> Judgment {
    let replied =
        Rating { value: Value::Pass(true), scoring: Scoring::Discrete, distribution: None, fallback: false };
    let (name, outcome) = (Arc::from(REPLY.name.as_str()), outcome.map(|()| replied));
    Judgment { call, ..Judgment::uncalled(judge.id.clone(), name, Order::AsGiven, 0, outcome, Source::Asked) }
}

/// A reply that calls tools, as its text is kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptCalls {
    text: String,
    tool_calls: Vec<KeptCall>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptCall {
    name: String,
    arguments: String,
}

fn kept_text(reply: &Reply) -> String {
    if reply.tool_calls.is_empty() {
        return reply.refusal.clone().unwrap_or_else(|| reply.text.clone());
    }
    let call = |call: &ToolCall| KeptCall { name: call.name.clone(), arguments: call.arguments.clone() };
    let kept =
        KeptCalls { text: reply.text.clone(), tool_calls: reply.tool_calls.iter().map(call).collect() };
    serde_json::to_string(&kept).unwrap_or_default()
}

fn reply_of(kept: &str) -> Reply {
    let Ok(KeptCalls { text, tool_calls }) = serde_json::from_str(kept) else { return Reply::of_text(kept) };
    let call = |call: KeptCall| ToolCall { name: call.name, arguments: call.arguments };
    Reply {
        tool_calls: tool_calls.into_iter().map(call).collect(),
        finish: FinishReason::ToolCalls,
        ..Reply::of_text(text)
    }
}

fn request_hash(body: &CallerBody, sampling: &Sampling) -> String {
    let asked = json!([
        body.messages,
        body.tools,
        body.tool_choice,
        body.response_format,
        body.other,
        sampling.stop,
        sampling.wants_logprobs,
        sampling.top_logprobs,
    ]);
    blake3::hash(asked.to_string().as_bytes()).to_hex().to_string()
}

fn cache_key(judge: &Judge, wording: &Wording) -> String {
    let key = json!(["request", model_fingerprint(judge), wording.hash]);
    blake3::hash(key.to_string().as_bytes()).to_hex().to_string()
}

fn call(judge: &Arc<Judge>, order: Order) -> Call {
    Call { judge: Arc::clone(judge), criteria: vec![Arc::clone(&REPLY)], order, sample: 0 }
}

impl Asking {
    /// For each judge and order what was said to the very same request, where that may be used again.
    pub(super) async fn earlier_replies(
        &mut self,
        judges: &[Arc<Judge>],
    ) -> Result<Vec<(Arc<Judge>, Wording, Option<Part>)>, EngineError> {
        let since_us = match self.question.reuse {
            Reuse::Unanswered => self.engine.clock.now_us() - REUSED_FOR_US,
            Reuse::Always => 0,
        };
        let asked = judges.iter().flat_map(|judge| {
            self.questions
                .iter()
                .map(|wording| (Arc::clone(judge), wording.clone(), cache_key(judge, wording)))
        });
        let asked: Vec<(Arc<Judge>, Wording, String)> = asked.collect();
        let keys: Vec<String> = asked.iter().map(|(_, _, key)| key.clone()).collect();
        let rows = self.engine.store.cached_judgments(&self.work.project, &keys, since_us).await?;
        let mut replies = Vec::with_capacity(asked.len());
        for (judge, wording, key) in asked {
            let row = rows.iter().find(|row| row.cache_key.as_ref() == Some(&key));
            let part = match row {
                Some(row) => self.earlier_reply(&judge, row).await?.map(|part| part.in_order(wording.order)),
                None => None,
            };
            if let Some(part) = &part {
                let judgments = std::slice::from_ref(&part.judgment);
                let call = call(&judge, wording.order);
                let mut rows = rows::of_judgments(&self.engine, &self.work, &call, judgments, None);
                // The newest reply under a key is looked at: once it served an answer it is not used again.
                put_key(&mut rows, &judge, Some(&key));
                self.acks.push(self.engine.recorder.submit(rows).await?);
            }
            replies.push((judge, wording, part));
        }
        Ok(replies)
    }

    async fn earlier_reply(
        &self,
        judge: &Arc<Judge>,
        row: &JudgmentRow,
    ) -> Result<Option<Part>, EngineError> {
        let (store, project) = (&self.engine.store, &self.work.project);
        if self.question.reuse == Reuse::Unanswered {
            // Also one that never came to a verdict: its gateway died in between.
            let verdict = self.engine.verdict(project, &row.run).await?;
            if verdict.is_some_and(|verdict| verdict.quorum.met) {
                return Ok(None);
            }
        }
        let hashes: Vec<String> = row.reply_hash.iter().cloned().collect();
        let texts = store.texts(project, &row.case_id, &hashes).await?;
        let kept = texts.into_iter().find_map(|text| text.body).map(|text| {
            let mut part = Part::new(Arc::clone(judge), Ok(reply_of(&text)), Source::Cached);
            part.judgment.origin_id = Some(row.origin_id.clone().unwrap_or_else(|| row.id.clone()));
            part.judgment.call.model.clone_from(&row.model_replied);
            part
        });
        // What was no vote then is none now: its judge is asked again.
        Ok(kept.filter(|part| self.is_vote(part)))
    }

    fn is_vote(&self, part: &Part) -> bool {
        let policy = FoldPolicy { quorum: 1, seats: 1, on_tie: self.question.on_tie, is_final: true };
        let folded = fold(&self.contract, &members(std::slice::from_ref(part)), &policy);
        folded.readings == [Reading::Accepted]
    }

    pub(super) fn spawn_call(&self, judge: Arc<Judge>, wording: &Wording, sender: mpsc::Sender<Arrival>) {
        let (engine, work) = (Arc::clone(&self.engine), Arc::clone(&self.work));
        let request = self.request(wording);
        let (order, cache_key) = (wording.order, cache_key(&judge, wording));
        let prompt = serde_json::to_string(&wording.body.messages).unwrap_or_default();
        let tasks = engine.tasks.clone();
        tasks.spawn(async move {
            let call = call(&judge, order);
            let mut facts = CallFacts::default();
            let started = tokio::time::Instant::now();
            let mut answered = ask::send(&work, &call, request.clone(), &mut facts).await;
            if let Ok(response) = &answered
                && is_cut_before_a_word(response, &request)
                && !work.cancel.is_cancelled()
            {
                facts.repaired = true;
                let roomy = ChatRequest { max_tokens: Some(judge.params.max_tokens), ..request };
                answered = ask::send(&work, &call, roomy, &mut facts).await.or(answered);
            }
            facts.latency_us = ask::micros_since(started);
            let mut part = match answered {
                Ok(response) => Part::new(judge, Ok(reply(response)), Source::Asked),
                // Nothing to keep: the caller went away before it was sent.
                Err(Unanswered::Recalled) => return,
                Err(Unanswered::OverBudget) => Part::missing(judge, Abstention::OverBudget, OVER_BUDGET),
                Err(Unanswered::Failed { abstention, detail, retry_after }) => {
                    Part { retry_after, ..Part::missing(judge, abstention, &detail) }
                }
            };
            part = part.in_order(order);
            part.judgment.call = facts;
            let judgments = std::slice::from_ref(&part.judgment);
            let mut rows = rows::of_judgments(&engine, &work, &call, judgments, Some(&prompt));
            put_key(&mut rows, &part.judge, is_whole(&part.reply).then_some(&cache_key));
            let ack = engine.recorder.submit(rows).await.map_err(EngineError::from);
            engine.metrics.observe_call(&part.judge.id, judgments);
            // The request may have gone on without this answer; it is recorded all the same.
            let _ = sender.send((part, ack)).await;
        });
    }

    fn request(&self, wording: &Wording) -> ChatRequest {
        ChatRequest {
            recall: Recall::on(self.work.cancel.clone()),
            ..self.question.sampling.asked_with(Arc::clone(&wording.body))
        }
    }
}

/// Whether nothing is lost of a reply that is kept as its text: no refusal, and no end before its own.
fn is_whole(reply: &Result<Reply, Abstention>) -> bool {
    reply.as_ref().is_ok_and(|reply| {
        reply.refusal.is_none() && matches!(reply.finish, FinishReason::Stop | FinishReason::ToolCalls)
    })
}

/// What the reply in these rows is found by.
fn put_key(rows: &mut [Record], judge: &Judge, key: Option<&String>) {
    for row in rows {
        if let Record::Judgment(row) = row {
            row.judge_fingerprint = model_fingerprint(judge);
            row.cache_key = key.cloned();
        }
    }
}

/// A judge that reasons has spent a cap that was meant for one word before it came to it.
fn is_cut_before_a_word(response: &ChatResponse, request: &ChatRequest) -> bool {
    response.finish == FinishReason::Length
        && response.text.trim().is_empty()
        && response.tool_calls.is_empty()
        && request.max_tokens.is_some_and(|cap| cap <= WORD_CAP)
}

fn reply(response: ChatResponse) -> Reply {
    let call = |call: providers::chat::ToolCall| ToolCall { name: call.name, arguments: call.arguments };
    Reply {
        text: response.text,
        tool_calls: response.tool_calls.into_iter().map(call).collect(),
        refusal: response.refusal,
        finish: response.finish,
        logprobs: response.logprobs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_reply_is_read_back() {
        for reply in
            [Reply::of_text("yes"), Reply::of_text("{\"text\": 1}"), Reply::of_call("grade", "{\"a\":1}")]
        {
            assert_eq!(reply_of(&kept_text(&reply)), reply);
        }
    }
}
