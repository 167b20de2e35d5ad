//! Cases from files, standard input and request bodies: JSON Lines, JSON arrays, CSV and TSV, plain or gzipped.
//!
//! Owns every rule about what a case may look like from outside, and says all that is wrong at once, with line and
//! field. Reading is streaming and blocking: run it in `spawn_blocking`. Knows nothing of panels, judges or stores.

mod baseline;
pub mod evidence;
mod json;
mod lines;
mod mapping;
mod problem;
mod raw;
mod reader;
mod report;
mod rows;
mod source;
mod table;
mod text;
mod tools;
mod values;

pub use baseline::{Against, Baseline, BaselineFault};
pub use json::parse_strict;
pub use mapping::{FieldMap, IntakeNotes, MapError};
pub use problem::{CaseProblem, FieldProblem, Problem};
pub use raw::case_from_value;
pub use reader::CaseReader;
pub use report::{CaseAt, CaseProfile, DuplicateId, Report, of_values, validate};
pub use source::{CaseFile, Format, IntakeError};
pub use tools::{Tool, UnknownTool};

/// Longest accepted line, array element or table row, in bytes.
pub const MAX_RECORD_BYTES: usize = 16 << 20;

/// How the fields of a file are read.
#[derive(Debug, Clone, Default)]
pub struct IntakeOptions {
    /// `--map`.
    pub map: FieldMap,
    pub candidate_texts: CandidateTexts,
    /// `--from`: the file is another tool's. It is read by [`CaseFile::read`].
    pub from: Option<Tool>,
    /// Pinned outputs that every case is held against.
    pub against: Option<Against>,
    /// How often each case is judged; 0 and 1: once.
    pub repeat: u32,
}

/// Whether a case needs the texts under judgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CandidateTexts {
    #[default]
    Required,
    /// For panels of recorded judgments alone: a case that declares its `mode` may leave its candidates and its
    /// reference out. They are then empty texts.
    Optional,
}
