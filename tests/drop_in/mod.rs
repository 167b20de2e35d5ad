//! The drop-in endpoint from outside: any OpenAI client names a panel as its model.

mod answers;
mod decisions;
mod failures;
mod names;
mod pass_on;
mod stored;
mod streams;

use serde_json::{Value, json};

use crate::support::gateway::{Gateway, Served};
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

/// Where clients post.
const CHAT: &str = "/v1/chat/completions";

/// The usual panel, each judge with one text for everything.
async fn saying(ann: &str, bob: &str, cid: &str) -> Served {
    served(json!({}), Judges::saying(ann, bob, cid)).await
}

/// The usual panel with a change, and these judges.
async fn served(change: Value, judges: Judges) -> Served {
    Gateway::scripted(&with(panel(NOWHERE), change), judges).await.serve().await
}

/// A yes-or-no question to the default panel.
fn question() -> Value {
    json!({"model": "default", "messages": [{"role": "user", "content": "Is it right? Answer yes or no."}]})
}

/// The question with more fields.
fn asking(more: Value) -> Value {
    with(question(), more)
}

/// A schema with a verdict, a score and a reason.
fn schema() -> Value {
    json!({"response_format": {"type": "json_schema", "json_schema": {"name": "Verdict", "strict": true, "schema": {
        "type": "object", "additionalProperties": false, "required": ["reason", "verdict", "score"],
        "properties": {
            "reason": {"type": "string"}, "verdict": {"enum": ["correct", "incorrect"]},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
        },
    }}}})
}

fn verdict(reason: &str, verdict: &str, score: u8) -> String {
    json!({"reason": reason, "verdict": verdict, "score": score}).to_string()
}
