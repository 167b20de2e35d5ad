//! Who is let in, what a key may ask, whose rows it sees, and what it may spend.

mod asking;
mod budgets;
mod letting_in;
mod projects;
mod served;

use gateway::access::{AccessKey, Secret};
use serde_json::{Value, json};

use crate::support::gateway::{Answer, Gateway, Served};
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

const CHAT: &str = "/v1/chat/completions";

/// A key as its owner has it.
struct Owned {
    id: String,
    text: String,
}

/// A key of the default project that asks everything, with a change.
async fn add(served: &Served, change: impl FnOnce(AccessKey) -> AccessKey) -> Owned {
    let secret = Secret::draw().expect("randomness");
    let key = change(AccessKey::of(&secret, "nightly", "default"));
    served.gateway.app.key_ring().add(&key).await.expect("the key is kept");
    Owned { id: key.id, text: secret.expose().to_owned() }
}

/// The usual panel with a change, and these judges.
async fn served(change: Value, judges: Judges) -> Served {
    Gateway::scripted(&with(panel(NOWHERE), change), judges).await.serve().await
}

/// The usual panel: 2, 4 and 5.
async fn usual() -> Served {
    served(json!({}), Judges::saying("2", "4", "5")).await
}

async fn get(served: &Served, path: &str, key: &Owned) -> Answer {
    Answer::of(served.request("GET", path).bearer_auth(&key.text)).await
}

async fn post(served: &Served, path: &str, key: &Owned, body: &Value) -> Answer {
    Answer::of(served.request("POST", path).bearer_auth(&key.text).json(body)).await
}

fn case() -> Value {
    json!({"case": {"id": "q1", "input": "What is the capital of France?", "output": "Paris."}})
}

fn question(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "Is it right? Answer yes or no."}]})
}
