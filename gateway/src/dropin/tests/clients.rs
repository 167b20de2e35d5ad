//! Requests that real clients send, with a reply that each accepts. `clients.json`: one per line.

use serde::Deserialize;
use serde_json::Value;

use super::super::{Asked, Contract, Plan, Reply};
use super::{answer_of, fold_all, said};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Capture {
    name: String,
    asked: CapturedAsked,
    reply: CapturedReply,
    /// The same form with the opposite verdict.
    dissent: Option<CapturedReply>,
    /// Whether the client takes the reply for a verdict.
    verdict: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapturedAsked {
    messages: Vec<Value>,
    tools: Option<Value>,
    tool_choice: Option<Value>,
    response_format: Option<Value>,
    top_logprobs: Option<u8>,
    max_tokens: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum CapturedReply {
    Text(String),
    Call(String, String),
}

impl CapturedReply {
    fn reply(&self) -> Reply {
        match self {
            Self::Text(text) => Reply::of_text(text.as_str()),
            Self::Call(name, arguments) => Reply::of_call(name.as_str(), arguments.as_str()),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Call(_, text) => text,
        }
    }
}

impl CapturedAsked {
    fn asked(&self) -> Asked {
        Asked {
            messages: self.messages.clone(),
            tools: self.tools.clone(),
            tool_choice: self.tool_choice.clone(),
            response_format: self.response_format.clone(),
            wants_logprobs: self.top_logprobs.is_some(),
            top_logprobs: self.top_logprobs,
            max_tokens: self.max_tokens,
        }
    }
}

fn captures() -> Vec<Capture> {
    serde_json::from_str(include_str!("clients.json")).unwrap()
}

#[test]
fn what_every_client_accepts_comes_back_as_written() {
    for capture in captures() {
        let replies = vec![capture.reply.reply(); 3];
        let folded = fold_all(&capture.asked.asked(), &replies);
        let answer = answer_of(&folded);
        assert_eq!(said(answer), capture.reply.text(), "{}", capture.name);
        assert!(answer.verbatim && !answer.escalated, "{}", capture.name);
        assert_eq!(
            answer.tool_call.is_some(),
            matches!(capture.reply, CapturedReply::Call(..)),
            "{}",
            capture.name
        );
    }
}

#[test]
fn two_against_one_say_what_the_two_say() {
    for capture in captures() {
        let Some(dissent) = &capture.dissent else { continue };
        for place in 0..3 {
            let mut replies = vec![capture.reply.reply(); 3];
            replies[place] = dissent.reply();
            let folded = fold_all(&capture.asked.asked(), &replies);
            assert_eq!(said(answer_of(&folded)), capture.reply.text(), "{} against {place}", capture.name);
            assert!(!folded.leaves.is_empty(), "{}", capture.name);
        }
    }
}

#[test]
fn calls_without_a_verdict_are_never_voted_on() {
    for capture in captures().iter().filter(|capture| !capture.verdict) {
        let folded = fold_all(&capture.asked.asked(), &vec![capture.reply.reply(); 3]);
        assert!(folded.leaves.is_empty(), "{}: {:?}", capture.name, folded.leaves);
    }
}

#[test]
fn the_lead_is_asked_alone_only_where_a_schema_shows_no_verdict() {
    let lead: Vec<String> = captures()
        .into_iter()
        .filter(|capture| Contract::of(&capture.asked.asked()).plan() == Plan::Lead)
        .map(|capture| capture.name)
        .collect();
    assert_eq!(lead, ["autoevals/faithfulness-1-statements", "ragas/statements"]);
}
