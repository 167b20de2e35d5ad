use serde_json::json;

use super::*;

fn read(value: Value) -> Result<Case, Vec<FieldProblem>> {
    Case::try_from(value)
}

fn case(value: Value) -> Case {
    read(value).unwrap()
}

/// The problems as `field: text`, whole-record problems without a field.
fn problems(value: Value) -> Vec<(Option<String>, Problem)> {
    read(value).unwrap_err().into_iter().map(|p| (p.field, p.problem)).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "keeps the cases on one line")]
fn one(value: Value, field: Option<&str>, problem: Problem) {
    assert_eq!(problems(value.clone()), [(field.map(str::to_owned), problem)], "{value}");
}

#[test]
fn the_fields_decide_the_mode() {
    let mode = |value: Value| case(value).mode();
    assert_eq!(mode(json!({"output": "x"})), Mode::Pointwise);
    assert_eq!(mode(json!({"output": "x", "reference": "y"})), Mode::Reference);
    assert_eq!(mode(json!({"output": "x", "reference": null})), Mode::Pointwise);
    assert_eq!(mode(json!({"a": "x", "b": {"output": "y"}})), Mode::Pairwise);
    assert_eq!(mode(json!({"a": "x", "b": "y", "reference": "z"})), Mode::Pairwise);
    assert_eq!(mode(json!({"mode": "reference", "output": "x", "reference": "y"})), Mode::Reference);
}

#[test]
fn every_field_of_one_answer_is_kept() {
    let read = case(json!({
        "id": "q17", "input": "why?", "output": "x", "reference": "y", "context": ["p", "q"],
        "model": "m", "source": "doc-12", "sensitivity": "public", "metadata": {"k": 1}, "extra": [2]
    }));
    assert_eq!(read.id, CaseId("q17".into()));
    assert_eq!(read.input.as_deref(), Some("why?"));
    assert_eq!(read.candidates, Candidates::One(Candidate { output: "x".into(), model: Some("m".into()) }));
    assert_eq!(read.context, ["p", "q"]);
    assert_eq!(read.source.as_deref(), Some("doc-12"));
    assert_eq!(read.sensitivity, Sensitivity::Public);
    assert_eq!(read.metadata, BTreeMap::from([("k".into(), json!(1)), ("extra".into(), json!([2]))]));
}

#[test]
fn candidates_of_a_pair_are_texts_or_objects() {
    let read =
        case(json!({"a": {"output": {"n": 1}, "model": "m1", "tokens": 9}, "b": "text", "model_b": "m2"}));
    let a = Candidate { output: "{\"n\":1}".into(), model: Some("m1".into()) };
    let b = Candidate { output: "text".into(), model: Some("m2".into()) };
    assert_eq!(read.candidates, Candidates::Pair { a, b });
    assert_eq!(read.metadata["a.tokens"], json!(9));
}

#[test]
fn a_structured_answer_is_compact_json_text() {
    let read = case(json!({"output": {"total": 12, "items": ["a"]}}));
    assert_eq!(read.candidates().next().unwrap().output, "{\"total\":12,\"items\":[\"a\"]}");
}

#[test]
fn texts_are_not_mangled() {
    let text = "  \u{feff}a\r\n\t{{x}} {% raw %} <|im_start|> \u{200b}é e\u{301}  ";
    assert_eq!(case(json!({"output": text})).candidates().next().unwrap().output, text);
}

#[test]
fn an_empty_answer_is_a_case_and_a_null_one_is_not() {
    assert!(case(json!({"output": "  \n"})).candidates().next().unwrap().is_blank());
    one(json!({"output": null}), Some("output"), Problem::NullCandidate);
}

#[test]
fn all_problems_come_at_once() {
    let found = problems(json!({
        "id": [], "input": "a\0b", "output": "x", "reference": " ", "context": ["\0"], "model": 4,
        "sensitivity": "secret", "metadata": [], "ouput": 1, "mode": "pairwise"
    }));
    let fields: Vec<&str> = found.iter().map(|(field, _)| field.as_deref().unwrap()).collect();
    assert_eq!(
        fields,
        ["id", "input", "reference", "context", "model", "sensitivity", "metadata", "ouput", "mode"]
    );
}

