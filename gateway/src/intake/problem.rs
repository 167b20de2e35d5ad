//! What can be wrong with a case, in words that name the line, the field and the next step.

use std::fmt;

use crate::case::Mode;
use crate::intake::MAX_RECORD_BYTES;

/// One thing wrong with one field, or with the whole record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldProblem {
    /// Dotted path such as `a.output`; `None`: the record as a whole.
    pub field: Option<String>,
    pub problem: Problem,
}

/// All that is wrong with one record of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseProblem {
    /// From 1: where the record begins.
    pub line: u64,
    /// The case's own name, where it could be read.
    pub id: Option<String>,
    /// At least one.
    pub problems: Vec<FieldProblem>,
    /// Nothing after this line can be read, so skipping bad lines does not help.
    pub fatal: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("longer than {} MiB", MAX_RECORD_BYTES >> 20)]
    TooLong,
    #[error("not UTF-8 at byte {byte}; hint: convert the file to UTF-8")]
    NotUtf8 { byte: usize },
    #[error("not JSON at column {column}: {message}")]
    NotJson { column: usize, message: String },
    #[error("lone surrogate in a `\\u` escape: half a character cannot be kept as it is")]
    LoneSurrogate,
    #[error("key `{0}` stands twice")]
    DuplicateKey(String),
    #[error("not a JSON object; hint: one object a case")]
    NotAnObject,
    #[error("NUL character")]
    Nul,
    #[error("reading stopped: {0}")]
    Unreadable(String),
    #[error("the array is not closed by `]`")]
    UnclosedArray,
    #[error("`{0}` where an element, a comma or the end should be")]
    Unexpected(char),
    #[error("{found} fields where the header has {expected}")]
    FieldCount { expected: usize, found: usize },
    #[error("a quote inside a quoted cell is not doubled; hint: write \"\"")]
    StrayQuote,
    #[error("a quoted cell is not closed before the end of the file")]
    OpenQuote,
    #[error("column stands twice in the header")]
    DuplicateColumn,
    #[error("unknown field; did you mean `{0}`? hint: to keep it as it is, put it into `metadata`")]
    Typo(&'static str),
    #[error("the case has it and `--map` fills it from `{from}`; hint: map the other one away or drop it")]
    MappedTwice { from: String },
    #[error("must be {expected}, is {found}")]
    WrongType { expected: &'static str, found: &'static str },
    #[error("must not be empty")]
    Empty,
    #[error("must be one of {expected}, is `{found}`")]
    UnknownName { expected: &'static str, found: String },
    #[error("nothing to judge: needs `output`, or `a` and `b`")]
    NoCandidate,
    #[error("nothing to judge: needs `output`, or `a` and `b`; hint: `--map {target}={from}`")]
    NoCandidateButCommonName { target: &'static str, from: String },
    #[error("is null; hint: an empty answer is written \"\"")]
    NullCandidate,
    #[error("cannot stand beside `output`: a case is one answer or a pair")]
    OneOrPair,
    #[error("missing: a pair needs both `a` and `b`")]
    HalfPair,
    #[error("must have `output` when it is an object; hint: {{\"output\": …, \"model\": …}}")]
    NoOutputInside,
    #[error(
        "only for one answer; hint: {{\"a\": {{\"output\": …, \"model\": …}}}} names the models of a pair"
    )]
    ModelOfPair,
    #[error("only for pairs; hint: `model` names the model of one answer")]
    ModelWithoutPair,
    #[error("says `{outer}`, the candidate itself says `{inner}`")]
    ModelDisagrees { outer: String, inner: String },
    #[error("is `{declared}`, but the fields make it {found}")]
    ModeDisagrees { declared: Mode, found: Mode },
    #[error("missing, and `mode` is `reference`")]
    ReferenceMissing,
    #[error("cannot be judged: a message part of type `{0}` is not text")]
    NotText(String),
    #[error("message {index} has no {key}")]
    BadMessage { index: usize, key: &'static str },
    #[error("is in the case and in its `metadata`")]
    TwiceInMetadata,
    #[error("baseline `{baseline}` has no output for it")]
    NotInBaseline { baseline: String },
    #[error("a pair has its own second answer; hint: --baseline b compares `a` with it")]
    PairBesideBaseline,
}

impl FieldProblem {
    pub(super) fn record(problem: Problem) -> Self {
        Self { field: None, problem }
    }

    pub(super) fn field(field: impl Into<String>, problem: Problem) -> Self {
        Self { field: Some(field.into()), problem }
    }
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "`{}` {}", field.escape_debug(), self.problem),
            None => write!(f, "{}", self.problem),
        }
    }
}

impl fmt::Display for CaseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(id) = &self.id {
            write!(f, ", case `{}`", id.escape_debug())?;
        }
        for (i, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if i == 0 { ": " } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for CaseProblem {}
