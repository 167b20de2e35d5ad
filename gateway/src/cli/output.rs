//! What a command writes. A closed pipe is not an error of ours.

use std::io::Write;

use super::Cli;
use crate::settings::Source;

/// A line on standard output.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Text on standard output as it stands.
pub fn text(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// A line on standard error: progress, notes, warnings.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The error with its causes.
pub fn error(error: &anyhow::Error) {
    let mut message = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !message.contains(&cause) {
            message.push_str(": ");
            message.push_str(&cause);
        }
    }
    note(&format!("error: {message}"));
}

/// Where the configuration comes from.
pub fn source(cli: &Cli) -> Source {
    Source {
        path: cli.config.clone(),
        overrides: Vec::new(),
        allow_env: (!cli.allow_env.is_empty()).then(|| cli.allow_env.clone()),
    }
}
