//! Pinned outputs that candidates are compared with: known by their name and by the hash of what they say.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::case::{Candidate, Candidates, Case, CaseId};
use crate::intake::IntakeOptions;
use crate::intake::problem::{CaseProblem, FieldProblem, Problem};
use crate::intake::source::{CaseFile, IntakeError};

/// The pinned output of each case. Held in memory while cases are read.
#[derive(Debug, PartialEq, Eq)]
pub struct Baseline {
    /// The file's own name.
    pub name: String,
    /// `b3:` and 32 hex digits over ids, outputs and models, in whatever order they stand in the file.
    pub hash: String,
    outputs: HashMap<CaseId, Candidate>,
}

/// What a baseline does to the cases that are read.
#[derive(Debug, Clone)]
pub enum Against {
    /// Its output becomes `b` beside the case's own, which becomes `a`.
    Pair(Arc<Baseline>),
    /// Its output stands in the place of the case's own.
    Instead(Arc<Baseline>),
}

/// Why pinned outputs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineFault {
    #[error(transparent)]
    Intake(#[from] IntakeError),
    #[error("baseline `{}`: {problem}", path.display())]
    Line { path: PathBuf, problem: CaseProblem },
    #[error("baseline `{}` line {line}: case `{id}` is a pair; hint: one `output` a line", path.display())]
    Pair { path: PathBuf, line: u64, id: CaseId },
    #[error("baseline `{}` line {line}: id `{id}` stands twice", path.display())]
    Twice { path: PathBuf, line: u64, id: CaseId },
    #[error(
        "line {line}: case `{id}` is no pair, so it has no `b`; hint: --baseline FILE names the outputs to compare with"
    )]
    NoPair { line: u64, id: CaseId },
}

impl Baseline {
    /// Reads a whole file of outputs (blocking).
    pub fn read(path: &Path) -> Result<Self, BaselineFault> {
        let mut outputs = HashMap::new();
        let mut reader = CaseFile::open(path)?.read(&IntakeOptions::default())?;
        let mut hashes = Vec::new();
        while let Some(read) = reader.next() {
            let line = reader.line();
            let case = read.map_err(|problem| BaselineFault::Line { path: path.to_owned(), problem })?;
            let Candidates::One(candidate) = case.candidates else {
                return Err(BaselineFault::Pair { path: path.to_owned(), line, id: case.id });
            };
            hashes.push(hash_of(&case.id, &candidate));
            if outputs.insert(case.id.clone(), candidate).is_some() {
                return Err(BaselineFault::Twice { path: path.to_owned(), line, id: case.id });
            }
        }
        if outputs.is_empty() {
            return Err(IntakeError::NoCases { path: path.to_owned() }.into());
        }
        Ok(Self { name: name_of(path), hash: hash_of_all(hashes), outputs })
    }

    /// The `b` of each pair of a file, which need no other file (blocking). What cannot be read is left to the check of
    /// the cases.
    pub fn of_pairs(file: &CaseFile, options: &IntakeOptions) -> Result<Self, BaselineFault> {
        let mut reader = file.read(options)?;
        let mut hashes = Vec::new();
        while let Some(read) = reader.next() {
            let Ok(case) = read else { continue };
            let Candidates::Pair { b, .. } = &case.candidates else {
                return Err(BaselineFault::NoPair { line: reader.line(), id: case.id });
            };
            hashes.push(hash_of(&case.id, b));
        }
        let name = format!("b of {}", name_of(file.path()));
        Ok(Self { name, hash: hash_of_all(hashes), outputs: HashMap::new() })
    }
}

