//! Result files of other tools, read as cases: `--from promptfoo`, `inspect`, `mt-bench`.
//!
//! Each reader turns one record of its tool into the fields of a case; what a case may look like is decided where all
//! cases are read. Scores that the tool gave are left out on purpose.

mod archive;
mod document;
mod inspect;
mod mt_bench;
mod promptfoo;

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

use self::archive::Archive;
use self::document::Document;
use self::mt_bench::MtBench;
use crate::intake::lines::JsonLines;
use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::reader::Record;
use crate::intake::source::{Format, IntakeError, Opened};

/// A tool whose files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Promptfoo,
    Inspect,
    MtBench,
}

impl Tool {
    pub const NAMES: [&str; 3] = ["promptfoo", "inspect", "mt-bench"];

    pub fn name(self) -> &'static str {
        match self {
            Self::Promptfoo => "promptfoo",
            Self::Inspect => "inspect",
            Self::MtBench => "mt-bench",
        }
    }

    /// What of the tool is read.
    pub(super) fn files(self) -> &'static str {
        match self {
            Self::Promptfoo => "what `promptfoo eval -o` writes to .json or .jsonl",
            Self::Inspect => "its .eval and .json logs",
            Self::MtBench => "an answer file in `model_answer`, or the folder around it",
        }
    }

    /// By the first bytes of a file, which may end anywhere. A guess: files of cases may use the same names.
    pub(super) fn of_head(head: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(head);
        let has = |name: &str| text.contains(&format!("\"{name}\""));
        if has("evalId") && has("results") || has("gradingResult") && has("latencyMs") {
            Some(Self::Promptfoo)
        } else if has("eval") && has("status") && has("version") || archive::is_log(head) {
            Some(Self::Inspect)
        } else if has("question_id") && (has("choices") || has("turns")) {
            Some(Self::MtBench)
        } else {
            None
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no reader for `{0}`; hint: there are {names}", names = Tool::NAMES.join(", "))]
pub struct UnknownTool(String);

impl FromStr for Tool {
    type Err = UnknownTool;

    fn from_str(name: &str) -> Result<Self, UnknownTool> {
        let all = [Self::Promptfoo, Self::Inspect, Self::MtBench];
        all.into_iter().find(|tool| tool.name() == name).ok_or_else(|| UnknownTool(name.to_owned()))
    }
}

type Input = BufReader<Box<dyn Read + Send>>;

/// Records of one tool's file, one in memory at a time.
pub(super) struct ToolRecords {
    records: Records,
    name: Option<String>,
}

enum Records {
    PromptfooLines(JsonLines<Input>),
    Promptfoo(Document<Input>),
    Inspect(Document<Input>),
    InspectArchive(Box<Archive>),
    MtBench(Box<MtBench>),
}

impl ToolRecords {
    /// Errs when the file is another tool's, or in a form that is not read.
    pub(super) fn new(
        tool: Tool,
        path: &Path,
        format: Option<Format>,
        file: File,
    ) -> Result<Self, IntakeError> {
        let again = file.try_clone().map_err(IntakeError::Read)?;
        let Opened { input, format, head } = Opened::of_tool(Box::new(file), format)?;
        if let Some(found) = Tool::of_head(&head)
            && found != tool
        {
            return Err(IntakeError::OtherTool { path: path.to_owned(), asked: tool, found });
        }
        let is_archive = head.starts_with(archive::MAGIC);
        if is_archive && tool == Tool::Inspect {
            let archive = Archive::open(again)
                .map_err(|reason| IntakeError::Archive { path: path.to_owned(), reason })?;
            return Ok(Self { records: Records::InspectArchive(Box::new(archive)), name: None });
        }
        if is_archive || matches!(format, Some(Format::Csv | Format::Tsv)) {
            return Err(IntakeError::TableOfTool { path: path.to_owned(), tool });
        }
        let input = BufReader::new(input);
        let records = match tool {
            Tool::Promptfoo if promptfoo::is_lines(&head) => Records::PromptfooLines(JsonLines::new(input)),
            Tool::Promptfoo => Records::Promptfoo(Document::new(input, &["results", "results"], &[])),
            Tool::Inspect => Records::Inspect(Document::new(input, &["samples"], &["eval"])),
            Tool::MtBench => Records::MtBench(Box::new(MtBench::of_file(path, input)?)),
        };
        Ok(Self { records, name: None })
    }

    /// The folder that mt-bench keeps its files in.
    pub(super) fn of_folder(tool: Tool, path: &Path) -> Result<Self, IntakeError> {
        match tool {
            Tool::MtBench => {
                let records = Records::MtBench(Box::new(MtBench::of_folder(path)?));
                Ok(Self { records, name: None })
            }
            Tool::Promptfoo | Tool::Inspect => {
                Err(IntakeError::OtherTool { path: path.to_owned(), asked: tool, found: Tool::MtBench })
            }
        }
    }

    /// The name of the last record as a case, for messages.
    pub(super) fn name(&self) -> Option<String> {
        self.name.clone()
    }

    pub(super) fn next_record(&mut self) -> Option<Record> {
        let record = match &mut self.records {
            Records::PromptfooLines(lines) => lines.next_record(),
            Records::Promptfoo(document) | Records::Inspect(document) => document.next_record(),
            Records::InspectArchive(archive) => archive.next_record(),
            Records::MtBench(files) => files.next_record(),
        }?;
        self.name = None;
        let value = record.value.and_then(|value| {
            let (name, case) = match &self.records {
                Records::PromptfooLines(_) | Records::Promptfoo(_) => promptfoo::case_of(value),
                Records::Inspect(document) => inspect::case_of(value, document.kept()),
                Records::InspectArchive(archive) => inspect::case_of(value, archive.header()),
                Records::MtBench(files) => files.case_of(value),
            };
            self.name = name;
            case
        });
        Some(Record { value, ..record })
    }
}

/// A record's name, and its fields as a case has them.
type Named = (Option<String>, Result<Value, FieldProblem>);

/// A record that lacks what every record of its tool has.
fn foreign(tool: Tool, field: &str) -> Named {
    (None, Err(FieldProblem::field(field, Problem::NotOfTool(tool))))
}

/// The first line of an error message, without end.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

#[cfg(test)]
mod tests;
