//! A panel asked with a caller's own prompt: who is asked, what came back, one answer, and the verdict that is kept.
//!
//! Folding is `dropin`'s, which knows no judge and no store; here nothing is known of what an answer looks like.

mod reply;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use aggregation::vote::{Exclusion, Order};
use providers::chat::{CallerBody, Usage};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) use self::reply::judged;
use self::reply::{Arrival, Part, Wording};
use super::assemble::upstream_union;
use super::plan::{self, Settled};
use super::recorder::Ack;
use super::work::Work;
use super::{Askers, Engine, EngineError, Purse, millis, rows};
use crate::case::{Candidate, Candidates, Case, CaseId, Sensitivity};
use crate::dropin::caller::{Sampling, transcript};
use crate::dropin::exchange::Layout;
use crate::dropin::{self, Asked, Contract, FoldPolicy, Folded, OnTie, Outcome, Plan, Reading, fold};
use crate::judge::Judge;
use crate::judgment::Judgment;
use crate::panel::Panel;
use crate::store::rows::Endpoint;
use crate::verdict::CaseVerdict;

/// Of a request whose name has `reverse`, and that could not be asked in both orders.
const NOT_REVERSED: &str = "not_reversed: the two candidates do not stand once each where `reverse` says, so judges were asked in one order";

/// Clients give up at 60 to 90 seconds.
const DEADLINE: Duration = Duration::from_secs(55);

/// A caller's request to a panel.
#[derive(Debug, Clone)]
pub struct PanelQuestion {
    pub panel: Arc<Panel>,
    /// Of the same version of the settings as the panel.
    pub askers: Arc<Askers>,
    pub project: Arc<str>,
    /// What every judge is asked with.
    pub body: Arc<CallerBody>,
    pub sampling: Sampling,
    pub purse: Purse,
    pub sensitivity: Sensitivity,
    /// Kept with the case, and shown to no judge.
    pub labels: BTreeMap<String, serde_json::Value>,
    /// Where two candidates stand in the messages, so that every judge is asked in both orders.
    pub layout: Option<Layout>,
    pub on_tie: OnTie,
    pub reuse: Reuse,
    /// Whether people can judge it by a rubric where the answer has no finite list of choices.
    pub has_rubric: bool,
    /// When it is cancelled, calls that were not sent yet are dropped; sent ones finish and are recorded.
    pub cancel: CancellationToken,
}

/// Which earlier replies to the very same request are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// Those of requests that got no answer, of the last ten minutes: they are paid for.
    Unanswered,
    Always,
}

/// What the panel makes of it.
#[derive(Debug)]
pub struct PanelReply {
    pub outcome: Outcome,
    pub verdict: CaseVerdict,
    /// Over all judges, as far as it is known.
    pub usage: Usage,
    /// When a judge that has no answer now may have one.
    pub retry_after: Option<Duration>,
}

impl Engine {
    /// Asks a panel with a caller's own prompt. The work runs in a task of its own, as that of a case does.
    pub async fn ask_panel(self: &Arc<Self>, question: PanelQuestion) -> Result<PanelReply, EngineError> {
        if self.tasks.is_closed() {
            return Err(EngineError::ShuttingDown);
        }
        let engine = Arc::clone(self);
        let task = self.tasks.spawn(async move { Asking::new(engine, question).answer().await });
        task.await.map_err(|_| EngineError::TaskStopped)?
    }
}

/// What the calls of a request share. `case` is what people see of it.
fn shared_work(question: &PanelQuestion, case: Case, verdict_id: String) -> Work {
    let started = Instant::now();
    let panel = &question.panel;
    Work {
        mode: case.mode(),
        case_hash: case.content_hash(),
        findings: Vec::new(),
        settled: Settled::No,
        deadline: started + panel.deadline.case.min(DEADLINE),
        endpoint: Endpoint::DropIn,
        run: Arc::from(verdict_id.as_str()),
        is_drawn: plan::is_drawn_for_review(0, panel, &case),
        models: question.askers.models(),
        prints: question.askers.prints(panel),
        askers: Arc::clone(&question.askers),
        position: 0,
        case: Arc::new(case),
        panel: Arc::clone(panel),
        project: Arc::clone(&question.project),
        verdict_id,
        use_cache: false,
        cache_since_us: 0,
        resumed: false,
        retry: None,
        allow_kin: true,
        started,
        waits_for_budget: AtomicUsize::new(0),
        purse: question.purse.clone(),
        cancel: question.cancel.clone(),
    }
}

