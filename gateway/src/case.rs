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

impl Sensitivity {
    pub const ALL: [Self; 3] = [Self::Public, Self::Internal, Self::Confidential];

    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Internal => "internal",
            Self::Confidential => "confidential",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
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
    /// In a run that judges its cases several times: the case that this is one judging of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeat_of: Option<CaseId>,
}

impl Case {
    pub fn mode(&self) -> Mode {
        match (&self.candidates, &self.reference) {
            (Candidates::Pair { .. }, _) => Mode::Pairwise,
            (Candidates::One(_), Some(_)) => Mode::Reference,
            (Candidates::One(_), None) => Mode::Pointwise,
        }
    }

    /// The same case to be judged `times` times: the first keeps the name, and all are of one source.
    pub fn repeated(self, times: u32) -> impl Iterator<Item = Self> {
        let is_once = times <= 1;
        let source = self.source.clone().or_else(|| Some(self.id.0.clone()));
        let once = is_once.then(|| self.clone());
        let copies = (1..=if is_once { 0 } else { times }).map(move |which| {
            let id = if which == 1 { self.id.clone() } else { CaseId(format!("{}#{which}", self.id)) };
            Self { id, source: source.clone(), repeat_of: Some(self.id.clone()), ..self.clone() }
        });
        once.into_iter().chain(copies)
    }

    /// Whether it was asked before in the same run.
    pub fn is_further_repeat(&self) -> bool {
        self.repeat_of.as_ref().is_some_and(|first| *first != self.id)
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
    fn repeats_of_a_case_are_of_one_source_and_only_the_first_keeps_its_name() {
        let case = |json: serde_json::Value| Case::try_from(json).unwrap();
        let alone = case(serde_json::json!({"id": "q", "output": "x"}));
        assert_eq!(alone.clone().repeated(1).collect::<Vec<_>>(), std::slice::from_ref(&alone));
        let thrice: Vec<Case> = alone.repeated(3).collect();
        let names: Vec<&str> = thrice.iter().map(|case| case.id.0.as_str()).collect();
        assert_eq!(names, ["q", "q#2", "q#3"]);
        assert!(thrice.iter().all(|case| case.source.as_deref() == Some("q")));
        assert_eq!(thrice.iter().map(Case::is_further_repeat).collect::<Vec<_>>(), [false, true, true]);
        let own = case(serde_json::json!({"id": "q", "output": "x", "source": "s"}));
        assert!(own.repeated(2).all(|case| case.source.as_deref() == Some("s")));
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
