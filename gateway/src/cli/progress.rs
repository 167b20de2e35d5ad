//! Progress of a run: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::Instant;

use super::output;

/// Elsewhere than on a terminal, at most one line in this time.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far a run is. Made for one writer.
#[derive(Debug)]
pub enum Progress {
    Off,
    Bar(ProgressBar),
    Lines { total: u64, started: Instant, last: Instant },
}

/// How far a run is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub done: u64,
    pub escalated: u64,
    /// Cases without a value on some criterion.
    pub undecided: u64,
}

impl Progress {
    pub fn new(total: u64, is_quiet: bool) -> Self {
        if is_quiet {
            return Self::Off;
        }
        if !std::io::stderr().is_terminal() {
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

    pub fn update(&mut self, counts: Counts) {
        let message = format!("{} escalated, {} undecided", counts.escalated, counts.undecided);
        match self {
            Self::Off => {}
            Self::Bar(bar) => {
                bar.set_position(counts.done);
                bar.set_message(message);
            }
            Self::Lines { total, started, last } => {
                if last.elapsed() >= LINE_EVERY || counts.done == *total {
                    *last = Instant::now();
                    let seconds = started.elapsed().as_secs();
                    output::note(&format!("{}/{total} cases after {seconds} s, {message}", counts.done));
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
