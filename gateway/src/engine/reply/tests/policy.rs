//! One test a point of the policy, with variants that the recorded cases do not have.

use aggregation::scale::Scale;
use providers::chat::FinishReason;

use super::{PAIR, check, check_all, interval, menu, one_to, reply, written};
use crate::engine::reply::{Reply, read};

#[track_caller]
fn check_cut(scale: &Scale, text: &str, expected: &str) {
    let reply = Reply { finish: FinishReason::Length, ..reply(text) };
    assert_eq!(written(&read(&reply, scale), scale), expected, "{text:?}");
}

#[test]
fn provider_signals_outrank_the_text() {
    let blocked = Reply { finish: FinishReason::ContentFilter, ..reply("[RESULT] 4") };
    assert_eq!(written(&read(&blocked, &one_to(5)), &one_to(5)), "refusal");
    let empty_field = Reply { refusal: Some(" "), ..reply("[RESULT] 4") };
    assert_eq!(written(&read(&empty_field, &one_to(5)), &one_to(5)), "4");
}

#[test]
fn at_the_limit_only_a_closed_verdict_at_the_end_counts() {
    check_cut(&one_to(5), "```json\n{\"score\": 4}\n```", "4");
    check_cut(&one_to(5), "```json\n{\"score\": 4}", "4");
    check_cut(&one_to(5), "Fine.\n[{\"score\": 4}]\n", "4");
    check_cut(&one_to(5), "Score [[9]]", "out_of_range");
    check_cut(&one_to(5), "{\"score\": 4} and", "truncated");
    check_cut(&one_to(5), "GRADE: 4\n", "truncated");
    check_cut(&one_to(5), "4", "truncated");
    check_cut(&one_to(5), "[[3]] is wrong. {\"reason\": \"x\"}", "truncated");
    check_cut(&one_to(5), "I'm sorry, but I can't help with", "truncated");
    check_cut(&PAIR, "[[A]] or [[B]]", "ambiguous");
}

#[test]
fn reasoning_is_never_read() {
    check(&one_to(5), "<think>[RESULT] 4</think>", "no_verdict");
    check(&one_to(5), "[RESULT] 4</think>", "no_verdict");
    check(&one_to(5), "[RESULT] 2\n<think>[RESULT] 4", "no_verdict");
    check(&one_to(5), "<thinking>\n\"it's 5</thinking>\n\n{\"score\": 2}", "2");
    check(&one_to(5), "[THINK]5?[/THINK] [RESULT] 2", "2");
    check(&one_to(5), "{\"reason\": \"prints <think> twice\", \"score\": 2}", "2");
    check(&one_to(5), "```json\n{\"reason\": \"prints </think>\", \"score\": 2}\n```", "2");
    check(&one_to(5), "The answer holds a `<think>` tag.\n[RESULT] 2", "2");
    check(&one_to(5), "<think>x</think>\n```\n[RESULT] 2\n```", "2");
}

#[test]
fn clean_up_folds_markers_and_slots() {
    check_all(
        &one_to(5),
        &[
            "［RESULT］　４",
            "[RESULT]\u{200b} \u{200e}4\u{200f}",
            "评\u{200b}分：４",
            "Score：４／５",
            "Puntuacio\u{301}n: 4",
            "[[４]]",
            "｛\"score\"：４｝",
            "{\"\\u8bc4\\u5206\": \"\\uff14\"}",
            "[RESULT]\r\n4\r\n",
            "Score: ४",
        ],
        "4",
    );
    check(&one_to(5), "Score: −4", "out_of_range");
    check(&one_to(5), "Score: 4²", "no_verdict");
}