impl Against {
    pub(super) fn apply(&self, case: Case) -> Result<Case, FieldProblem> {
        let (Self::Pair(baseline) | Self::Instead(baseline)) = self;
        let Candidates::One(own) = &case.candidates else {
            return Err(FieldProblem::record(Problem::PairBesideBaseline));
        };
        let Some(pinned) = baseline.outputs.get(&case.id).cloned() else {
            return Err(FieldProblem::record(Problem::NotInBaseline { baseline: baseline.name.clone() }));
        };
        let candidates = match self {
            Self::Pair(_) => Candidates::Pair { a: own.clone(), b: pinned },
            Self::Instead(_) => Candidates::One(pinned),
        };
        Ok(Case { candidates, ..case })
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn hash_of(id: &CaseId, candidate: &Candidate) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for text in [id.0.as_str(), &candidate.output, candidate.model.as_deref().unwrap_or_default()] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize()
}

fn hash_of_all(mut hashes: Vec<blake3::Hash>) -> String {
    hashes.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    let mut hasher = blake3::Hasher::new();
    for hash in &hashes {
        hasher.update(hash.as_bytes());
    }
    let hex = hasher.finalize().to_hex();
    format!("b3:{}", hex.get(..32).unwrap_or(&hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Baseline, BaselineFault> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pinned.jsonl");
        std::fs::write(&path, text).unwrap();
        Baseline::read(&path)
    }

    #[test]
    fn the_hash_is_of_what_is_pinned_and_of_nothing_else() {
        let first = read("{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"b\",\"output\":\"y\"}\n").unwrap();
        let same = read("{\"id\":\"b\",\"output\":\"y\",\"input\":\"?\"}\n{\"id\":\"a\",\"output\":\"x\"}\n")
            .unwrap();
        let other = read("{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"b\",\"output\":\"z\"}\n").unwrap();
        assert_eq!((&first.hash, first.name.as_str()), (&same.hash, "pinned.jsonl"));
        assert_ne!(first.hash, other.hash);
    }

    #[test]
    fn outputs_that_cannot_be_pinned_are_refused_by_line() {
        assert!(matches!(read("\n"), Err(BaselineFault::Intake(IntakeError::NoCases { .. }))));
        assert!(matches!(read("{}\n"), Err(BaselineFault::Line { .. })));
        let pair = "{\"id\":\"p\",\"a\":\"x\",\"b\":\"y\"}\n";
        assert!(matches!(read(pair), Err(BaselineFault::Pair { line: 1, .. })));
        let one = "{\"id\":\"p\",\"output\":\"x\"}\n";
        assert!(matches!(read(&[one, one].concat()), Err(BaselineFault::Twice { line: 2, .. })));
        let spooled = CaseFile::spool(Path::new("c.jsonl"), one.as_bytes()).unwrap();
        let fault = Baseline::of_pairs(&spooled, &IntakeOptions::default());
        assert!(matches!(fault, Err(BaselineFault::NoPair { line: 1, .. })));
        let spooled = CaseFile::spool(Path::new("c.jsonl"), pair.as_bytes()).unwrap();
        let own = Baseline::of_pairs(&spooled, &IntakeOptions::default()).unwrap();
        assert_eq!((own.name.as_str(), own.hash.len()), ("b of c.jsonl", 35));
    }

    #[test]
    fn cases_become_pairs_or_take_the_pinned_output() {
        let baseline = Arc::new(read("{\"id\":\"a\",\"output\":\"old\",\"model\":\"m\"}\n").unwrap());
        let case = |json: serde_json::Value| Case::try_from(json).unwrap();
        let own = || case(serde_json::json!({"id": "a", "output": "new"}));
        let pinned = Candidate { output: "old".to_owned(), model: Some("m".to_owned()) };
        let pair = Against::Pair(Arc::clone(&baseline)).apply(own()).unwrap();
        let new = Candidate { output: "new".to_owned(), model: None };
        assert_eq!(pair.candidates, Candidates::Pair { a: new, b: pinned.clone() });
        let instead = Against::Instead(Arc::clone(&baseline)).apply(own()).unwrap();
        assert_eq!(instead.candidates, Candidates::One(pinned));
        let against = Against::Pair(baseline);
        let missing = against.apply(case(serde_json::json!({"id": "z", "output": "new"}))).unwrap_err();
        assert!(matches!(missing.problem, Problem::NotInBaseline { .. }));
        let pair = against.apply(case(serde_json::json!({"id": "a", "a": "x", "b": "y"}))).unwrap_err();
        assert_eq!(pair.problem, Problem::PairBesideBaseline);
    }
}
