//! Names of fields: the known ones, `--map`, near misses, and the names that other tools use.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::intake::problem::{FieldProblem, Problem};

/// Every field that a case may have.
pub(super) const KNOWN: [&str; 14] = [
    "id",
    "mode",
    "input",
    "output",
    "reference",
    "context",
    "a",
    "b",
    "model",
    "model_a",
    "model_b",
    "source",
    "sensitivity",
    "metadata",
];

/// Names that other tools use, with the field that they usually stand for.
const COMMON: [(&str, &str); 14] = [
    ("answer", "output"),
    ("response", "output"),
    ("completion", "output"),
    ("prediction", "output"),
    ("prompt", "input"),
    ("question", "input"),
    ("query", "input"),
    ("instruction", "input"),
    ("expected", "reference"),
    ("target", "reference"),
    ("ground_truth", "reference"),
    ("ideal", "reference"),
    ("documents", "context"),
    ("retrieved_contexts", "context"),
];

/// One edit away from a known name, yet names of their own in many files.
const NAMES_OF_THEIR_OWN: [&str; 1] = ["content"];

/// `--map output=answer,reference=ideal`: which field of the file fills which field of the case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldMap(Vec<(&'static str, String)>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    #[error("`{0}` is not `field=name`; hint: `--map output=answer,reference=ideal`")]
    NotAPair(String),
    #[error("`{name}` is not a field of a case; hint: the fields are {}", KNOWN.join(", "))]
    UnknownField { name: String },
    #[error("`{0}` is filled twice")]
    FilledTwice(String),
}

impl FromStr for FieldMap {
    type Err = MapError;

    /// Pairs separated by commas. The name may be a path into objects, such as `vars.question`.
    fn from_str(text: &str) -> Result<Self, MapError> {
        let mut pairs: Vec<(&'static str, String)> = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (field, name) = pair.split_once('=').ok_or_else(|| MapError::NotAPair(pair.to_owned()))?;
            let (field, name) = (field.trim(), name.trim());
            if name.is_empty() {
                return Err(MapError::NotAPair(pair.to_owned()));
            }
            let known = known(field).ok_or_else(|| MapError::UnknownField { name: field.to_owned() })?;
            if pairs.iter().any(|(earlier, _)| *earlier == known) {
                return Err(MapError::FilledTwice(field.to_owned()));
            }
            pairs.push((known, name.to_owned()));
        }
        Ok(Self(pairs))
    }
}

impl FieldMap {
    /// Renames the fields, all at once, so that `output=answer,reference=output` works.
    pub(super) fn apply(
        &self,
        fields: &mut Map<String, Value>,
        notes: &mut IntakeNotes,
    ) -> Vec<FieldProblem> {
        let mut found: Vec<(&'static str, &str, Value)> = Vec::new();
        for (field, name) in &self.0 {
            if let Some(value) = look_up(fields, name) {
                found.push((field, name, value.clone()));
                notes.note_map(name);
            }
        }
        for (_, name, _) in &found {
            fields.shift_remove(*name);
        }
        let mut problems = Vec::new();
        for (field, name, value) in found {
            if fields.contains_key(field) {
                let from = name.to_owned();
                problems.push(FieldProblem::field(field, Problem::MappedTwice { from }));
            } else {
                fields.insert(field.to_owned(), value);
            }
        }
        problems
    }

    /// The name in the file that fills a field.
    pub(super) fn name_for(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|(filled, _)| *filled == field).map(|(_, name)| name.as_str())
    }

    /// The field that a name in the file fills.
    pub(super) fn field_for(&self, name: &str) -> Option<&'static str> {
        self.0.iter().find(|(_, source)| source == name).map(|(field, _)| *field)
    }

    /// Names that no case has had so far: most likely a slip of the pen.
    pub fn unseen<'a>(&'a self, notes: &'a IntakeNotes) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(|(_, name)| name.as_str()).filter(|name| !notes.mapped.contains(*name))
    }
}

fn look_up<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(value) = fields.get(name) {
        return Some(value);
    }
    let mut parts = name.split('.');
    let first = fields.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

fn known(name: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| *known == name)
}

/// The known field that an unknown name most likely means: the same letters in another case, or one slip away (a
/// letter too many, too few or wrong, or two exchanged). Names below four letters have too many neighbours.
pub(super) fn typo_of(name: &str) -> Option<&'static str> {
    if known(name).is_some() || NAMES_OF_THEIR_OWN.contains(&name) {
        return None;
    }
    let near = |known: &&'static str| {
        known.eq_ignore_ascii_case(name)
            || (known.len() > 4 && strsim::osa_distance(known, &name.to_ascii_lowercase()) == 1)
    };
    KNOWN.into_iter().find(near)
}

/// The field that a common name stands for.
pub(super) fn common_name(name: &str) -> Option<&'static str> {
    COMMON.into_iter().find(|(common, _)| common.eq_ignore_ascii_case(name)).map(|(_, field)| field)
}

/// What was noticed while reading, to be said once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntakeNotes {
    /// Fields that became metadata, at most [`IntakeNotes::MAX_NAMES`]; the value is the field that the name usually
    /// stands for.
    pub unknown_fields: BTreeMap<String, Option<&'static str>>,
    /// There were more names than are kept.
    pub more_unknown_fields: bool,
    mapped: BTreeSet<String>,
}

