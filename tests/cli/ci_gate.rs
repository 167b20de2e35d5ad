//! `scripts/ci-gate` in a repository: what a change says of itself does not decide.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::binary::program;
use crate::support::panel::{Folder, lines};

/// Three recorded judges that give every case this score, and a threshold.
fn panel(least: f64) -> String {
    let judge = |name: &str| json!({"server": "tape", "model": name, "family": name});
    let file = json!({
        "servers": {"tape": {"provider": "replay", "path": "tape.jsonl", "read": "score"}},
        "judges": {"ann": judge("ann"), "bob": judge("bob"), "cid": judge("cid")},
        "rubrics": {"quality": {"criteria": [{"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5]}]}},
        "panels": {"default": {"judges": ["ann", "bob", "cid"], "rubric": "quality", "gate": {"min": {"quality": least}}}},
    });
    file.to_string()
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let ended =
        Command::new("git").current_dir(folder).args(identity).args(arguments).output().expect("git runs");
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn ci_gate(folder: &Folder, base: &str, environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/ci-gate");
    let mut command = Command::new("bash");
    command.arg(script).args([base, "answers.jsonl", "--allow-replay"]).current_dir(folder.path());
    command.env("TRIBUNAL", program()).envs(environment.iter().copied());
    let ended = command.output().expect("the script runs");
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn the_base_decides_whatever_the_change_says() {
    let folder = Folder::empty();
    let score = |(case, judge): (usize, &str)| {
        let score = if case.is_multiple_of(2) { 4 } else { 5 };
        json!({"case": format!("q{case}"), "judge": judge, "raw": "", "verdict": null, "score": score})
    };
    let votes = (0..40).flat_map(|case| ["ann", "bob", "cid"].map(|judge| (case, judge)));
    let scores = lines(votes.map(score));
    folder.write("tape.jsonl", &scores);
    folder.write("panel.yaml", &panel(0.95));
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message", "base"]);
    // The change lowers the bar, tells its own tape that all is well, and tries the environment.
    folder.write("panel.yaml", &panel(0.0));
    folder.write("tape.jsonl", &scores.replace("\"score\":4", "\"score\":5"));
    let answers = lines((0..40).map(|n| json!({"id": format!("q{n}"), "output": "x"})));
    folder.write("answers.jsonl", &answers);
    git(folder.path(), &["checkout", "--quiet", "-b", "change"]);
    git(folder.path(), &["commit", "--quiet", "--all", "--message", "change"]);

    let lowered = [("TRIBUNAL__PANELS__DEFAULT__GATE__MIN__QUALITY", "0")];
    let (code, stderr) = ci_gate(&folder, "main", &lowered);
    assert_eq!(code, Some(1), "{stderr}");
    let report: Value = serde_json::from_str(&folder.read("gate-reports/gate.json")).expect("JSON");
    assert_eq!(
        (&report["decision"], &report["runs"][0]["requirements"][0]["estimate"]),
        (&json!("fail"), &json!(0.875))
    );
    for file in ["junit.xml", "gate.md", "gate.html"] {
        assert!(!folder.read(&format!("gate-reports/{file}")).is_empty(), "{file}");
    }
    let (code, stderr) = ci_gate(&folder, "change", &[]);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, stderr) = ci_gate(&folder, "nowhere", &[]);
    assert_eq!(code, Some(64), "{stderr}");
    assert!(stderr.contains("nowhere"), "{stderr}");
}