/// A request on its way to one answer.
struct Asking {
    engine: Arc<Engine>,
    question: PanelQuestion,
    work: Arc<Work>,
    contract: Contract,
    /// What judges are asked with; a second one with the two candidates exchanged.
    questions: Vec<Wording>,
    /// In the order in which judges were asked, both orders of one side by side.
    parts: Vec<Part>,
    excluded: Vec<(Arc<Judge>, Exclusion)>,
    acks: Vec<Ack>,
}

impl Asking {
    fn new(engine: Arc<Engine>, question: PanelQuestion) -> Self {
        let contract = Contract::of(&Asked {
            messages: question.body.messages.clone(),
            tools: question.body.tools.clone(),
            tool_choice: question.body.tool_choice.clone(),
            response_format: question.body.response_format.clone(),
            wants_logprobs: question.sampling.wants_logprobs,
            top_logprobs: question.sampling.top_logprobs,
            max_tokens: question.sampling.max_tokens,
        });
        let questions = Wording::all(&question);
        let case = case_of(&question, questions.first().map_or("", |given| &given.hash));
        let work = Arc::new(shared_work(&question, case, engine.ids.draw()));
        Self {
            engine,
            question,
            work,
            contract,
            questions,
            parts: Vec::new(),
            excluded: Vec::new(),
            acks: Vec::new(),
        }
    }

    async fn answer(mut self) -> Result<PanelReply, EngineError> {
        let folded = match self.contract.plan() {
            Plan::Lead => self.ask_lead().await?,
            Plan::Panel => self.ask_panel().await?,
        };
        self.conclude(folded).await
    }

    /// A call that holds no verdict is one judge's: the first that answers.
    async fn ask_lead(&mut self) -> Result<Folded, EngineError> {
        let panel = Arc::clone(&self.work.panel);
        for judge in panel.judges.iter().chain(&panel.replacements) {
            if self.may_ask(judge) && Instant::now() < self.work.deadline {
                self.ask(&[Arc::clone(judge)], 1).await?;
                let folded = self.fold(1, 1, true);
                if !matches!(folded.outcome, Outcome::BelowQuorum { .. }) {
                    return Ok(folded);
                }
            }
        }
        Ok(self.fold(1, 1, true))
    }

    /// All judges at once; then replacements, one a missing answer, and one more where no answer has a majority.
    async fn ask_panel(&mut self) -> Result<Folded, EngineError> {
        let panel = Arc::clone(&self.work.panel);
        let (quorum, seats) = (panel.quorum, panel.judges.len());
        let members: Vec<Arc<Judge>> =
            panel.judges.iter().filter(|judge| self.may_ask(judge)).map(Arc::clone).collect();
        self.ask(&members, quorum).await?;
        let mut replacements = panel.replacements.iter();
        loop {
            let folded = self.fold(quorum, seats, false);
            let wanted = match &folded.outcome {
                Outcome::Tied { .. } => seats.saturating_sub(answered(&folded)).max(1),
                Outcome::Answer(_) | Outcome::BelowQuorum { .. } | Outcome::Refused { .. } => {
                    seats.saturating_sub(answered(&folded))
                }
            };
            let in_time = Instant::now() < self.work.deadline;
            let next: Vec<Arc<Judge>> = replacements
                .by_ref()
                .filter(|judge| in_time && self.may_ask(judge))
                .take(wanted)
                .map(Arc::clone)
                .collect();
            if next.is_empty() {
                // Nothing but a tie changes when nobody else can be asked.
                let is_tied = matches!(folded.outcome, Outcome::Tied { .. });
                return Ok(if is_tied { self.fold(quorum, seats, true) } else { folded });
            }
            self.ask(&next, quorum).await?;
        }
    }

    /// Perimeter first: a judge that may not see the request is left out, and the verdict says so.
    fn may_ask(&mut self, judge: &Arc<Judge>) -> bool {
        let work = &self.work;
        let standing = plan::standing(&work.panel, &work.case, judge, &work.models, true);
        let Some(exclusion) = standing.excluded else { return true };
        self.excluded.push((Arc::clone(judge), exclusion));
        false
    }