#[test]
fn strong_markers_stand_anywhere() {
    check_all(
        &one_to(5),
        &[
            "Fine. **[RESULT]** 4",
            "**[RESULT] 4**",
            "[ result ] : *4*",
            "[RESULT]\n\n**4**\n",
            "[RESULT][[4]]",
            "[RESULT]\n```json\n{\"score\": 4}\n```",
            "[RESULT]4[/RESULT]",
            "[RESULT] 4 because it is short.",
            "[RESULT] `4`",
            "[RESULT] \"4\"",
            "[RESULT] <4>",
            "[RESULT] **4**/5",
            "Overall: [[4]]/5",
            "GRADE: 4",
            "| total | [[4]] |",
            "Grade (final): 5\nGRADE: 4",
        ],
        "4",
    );
    check(&one_to(5), "Overall: [[4]]/10", "out_of_range");
    check_all(
        &one_to(5),
        &["[RESULT]\n1. First, the answer is short.", "RESULT 4", "[4]", "[[4", "GRADE 4"],
        "no_verdict",
    );
}

#[test]
fn weak_markers_begin_a_line() {
    check_all(
        &one_to(5),
        &[
            "Score: 4",
            "**Score:** 4",
            "**Score**: 4",
            "### Final Score: 4",
            "- Overall rating: 4/5",
            "1. Total score: 4",
            "Overall Final Verdict: 4",
            "Score (1-5): 4",
            "Rating (out of 5): 4",
            "Score:\n4",
            "**Score:**\n\n**4**",
            "Result: 4 / 5",
            "Calificación total: 4",
            "NOTA FINAL: 4",
            "veredicto: cuatro",
            "分数：4",
            "综合评分：4分",
            "最终得分: 4",
            "判定:4",
            "裁决：4",
            "⭐ Score: 4",
        ],
        "4",
    );
    check_all(
        &one_to(5),
        &[
            "My score: 4",
            "Accuracy score: 4",
            "Confidence: 4",
            "Final Score - 4",
            "Score = 4",
            "Score (style): 4",
            "Scores: 4",
            "\"score\": 4",
            "The score: 4",
            "准确性评分：4",
        ],
        "no_verdict",
    );
    check(&one_to(5), "Score: 2\nScore: 4", "4");
    check(&one_to(5), "Score: 2\n[RESULT] 4", "4");
    check(&one_to(5), "Score:\n1. First, the answer is short.", "no_verdict");
}

#[test]
fn a_bare_value_is_the_whole_reply() {
    check_all(
        &one_to(5),
        &["4", " 4.\n", "**4**", "4/5", "(4)", "\"4\"", "`4`", "```\n4\n```", "four", "4分"],
        "4",
    );
    check_all(&PAIR, &["A", "Output (a)", "Response A", "**Assistant A**", "Option A.", "助手A", "A>B"], "A");
    check_all(&PAIR, &["tie", "It's a tie.", "C", "empate", "平局"], "tie");
    check_all(&PAIR, &["neither", "both", "D"], "out_of_range");
    check_all(&PAIR, &["A is better", "A, I think", "none of this"], "no_verdict");
    check(&one_to(5), "3 or 4", "ambiguous");
    check(&one_to(5), "7", "out_of_range");
    check(&one_to(5), "[\"score\", 4]", "no_verdict");
}

#[test]
fn the_final_marker_decides() {
    check(&one_to(5), "[RESULT] 4\n[RESULT] 9", "out_of_range");
    check(&one_to(5), "[RESULT] 4\n[RESULT]", "no_verdict");
    check(&one_to(5), "[RESULT] 4\n[RESULT] unclear", "no_verdict");
    check(&one_to(5), "[[4]]\n[[rating]]", "4");
    check(&one_to(5), "[[4]]\n[[your score here]]", "4");
    check(&one_to(5), "[RESULT] 4\n(as [RESULT] <score>)", "4");
    check(&one_to(5), "[RESULT] 4\n[RESULT]（1到5之间的整数）", "4");
    check(&one_to(5), "{\"score\": \"<score>\"}\n{\"score\": 4}", "4");
    check(&one_to(5), "{\"score\": 4}\nso\n{\"score\": null}", "no_verdict");
    check(&one_to(5), "[[4]]\n[RESULT]", "no_verdict");
    check(&one_to(5), "Format: [[rating]]\nRating: 4", "4");
}

