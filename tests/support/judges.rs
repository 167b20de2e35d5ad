//! Scripted judges: each answers from a function and keeps what it was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aggregation::vote::JudgeId;
use futures::future::BoxFuture;
use providers::chat::{FinishReason, TokenLogprob, TokenLogprobs};
use providers::error::ErrorKind;
use providers::{ChatRequest, ChatResponse, Provider, ProviderError, Scripted, ScriptedReply};
use tower::util::BoxCloneSyncService;

use super::gate::Gate;

/// Judges by name, and every request that reached one of them.
#[derive(Debug, Clone, Default)]
pub struct Judges {
    providers: HashMap<JudgeId, Provider>,
    asked: Asked,
}

/// What reached the judges, in order of arrival.
#[derive(Debug, Clone, Default)]
pub struct Asked(Arc<Mutex<Vec<(String, ChatRequest)>>>);

impl Asked {
    fn push(&self, judge: &str, request: &ChatRequest) {
        self.lock().push((judge.to_owned(), request.clone()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, ChatRequest)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests of one judge.
    pub fn of(&self, judge: &str) -> Vec<ChatRequest> {
        self.lock().iter().filter(|(name, _)| name == judge).map(|(_, request)| request.clone()).collect()
    }

    /// Names of the judges, one a request.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.lock().iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    pub fn count(&self) -> usize {
        self.lock().len()
    }
}

impl Judges {
    /// Three judges, each with one answer for everything.
    pub fn saying(ann: &str, bob: &str, cid: &str) -> Self {
        Self::default().with("ann", ann).with("bob", bob).with("cid", cid)
    }

    /// A judge that always says the same.
    pub fn with(self, judge: &str, text: &str) -> Self {
        let text = text.to_owned();
        self.answering(judge, move |_| ScriptedReply::text(text.clone()))
    }

    pub fn failing(self, judge: &str, kind: ErrorKind) -> Self {
        self.answering(judge, move |_| ScriptedReply::Fail(kind.clone()))
    }

    /// A judge with one reply a request, the last one again once they are used up.
    pub fn in_order(self, judge: &str, replies: Vec<ScriptedReply>) -> Self {
        let next = Mutex::new(replies.into_iter().peekable());
        self.answering(judge, move |_| {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let reply = next.next().expect("a reply");
            if next.peek().is_none() {
                *next = vec![reply.clone()].into_iter().peekable();
            }
            reply
        })
    }

    pub fn answering(
        mut self,
        judge: &str,
        script: impl Fn(&ChatRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        let (asked, name) = (self.asked.clone(), judge.to_owned());
        let provider = Scripted::new(move |request| {
            asked.push(&name, request);
            script(request)
        });
        self.providers.insert(JudgeId::new(judge), provider.into_provider());
        self
    }

    /// A judge that answers only once the gate lets it.
    pub fn behind(mut self, judge: &str, gate: &Gate, text: &str) -> Self {
        let (asked, name, gate, text) = (self.asked.clone(), judge.to_owned(), gate.clone(), text.to_owned());
        let service = tower::service_fn(move |request: ChatRequest| -> BoxFuture<'static, _> {
            asked.push(&name, &request);
            let (gate, text) = (gate.clone(), text.clone());
            Box::pin(async move {
                gate.pass().await;
                Ok::<_, ProviderError>(ChatResponse::of_text(text))
            })
        });
        self.providers.insert(JudgeId::new(judge), BoxCloneSyncService::new(service));
        self
    }

    pub fn providers(&self) -> &HashMap<JudgeId, Provider> {
        &self.providers
    }

    pub fn asked(&self) -> Asked {
        self.asked.clone()
    }
}

/// A reply that the token limit cut.
pub fn cut(text: &str) -> ScriptedReply {
    ScriptedReply::Respond(ChatResponse { finish: FinishReason::Length, ..ChatResponse::of_text(text) })
}

/// A one-token reply with the alternatives of that token, each with its probability.
pub fn weighed(text: &str, alternatives: &[(&str, f64)]) -> ScriptedReply {
    let token = |text: &str, p: f64| TokenLogprob { bytes: text.as_bytes().to_vec(), logprob: p.ln() };
    let own = alternatives.iter().find(|(label, _)| *label == text).map_or(0.0, |(_, p)| *p);
    let top = alternatives.iter().map(|(label, p)| token(label, *p)).collect();
    let logprobs = Some(vec![TokenLogprobs { token: token(text, own), top }]);
    ScriptedReply::Respond(ChatResponse { logprobs, ..ChatResponse::of_text(text) })
}

/// All messages of a request as one text.
pub fn prompt_of(request: &ChatRequest) -> String {
    request.messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
}
