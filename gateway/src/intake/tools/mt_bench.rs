//! MT-bench's folder: `question.jsonl`, `model_answer/*.jsonl`, `reference_answer/*.jsonl`.
//!
//! One answer file gives single answers; a folder with two gives pairs. Answers of the first file are read one at a
//! time. Questions, reference answers and the second file are kept, up to [`MAX_SIDE_BYTES`] each.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Input, Named, Tool, foreign};
use crate::intake::lines::JsonLines;
use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::reader::Record;
use crate::intake::source::IntakeError;

/// Most that a file beside the answers may hold.
const MAX_SIDE_BYTES: u64 = 64 << 20;

pub(super) struct MtBench {
    answers: JsonLines<Input>,
    questions: HashMap<String, Value>,
    references: HashMap<String, Value>,
    /// The other side of each pair.
    others: Option<HashMap<String, Value>>,
}

impl MtBench {
    /// An answer file in its folder: single answers.
    pub(super) fn of_file(path: &Path, answers: Input) -> Result<Self, IntakeError> {
        let folder = path.parent().and_then(Path::parent).unwrap_or(Path::new(".."));
        // Why: `model_answer/x.jsonl` has a parent, whose own parent is the empty path: the current folder.
        let folder = if path.parent() == Some(Path::new("")) { Path::new("..") } else { folder };
        Self::new(folder, answers, None)
    }

    /// The whole folder: with two answer files, pairs in the order of their names.
    pub(super) fn of_folder(folder: &Path) -> Result<Self, IntakeError> {
        let files = files_in(&folder.join("model_answer"))?;
        let (first, second) = match files.as_slice() {
            [one] => (one, None),
            [one, two] => (one, Some(two)),
            _ => return Err(IntakeError::AnswerFiles { path: folder.to_owned(), found: files.len() }),
        };
        let file: Box<dyn Read + Send> = Box::new(open(first)?);
        let others = second.map(|path| by_question(path)).transpose()?;
        Self::new(folder, BufReader::new(file), others)
    }

    fn new(
        folder: &Path,
        answers: Input,
        others: Option<HashMap<String, Value>>,
    ) -> Result<Self, IntakeError> {
        let path = folder.join("question.jsonl");
        if !path.exists() {
            return Err(IntakeError::NoQuestions { path });
        }
        let questions = by_question(&path)?;
        let mut references = HashMap::new();
        let folder = folder.join("reference_answer");
        if folder.is_dir() {
            for path in files_in(&folder)? {
                references.extend(by_question(&path)?);
            }
        }
        Ok(Self { answers: JsonLines::new(answers), questions, references, others })
    }

    pub(super) fn next_record(&mut self) -> Option<Record> {
        self.answers.next_record()
    }

    pub(super) fn case_of(&self, answer: Value) -> Named {
        let Some(key) = key_of(&answer) else { return foreign(Tool::MtBench, "question_id") };
        let Some(model) = model_of(&answer) else { return foreign(Tool::MtBench, "model_id") };
        (Some(key.clone()), self.fields(&key, &model, &answer).map(Value::Object))
    }

    fn fields(&self, key: &str, model: &str, answer: &Value) -> Result<Map<String, Value>, FieldProblem> {
        let lacks = |field: &str, problem| FieldProblem::field(field, problem);
        let question = self.questions.get(key).ok_or_else(|| lacks("question_id", Problem::NoQuestion))?;
        let turns = turns_of(question.get("turns"))
            .ok_or_else(|| lacks("question.turns", Problem::NotOfTool(Tool::MtBench)))?;
        let output = answer_of(answer, "")?;
        let mut case = Map::new();
        case.insert("id".into(), json!(key));
        case.insert("source".into(), json!(key));
        case.insert("input".into(), messages(&turns));
        match &self.others {
            None => {
                case.insert("output".into(), json!(output));
                case.insert("model".into(), json!(model));
            }
            Some(others) => {
                let other = others
                    .get(key)
                    .ok_or_else(|| lacks("b", Problem::NoResponse("the second file has no answer".into())))?;
                let b = answer_of(other, "b.")?;
                case.insert("a".into(), json!({"output": output, "model": model}));
                case.insert("b".into(), json!({"output": b, "model": model_of(other)}));
            }
        }
        let reference =
            self.references.get(key).map(|answer| answer_of(answer, "reference_answer.")).transpose()?;
        let own = turns_of(question.get("reference")).map(|turns| written_out(&turns));
        if let Some(reference) = reference.or(own) {
            case.insert("reference".into(), json!(reference));
        }
        if let Some(category) = question.get("category") {
            case.insert("metadata".into(), json!({"category": category}));
        }
        Ok(case)
    }
}