impl IntakeNotes {
    pub const MAX_NAMES: usize = 100;

    pub(super) fn note_unknown(&mut self, name: &str) {
        if self.unknown_fields.contains_key(name) {
            return;
        }
        if self.unknown_fields.len() >= Self::MAX_NAMES {
            self.more_unknown_fields = true;
            return;
        }
        self.unknown_fields.insert(name.to_owned(), common_name(name));
    }

    fn note_map(&mut self, name: &str) {
        if !self.mapped.contains(name) {
            self.mapped.insert(name.to_owned());
        }
    }

    /// One sentence for all unknown fields, and one for each that `--map` could use.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.unknown_fields.is_empty() {
            let names: Vec<String> =
                self.unknown_fields.keys().map(|name| format!("`{}`", name.escape_debug())).collect();
            let more = if self.more_unknown_fields { " and more" } else { "" };
            warnings.push(format!("unknown fields are kept as metadata: {}{more}", names.join(", ")));
        }
        for (name, field) in &self.unknown_fields {
            if let Some(field) = field {
                warnings.push(format!("`{name}` is not read as `{field}`; hint: `--map {field}={name}`"));
            }
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapped(map: &str, case: Value) -> Result<Value, Vec<FieldProblem>> {
        let Value::Object(mut fields) = case else { panic!("an object") };
        let problems = map.parse::<FieldMap>().unwrap().apply(&mut fields, &mut IntakeNotes::default());
        if problems.is_empty() { Ok(Value::Object(fields)) } else { Err(problems) }
    }

    #[test]
    fn fields_are_renamed_all_at_once() {
        assert_eq!(mapped("output=answer", json!({"answer": "x"})), Ok(json!({"output": "x"})));
        let swap = mapped("output=answer,reference=output", json!({"output": "gold", "answer": "x"}));
        assert_eq!(swap, Ok(json!({"output": "x", "reference": "gold"})));
        assert_eq!(mapped(" input = q ", json!({"q": 1, "k": 2})), Ok(json!({"k": 2, "input": 1})));
    }

    #[test]
    fn a_dotted_name_reads_inside_objects() {
        let nested = mapped("input=vars.question", json!({"vars": {"question": "why?"}}));
        assert_eq!(nested, Ok(json!({"vars": {"question": "why?"}, "input": "why?"})));
        assert_eq!(mapped("input=a.b", json!({"a.b": "flat"})), Ok(json!({"input": "flat"})));
    }

    #[test]
    fn a_field_that_is_there_already_is_not_overwritten() {
        let problems = mapped("output=answer", json!({"output": "x", "answer": "y"})).unwrap_err();
        assert_eq!(problems, [FieldProblem::field("output", Problem::MappedTwice { from: "answer".into() })]);
    }

    #[test]
    fn a_name_that_no_case_has_is_reported() {
        let map: FieldMap = "output=answer,input=qestion".parse().unwrap();
        let mut notes = IntakeNotes::default();
        map.apply(json!({"answer": 1}).as_object_mut().unwrap(), &mut notes);
        assert_eq!(map.unseen(&notes).collect::<Vec<_>>(), ["qestion"]);
    }

    #[test]
    fn a_bad_map_is_refused() {
        for (text, error) in [
            ("output", MapError::NotAPair("output".into())),
            ("output=", MapError::NotAPair("output=".into())),
            ("outptu=x", MapError::UnknownField { name: "outptu".into() }),
            ("output=x,output=y", MapError::FilledTwice("output".into())),
        ] {
            assert_eq!(text.parse::<FieldMap>(), Err(error));
        }
    }

    #[test]
    fn one_slip_from_a_known_name_is_a_typo() {
        for (name, known) in [
            ("outputs", "output"),
            ("ouput", "output"),
            ("outptu", "output"),
            ("Output", "output"),
            ("refrence", "reference"),
            ("contexts", "context"),
            ("imput", "input"),
            ("ID", "id"),
            ("A", "a"),
            ("modle", "model"),
            ("model_c", "model_a"),
            ("sensitvity", "sensitivity"),
        ] {
            assert_eq!(typo_of(name), Some(known), "{name}");
        }
    }

    #[test]
    fn names_of_their_own_are_no_typos() {
        for name in [
            "output", "model", "mode", "content", "code", "uid", "c", "len", "dim", "target", "answer",
            "gold",
        ] {
            assert_eq!(typo_of(name), None, "{name}");
        }
    }

    #[test]
    fn each_unknown_field_is_said_once_and_common_names_show_the_map() {
        let mut notes = IntakeNotes::default();
        for name in ["len", "expected", "len"] {
            notes.note_unknown(name);
        }
        let warnings = notes.warnings();
        assert_eq!(warnings.len(), 2);
        assert_eq!(warnings[0], "unknown fields are kept as metadata: `expected`, `len`");
        assert!(warnings[1].contains("--map reference=expected"));
    }

    #[test]
    fn names_are_bounded() {
        let mut notes = IntakeNotes::default();
        for i in 0..200 {
            notes.note_unknown(&format!("f{i}"));
        }
        assert_eq!(notes.unknown_fields.len(), IntakeNotes::MAX_NAMES);
        assert!(notes.warnings()[0].ends_with("and more"));
    }
}