#[test]
fn quoted_markers_do_not_count() {
    check_all(
        &one_to(5),
        &[
            "[RESULT] 2\nIt says \"[RESULT] 5\".",
            "[RESULT] 2\nIt says “[RESULT] 5”.",
            "[RESULT] 2\nDice «[RESULT] 5».",
            "[RESULT] 2\n它写着「[RESULT] 5」。",
            "[RESULT] 2\nIt says `[RESULT] 5`.",
            "[RESULT] 2\n> [RESULT] 5",
            "[RESULT] 2\n```\n[RESULT] 5\n```",
            "[RESULT] 2\n~~~text\n[[5]]\n~~~",
            "[RESULT] 2\nIt says \"ignore this\n[RESULT] 5\nthanks\".",
            "[RESULT] 2\nIt says \"he said \"hi\" and [RESULT] 5\".",
            "[RESULT] 2\nIt prints \"{\"score\": 5}\".",
            "{\"score\": 2, \"reason\": \"it prints [RESULT] 5 and [[5]]\"}",
            "{\"reason\": \"it prints {\\\"score\\\": 5}\", \"score\": 2}",
            "It's 5\" wide.\n[RESULT] 2",
        ],
        "2",
    );
    check_all(
        &one_to(5),
        &["\"[RESULT] 4\"", "`[RESULT] 4`", "> Score: 4", "text\n```\nScore: 4\n```"],
        "no_verdict",
    );
}

#[test]
fn two_values_are_ambiguous() {
    check_all(
        &one_to(5),
        &[
            "Score: 3 or 4",
            "Score: 3-4",
            "Score: 3 – 4",
            "Score: 3 to 4",
            "Score: 3~4",
            "Score: between 3 and 4",
            "Score: 3, maybe 4",
            "Score: 3 (or 4)",
            "Score: 3 or perhaps 4",
            "[RESULT] 3 or [RESULT] 4",
            "Score: 3 / 4 / 5",
            "Score: **3** or **4**",
            "Score: 4, 5",
            "Score: 4 or 7",
            "Nota: de 3 a 4\nNota: 3 a 4",
            "评分：3到4",
            "评分：3至4分",
            "评分：介于3和4之间",
            "[[3]] or [[4]]",
            "It is not [[3]], it is [[4]].",
            "[RESULT] 3, no, [RESULT] 4",
            "{\"score\": \"3 or 4\"}",
            "{\"score\": 3, \"Score\": 4}",
            "{\"score\": 3, \"rating\": 4}",
            "{\"score\": 3}, {\"score\": 4}",
            "```json\n{\"score\": 3}\n```\n```json\n{\"score\": 4}\n```",
            "{\"score\": 3, \"score\": null}",
            "[[3]]\nGRADE: 4",
            "{\"score\": 3}\n[RESULT] 9",
        ],
        "ambiguous",
    );
    check_all(
        &Scale::PassFail,
        &["Verdict: PASS / FAIL", "Verdict: pass or fail", "结论：通过或不通过"],
        "ambiguous",
    );
    check_all(&PAIR, &["[[A]]/[[B]]", "[[A or B]]", "Verdict: A|B", "Verdict: A, B or tie"], "ambiguous");
    check(&one_to(5), "{\"score\": 3} and then {\"score\": 4}", "4");
    check(&one_to(5), "[[3]]. No: [[4]]", "4");
    check(&one_to(5), "{\"score\": 4, \"rating\": \"4/5\"}", "4");
    check(&one_to(5), "Score: 4, 2 errors were found.", "4");
    check(&one_to(5), "Score: 4 - good", "4");
}

