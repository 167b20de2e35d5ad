//! What is wrong with the file, where, and what to do next. Knows nothing of what the keys mean.

use std::fmt;

use super::tree::{Node, Place};

/// One finding: an error or a warning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// From 1; `None` when the value came from the environment or a flag, or when there is no file.
    pub line: Option<u64>,
    /// From 1, in characters.
    pub column: Option<u64>,
    /// The file, the environment variable or the flag that the value came from.
    pub origin: String,
    /// Key path such as `panels.default.judges[0]`; empty for the file as a whole.
    pub path: String,
    /// Lowercase fragment; never holds a key or a password.
    pub message: String,
    /// The next step.
    pub hint: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", self.message)?;
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", self.hint)?;
        }
        Ok(())
    }
}

/// Everything that is wrong, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// At least one.
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

/// A place in the file by keys and indexes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KeyPath(pub Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl KeyPath {
    pub fn of(keys: &[&str]) -> Self {
        Self(keys.iter().map(|k| Step::Key((*k).to_owned())).collect())
    }

    pub fn key(&self, key: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.to_owned()));
        Self(steps)
    }

    pub fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Self(steps)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    if i > 0 {
                        f.write_str(".")?;
                    }
                    let plain =
                        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
                    if plain { f.write_str(key)? } else { write!(f, "{key:?}")? }
                }
            }
        }
        Ok(())
    }
}

/// Collects findings while the file is read.
#[derive(Debug)]
pub(super) struct Report<'a> {
    tree: &'a Node,
    origin: &'a str,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl<'a> Report<'a> {
    pub fn new(tree: &'a Node, origin: &'a str) -> Self {
        Self { tree, origin, problems: Vec::new(), warnings: Vec::new() }
    }

    pub fn problem(&mut self, path: &KeyPath, message: impl Into<String>, hint: impl Into<String>) {
        let problem = self.finding(path, None, message.into(), hint.into());
        self.problems.push(problem);
    }

    /// As [`Self::problem`], at a place that the tree cannot tell (a key rather than its value).
    pub fn problem_at(&mut self, path: &KeyPath, place: &Place, message: String, hint: String) {
        let problem = self.finding(path, Some(place), message, hint);
        self.problems.push(problem);
    }

    pub fn warning(&mut self, path: &KeyPath, message: impl Into<String>, hint: impl Into<String>) {
        let warning = self.finding(path, None, message.into(), hint.into());
        self.warnings.push(warning);
    }

    /// Whether the file has something at this path, even if it could not be read.
    pub fn has(&self, path: &KeyPath) -> bool {
        self.tree.find(path).is_some()
    }

    /// Whether the value stands in the file, rather than in the environment or a flag.
    pub fn is_written_in_file(&self, path: &KeyPath) -> bool {
        self.tree.find(path).is_some_and(|node| matches!(node.place, Place::File { .. }))
    }

    /// Whether anything under this path could not be read.
    pub fn is_broken(&self, path: &KeyPath) -> bool {
        let prefix = path.to_string();
        self.problems.iter().any(|p| {
            p.path.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    pub fn finish(mut self) -> (Vec<Problem>, Vec<Problem>) {
        for list in [&mut self.problems, &mut self.warnings] {
            list.sort();
            list.dedup();
        }
        (self.problems, self.warnings)
    }

    fn finding(&self, path: &KeyPath, place: Option<&Place>, message: String, hint: String) -> Problem {
        let place = place.unwrap_or_else(|| self.tree.nearest(path));
        let (origin, line, column) = match place {
            Place::File { line, column } => (self.origin, Some(*line), Some(*column)),
            Place::Override(name) => (name.as_ref(), None, None),
        };
        Problem { line, column, origin: origin.to_owned(), path: path.to_string(), message, hint }
    }
}

/// The candidate nearest to a mistyped word, if one is near.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&folded, &c.to_lowercase()), c))
        .filter(|(distance, c)| *distance <= (c.chars().count().max(word.chars().count()) / 3).max(1))
        .min_by(|(d1, c1), (d2, c2)| d1.cmp(d2).then_with(|| c1.cmp(c2)))
        .map(|(_, c)| c)
}

/// `did you mean …`, or the list of what there is.
pub(crate) fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = nearest(word, candidates.clone()) {
        return format!("did you mean `{near}`?");
    }
    let known: Vec<String> = candidates.into_iter().take(20).map(|c| format!("`{c}`")).collect();
    if known.is_empty() { "none is defined".to_owned() } else { format!("known: {}", known.join(", ")) }
}

/// Two next steps in one sentence.
pub(super) fn or_else(hint: &str, alternative: &str) -> String {
    let joint = if hint.ends_with('?') { " Or" } else { "; or" };
    format!("{hint}{joint} {alternative}")
}
