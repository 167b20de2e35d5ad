//! People's labels on cases, as they were when the file was read: named by their file and the hash of what they say.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::panel::Panel;

/// A snapshot of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// The file's own name.
    pub name: String,
    /// `b3:` and 32 hex digits over the file.
    pub hash: String,
    by_case: HashMap<(String, String), Label>,
}

/// One person's resolved label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    /// On the criterion's scale, or `a`, `b`, `tie` for pairs.
    pub value: serde_json::Value,
    /// How many cases of its stratum it stands for.
    pub weight: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    criterion: Option<String>,
    label: serde_json::Value,
    weight: Option<f64>,
}

/// Why labels cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LabelFault {
    #[error("read labels from `{}`", path.display())]
    Open {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("labels `{name}` line {line}: {message}; hint: {{\"id\": …, \"criterion\": …, \"label\": …}}")]
    Line { name: String, line: usize, message: String },
    #[error("labels `{name}` line {line}: no criterion `{criterion}` in rubric `{rubric}`")]
    Criterion { name: String, line: usize, criterion: String, rubric: String },
    #[error("labels `{name}` line {line}: `criterion` is missing, and rubric `{rubric}` has several")]
    WhichCriterion { name: String, line: usize, rubric: String },
    #[error("labels `{name}` line {line}: case `{id}` has a label on `{criterion}` already")]
    Twice { name: String, line: usize, id: String, criterion: String },
    #[error("labels `{name}` line {line}: weight {weight} is not a positive number")]
    Weight { name: String, line: usize, weight: f64 },
    #[error("labels `{name}`: some lines have a `weight` and some have none; hint: all or none")]
    MixedWeights { name: String },
    #[error("labels `{name}`: the label of case `{case}` on `{criterion}` is not on its scale")]
    OffScale { name: String, case: String, criterion: String },
}

impl Labels {
    /// Reads a JSONL file (blocking).
    pub fn read(path: &Path, panel: &Panel) -> Result<Self, LabelFault> {
        let opened = |source| LabelFault::Open { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(opened)?;
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |own| own.to_string_lossy().into_owned());
        let hex = blake3::hash(text.as_bytes()).to_hex();
        let mut labels =
            Self { hash: format!("b3:{}", hex.get(..32).unwrap_or(&hex)), name, by_case: HashMap::new() };
        let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            labels.add(index + 1, line, panel)?;
        }
        let weighted = labels.by_case.values().filter(|label| label.weight.is_some()).count();
        if weighted > 0 && weighted < labels.by_case.len() {
            return Err(LabelFault::MixedWeights { name: labels.name });
        }
        Ok(labels)
    }

    fn add(&mut self, line: usize, text: &str, panel: &Panel) -> Result<(), LabelFault> {
        let (name, rubric) = (|| self.name.clone(), || panel.rubric.name.clone());
        let Line { id, criterion, label, weight } = serde_json::from_str(text)
            .map_err(|error| LabelFault::Line { name: name(), line, message: error.to_string() })?;
        let criterion = match (criterion, panel.rubric.criteria.as_slice()) {
            (Some(criterion), several) if several.iter().any(|known| known.name == criterion) => criterion,
            (Some(criterion), _) => {
                return Err(LabelFault::Criterion { name: name(), line, criterion, rubric: rubric() });
            }
            (None, [only]) => only.name.clone(),
            (None, _) => return Err(LabelFault::WhichCriterion { name: name(), line, rubric: rubric() }),
        };
        if let Some(weight) = weight.filter(|weight| !(weight.is_finite() && *weight > 0.0)) {
            return Err(LabelFault::Weight { name: name(), line, weight });
        }
        let key = (id, criterion);
        if self.by_case.contains_key(&key) {
            let (id, criterion) = key;
            return Err(LabelFault::Twice { name: name(), line, id, criterion });
        }
        self.by_case.insert(key, Label { value: label, weight });
        Ok(())
    }

    pub(super) fn get(&self, case: &str, criterion: &str) -> Option<&Label> {
        self.by_case.get(&(case.to_owned(), criterion.to_owned()))
    }

    pub(super) fn off_scale(&self, case: &str, criterion: &str) -> LabelFault {
        LabelFault::OffScale {
            name: self.name.clone(),
            case: case.to_owned(),
            criterion: criterion.to_owned(),
        }
    }

    pub fn len(&self) -> usize {
        self.by_case.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_case.is_empty()
    }
}