#[test]
fn each_wrong_shape_has_its_own_words() {
    let wrong = |expected, found| Problem::WrongType { expected, found };
    one(json!([1]), None, Problem::NotAnObject);
    one(json!({}), None, Problem::NoCandidate);
    one(json!({"id": " ", "output": "x"}), Some("id"), Problem::Empty);
    one(json!({"id": true, "output": "x"}), Some("id"), wrong("a text", "a truth value"));
    one(json!({"id": "x".repeat(513), "output": "x"}), Some("id"), wrong("at most 512 bytes", "longer"));
    one(json!({"output": "x", "a": "y"}), Some("a"), Problem::OneOrPair);
    one(json!({"a": "x"}), Some("b"), Problem::HalfPair);
    one(json!({"b": "x"}), Some("a"), Problem::HalfPair);
    one(json!({"a": {"text": "x"}, "b": "y"}), Some("a"), Problem::NoOutputInside);
    one(json!({"a": "x", "b": "y", "model": "m"}), Some("model"), Problem::ModelOfPair);
    one(json!({"output": "x", "model_a": "m"}), Some("model_a"), Problem::ModelWithoutPair);
    one(json!({"output": "x\0"}), Some("output"), Problem::Nul);
    one(json!({"a": {"output": "x", "modle": "m"}, "b": "y"}), Some("a.modle"), Problem::Typo("model"));
    one(json!({"output": "x", "metadata": {"k": 1}, "k": 2}), Some("k"), Problem::TwiceInMetadata);
    one(
        json!({"a": {"output": "x", "model": "m"}, "b": "y", "model_a": "n"}),
        Some("model_a"),
        Problem::ModelDisagrees { outer: "n".into(), inner: "m".into() },
    );
    one(
        json!({"output": "x", "mode": "duel"}),
        Some("mode"),
        Problem::UnknownName { expected: "pointwise, pairwise, reference", found: "duel".into() },
    );
}

#[test]
fn a_declared_mode_must_agree_with_the_fields() {
    let disagrees = |declared, found| Problem::ModeDisagrees { declared, found };
    one(json!({"mode": "pairwise", "output": "x"}), Some("mode"), disagrees(Mode::Pairwise, Mode::Pointwise));
    one(
        json!({"mode": "pointwise", "output": "x", "reference": "y"}),
        Some("mode"),
        disagrees(Mode::Pointwise, Mode::Reference),
    );
    one(json!({"mode": "reference", "output": "x"}), Some("reference"), Problem::ReferenceMissing);
}

#[test]
fn common_names_show_the_map() {
    let found = read(json!({"question": "q", "answer": "x"})).unwrap_err();
    assert!(found[0].to_string().ends_with("hint: `--map output=answer`"), "{}", found[0]);
}

#[test]
fn the_stricter_sensitivity_wins_and_an_unknown_one_is_refused() {
    let sensitivity = |value: Value| case(value).sensitivity;
    assert_eq!(sensitivity(json!({"output": "x"})), Sensitivity::Internal);
    let inside = json!({"output": "x", "metadata": {"sensitivity": "confidential"}});
    assert_eq!(sensitivity(inside), Sensitivity::Confidential);
    let both = json!({"output": "x", "sensitivity": "confidential", "metadata": {"sensitivity": "public"}});
    assert_eq!(sensitivity(both), Sensitivity::Confidential);
    one(
        json!({"output": "x", "metadata": {"sensitivity": "Confidential"}}),
        Some("metadata.sensitivity"),
        Problem::UnknownName { expected: "public, internal, confidential", found: "Confidential".into() },
    );
}

#[test]
fn a_case_without_id_is_named_by_its_content() {
    let id = |value: Value| case(value).id.0;
    let plain = id(json!({"output": "x", "input": "q"}));
    assert_eq!(plain.len(), 18);
    assert!(plain.starts_with("c-") && plain.chars().skip(2).all(|c| c.is_ascii_hexdigit()));
    assert_eq!(plain, id(json!({"input": "q", "output": "x", "sensitivity": "confidential"})));
    for other in [
        json!({"output": "x"}),
        json!({"output": "x", "reference": "q"}),
        json!({"output": "q", "input": "x"}),
        json!({"output": "x", "input": "q", "model": "m"}),
        json!({"output": "x", "input": "q", "run": 2}),
        json!({"output": "x", "input": "q", "context": ["p"]}),
    ] {
        assert_ne!(plain, id(other));
    }
    assert_eq!(id(json!({"id": 17, "output": "x"})), "17");
}

#[test]
fn recorded_judgments_need_no_texts() {
    let options = IntakeOptions { candidate_texts: CandidateTexts::Optional, ..IntakeOptions::default() };
    let read = |value: Value| case_from_value(value, &options, &mut IntakeNotes::default());
    let pair = read(json!({"id": "1", "mode": "pairwise", "model_a": "m", "model_b": "n"})).unwrap();
    assert_eq!(pair.candidates().map(|c| c.model.as_deref().unwrap()).collect::<Vec<_>>(), ["m", "n"]);
    let reference = read(json!({"id": "1", "mode": "reference", "model": "m"})).unwrap();
    assert_eq!(reference.mode(), Mode::Reference);
    assert_eq!(read(json!({"id": "1"})).unwrap_err(), [FieldProblem::record(Problem::NoCandidate)]);
}
