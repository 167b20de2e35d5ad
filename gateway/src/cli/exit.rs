//! Exit codes: an interface that scripts rely on.

use std::process::ExitCode;

/// How a command ended. The order of the variants is the precedence when several apply: the first one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Interrupted by a signal.
    Interrupted,
    /// A bug.
    Internal,
    /// The command line is wrong.
    Usage,
    /// `panel.yaml` is wrong, or a store or run belongs to another version.
    Configuration,
    /// The cases are wrong (unreadable lines, duplicate ids).
    BadData,
    /// No judge answered.
    NoAnswer,
    /// Nothing was judged, or the question stays open.
    Inconclusive,
    /// A gate failed.
    Failed,
    Pass,
}

impl Exit {
    /// In the order of precedence.
    pub const ALL: [Self; 9] = [
        Self::Interrupted,
        Self::Internal,
        Self::Usage,
        Self::Configuration,
        Self::BadData,
        Self::NoAnswer,
        Self::Inconclusive,
        Self::Failed,
        Self::Pass,
    ];

    /// For the reference page.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted by a signal; what was paid for is stored",
            Self::Internal => "a bug, or a store that fails",
            Self::Usage => "the command line is wrong",
            Self::Configuration => "`panel.yaml` is wrong, or a store or run belongs to another version",
            Self::BadData => "the cases are wrong: lines that cannot be read, ids that stand twice",
            Self::NoAnswer => "no judge answered",
            Self::Inconclusive => {
                "a gate stays open, nothing was judged (no case has a value), or `--max-cost` ended the run"
            }
            Self::Failed => "a gate failed",
            Self::Pass => "done",
        }
    }

    pub fn code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Failed => 1,
            Self::Inconclusive => 2,
            Self::Usage => 64,
            Self::BadData => 65,
            Self::NoAnswer => 69,
            Self::Internal => 70,
            Self::Configuration => 78,
            Self::Interrupted => 130,
        }
    }

    /// The more severe of the two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A failed command: what to print and how to exit.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub error: anyhow::Error,
}

impl Failure {
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, error: error.into() }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, anyhow::Error::msg(message.into()))
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { exit: Exit::Internal, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_is_usage_configuration_data_answer_inconclusive_failed() {
        let order = [
            Exit::Usage,
            Exit::Configuration,
            Exit::BadData,
            Exit::NoAnswer,
            Exit::Inconclusive,
            Exit::Failed,
            Exit::Pass,
        ];
        for pair in order.windows(2) {
            assert_eq!(pair[0].and(pair[1]), pair[0]);
            assert_eq!(pair[1].and(pair[0]), pair[0]);
        }
        assert_eq!(order.map(Exit::code), [64, 78, 65, 69, 2, 1, 0]);
        assert!(Exit::ALL.is_sorted());
    }
}
