//! Every kind on ordinary and hostile texts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::case::{Candidate, CaseId, Sensitivity};

fn case(output: &str, reference: Option<&str>) -> Case {
    let answer = |output: &str| Candidate { output: output.to_owned(), model: None };
    Case {
        id: CaseId("c".to_owned()),
        input: None,
        candidates: Candidates::One(answer(output)),
        reference: reference.map(str::to_owned),
        context: Vec::new(),
        source: None,
        sensitivity: Sensitivity::Internal,
        metadata: BTreeMap::new(),
        repeat_of: None,
    }
}

fn run(rule: Rule, output: &str, reference: Option<&str>) -> Finding {
    let check = Check { name: "c".to_owned(), required: false, rule };
    check.run(&case(output, reference), Texts::Given)
}

fn exact(text: Option<&str>, case_sensitive: bool, normalise: bool) -> Rule {
    Rule::Exact(Exact { text: text.map(str::to_owned), case_sensitive, normalise })
}

fn contains(all_of: &[&str], any_of: &[&str], none_of: &[&str], case_sensitive: bool) -> Rule {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rule::Contains(Contains {
        all_of: owned(all_of),
        any_of: owned(any_of),
        none_of: owned(none_of),
        case_sensitive,
    })
}

fn regex(pattern: &str, case_sensitive: bool) -> Rule {
    Rule::Regex(Pattern::new(pattern, case_sensitive).unwrap())
}

fn schema(schema: &Json) -> Rule {
    Rule::JsonSchema(Schema::new(schema).unwrap())
}

fn numeric(value: Option<f64>, tolerance: f64, relative_tolerance: f64) -> Rule {
    Rule::Numeric(Numeric { value, tolerance, relative_tolerance })
}

fn length(unit: LengthUnit, min: Option<u64>, max: Option<u64>) -> Rule {
    Rule::Length(Length { unit, min, max })
}

#[track_caller]
fn check(rule: Rule, output: &str, passes: bool) {
    let shown = format!("{rule:?}");
    let finding = run(rule, output, None);
    assert_eq!(finding == Finding::Pass, passes, "{output:?} {finding:?} {shown}");
    assert!(!matches!(finding, Finding::Undecidable(_)), "{output:?} {finding:?}");
}

#[track_caller]
fn undecidable(rule: Rule, output: &str, reference: Option<&str>) {
    let finding = run(rule, output, reference);
    assert!(matches!(finding, Finding::Undecidable(_)), "{output:?} {finding:?}");
}

#[test]
fn exact_compares_with_its_text() {
    check(exact(Some("Lima"), true, false), "Lima", true);
    check(exact(Some("Lima"), true, false), "Lima ", false);
    check(exact(Some("Lima"), true, false), "lima", false);
    check(exact(Some("Lima"), false, false), "LIMA", true);
    check(exact(Some("São  Tomé"), true, true), "\u{a0}Sa\u{303}o\nTome\u{301} ", true);
    check(exact(Some("São"), true, false), "Sa\u{303}o", false);
    check(exact(Some("ÄÖ"), false, false), "äö", true);
    check(exact(Some("a"), true, true), "a\0", false);
    check(exact(Some(""), true, false), "", true);
}

#[test]
fn exact_compares_with_the_reference_or_decides_nothing() {
    assert_eq!(run(exact(None, true, false), "4", Some("4")), Finding::Pass);
    assert!(matches!(run(exact(None, true, false), "5", Some("4")), Finding::Fail(_)));
    undecidable(exact(None, true, false), "4", None);
    undecidable(exact(None, false, true), "", None);
}

#[test]
fn contains_wants_all_any_and_none() {
    check(contains(&["a", "b"], &[], &[], true), "b and a", true);
    check(contains(&["a", "b"], &[], &[], true), "a only", false);
    check(contains(&[], &["x", "y"], &[], true), "why", true);
    check(contains(&[], &["x", "z"], &[], true), "why", false);
    check(contains(&[], &[], &["sorry"], false), "Sorry, no.", false);
    check(contains(&[], &[], &["sorry"], true), "Sorry, no.", true);
    check(contains(&["\0"], &[], &[], true), "a\0b", true);
    check(contains(&["ÉTÉ"], &[], &[], false), "un été", true);
}

