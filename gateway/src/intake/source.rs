//! Where cases come from: a file, standard input, gzip or not, and in which form.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek as _};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::intake::problem::FieldProblem;
use crate::intake::tools::ToolRecords;
use crate::intake::{CaseReader, IntakeOptions, Tool};

/// The form of an input, by its name or by its first characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One object a line.
    Jsonl,
    /// One array of objects, or objects one after the other over any lines.
    Json,
    Csv,
    Tsv,
}

/// Why an input cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error("read cases from `{}`", path.display())]
    Open {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("read cases")]
    Read(#[source] io::Error),
    #[error("no cases in `{}`", path.display())]
    NoCases { path: PathBuf },
    #[error("cases are in UTF-16; hint: convert the file to UTF-8")]
    Utf16,
    #[error("cases are neither JSON, CSV nor TSV; hint: name the file .jsonl, .json, .csv or .tsv")]
    UnknownFormat,
    #[error("this looks like a file of {0}; hint: --from {0}")]
    FileOfTool(Tool),
    #[error("`{}` looks like a file of {found}, not of {asked}; hint: --from {found}", path.display())]
    OtherTool { path: PathBuf, asked: Tool, found: Tool },
    #[error("`{}` is no whole log of inspect: {reason}; hint: was it cut off, or is it still being written?", path.display())]
    Archive { path: PathBuf, reason: String },
    #[error("`{}` is a table or an archive, which is not read with --from {tool}; hint: let the tool write .json or .jsonl", path.display())]
    TableOfTool { path: PathBuf, tool: Tool },
    #[error("`{}` has {found} files in `model_answer`, and one or two can be judged; hint: name one of them, or move the others away", path.display())]
    AnswerFiles { path: PathBuf, found: usize },
    #[error("`{}` is missing; hint: mt-bench's answers are judged where the tool wrote them, with `question.jsonl` beside `model_answer`", path.display())]
    NoQuestions { path: PathBuf },
    #[error("`{}`, line {line}: {problem}", path.display())]
    SideFile { path: PathBuf, line: u64, problem: FieldProblem },
}

/// An input that can be read more than once: first to check it, then to judge it.
#[derive(Debug)]
pub struct CaseFile {
    path: PathBuf,
    format: Option<Format>,
    /// Standard input, kept in an unnamed place on disk so that memory does not grow with it.
    spooled: Option<tempfile::NamedTempFile>,
}

impl CaseFile {
    /// `-` is standard input: it is read to its end at once.
    pub fn open(path: &Path) -> Result<Self, IntakeError> {
        if path == Path::new("-") {
            return Self::spool(path, io::stdin().lock());
        }
        let file = Self { path: path.to_owned(), format: Format::of_name(path), spooled: None };
        // MT-bench's folder is the only one that can be read.
        if !path.join("model_answer").is_dir() {
            file.bytes()?;
        }
        Ok(file)
    }

    /// Keeps all of an input that can be read only once. `path` is what messages call it.
    pub fn spool(path: &Path, mut input: impl Read) -> Result<Self, IntakeError> {
        let failed = |source| IntakeError::Open { path: path.to_owned(), source };
        let mut spooled = tempfile::NamedTempFile::new().map_err(failed)?;
        io::copy(&mut input, &mut spooled).map_err(failed)?;
        spooled.rewind().map_err(failed)?;
        Ok(Self { path: path.to_owned(), format: Format::of_name(path), spooled: Some(spooled) })
    }

    /// As the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From the first case; may be called again, also while another reader is open.
    pub fn read(&self, options: &IntakeOptions) -> Result<CaseReader, IntakeError> {
        let is_folder = self.spooled.is_none() && self.path.is_dir();
        let Some(tool) = options.from else {
            if is_folder {
                return Err(IntakeError::FileOfTool(Tool::MtBench));
            }
            return CaseReader::new(self.bytes()?, self.format, options.clone());
        };
        let records = if is_folder {
            ToolRecords::of_folder(tool, &self.path)?
        } else {
            ToolRecords::new(tool, &self.path, self.format, self.bytes()?)?
        };
        Ok(CaseReader::of_tool(records, options.clone()))
    }

    fn bytes(&self) -> Result<File, IntakeError> {
        let opened = match &self.spooled {
            Some(spooled) => spooled.reopen(),
            None => File::open(&self.path),
        };
        // Why: a directory opens like a file on Linux and fails at the first read, with a worse message.
        let refuse_folder = |file: File| {
            if file.metadata()?.is_dir() {
                Err(io::Error::from(io::ErrorKind::IsADirectory))
            } else {
                Ok(file)
            }
        };
        let checked = opened.and_then(refuse_folder);
        checked.map_err(|source| IntakeError::Open { path: self.path.clone(), source })
    }
}

impl Format {
    /// By the ending before `.gz`; `None` for other names.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match Path::new(name).extension()?.to_str()? {
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            _ => None,
        }
    }

    /// By the first line. Only a line that starts like a table's header counts as one.
    fn of_content(head: &[u8]) -> Option<Self> {
        let head = head.trim_ascii_start();
        let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
        match head.first() {
            // Nothing inside: any form will do, there are no cases in it.
            None | Some(b'{') => Some(Self::Jsonl),
            Some(b'[') => Some(Self::Json),
            Some(_) if head.starts_with(b"PK\x03\x04") => None,
            Some(_) if line.contains(&b'\t') => Some(Self::Tsv),
            Some(_) if line.contains(&b',') => Some(Self::Csv),
            Some(_) => None,
        }
    }
}

/// Plain bytes after gzip and the byte-order mark are taken off.
pub(super) struct Opened {
    pub(super) input: Box<dyn Read + Send>,
    pub(super) format: Option<Format>,
    /// Of the plain bytes.
    pub(super) head: Vec<u8>,
}

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
/// Enough to see a header line; more is never needed to tell the forms apart.
const HEAD_BYTES: u64 = 16 << 10;

impl Opened {
    /// Of cases, whose form must be known.
    pub(super) fn new(
        input: Box<dyn Read + Send>,
        format: Option<Format>,
    ) -> Result<(Self, Format), IntakeError> {
        let opened = Self::of_tool(input, format)?;
        match opened.format {
            Some(format) => Ok((opened, format)),
            None => {
                Err(Tool::of_head(&opened.head).map_or(IntakeError::UnknownFormat, IntakeError::FileOfTool))
            }
        }
    }

    /// In any form.
    pub(super) fn of_tool(input: Box<dyn Read + Send>, format: Option<Format>) -> Result<Self, IntakeError> {
        let (head, mut input) = peek(input)?;
        if head.starts_with(GZIP_MAGIC) {
            input = Box::new(MultiGzDecoder::new(input));
        }
        let (head, mut input) = peek(input)?;
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(IntakeError::Utf16);
        }
        let mut head = head.as_slice();
        if let Some(rest) = head.strip_prefix(UTF8_MARK) {
            head = rest;
            io::copy(&mut (&mut input).take(UTF8_MARK.len() as u64), &mut io::sink())
                .map_err(IntakeError::Read)?;
        }
        let format = format.or_else(|| Format::of_content(head));
        Ok(Self { format, head: head.to_vec(), input })
    }
}

/// The first bytes, and the input with them put back.
fn peek(mut input: Box<dyn Read + Send>) -> Result<(Vec<u8>, Box<dyn Read + Send>), IntakeError> {
    let mut head = Vec::new();
    (&mut input).take(HEAD_BYTES).read_to_end(&mut head).map_err(IntakeError::Read)?;
    let whole = Cursor::new(head.clone()).chain(input);
    Ok((head, Box::new(whole)))
}
