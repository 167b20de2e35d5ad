//! One thing to judge, valid by construction.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The case's own name: unique within a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaseId(pub String);

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is asked about the case, decided by the fields it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Pointwise,
    Pairwise,
    Reference,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pointwise => "pointwise",
            Self::Pairwise => "pairwise",
            Self::Reference => "reference",
        })
    }
}

/// Who may see the case. Ordered: confidential cases never reach an outside judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    Public,
    #[default]
    Internal,
    Confidential,
}

/// One answer under judgment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub output: String,
    /// The model that wrote it, if known.
    pub model: Option<String>,
}

/// One answer, or two to compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidates {
    One(Candidate),
    Pair { a: Candidate, b: Candidate },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub id: CaseId,
    /// The question or task; chat messages are written out role by role.
    pub input: Option<String>,
    pub candidates: Candidates,
    pub reference: Option<String>,
    pub context: Vec<String>,
    /// Cases of one origin form a cluster.
    pub source: Option<String>,
    pub sensitivity: Sensitivity,
    pub metadata: BTreeMap<String, serde_json::Value>,
}

impl Case {
    pub fn mode(&self) -> Mode {
        match (&self.candidates, &self.reference) {
            (Candidates::Pair { .. }, _) => Mode::Pairwise,
            (Candidates::One(_), Some(_)) => Mode::Reference,
            (Candidates::One(_), None) => Mode::Pointwise,
        }
    }

    /// The candidates in the case's own order.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        let (first, second) = match &self.candidates {
            Candidates::One(c) => (c, None),
            Candidates::Pair { a, b } => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }

    /// Hash of all that can change a judgment of this case: texts and candidate models, not its name or metadata.
    pub fn content_hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |tag: u8, text: &str| {
            hasher.update(&[tag]);
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        if let Some(input) = &self.input {
            add(1, input);
        }
        for candidate in self.candidates() {
            add(2, &candidate.output);
        }
        if let Some(reference) = &self.reference {
            add(3, reference);
        }
        for passage in &self.context {
            add(4, passage);
        }
        let hash = hasher.finalize().to_hex();
        format!("b3:{}", hash.get(..32).unwrap_or_default())
    }

    /// Every text that a judge is shown: input, candidates, reference, context.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let around = self.input.iter().chain(&self.reference).chain(&self.context);
        around.map(String::as_str).chain(self.candidates().map(|candidate| candidate.output.as_str()))
    }
}

impl Candidate {
    /// Nothing that a judge could read: only white space and invisible characters.
    pub fn is_blank(&self) -> bool {
        self.output.chars().all(|c| c.is_whitespace() || c.is_control() || is_zero_width(c))
    }
}

/// Zero-width and byte-order characters, which no reader sees.
pub(crate) fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(output: &str) -> Candidate {
        Candidate { output: output.to_owned(), model: None }
    }

    #[test]
    fn a_candidate_of_invisible_characters_is_blank() {
        for blank in ["", "  \n", "\u{200b}\u{feff}", "\t\r\n\u{a0}"] {
            assert!(candidate(blank).is_blank(), "{blank:?}");
        }
        for text in ["0", " . ", "no"] {
            assert!(!candidate(text).is_blank(), "{text:?}");
        }
    }
}