#[test]
fn regex_matches_somewhere_and_in_linear_time() {
    check(regex("[0-9]{4}-[0-9]{2}", true), "on 2026-11 then", true);
    check(regex("^yes$", true), "yes\n", false);
    check(regex("^yes$", false), "YES", true);
    check(regex(r"^\w+$", true), "über", true);
    check(regex("a.b", true), "a\0b", true);
    // A pattern that takes exponential time where matching tries every way.
    check(regex("^(a+)+$", true), &("a".repeat(200_000) + "!"), false);
}

#[test]
fn patterns_that_cannot_be_used_are_refused() {
    for pattern in ["(", "[z-a]", r"(?=a)", r"(a)\1", "*", r"\p{Nonsense}"] {
        let error = Pattern::new(pattern, true).unwrap_err();
        assert!(matches!(error, BadPattern::Syntax(_)), "{pattern}: {error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    assert_eq!(Pattern::new(r"(\w{1000}){1000}", true), Err(BadPattern::TooLarge));
}

#[test]
fn json_schema_takes_json_of_its_shape_only() {
    let person = json!({
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer", "minimum": 0}},
    });
    check(schema(&person), r#" {"name": "Ada", "age": 36} "#, true);
    check(schema(&person), r#"{"name": "ada"}"#, false);
    check(schema(&person), r#"{"age": 3}"#, false);
    check(schema(&person), r#"{"name": "Ada", "age": -1}"#, false);
    for text in [
        "",
        "null",
        "Ada",
        "{\"name\": \"Ada\"",
        "```json\n{\"name\": \"Ada\"}\n```",
        "{\"name\": \"Ada\"}\0",
    ] {
        check(schema(&person), text, false);
    }
    check(schema(&json!({})), &("[".repeat(100_000) + &"]".repeat(100_000)), false);
    let tree =
        json!({"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"});
    check(schema(&tree), "[[[]],[]]", true);
    check(schema(&tree), "[[[1]]]", false);
}

#[test]
fn a_failed_schema_names_the_rule_and_no_text_of_the_answer() {
    let rule = schema(&json!({"properties": {"age": {"type": "integer"}}}));
    let Finding::Fail(why) = run(rule, r#"{"age": "secret"}"#, None) else { panic!("it passed") };
    assert_eq!(why, "the answer breaks the schema at `/properties/age/type`");
    let rule = schema(&json!({"required": ["total"]}));
    let Finding::Fail(why) = run(rule, r#"{"secret": 1}"#, None) else { panic!("it passed") };
    assert_eq!(why, "the answer breaks the schema at `/required`: `total` is missing");
}

#[test]
fn schemas_that_cannot_be_used_are_refused() {
    for wrong in [
        json!({"type": "objekt"}),
        json!({"minimum": "0"}),
        json!({"pattern": "(?=a)"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "https://schemas.example.com/person.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!(3),
    ] {
        let error = Schema::new(&wrong).unwrap_err().to_string();
        assert!(error.starts_with("this is no JSON Schema"), "{error}");
    }
}

#[test]
fn a_schema_reaches_neither_the_network_nor_a_file() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("any.json"), "{}").unwrap();
    let local = format!("file://{}/", folder.path().display());
    for outward in [
        json!({"$ref": format!("{server}/any.json")}),
        json!({"$id": format!("{server}/all.json"), "$ref": "any.json"}),
        json!({"$schema": format!("{server}/meta.json")}),
        json!({"properties": {"a": {"$dynamicRef": format!("{server}/any.json#a")}}}),
        json!({"$ref": format!("{local}any.json")}),
        json!({"$id": local, "$ref": "any.json"}),
    ] {
        let error = Schema::new(&outward).unwrap_err().to_string();
        assert!(error.contains("Retriev") || error.contains("meta-schema"), "{error}");
    }
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "somebody called");
}

#[test]
fn hostile_answers_are_read_in_passing() {
    let formats = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "anyOf": [{"format": "regex"}, {"format": "email"}, {"format": "uri"}, {"format": "date-time"}],
    });
    for text in ["(".repeat(100_000), "[".repeat(100_000), "a{9}".repeat(50_000), "@".repeat(100_000)] {
        run(schema(&formats), &json!(text).to_string(), None);
    }
    let numbers = json!((0..20_000).collect::<Vec<_>>());
    check(schema(&json!({"uniqueItems": true})), &numbers.to_string(), true);
    run(schema(&json!({"multipleOf": 0.01})), "1e308", None);
    check(schema(&json!({})), "1e999", false);
}

#[test]
fn a_schema_that_only_names_itself_ends() {
    for endless in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
    ] {
        if let Ok(schema) = Schema::new(&endless) {
            run(Rule::JsonSchema(schema), "1", None);
        }
    }
}

#[test]
fn numeric_allows_the_larger_tolerance() {
    check(numeric(Some(4.0), 0.0, 0.0), "The answer is 4.", true);
    check(numeric(Some(4.0), 0.0, 0.0), "The answer is 4.1", false);
    check(numeric(Some(1.0), 0.1, 0.0), "1.1", true);
    check(numeric(Some(1.0), 0.1, 0.0), "1.11", false);
    check(numeric(Some(-200.0), 0.0, 0.05), "-190", true);
    check(numeric(Some(-200.0), 0.0, 0.05), "-189", false);
    check(numeric(Some(1234.0), 0.0, 0.0), "1,234", true);
    check(numeric(Some(1.0), 0.1, 0.0), "one", false);
    check(numeric(Some(1.0), 0.1, 0.0), "", false);
    assert_eq!(run(numeric(None, 0.0, 0.0), "42", Some("It is 42.")), Finding::Pass);
}

#[test]
fn numeric_decides_nothing_on_several_numbers() {
    undecidable(numeric(Some(4.0), 0.0, 0.0), "2 + 2 = 4", None);
    undecidable(numeric(None, 0.0, 0.0), "4", None);
    undecidable(numeric(None, 0.0, 0.0), "4", Some("four"));
    undecidable(numeric(None, 0.0, 0.0), "4", Some("3 or 4"));
    undecidable(numeric(Some(1.0), 0.0, 0.0), &"9".repeat(100_000), None);
}

#[test]
fn length_counts_characters_or_words() {
    check(length(LengthUnit::Characters, Some(2), Some(3)), "äöü", true);
    check(length(LengthUnit::Characters, Some(2), Some(3)), "ä", false);
    check(length(LengthUnit::Characters, None, Some(3)), "four", false);
    check(length(LengthUnit::Characters, Some(1), None), "\0", true);
    check(length(LengthUnit::Words, Some(2), Some(2)), " two\u{2003}words\n", true);
    check(length(LengthUnit::Words, None, Some(2)), &"w ".repeat(1_000_000), false);
    check(length(LengthUnit::Words, Some(1), None), "", false);
}

#[test]
fn pairs_and_missing_texts_decide_nothing() {
    let short =
        || Check { name: "c".to_owned(), required: true, rule: length(LengthUnit::Words, Some(1), None) };
    assert!(matches!(short().run(&case("", None), Texts::MayBeMissing), Finding::Undecidable(_)));
    assert!(matches!(short().run(&case("", None), Texts::Given), Finding::Fail(_)));
    let answer = Candidate { output: "x".to_owned(), model: None };
    let pair = Case { candidates: Candidates::Pair { a: answer.clone(), b: answer }, ..case("", None) };
    assert!(matches!(short().run(&pair, Texts::Given), Finding::Undecidable(_)));
}

fn every_kind() -> Vec<Rule> {
    vec![
        exact(None, false, true),
        exact(Some("x"), true, true),
        contains(&["a"], &["b", "1"], &["c"], false),
        regex(r"^(\w+\s?)+$", false),
        schema(&json!({"type": ["object", "array", "number"], "maxProperties": 2})),
        numeric(None, 0.5, 0.1),
        numeric(Some(1.0), 0.0, 0.0),
        length(LengthUnit::Words, Some(2), Some(5)),
    ]
}

proptest! {
    #[test]
    fn every_text_has_the_same_finding_twice(
        output in prop_oneof![any::<String>(), r"[0-9,.eE+\-\u{2212} ]{0,40}", r#"[\[\]{}":,0-9a]{0,40}"#],
        reference in proptest::option::of(any::<String>()),
    ) {
        for rule in every_kind() {
            let first = run(rule.clone(), &output, reference.as_deref());
            prop_assert_eq!(first, run(rule, &output, reference.as_deref()));
        }
    }
}
