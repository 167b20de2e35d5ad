//! The built program, as a user types it.

mod check;
mod checks;
mod ci_gate;
mod field_faults_gate;
mod gate;
mod gate_baseline;
mod gate_checks;
mod gate_outputs;
mod help;
mod judge;
mod keys;
mod learned;
mod max_cost;
mod projects;
mod refused;
mod repeat;
mod replay;
mod resume;
mod show;
mod tools;

use serde_json::json;

use crate::support::panel::{Folder, panel};
use crate::support::upstream::Upstream;

/// A folder with the usual panel, its judges at this server, and three cases.
fn folder(upstream: &Upstream) -> Folder {
    let folder = Folder::with_panel(&panel(upstream.base_url()));
    folder.write("cases.jsonl", &cases(3));
    folder
}

fn cases(count: usize) -> String {
    let line = |n| json!({"id": format!("q{n}"), "input": "Who?", "output": format!("No. {n}")}).to_string();
    (1..=count).map(line).collect::<Vec<_>>().join("\n")
}