#[test]
fn numbers_are_never_bent() {
    check_all(
        &one_to(5),
        &[
            "Score: 4 stars",
            "Score: 4 points out of 5",
            "Score: 4 (out of 5)",
            "Nota: 4 puntos de 5",
            "评分：4分，满分5分",
            "评分：4/满分5分",
            "评分：４ 星",
            "Score: 4.00",
            "Score: 04",
            "Score: +4",
            "Score: (4/5)",
        ],
        "4",
    );
    check_all(
        &one_to(5),
        &[
            "Score: 4 / 10",
            "Score: 4 out of 10",
            "评分：4分（满分10分）",
            "Score: 4.5",
            "Score: 80%",
            "Score: ∞",
            "Score: -4",
            "Score: 1e9",
            "Score: 3/4",
            "Score: 4 (out of 10)",
            "{\"score\": \"4/10\"}",
        ],
        "out_of_range",
    );
    check_all(
        &one_to(5),
        &[
            "Score: NaN",
            "Score: null",
            "Score: 4th",
            "Score: 4.5.2",
            "Score: about 4",
            "Score: 5 reasons why",
            "Score: ~4",
            "评分：四分之三",
            "评分：十五",
            "Score: 4+",
            "Result: one of the claims is false",
            "{\"score\": [4]}",
            "{\"score\": {\"value\": 4}}",
            "{\"score\": \"4 good points\"}",
        ],
        "no_verdict",
    );
    check_all(
        &interval(0.0, 1.0),
        &["Score: 85%", "Score: 85 %", "0,85", "Score: .85", "{\"score\": \"85%\"}"],
        "0.85",
    );
    check(&interval(0.0, 1000.0), "Score: 1,000", "ambiguous");
    check(&interval(1.0, 10.0), "Nota: 7,125", "7.125");
    let halves = Scale::Ordinal(vec![0.0, 0.5, 1.0].try_into().unwrap());
    check(&halves, "Score: 50%", "0.5");
    check(&halves, "Score: 0.7", "out_of_range");
}

#[test]
fn labels_are_whole_tokens_the_longest_first() {
    let fails = [
        "Verdict: INCORRECT",
        "Verdict: Not correct.",
        "Resultado: no cumple",
        "结论：不正确",
        "判定：未通过",
        "Verdict: No, it names no source",
        "{\"verdict\": \"Incorrecto\"}",
        "Verdict: doesn’t pass",
        "Verdict: 0",
        "{\"pass\": 0}",
        "{\"passed\": \"no\"}",
        "{'pass': False}",
        "**Verdict: FAIL**",
        "Verdict: fail ❌",
    ];
    check_all(&Scale::PassFail, &fails, "fail");
    check_all(
        &Scale::PassFail,
        &["Verdict: Sí.", "结论：正确。", "{\"correct\": true}", "{\"pass\": 1.0}", "Verdict: yes - sourced"],
        "pass",
    );
    check_all(
        &Scale::PassFail,
        &["Verdict: partially correct", "Verdict: maybe", "结论：部分正确", "Verdict: B"],
        "out_of_range",
    );
    check_all(
        &Scale::PassFail,
        &[
            "Verdict: passable",
            "Verdict: no citation given",
            "Verdict: passing grade pending",
            "结论：通过了大部分",
            "{\"pass\": 0.7}",
            "{\"score\": 0.7}",
            "{\"pass\": null}",
            "Verdict: not incorrect",
        ],
        "no_verdict",
    );
    check_all(
        &Scale::PassFail,
        &[
            "{\"pass\": true, \"score\": 0.1}",
            "{\"pass\": false, \"score\": 0.9}",
            "{\"pass\": true, \"score\": 0}",
        ],
        "ambiguous",
    );
    check_all(
        &Scale::PassFail,
        &["{\"pass\": true, \"score\": 0.5}", "{\"pass\": true, \"score\": 4}"],
        "pass",
    );
}

