//! From an object of any fields to a [`Case`] that is valid by construction, or to all that is wrong with it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Map, Value};

use crate::case::{Candidate, Candidates, Case, CaseId, Mode, Sensitivity};
use crate::intake::mapping::{IntakeNotes, common_name, typo_of};
use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::text::{context_of, input_of, kind_of, reference_of, refuse_nul, text_of};
use crate::intake::{CandidateTexts, IntakeOptions};

/// Longest name of a case, in bytes.
const MAX_ID_BYTES: usize = 512;

/// Reads one case from a line, a row or a request body: the same rules for all. Errs with every problem at once.
///
/// Null fields count as absent. A case without `id` is named by its content: `c-` and 16 hex digits.
pub fn case_from_value(
    value: Value,
    options: &IntakeOptions,
    notes: &mut IntakeNotes,
) -> Result<Case, Vec<FieldProblem>> {
    let Value::Object(mut fields) = value else {
        return Err(vec![FieldProblem::record(Problem::NotAnObject)]);
    };
    let problems = options.map.apply(&mut fields, notes);
    let mut draft = Draft { fields, problems };
    let id = draft.id();
    let declared = draft.mode();
    let input = draft.text("input", input_of);
    let reference = draft.reference();
    let context = draft.context();
    let candidates = draft.candidates(options.candidate_texts, declared);
    let source = draft.text("source", text_of);
    let sensitivity = draft.name("sensitivity", SENSITIVITIES, "public, internal, confidential");
    let mut metadata = draft.metadata();
    draft.rest(&mut metadata, notes);
    let sensitivity = sensitivity.max(draft.metadata_sensitivity(&metadata)).unwrap_or_default();

    let Some(candidates) = candidates else { return Err(draft.problems) };
    let id = CaseId(id.unwrap_or_default());
    let mut case =
        Case { id, input, candidates, reference, context, source, sensitivity, metadata, repeat_of: None };
    if let Some(declared) = declared {
        draft.settle_mode(declared, &mut case, options.candidate_texts);
    }
    if !draft.problems.is_empty() {
        return Err(draft.problems);
    }
    if case.id.0.is_empty() {
        case.id = content_id(&case);
    }
    Ok(case)
}

impl TryFrom<Value> for Case {
    type Error = Vec<FieldProblem>;

    /// [`case_from_value`] without a map; what was noticed is dropped.
    fn try_from(value: Value) -> Result<Self, Self::Error> {
        case_from_value(value, &IntakeOptions::default(), &mut IntakeNotes::default())
    }
}

