//! One case after the other from any input, with the problems of each line.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};

use serde_json::Value;

use crate::case::Case;
use crate::intake::lines::JsonLines;
use crate::intake::mapping::IntakeNotes;
use crate::intake::problem::{CaseProblem, FieldProblem, Problem};
use crate::intake::rows::Rows;
use crate::intake::source::{Format, IntakeError, Opened};
use crate::intake::table::Table;
use crate::intake::tools::ToolRecords;
use crate::intake::values::JsonValues;
use crate::intake::{IntakeOptions, MAX_RECORD_BYTES, Tool, raw};

/// Cases in file order, read as they are asked for: memory does not grow with the file.
pub struct CaseReader {
    records: Records,
    options: IntakeOptions,
    notes: IntakeNotes,
    line: u64,
    ended: bool,
    /// What the first bytes look like, until the first case was read.
    suspect: Option<Tool>,
    /// What is to be judged once more before the next case is read.
    repeats: VecDeque<Case>,
}

/// What one line, element or row held.
pub(super) struct Record {
    pub(super) line: u64,
    pub(super) value: Result<Value, FieldProblem>,
    /// Nothing can be read after it.
    pub(super) fatal: bool,
}

impl Record {
    pub(super) fn fatal(line: u64, problem: Problem) -> Self {
        Self { line, value: Err(FieldProblem::record(problem)), fatal: true }
    }

    pub(super) fn broken(line: u64, error: &io::Error) -> Self {
        Self::fatal(line, Problem::Unreadable(error.to_string()))
    }
}

type Input = BufReader<Box<dyn Read + Send>>;

enum Records {
    Lines(JsonLines<Input>),
    Values(JsonValues<Input>),
    Table(Table<Input>),
    Tool(ToolRecords),
}

fn table(input: Box<dyn Read + Send>, delimiter: u8, options: &IntakeOptions) -> Table<Input> {
    Table::new(Rows::new(BufReader::new(input), delimiter, MAX_RECORD_BYTES), &options.map)
}

impl CaseReader {
    /// `format: None` looks at the first characters. Gzip and a byte-order mark are seen by themselves. Errs when the
    /// input cannot be read at all or is in a form that is not read.
    pub fn new(
        input: impl Read + Send + 'static,
        format: Option<Format>,
        options: IntakeOptions,
    ) -> Result<Self, IntakeError> {
        let (opened, format) = Opened::new(Box::new(input), format)?;
        let suspect = Tool::of_head(&opened.head);
        let records = match format {
            Format::Jsonl => Records::Lines(JsonLines::new(BufReader::new(opened.input))),
            Format::Json => Records::Values(JsonValues::new(BufReader::new(opened.input))),
            Format::Csv => Records::Table(table(opened.input, b',', &options)),
            Format::Tsv => Records::Table(table(opened.input, b'\t', &options)),
        };
        Ok(Self { suspect, ..Self::of_records(records, options) })
    }

    /// Records of another tool's file.
    pub(super) fn of_tool(records: ToolRecords, options: IntakeOptions) -> Self {
        Self::of_records(Records::Tool(records), options)
    }

    fn of_records(records: Records, options: IntakeOptions) -> Self {
        Self {
            records,
            options,
            notes: IntakeNotes::default(),
            line: 0,
            ended: false,
            suspect: None,
            repeats: VecDeque::new(),
        }
    }

    /// Where the last returned case or problem began, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// What was noticed so far.
    pub fn notes(&self) -> &IntakeNotes {
        &self.notes
    }

    pub fn into_notes(self) -> IntakeNotes {
        self.notes
    }
}

impl Iterator for CaseReader {
    type Item = Result<Case, CaseProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(again) = self.repeats.pop_front() {
            return Some(Ok(again));
        }
        if self.ended {
            return None;
        }
        let record = match &mut self.records {
            Records::Lines(lines) => lines.next_record(),
            Records::Values(values) => values.next_record(),
            Records::Table(table) => table.next_record(),
            Records::Tool(records) => records.next_record(),
        };
        let Some(Record { line, value, fatal }) = record else {
            self.ended = true;
            return None;
        };
        self.line = line;
        self.ended = fatal;
        let id = match &self.records {
            Records::Tool(records) => records.name(),
            Records::Lines(_) | Records::Values(_) | Records::Table(_) => {
                value.as_ref().ok().and_then(raw::readable_id)
            }
        };
        let case = value
            .map_err(|problem| vec![problem])
            .and_then(|value| raw::case_from_value(value, &self.options, &mut self.notes));
        // Why: a guess from a few names must not refuse a file whose cases are good.
        if let Some(tool) = self.suspect.take()
            && case.is_err()
        {
            self.ended = true;
            let problems = vec![FieldProblem::record(Problem::FileOfTool(tool))];
            return Some(Err(CaseProblem { line, id, problems, fatal: true }));
        }
        let case = case.and_then(|case| match &self.options.against {
            Some(against) => against.apply(case).map_err(|problem| vec![problem]),
            None => Ok(case),
        });
        match case {
            Ok(case) => {
                self.repeats = case.repeated(self.options.repeat).collect();
                self.repeats.pop_front().map(Ok)
            }
            Err(problems) => Some(Err(CaseProblem { line, id, problems, fatal })),
        }
    }
}

impl std::fmt::Debug for CaseReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaseReader").field("line", &self.line).finish_non_exhaustive()
    }
}
