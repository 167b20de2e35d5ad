use std::sync::{Mutex, PoisonError};

use providers::{Scripted, ScriptedReply};

use super::*;
use crate::engine::scripted::{Bench, PASSES};

const PANEL: &str = "
servers:
  local: {provider: ollama, base_url: 'http://127.0.0.1:1/v1'}
judges:
  bare: {server: local, model: qwen3, template: direct}
  json: {server: local, model: gemma3, template: g-eval}
  text: {server: local, model: phi4, template: prometheus-2}
panels:
  default:
    rubric: safety
    judges: [bare, json, text]
    escalate: {random_review_share: 0}
";

/// What was asked of the panel, and a form of `pass` that each judge can be read by.
async fn requests_of_one_case() -> Vec<ChatRequest> {
    let asked: Arc<Mutex<Vec<ChatRequest>>> = Arc::default();
    let log = Arc::clone(&asked);
    let script = Scripted::new(move |request| {
        log.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        ScriptedReply::text(match (&request.choices, &request.response_schema) {
            (Some(_), _) => "pass",
            (None, Some(_)) => PASSES,
            (None, None) => "Feedback: fine. [RESULT] pass",
        })
    });
    let bench = Bench::of(PANEL, &script).await;
    let verdict = bench.app.engine().judge(bench.request()).await.unwrap();
    assert_eq!(verdict.quorum.voted, 3, "{verdict:?}");
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    asked.clone()
}

#[tokio::test]
async fn an_answer_is_held_to_the_form_that_its_template_asks_for() {
    let requests = requests_of_one_case().await;
    let mut held: Vec<(Option<Vec<String>>, bool)> = requests
        .iter()
        .map(|request| {
            (request.choices.as_deref().map(<[String]>::to_vec), request.response_schema.is_some())
        })
        .collect();
    held.sort();
    let labels = vec!["pass".to_owned(), "fail".to_owned()];
    assert_eq!(held, [(None, false), (None, true), (Some(labels), false)]);
}
