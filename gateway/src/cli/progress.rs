//! Progress of a run: a bar on a terminal, plain lines elsewhere and in CI.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::Instant;

use super::output;
use crate::run::RunProgress;

/// Elsewhere than on a terminal, at most one line in this time.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far a run is. Made for one writer.
#[derive(Debug)]
pub enum Progress {
    Off,
    Bar(ProgressBar),
    Lines { total: u64, started: Instant, last: Instant },
}

impl Progress {
    pub fn new(total: u64, is_quiet: bool, is_in_ci: bool) -> Self {
        if is_quiet {
            return Self::Off;
        }
        if is_in_ci || !std::io::stderr().is_terminal() {
            let now = Instant::now();
            return Self::Lines { total, started: now, last: now };
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template(
            "{bar:32} {pos}/{len} cases  {per_sec}  {elapsed} (eta {eta})  {msg}",
        ) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self::Bar(bar)
    }

    pub fn update(&mut self, run: &RunProgress) {
        let mut message = format!("{} escalated, {} undecided", run.escalated, run.undecided);
        if let Some(usd) = run.cost_usd.filter(|usd| *usd > 0.0) {
            message = format!("{message}, {usd:.4} USD");
        }
        match self {
            Self::Off => {}
            Self::Bar(bar) => {
                bar.set_position(run.done);
                bar.set_message(message);
            }
            Self::Lines { total, started, last } => {
                if last.elapsed() >= LINE_EVERY || run.done == *total {
                    *last = Instant::now();
                    let seconds = started.elapsed().as_secs();
                    output::note(&format!("{}/{total} cases after {seconds} s, {message}", run.done));
                }
            }
        }
    }

    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
