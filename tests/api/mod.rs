//! The HTTP API from outside, with judges that answer from a script.

mod errors;
mod operations;
mod runs;
mod runs_begun;
mod runs_refused;
mod verdicts;

use serde_json::{Value, json};

use crate::support::gateway::{Gateway, Served};
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel};

/// The usual panel: 2, 4 and 5.
async fn served() -> Served {
    served_with(&panel(NOWHERE)).await
}

async fn served_with(file: &Value) -> Served {
    Gateway::scripted(file, Judges::saying("2", "4", "5")).await.serve().await
}

fn case() -> Value {
    json!({"case": {"id": "q1", "input": "What is the capital of France?", "output": "Paris."}})
}

/// Snapshots of all tests stand in one folder.
fn snapshots() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings
}