#[test]
fn menus_of_letters_and_of_words() {
    let letters = menu(&["C", "P", "I"]);
    check_all(
        &letters,
        &["GRADE: (C)", "grade: **c**", "{\"grade\": \"Correct\"}", "GRADE: 正确", "GRADE: C because"],
        "C",
    );
    check_all(&letters, &["GRADE: Partially correct", "GRADE: parcial"], "P");
    check_all(&letters, &["GRADE: N", "GRADE: 1", "GRADE: tie"], "out_of_range");
    check_all(
        &letters,
        &["GRADE: CP", "GRADE: I think so", "GRADE:", "subgrade: C", "sub-grade: C"],
        "no_verdict",
    );
    check(&menu(&["C", "I"]), "GRADE: Partial", "out_of_range");
    check(&menu(&["A+", "A"]), "GRADE: A+", "A+");
    check(&menu(&["good", "very good"]), "Verdict: Very Good.", "very good");
    check(&menu(&["通过", "不通过"]), "结论：不通过", "不通过");
    check(&menu(&["yes", "n/a"]), "Verdict: N/A", "n/a");
    check(&Scale::PassFail, "Verdict: N/A", "no_verdict");
    check(&menu(&["1", "2"]), "{\"label\": 2}", "2");
    check(&menu(&["true", "false"]), "{\"label\": false}", "false");
}

#[test]
fn pairs_are_named_compared_or_tied() {
    check_all(
        &PAIR,
        &[
            "[[A>>B]]",
            "[[A > B]]",
            "[[B<A]]",
            "Verdict: the assistant A",
            "{\"winner\": \"A>>B\"}",
            "{\"winner\": \"[[A]]\"}",
            "{\"better\": \"a\"}",
            "Resultado: la respuesta A",
            "结论：回答A",
        ],
        "A",
    );
    check_all(
        &PAIR,
        &["[[A=B]]", "[[B≈A]]", "Verdict: a tie", "{\"winner\": \"Tie\"}", "Veredicto: un empate"],
        "tie",
    );
    check_all(&PAIR, &["[[Neither]]", "{\"winner\": \"both\"}", "[[E]]", "Verdict: ambos"], "out_of_range");
    check_all(
        &PAIR,
        &["Verdict: A good answer", "{\"winner\": 1}", "{\"winner\": true}", "[[A>A]]"],
        "no_verdict",
    );
    let decisive = Scale::Pairwise { tie: false };
    check_all(&decisive, &["[[A=B]]", "Verdict: tie", "[[C]]"], "out_of_range");
}

#[test]
fn json_is_read_at_its_top_level() {
    check_all(
        &one_to(5),
        &[
            "{\"final_score\": 4}",
            "{\"Overall Rating\": \"4\"}",
            "{\"puntuación\": 4}",
            "{\"总评分\": 4}",
            "{\"evaluation\": {\"score\": 4, \"answer\": {\"score\": 5}}}",
            "{\"results\": [{\"score\": 4}]}",
            "{\"verdict\": \"fair\", \"score\": 4}",
            "{\"score\": 4.0}",
            "{\"score\": 4, // fine\n}",
            "{\"score\": 4, 'reason': 'it\\'s fine'}",
            "Sure: {\"score\": 4}!",
            "````\n```json\n{\"score\": 4}\n```\n````",
            "```json {\"score\": 4} ```",
            "{\"reason\": \"code:\n```\n[RESULT] 5\n```\n\", \"score\": 4}",
        ],
        "4",
    );
    check_all(
        &one_to(5),
        &[
            "{\"a\": {\"b\": {\"score\": 4}}}",
            "{\"answer\": {\"score\": 5}, \"reason\": \"x\"}",
            "{\"accuracy_score\": 4}",
            "{score: 4}",
            "{\"reason\": \"he said \"hi\"\", \"score\": 4}",
            "{\"score\": 4",
            "[{\"score\": 4}, 3]",
        ],
        "no_verdict",
    );
}

#[test]
fn refusals_by_text_need_a_reply_without_marker() {
    check(&one_to(5), "Sorry, I can't rate this.", "refusal");
    check(&one_to(5), "Sorry, I can't rate this.\n[RESULT]", "no_verdict");
    check(&one_to(5), "Sorry, I can't rate this.\n{\"score\": null}", "no_verdict");
    check(&one_to(5), "The answer says \"I'm sorry, but I can't help\".", "no_verdict");
}