/// The name of a case whose other fields may be wrong, for messages.
pub(super) fn readable_id(value: &Value) -> Option<String> {
    match value.get("id")? {
        Value::String(id) if !id.is_empty() && id.len() <= MAX_ID_BYTES => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

const MODES: &[(&str, Mode)] =
    &[("pointwise", Mode::Pointwise), ("pairwise", Mode::Pairwise), ("reference", Mode::Reference)];

const SENSITIVITIES: &[(&str, Sensitivity)] = &[
    ("public", Sensitivity::Public),
    ("internal", Sensitivity::Internal),
    ("confidential", Sensitivity::Confidential),
];

/// The fields not read yet and the problems found so far.
struct Draft {
    fields: Map<String, Value>,
    problems: Vec<FieldProblem>,
}

impl Draft {
    /// Removes a field; null is absent.
    fn take(&mut self, field: &str) -> Option<Value> {
        self.fields.shift_remove(field).filter(|value| !value.is_null())
    }

    fn report(&mut self, field: impl Into<String>, problem: Problem) {
        self.problems.push(FieldProblem::field(field, problem));
    }

    fn keep<T>(&mut self, field: &str, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.report(field, problem)).ok()
    }

    fn text(&mut self, field: &str, read: fn(Value) -> Result<Option<String>, Problem>) -> Option<String> {
        let value = self.take(field)?;
        self.keep(field, read(value)).flatten()
    }

    /// A field that must be a text, such as a model's name.
    fn string(&mut self, field: &str) -> Option<String> {
        let value = self.take(field)?;
        self.keep(field, string_of(value))
    }

    fn name<T: Copy>(&mut self, field: &str, names: &[(&str, T)], expected: &'static str) -> Option<T> {
        let value = self.take(field)?;
        self.keep(field, name_of(&value, names, expected))
    }

    fn id(&mut self) -> Option<String> {
        let read = match self.take("id")? {
            Value::String(id) if id.trim().is_empty() => Err(Problem::Empty),
            Value::String(id) if id.len() > MAX_ID_BYTES => {
                Err(Problem::WrongType { expected: "at most 512 bytes", found: "longer" })
            }
            Value::String(id) => refuse_nul(id),
            Value::Number(id) => Ok(id.to_string()),
            other => Err(Problem::WrongType { expected: "a text", found: kind_of(&other) }),
        };
        self.keep("id", read)
    }

    fn mode(&mut self) -> Option<Mode> {
        self.name("mode", MODES, "pointwise, pairwise, reference")
    }

    fn reference(&mut self) -> Option<String> {
        let reference = self.text("reference", reference_of)?;
        if reference.trim().is_empty() {
            self.report("reference", Problem::Empty);
        }
        Some(reference)
    }

    fn context(&mut self) -> Vec<String> {
        let Some(value) = self.take("context") else { return Vec::new() };
        self.keep("context", context_of(value)).unwrap_or_default()
    }

    /// `None` after a problem was reported.
    fn candidates(&mut self, texts: CandidateTexts, declared: Option<Mode>) -> Option<Candidates> {
        let null_output = self.fields.get("output").is_some_and(Value::is_null);
        let output = self.take("output");
        let (a, b) = (self.take("a"), self.take("b"));
        let model = self.string("model");
        let (model_a, model_b) = (self.string("model_a"), self.string("model_b"));
        match (output, a, b) {
            (Some(output), None, None) => {
                self.refuse_pair_models(model_a.as_deref(), model_b.as_deref());
                let output = self.keep("output", text_of(output))?.unwrap_or_default();
                Some(Candidates::One(Candidate { output, model }))
            }
            (Some(_), a, b) => {
                for (field, _) in [("a", a), ("b", b)].into_iter().filter(|(_, side)| side.is_some()) {
                    self.report(field, Problem::OneOrPair);
                }
                None
            }
            (None, None, None) => {
                if texts == CandidateTexts::Optional
                    && let Some(mode) = declared
                {
                    return Some(without_texts(mode, model, model_a, model_b));
                }
                self.report_no_candidate(null_output);
                None
            }
            (None, Some(a), Some(b)) => {
                if model.is_some() {
                    self.report("model", Problem::ModelOfPair);
                }
                let a = self.side("a", a, model_a);
                let b = self.side("b", b, model_b);
                Some(Candidates::Pair { a: a?, b: b? })
            }
            (None, Some(_), None) => {
                self.report("b", Problem::HalfPair);
                None
            }
            (None, None, Some(_)) => {
                self.report("a", Problem::HalfPair);
                None
            }
        }
    }

    fn refuse_pair_models(&mut self, model_a: Option<&str>, model_b: Option<&str>) {
        for (field, model) in [("model_a", model_a), ("model_b", model_b)] {
            if model.is_some() {
                self.report(field, Problem::ModelWithoutPair);
            }
        }
    }

    fn report_no_candidate(&mut self, null_output: bool) {
        if null_output {
            return self.report("output", Problem::NullCandidate);
        }
        let named = self.fields.keys().find(|name| common_name(name) == Some("output")).cloned();
        self.problems.push(FieldProblem::record(match named {
            Some(from) => Problem::NoCandidateButCommonName { target: "output", from },
            None => Problem::NoCandidate,
        }));
    }

    /// One candidate of a pair: a text, or an object with `output` and perhaps `model`.
    fn side(&mut self, field: &'static str, value: Value, outer_model: Option<String>) -> Option<Candidate> {
        let Value::Object(mut inside) = value else {
            let output = self.keep(field, text_of(value))?.unwrap_or_default();
            return Some(Candidate { output, model: outer_model });
        };
        let output = inside.shift_remove("output").filter(|output| !output.is_null());
        let model = inside.shift_remove("model").filter(|model| !model.is_null());
        let model = match model {
            Some(model) => self.keep(&format!("{field}.model"), string_of(model)),
            None => None,
        };
        let model = self.one_model(field, outer_model, model);
        for (name, value) in inside {
            match typo_of(&name).filter(|meant| matches!(*meant, "output" | "model")) {
                Some(meant) => self.report(format!("{field}.{name}"), Problem::Typo(meant)),
                None => {
                    self.fields.insert(format!("{field}.{name}"), value);
                }
            }
        }
        let Some(output) = output else {
            self.report(field, Problem::NoOutputInside);
            return None;
        };
        let output = self.keep(&format!("{field}.output"), text_of(output))?.unwrap_or_default();
        Some(Candidate { output, model })
    }

    fn one_model(&mut self, field: &str, outer: Option<String>, inner: Option<String>) -> Option<String> {
        match (outer, inner) {
            (Some(outer), Some(inner)) if outer != inner => {
                self.report(format!("model_{field}"), Problem::ModelDisagrees { outer, inner });
                None
            }
            (outer, inner) => inner.or(outer),
        }
    }

    fn metadata(&mut self) -> BTreeMap<String, Value> {
        match self.take("metadata") {
            None => BTreeMap::new(),
            Some(Value::Object(metadata)) => metadata.into_iter().collect(),
            Some(other) => {
                self.report("metadata", Problem::WrongType { expected: "an object", found: kind_of(&other) });
                BTreeMap::new()
            }
        }
    }

    fn metadata_sensitivity(&mut self, metadata: &BTreeMap<String, Value>) -> Option<Sensitivity> {
        let value = metadata.get("sensitivity").filter(|value| !value.is_null())?;
        let read = name_of(value, SENSITIVITIES, "public, internal, confidential");
        self.keep("metadata.sensitivity", read)
    }

    /// What is left is either a slip of the pen or metadata.
    fn rest(&mut self, metadata: &mut BTreeMap<String, Value>, notes: &mut IntakeNotes) {
        for (name, value) in std::mem::take(&mut self.fields) {
            // Why: a name that was kept once is no typo, and comparing it with every field again is slow.
            let meant = if notes.unknown_fields.contains_key(&name) { None } else { typo_of(&name) };
            if let Some(meant) = meant {
                self.report(name, Problem::Typo(meant));
                continue;
            }
            match metadata.entry(name) {
                Entry::Vacant(free) => {
                    notes.note_unknown(free.key());
                    free.insert(value);
                }
                Entry::Occupied(taken) => self.report(taken.key(), Problem::TwiceInMetadata),
            }
        }
    }

    /// A declared mode is a check on the fields; it never changes what is asked, except that recorded judgments need
    /// no reference.
    fn settle_mode(&mut self, declared: Mode, case: &mut Case, texts: CandidateTexts) {
        let found = case.mode();
        if declared == found {
            return;
        }
        if (declared, found) == (Mode::Reference, Mode::Pointwise) {
            match texts {
                CandidateTexts::Optional => case.reference = Some(String::new()),
                CandidateTexts::Required => self.report("reference", Problem::ReferenceMissing),
            }
            return;
        }
        self.report("mode", Problem::ModeDisagrees { declared, found });
    }
}

fn without_texts(
    mode: Mode,
    model: Option<String>,
    model_a: Option<String>,
    model_b: Option<String>,
) -> Candidates {
    let empty = |model| Candidate { output: String::new(), model };
    match mode {
        Mode::Pairwise => Candidates::Pair { a: empty(model_a), b: empty(model_b) },
        Mode::Pointwise | Mode::Reference => Candidates::One(empty(model)),
    }
}

fn string_of(value: Value) -> Result<String, Problem> {
    match value {
        Value::String(text) if text.trim().is_empty() => Err(Problem::Empty),
        Value::String(text) => refuse_nul(text),
        other => Err(Problem::WrongType { expected: "a text", found: kind_of(&other) }),
    }
}

fn name_of<T: Copy>(value: &Value, names: &[(&str, T)], expected: &'static str) -> Result<T, Problem> {
    let Some(text) = value.as_str() else {
        return Err(Problem::WrongType { expected, found: kind_of(value) });
    };
    let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| Problem::UnknownName { expected, found: text.chars().take(64).collect() })
}

/// Names a case by all that it says (its sensitivity apart, which may change without making another case of it).
fn content_id(case: &Case) -> CaseId {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: Option<&str>| {
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        hasher.update(&length.to_le_bytes());
        hasher.update(text.unwrap_or_default().as_bytes());
    };
    add(Some(&case.mode().to_string()));
    for text in [&case.input, &case.reference, &case.source] {
        add(text.as_deref());
    }
    for candidate in case.candidates() {
        add(Some(&candidate.output));
        add(candidate.model.as_deref());
    }
    for passage in &case.context {
        add(Some(passage));
    }
    for (name, value) in case.metadata.iter().filter(|(name, _)| *name != "sensitivity") {
        add(Some(name));
        add(Some(&value.to_string()));
    }
    let hex = hasher.finalize().to_hex();
    CaseId(format!("c-{}", hex.get(..16).unwrap_or_default()))
}

#[cfg(test)]
mod tests;
