//! Reasons and quotes: kept as written. And the reading of several criteria at once.

use aggregation::scale::Scale;
use aggregation::vote::Abstention;
use providers::chat::FinishReason;

use super::{menu, one_to, reply, written};
use crate::engine::reply::{Reading, Reply, read, read_together};

fn reading(text: &str) -> Reading {
    read(&reply(text), &one_to(5)).expect(text)
}

#[test]
fn the_span_is_the_value_in_the_original_bytes() {
    for (text, value) in [
        ("Feedback: 4 parts.\n[RESULT] 4/5", "4"),
        ("{\"reason\": \"4\", \"score\": \"4/5\"}", "4"),
        ("{\"score\": 4.0}", "4.0"),
        ("{\"score\": \"\\u0034\"}", "\\u0034"),
        ("\u{feff}评分：\u{200b}４分", "４"),
        ("**Score:** (four)", "four"),
    ] {
        assert_eq!(&text[reading(text).span], value, "{text}");
    }
    let pair = read(&reply("Result: Assistant (b)"), &Scale::Pairwise { tie: true }).unwrap();
    assert_eq!(pair.span, 19..20);
}

#[test]
fn reasons_come_from_their_key_or_from_the_prose() {
    for (text, reasons) in [
        ("{\"reason\": \"a \\\"b\\\", ，and c\", \"score\": 4}", Some("a \"b\", ，and c")),
        ("{\"score\": 4, \"理由\": \"引用准确\"}", Some("引用准确")),
        ("Feedback: names no source.\n[RESULT] 4", Some("names no source.")),
        ("<think>five?</think>\nNames no source.\n\n**Final rating:** [[4]]", Some("Names no source.")),
        ("**Score: 4/5** points\nNames no source.", Some("Names no source.")),
        ("Score: 4 points out of 5", None),
        ("GRADE: 4. Names no source.", Some("Names no source.")),
        ("No source.\n```json\n{\"score\": 4}\n```", Some("No source.")),
        ("{\"score\": 4}", None),
        ("4", None),
    ] {
        assert_eq!(reading(text).rationale.as_deref(), reasons, "{text}");
    }
}

#[test]
fn evidence_is_quoted_verbatim() {
    for (text, quotes) in [
        ("{\"score\": 4, \"evidence\": [\"the 3rd ，of\", \"May\"]}", vec!["the 3rd ，of", "May"]),
        ("{\"score\": 4, \"Quote\": \"May\"}", vec!["May"]),
        ("Evidence: \"the 3rd\", “of May”\nScore: 4", vec!["the 3rd", "of May"]),
        ("Evidence:\n- \"the 3rd\"\n- \"of May\"\n\nHe said \"no\".\nScore: 4", vec!["the 3rd", "of May"]),
        ("He said \"no\".\nScore: 4", vec![]),
    ] {
        assert_eq!(reading(text).evidence, quotes, "{text}");
    }
}

#[track_caller]
fn check_together(text: &str, finish: FinishReason, expected: [&str; 3]) {
    let (five, pass, letters) = (one_to(5), Scale::PassFail, menu(&["C", "I"]));
    let criteria = [("tone", &five), ("has source", &pass), ("facts", &letters)];
    let read = read_together(&Reply { finish, ..reply(text) }, &criteria);
    let found: Vec<String> =
        read.iter().zip(criteria).map(|(reading, (_, scale))| written(reading, scale)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn criteria_are_read_one_by_one() {
    let stop = FinishReason::Stop;
    check_together("{\"tone\": 4, \"has source\": true, \"facts\": \"I\"}", stop, ["4", "pass", "I"]);
    check_together(
        "So:\n```json\n{\"Tone\": {\"reason\": \"x\", \"score\": \"4/5\"}, \"has_source\": {\"verdict\": \"no\"}}\n```",
        stop,
        ["4", "fail", "no_verdict"],
    );
    check_together("{\"verdicts\": {\"has source\": \"pass\"}}", stop, ["no_verdict", "pass", "no_verdict"]);
    check_together("[{\"tone\": 9, \"facts\": \"Z\"}]", stop, ["out_of_range", "no_verdict", "out_of_range"]);
    check_together(
        "{\"tone\": 4, \"tone\": 3, \"facts\": {\"why\": \"C\"}}",
        stop,
        ["ambiguous", "no_verdict", "no_verdict"],
    );
    check_together("{\"tone\": 4, \"facts\": \"C\"}\nThen:\n{\"tone\": 3}", stop, ["3", "no_verdict", "C"]);
    check_together("{\"tone\": 4}{\"tone\": 3}", stop, ["ambiguous", "no_verdict", "no_verdict"]);
    check_together("<think>{\"tone\": 4}</think>", stop, ["no_verdict"; 3]);
    check_together("tone: 4", stop, ["no_verdict"; 3]);
}

#[test]
fn missing_criteria_of_a_checklist_are_missing() {
    let names = ["s1", "s2", "s3", "s4", "s5"];
    let criteria = names.map(|name| (name, &Scale::PassFail));
    let read = read_together(&reply("{\"verdicts\": {\"s2\": \"pass\"}}"), &criteria);
    let found: Vec<String> = read.iter().map(|reading| written(reading, &Scale::PassFail)).collect();
    assert_eq!(found, ["no_verdict", "pass", "no_verdict", "no_verdict", "no_verdict"]);
}

#[test]
fn a_cut_or_refused_answer_holds_for_all_criteria() {
    let cut = FinishReason::Length;
    check_together("{\"tone\": 4, \"facts\": \"C\", \"has sou", cut, ["truncated"; 3]);
    check_together("{\"tone\": 4, \"facts\": \"C\"}", cut, ["4", "no_verdict", "C"]);
    check_together("{\"tone\": 4, \"facts\": \"C\"} and then", cut, ["truncated"; 3]);
    check_together("I'm sorry, but I can't help with this.", FinishReason::Stop, ["refusal"; 3]);
    check_together("{\"tone\": 4}", FinishReason::ContentFilter, ["refusal"; 3]);
}

#[test]
fn each_criterion_keeps_its_own_reasons() {
    let five = one_to(5);
    let text = "{\"tone\": {\"score\": 4, \"reason\": \"kind\", \"quote\": \"dear\"}, \"facts\": 2, \"reason\": \"mixed\"}";
    let read = read_together(&reply(text), &[("tone", &five), ("facts", &five)]);
    let tone = read[0].as_ref().unwrap();
    assert_eq!(
        (tone.rationale.as_deref(), tone.evidence.as_slice()),
        (Some("kind"), &["dear".to_owned()][..])
    );
    assert_eq!(read[1].as_ref().unwrap().rationale.as_deref(), Some("mixed"));
    assert_eq!(read_together(&reply("x"), &[]), Vec::<Result<Reading, Abstention>>::new());
}
