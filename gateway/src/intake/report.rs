//! The check of a whole file before anything is spent on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::case::{Case, CaseId, Mode, Sensitivity};
use crate::intake::mapping::IntakeNotes;
use crate::intake::problem::CaseProblem;
use crate::intake::raw::{case_from_value, readable_id};
use crate::intake::source::{CaseFile, IntakeError};
use crate::intake::{IntakeOptions, reader::CaseReader};
use crate::templates::OptionalField;

/// What a file holds. Lists are bounded; the counts beside them are not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Cases that can be judged.
    pub cases: u64,
    /// The first [`Report::MAX_LISTED`].
    pub problems: Vec<CaseProblem>,
    pub problem_count: u64,
    /// The first [`Report::MAX_LISTED`], in file order.
    pub duplicates: Vec<DuplicateId>,
    pub duplicate_count: u64,
    /// How many cases of each mode.
    pub modes: BTreeMap<Mode, u64>,
    /// Cases with at least one blank candidate.
    pub blank_candidates: u64,
    /// Candidates whose model is not named.
    pub unknown_models: u64,
    /// Every combination that decides who may judge, at most [`Report::MAX_PROFILES`].
    pub profiles: BTreeSet<CaseProfile>,
    /// There were more combinations than are kept.
    pub more_profiles: bool,
    /// The first case of a mode that lacks a field which a template may need.
    pub first_without: BTreeMap<(Mode, OptionalField), CaseAt>,
    pub notes: IntakeNotes,
    /// Names in `--map` that no case has.
    pub unused_map: Vec<String>,
}

/// What decides which judges may see a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseProfile {
    pub mode: Mode,
    pub sensitivity: Sensitivity,
    /// Of the candidates, in the case's order.
    pub models: Vec<Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseAt {
    pub id: CaseId,
    pub line: u64,
}

/// One case whose name an earlier case has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateId {
    pub id: CaseId,
    pub first_line: u64,
    pub line: u64,
}

impl Report {
    pub const MAX_LISTED: usize = 1000;
    pub const MAX_PROFILES: usize = 10_000;

    /// Such a run needs `--by-mode`.
    pub fn mixes_modes(&self) -> bool {
        self.modes.len() > 1
    }

    /// Something that skipping bad lines cannot mend: the rest of the file was not read.
    pub fn stopped_early(&self) -> bool {
        self.problems.last().is_some_and(|problem| problem.fatal)
    }

    /// What to say once before the run.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.notes.warnings();
        for name in &self.unused_map {
            warnings.push(format!("`--map` reads `{name}`, which no case has"));
        }
        warnings
    }

    fn add_problem(&mut self, problem: CaseProblem) {
        self.problem_count += 1;
        // Why: a fatal problem is the last one and must be seen even when the list is full.
        if problem.fatal && self.problems.len() >= Self::MAX_LISTED {
            self.problems.pop();
        }
        if self.problems.len() < Self::MAX_LISTED {
            self.problems.push(problem);
        }
    }

    fn add_duplicate(&mut self, duplicate: DuplicateId) {
        self.duplicate_count += 1;
        if self.duplicates.len() < Self::MAX_LISTED {
            self.duplicates.push(duplicate);
        }
    }

    fn add_case(&mut self, case: &Case, line: u64) {
        self.cases += 1;
        let mode = case.mode();
        *self.modes.entry(mode).or_default() += 1;
        self.blank_candidates += u64::from(case.candidates().any(crate::case::Candidate::is_blank));
        let models: Vec<Option<String>> =
            case.candidates().map(|candidate| candidate.model.clone()).collect();
        self.unknown_models += models.iter().map(|model| u64::from(model.is_none())).sum::<u64>();
        let profile = CaseProfile { mode, sensitivity: case.sensitivity, models };
        if !self.profiles.contains(&profile) {
            if self.profiles.len() < Self::MAX_PROFILES {
                self.profiles.insert(profile);
            } else {
                self.more_profiles = true;
            }
        }
        for field in OptionalField::ALL {
            if !field.is_in(case) {
                let at = || CaseAt { id: case.id.clone(), line };
                self.first_without.entry((mode, field)).or_insert_with(at);
            }
        }
    }
}

/// Reads the file once, and a second time only if two names look alike. Memory: 8 bytes a case, freed at the end.
///
/// Errs when the file cannot be read or holds nothing at all; problems of single cases are in the report.
pub fn validate(file: &CaseFile, options: &IntakeOptions) -> Result<Report, IntakeError> {
    let mut report = Report::default();
    let mut names: Vec<u64> = Vec::new();
    let mut reader = file.read(options)?;
    while let Some(read) = reader.next() {
        match read {
            Ok(case) => {
                names.push(hash_of(&case.id));
                report.add_case(&case, reader.line());
            }
            Err(problem) => report.add_problem(problem),
        }
    }
    if report.cases == 0 && report.problem_count == 0 {
        return Err(IntakeError::NoCases { path: file.path().to_owned() });
    }
    report.notes = reader.into_notes();
    report.unused_map = options.map.unseen(&report.notes).map(str::to_owned).collect();
    let suspects = repeated(names);
    if !suspects.is_empty() {
        find_duplicates(file.read(options)?, &suspects, &mut report);
    }
    Ok(report)
}

/// The cases of a request body, with the same check; their `line` is their place, from 1.
pub fn of_values(values: Vec<serde_json::Value>, options: &IntakeOptions) -> (Vec<Case>, Report) {
    let mut report = Report::default();
    let mut cases = Vec::with_capacity(values.len());
    let mut first_lines: HashMap<CaseId, u64> = HashMap::new();
    for (line, value) in (1..).zip(values) {
        let id = readable_id(&value);
        match case_from_value(value, options, &mut report.notes) {
            Ok(case) => {
                for case in case.repeated(options.repeat) {
                    report.add_case(&case, line);
                    if let Some(&first_line) = first_lines.get(&case.id) {
                        report.add_duplicate(DuplicateId { id: case.id.clone(), first_line, line });
                    } else {
                        first_lines.insert(case.id.clone(), line);
                    }
                    cases.push(case);
                }
            }
            Err(problems) => report.add_problem(CaseProblem { line, id, problems, fatal: false }),
        }
    }
    (cases, report)
}

fn hash_of(id: &CaseId) -> u64 {
    let hash = blake3::hash(id.0.as_bytes());
    hash.as_bytes().first_chunk().copied().map_or(0, u64::from_le_bytes)
}

fn repeated(mut names: Vec<u64>) -> BTreeSet<u64> {
    names.sort_unstable();
    names
        .windows(2)
        .filter_map(|pair| pair.first().filter(|first| pair.last() == Some(first)))
        .copied()
        .collect()
}

/// Only names whose hash stands twice are kept, so memory grows with the duplicates and not with the file.
fn find_duplicates(mut reader: CaseReader, suspects: &BTreeSet<u64>, report: &mut Report) {
    let mut first_lines: HashMap<CaseId, u64> = HashMap::new();
    while let Some(read) = reader.next() {
        let Ok(case) = read else { continue };
        if !suspects.contains(&hash_of(&case.id)) {
            continue;
        }
        let line = reader.line();
        let Some(&first_line) = first_lines.get(&case.id) else {
            first_lines.insert(case.id, line);
            continue;
        };
        report.add_duplicate(DuplicateId { id: case.id, first_line, line });
    }
}

#[cfg(test)]
mod tests;
