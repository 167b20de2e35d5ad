//! Panels of recorded judgments.

use std::io::Write;

use serde_json::{Value, json};

use crate::support::binary::tribunal;
use crate::support::panel::Folder;

/// Three recorded judges on one file, read as `read` says.
fn folder(path: &str, read: &str) -> Folder {
    let judge = |name: &str| json!({"server": "tape", "model": name, "family": name});
    Folder::with_panel(&json!({
        "servers": {"tape": {"provider": "replay", "path": path, "read": read}},
        "judges": {"ann": judge("ann"), "bob": judge("bob"), "cid": judge("cid")},
        "rubrics": {"quality": {"criteria": [{"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5]}]}},
        "panels": {"default": {"judges": ["ann", "bob", "cid"], "rubric": "quality", "escalate": {"random_review_share": "off"}}},
    }))
}

fn tape() -> String {
    let line = |judge: &str, raw: &str, verdict: Value, score: f64| {
        format!("{}\n", json!({"case": "q1", "judge": judge, "raw": raw, "verdict": verdict, "score": score}))
    };
    [
        line("ann", "Good.\nScore: 5", json!(4), 3.0),
        line("bob", "Score: 5", json!("4"), 3.0),
        line("cid", "I cannot tell.", json!(null), 2.0),
    ]
    .concat()
}

fn judge(folder: &Folder) -> Value {
    folder.write("cases.jsonl", "{\"id\":\"q1\",\"mode\":\"pointwise\"}\n");
    tribunal(folder, &["judge", "cases.jsonl", "--json"]).exits(0).json_lines().remove(0)
}

#[test]
fn each_field_of_a_recording_can_be_read() {
    for (read, value, votes) in [("auto", 5.0, 2), ("raw", 5.0, 2), ("verdict", 4.0, 2), ("score", 3.0, 3)] {
        let folder = folder("tape.jsonl", read);
        folder.write("tape.jsonl", &tape());
        let verdict = judge(&folder);
        let quality = &verdict["criteria"]["quality"];
        assert_eq!(
            (&quality["value"], quality["votes"].as_array().map(Vec::len)),
            (&json!(value), Some(votes)),
            "{read}"
        );
        assert_eq!(verdict["calls"]["asked"], 0);
    }
}

#[test]
fn a_recording_may_be_packed() {
    let folder = folder("tape.jsonl.gz", "raw");
    let file = std::fs::File::create(folder.file("tape.jsonl.gz")).expect("a file");
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(tape().as_bytes()).expect("written");
    packed.finish().expect("finished");
    assert_eq!(judge(&folder)["criteria"]["quality"]["value"], json!(5.0));
}

#[test]
fn a_case_without_a_line_is_a_missing_vote() {
    let folder = folder("tape.jsonl", "raw");
    folder.write("tape.jsonl", &tape());
    folder.write("cases.jsonl", "{\"id\":\"q9\",\"output\":\"x\"}\n");
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(69);
    assert!(ran.stdout.contains("no quorum"), "{}", ran.stdout);
}

#[test]
fn a_broken_recording_is_named_with_its_line() {
    let folder = folder("tape.jsonl", "raw");
    folder.write("tape.jsonl", &format!("{}not json\n", tape()));
    folder.write("cases.jsonl", "{\"id\":\"q1\",\"output\":\"x\"}\n");
    let ran = tribunal(&folder, &["judge", "cases.jsonl"]).exits(78);
    assert!(ran.stderr.contains("tape.jsonl") && ran.stderr.contains("line 4"), "{}", ran.stderr);
}
