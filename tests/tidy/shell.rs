//! Scripts: executable, strict, and readable by the bash that macOS ships.

use super::{TextFile, assert_none, root, text_files};

fn is_script(file: &TextFile) -> bool {
    (file.path.starts_with("scripts/") || file.path.starts_with(".ci/")) && file.text.starts_with("#!")
}

fn careless(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if text.starts_with("#!/usr/bin/env bash") {
        if !text.lines().any(|line| line == "set -euo pipefail" || line == "set -uo pipefail") {
            findings.push(format!("{path}: without `set -euo pipefail` a failed line goes unseen"));
        }
        // bash 3.2 has neither.
        for newer in ["declare -A", "mapfile", "readarray", "${!", ",,}", "^^}"] {
            if text.contains(newer) {
                findings.push(format!("{path}: `{newer}` is not in bash 3.2, which macOS ships"));
            }
        }
        for broad in ["pkill", "killall"] {
            if text.contains(broad) {
                findings.push(format!("{path}: `{broad}` may end somebody else's process: keep the pid"));
            }
        }
    } else if !text.starts_with("#!/usr/bin/env python3") {
        findings.push(format!("{path}: neither bash nor python3 by `/usr/bin/env`"));
    }
    findings
}

#[test]
fn scripts_are_strict_and_portable() {
    let files = text_files();
    let scripts: Vec<_> = files.iter().filter(|file| is_script(file)).collect();
    assert!(scripts.len() >= 4, "hardly any script found");
    assert_none(&scripts.iter().flat_map(|file| careless(&file.path, &file.text)).collect::<Vec<_>>());
}

#[test]
fn careless_scripts_are_found() {
    assert_eq!(careless("scripts/a", "#!/usr/bin/env bash\npkill server\n").len(), 2);
    assert_eq!(careless("scripts/a", "#!/bin/sh\n").len(), 1);
    assert_eq!(careless("scripts/a", "#!/usr/bin/env bash\nset -euo pipefail\nls\n").len(), 0);
}

#[cfg(unix)]
#[test]
fn commands_without_an_extension_are_executable() {
    use std::os::unix::fs::PermissionsExt;
    let files = text_files();
    let commands = files.iter().filter(|file| is_script(file) && !file.path.contains('.'));
    let findings: Vec<String> = commands
        .filter(|file| {
            let metadata = root().join(&file.path).metadata().expect("a readable script");
            metadata.permissions().mode() & 0o111 == 0
        })
        .map(|file| format!("{}: not executable", file.path))
        .collect();
    assert_none(&findings);
}
