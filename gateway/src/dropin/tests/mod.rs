//! The core as its callers use it: requests of real clients, replies of judges, one answer.

mod clients;
mod decisions;
mod forms;
mod laws;
mod tokens;
mod votes;

use aggregation::vote::Abstention;
use serde_json::Value;

use super::{Answer, Asked, Contract, FoldPolicy, Folded, Member, OnTie, Outcome, Reply, fold};

/// A panel of equal judges.
fn members(replies: Vec<Result<Reply, Abstention>>) -> Vec<Member> {
    let member =
        |(index, reply)| Member { judge: format!("judge-{index}"), weight: 1.0, reply, reversed: None };
    replies.into_iter().enumerate().map(member).collect()
}

fn final_policy(seats: usize) -> FoldPolicy {
    FoldPolicy { quorum: seats.div_ceil(2).max(1), seats, on_tie: OnTie::Lead, is_final: true }
}

fn fold_all(asked: &Asked, replies: &[Reply]) -> Folded {
    let members = members(replies.iter().cloned().map(Ok).collect());
    fold(&Contract::of(asked), &members, &final_policy(replies.len()))
}

fn answer_of(folded: &Folded) -> &Answer {
    match &folded.outcome {
        Outcome::Answer(answer) => answer,
        other => panic!("an answer, not {other:?}"),
    }
}

/// Content, or the arguments of the call.
fn said(answer: &Answer) -> &str {
    let arguments = answer.tool_call.as_ref().map(|(_, arguments)| arguments.as_str());
    answer.content.as_deref().or(arguments).unwrap_or_default()
}

/// What text replies come to, for a prompt.
fn said_in_text(prompt: &str, replies: &[&str]) -> String {
    let asked = asked(prompt);
    let replies: Vec<Reply> = replies.iter().map(|text| Reply::of_text(*text)).collect();
    said(answer_of(&fold_all(&asked, &replies))).to_owned()
}

fn asked(prompt: &str) -> Asked {
    Asked { messages: vec![serde_json::json!({"role": "user", "content": prompt})], ..Asked::default() }
}

fn asked_schema(schema: &Value) -> Asked {
    let format = serde_json::json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    Asked { response_format: Some(format), ..asked("Judge it.") }
}