/// Question ids are numbers in MT-bench and texts in its relatives.
fn key_of(record: &Value) -> Option<String> {
    match record.get("question_id")? {
        Value::Number(id) => Some(id.to_string()),
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn model_of(answer: &Value) -> Option<String> {
    answer.get("model_id")?.as_str().filter(|model| !model.is_empty()).map(str::to_owned)
}

fn turns_of(turns: Option<&Value>) -> Option<Vec<String>> {
    let turns = turns?.as_array().filter(|turns| !turns.is_empty())?;
    turns.iter().map(|turn| turn.as_str().map(str::to_owned)).collect()
}

/// What FastChat writes in place of an answer when its calls failed, and when its own model did.
const FAILURES: [&str; 2] = ["$ERROR$", "ERROR"];

/// The first choice, as MT-bench itself judges it. `place` is where the record stands, for messages.
fn answer_of(answer: &Value, place: &str) -> Result<String, FieldProblem> {
    let none = |why: String| FieldProblem::field(format!("{place}choices.turns"), Problem::NoResponse(why));
    let choice = answer.get("choices").and_then(Value::as_array).and_then(|choices| choices.first());
    let turns = turns_of(choice.and_then(|choice| choice.get("turns")));
    let turns = turns.ok_or_else(|| none("no turns".into()))?;
    match turns.iter().find(|turn| FAILURES.contains(&turn.trim())) {
        Some(failure) => Err(none(format!("`{}` stands for a call that failed", failure.trim()))),
        None => Ok(written_out(&turns)),
    }
}

fn messages(turns: &[String]) -> Value {
    match turns {
        [only] => json!(only),
        turns => turns.iter().map(|turn| json!({"role": "user", "content": turn})).collect(),
    }
}

/// One turn as it is; several in the form that chat messages have in an input.
fn written_out(turns: &[String]) -> String {
    match turns {
        [only] => only.clone(),
        turns => {
            let blocks: Vec<String> = turns.iter().map(|turn| format!("[assistant]\n{turn}")).collect();
            blocks.join("\n\n")
        }
    }
}

fn open(path: &Path) -> Result<File, IntakeError> {
    File::open(path).map_err(|source| IntakeError::Open { path: path.to_owned(), source })
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, IntakeError> {
    let failed = |source| IntakeError::Open { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// All records of a file beside the answers, by question.
fn by_question(path: &Path) -> Result<HashMap<String, Value>, IntakeError> {
    let broken = |line, problem| IntakeError::SideFile { path: path.to_owned(), line, problem };
    let file = open(path)?;
    let size = file.metadata().map_err(|source| IntakeError::Open { path: path.to_owned(), source })?.len();
    if size > MAX_SIDE_BYTES {
        return Err(broken(1, FieldProblem::record(Problem::FileTooLong { mib: MAX_SIDE_BYTES >> 20 })));
    }
    let mut lines = JsonLines::new(BufReader::new(file));
    let mut records = HashMap::new();
    while let Some(Record { line, value, .. }) = lines.next_record() {
        let value = value.map_err(|problem| broken(line, problem))?;
        let key = key_of(&value).ok_or_else(|| {
            broken(line, FieldProblem::field("question_id", Problem::NotOfTool(Tool::MtBench)))
        })?;
        if records.insert(key.clone(), value).is_some() {
            return Err(broken(line, FieldProblem::field("question_id", Problem::TwiceInFile(key))));
        }
    }
    Ok(records)
}