    /// Asks these judges, and waits for quorum, grace and deadline. What comes later is recorded by its own task.
    async fn ask(&mut self, judges: &[Arc<Judge>], quorum: usize) -> Result<(), EngineError> {
        let first = self.parts.len();
        let mut waiting: Vec<(Arc<Judge>, Wording)> = Vec::new();
        for (judge, wording, earlier) in self.earlier_replies(judges).await? {
            match earlier {
                Some(part) => self.parts.push(part),
                None => waiting.push((judge, wording)),
            }
        }
        // Bounded by the calls themselves: one message each.
        let (sender, mut arrivals) = mpsc::channel::<Arrival>(waiting.len().max(1));
        for (judge, wording) in &waiting {
            self.spawn_call(Arc::clone(judge), wording, sender.clone());
        }
        drop(sender);
        let mut until = self.work.deadline;
        let mut has_quorum = false;
        while !waiting.is_empty() {
            if !has_quorum && self.have_answered(quorum) {
                has_quorum = true;
                until = until.min(Instant::now() + self.work.panel.deadline.grace);
            }
            // Losing the receive is fine: nothing is taken from the channel unless it completes.
            tokio::select! {
                arrival = arrivals.recv() => {
                    let Some((part, ack)) = arrival else { break };
                    self.acks.push(ack?);
                    waiting.retain(|(judge, wording)| judge.id != part.judge.id || wording.order != part.order());
                    self.parts.push(part);
                }
                () = tokio::time::sleep_until(until) => break,
                () = self.work.cancel.cancelled() => return Err(EngineError::Cancelled),
            }
        }
        self.parts.extend(waiting.into_iter().map(|(judge, wording)| Part::late(judge, wording.order)));
        // In the panel's order, whatever order the replies came in.
        let place = |part: &Part| (judges.iter().position(|judge| judge.id == part.judge.id), part.order());
        if let Some(new) = self.parts.get_mut(first..) {
            new.sort_by_key(place);
        }
        Ok(())
    }

    /// Whether so many judges have a vote. Replies are not read before there are enough of them.
    fn have_answered(&self, quorum: usize) -> bool {
        let replies = self.parts.iter().filter(|part| part.reply.is_ok() && part.order() == Order::AsGiven);
        replies.count() >= quorum && dropin::answered(&self.contract, &reply::members(&self.parts)) >= quorum
    }

    fn fold(&self, quorum: usize, seats: usize, is_final: bool) -> Folded {
        let members = reply::members(&self.parts);
        fold(&self.contract, &members, &FoldPolicy { quorum, seats, on_tie: self.question.on_tie, is_final })
    }

    /// Answers after everything is durable.
    async fn conclude(self, folded: Folded) -> Result<PanelReply, EngineError> {
        for ack in self.acks {
            ack.committed().await?;
        }
        let (question, work) = (&self.question, &self.work);
        let mut verdict = verdict::of(question, work, &self.parts, &self.excluded, &folded);
        if question.layout.is_some() && self.questions.len() == 1 {
            verdict.warnings.push(String::from(NOT_REVERSED));
        }
        let judgments: Vec<Judgment> = self.parts.iter().map(|part| part.judgment.clone()).collect();
        let decided = Instant::now();
        let before_ms = millis(decided - work.started);
        let upstream = upstream_union(&judgments);
        verdict.latency_ms = before_ms;
        verdict.overhead_ms = (before_ms - millis(upstream)).max(0.0);
        let mut case = (*work.case).clone();
        case.metadata.extend(verdict::choices(&folded));
        let shown = Work { started: work.started, ..shared_work(question, case, verdict.id.clone()) };
        self.engine.recorder.record(rows::of_verdict(&self.engine, &shown, &verdict)).await?;
        verdict.record_ms = millis(decided.elapsed());
        verdict.latency_ms = millis(work.started.elapsed());
        self.engine.metrics.observe_verdict(&verdict);
        let usage =
            self.parts.iter().filter_map(|part| part.judgment.call.usage).fold(Usage::default(), Usage::plus);
        let retry_after = self.parts.iter().filter_map(|part| part.retry_after).min();
        Ok(PanelReply { outcome: folded.outcome, verdict, usage, retry_after })
    }
}

fn answered(folded: &Folded) -> usize {
    folded.readings.iter().filter(|reading| **reading == Reading::Accepted).count()
}

/// The messages are what people see; the answer is the judges' to give, so the case has none.
fn case_of(question: &PanelQuestion, request_hash: &str) -> Case {
    Case {
        id: CaseId(format!("request-{}", request_hash.get(..16).unwrap_or(request_hash))),
        input: Some(transcript(&question.body.messages)),
        candidates: Candidates::One(Candidate { output: String::new(), model: None }),
        reference: None,
        context: Vec::new(),
        source: None,
        sensitivity: question.sensitivity,
        metadata: question.labels.clone(),
        repeat_of: None,
    }
}
