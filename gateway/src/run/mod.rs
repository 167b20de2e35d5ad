//! Runs as the command line and the API share them: checks before the first call, the judging and how it ended, and
//! the runs that gateways judge by themselves.

pub mod checks;
pub mod desk;
mod judging;
mod options;
mod report;
mod taken;

#[cfg(test)]
mod tests;

pub use self::judging::{RunProgress, Tally, judge_cases};
pub use self::options::RunOptions;
pub use self::report::{RunReport, RunSettings};
pub use self::taken::RunFault;
