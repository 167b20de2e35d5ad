//! One case of each mode and rubrics of each kind, with which templates are tried when they are loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use aggregation::scale::Scale;

use crate::case::{Candidate, Candidates, Case, CaseId, Mode, Sensitivity};
use crate::rubric::{Ask, Criterion, EmptyCandidate, Evidence, Example, FailedCheck, Rubric};

/// A case that has every field of its mode.
pub(crate) fn sample_case(mode: Mode) -> Case {
    let candidate = |output: &str| Candidate { output: output.to_owned(), model: None };
    let candidates = match mode {
        Mode::Pairwise => Candidates::Pair { a: candidate("answer a"), b: candidate("answer b") },
        Mode::Pointwise | Mode::Reference => Candidates::One(candidate("answer")),
    };
    let reference = match mode {
        Mode::Pointwise => None,
        Mode::Pairwise | Mode::Reference => Some("reference".to_owned()),
    };
    Case {
        id: CaseId("sample".to_owned()),
        input: Some("input".to_owned()),
        candidates,
        reference,
        context: vec!["passage".to_owned()],
        source: None,
        sensitivity: Sensitivity::default(),
        metadata: BTreeMap::new(),
        repeat_of: None,
    }
}

/// A rubric in which nothing that may be said is left out.
pub(super) fn sample_rubric(scale: Scale) -> Rubric {
    let example = |pair: bool| Example {
        input: Some("input".to_owned()),
        output: (!pair).then(|| "output".to_owned()),
        reference: Some("reference".to_owned()),
        a: pair.then(|| "a".to_owned()),
        b: pair.then(|| "b".to_owned()),
        value: serde_json::Value::from("value"),
        reason: Some("reason".to_owned()),
    };
    let whole = Criterion {
        levels: BTreeMap::from([("1".to_owned(), "low".to_owned()), ("2".to_owned(), "high".to_owned())]),
        instructions: Some("instructions".to_owned()),
        examples: vec![example(false), example(true)],
        ..Criterion::clone(&criterion("criterion", scale, Evidence::Quote))
    };
    Rubric {
        name: "sample".to_owned(),
        guidelines: Some("guidelines".to_owned()),
        ask: Ask::PerCriterion,
        criteria: vec![Arc::new(whole)],
        empty: EmptyCandidate::Exclude,
        checks: Vec::new(),
        failed_check: FailedCheck::default(),
    }
}

/// A criterion with nothing but its scale.
pub(super) fn criterion(name: &str, scale: Scale, evidence: Evidence) -> Arc<Criterion> {
    Arc::new(Criterion {
        name: name.to_owned(),
        scale,
        tie: true,
        levels: BTreeMap::new(),
        pass: None,
        evidence,
        instructions: None,
        examples: Vec::new(),
    })
}
