//! Log output: human on a terminal, JSON elsewhere, always on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Installs the process-wide subscriber. `directives` is a filter such as `info,gateway::engine=debug`; an invalid one
/// falls back to `warn`. A second call does nothing.
pub fn init(directives: &str) {
    let filter = EnvFilter::try_new(directives).unwrap_or_else(|_| EnvFilter::new("warn"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A subscriber that is already there (tests, embedding) stays.
    let _ = if std::io::stderr().is_terminal() {
        builder.compact().try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
}
