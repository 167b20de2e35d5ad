//! The words that are verdicts, in the three languages of the policy.

/// What a verdict word says, before any scale is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Pass,
    Fail,
    Correct,
    Incorrect,
    Partial,
    Tie,
    /// A choice that no scale offers, such as "both".
    Elsewhere,
}

use Meaning::{Correct, Elsewhere, Fail, Incorrect, Partial, Pass, Tie};

/// Matched as whole words, the longest first. Accents and case do not count.
pub(super) const WORDS: [(Meaning, &[&str]); 7] = [
    (Pass, &["pass", "passed", "passes", "passing", "yes", "y", "true", "accept", "accepted", "acceptable", "aprobado", "aprobada", "aprueba", "apto", "apta", "cumple", "si", "verdadero", "verdadera", "通过", "已通过", "是", "是的", "合格", "真", "达标"]),
    (Fail, &["fail", "failed", "fails", "failing", "failure", "no", "n", "false", "reject", "rejected", "unacceptable", "not pass", "not passed", "not passing", "no pass", "does not pass", "doesn't pass", "did not pass", "didn't pass", "not accepted", "not acceptable", "no aprobado", "no aprobada", "no aprueba", "no apto", "no apta", "no cumple", "no pasa", "suspenso", "suspendido", "reprobado", "reprobada", "rechazado", "rechazada", "falso", "falsa", "不通过", "未通过", "没通过", "没有通过", "否", "不是", "不合格", "假", "未达标", "不达标"]),
    (Correct, &["correct", "right", "correcto", "correcta", "正确", "对"]),
    (Incorrect, &["incorrect", "wrong", "not correct", "not right", "is not correct", "isn't correct", "no correcto", "no correcta", "no es correcto", "no es correcta", "incorrecto", "incorrecta", "erroneo", "erronea", "错误", "不正确", "错", "不对"]),
    (Partial, &["partial", "partially", "partially correct", "partly correct", "partial pass", "partial credit", "parcial", "parcialmente", "parcialmente correcto", "parcialmente correcta", "部分正确", "部分通过", "部分"]),
    (Tie, &["tie", "tied", "a tie", "it's a tie", "it is a tie", "draw", "a draw", "equal", "empate", "un empate", "empatados", "iguales", "平局", "平手", "打平", "和局", "不分上下", "不分胜负"]),
    (Elsewhere, &["both", "neither", "none", "mixed", "unclear", "unsure", "undecided", "uncertain", "maybe", "ambos", "ambas", "ninguno", "ninguna", "quizas", "dudoso", "两者", "两者都", "都", "都好", "都不好", "都不", "不确定"]),
];

/// What judges put before the letter of a candidate.
pub(super) const CANDIDATE_WORDS: [&str; 24] = [
    "the assistant", "assistant", "the response", "response", "the answer", "answer", "the output", "output",
    "the option", "option", "the model", "model", "the candidate", "candidate", "el asistente", "asistente",
    "la respuesta", "respuesta", "la opcion", "opcion", "el modelo", "modelo", "el candidato", "candidato",
];
pub(super) const CANDIDATE_WORDS_ZH: [&str; 9] =
    ["助手", "助理", "回答", "回复", "答案", "选项", "模型", "候选", "输出"];

/// Words with which templates name the value that is to be written.
pub(super) const PLACEHOLDER_WORDS: [&str; 31] = [
    "rating", "score", "verdict", "value", "number", "integer", "int", "float", "label", "letter", "digit",
    "grade", "result", "winner", "choice", "x", "n", "puntuacion", "calificacion", "nota", "veredicto",
    "resultado", "numero", "entero", "valor", "etiqueta", "letra", "ganador", "placeholder", "insert", "here",
];
pub(super) const PLACEHOLDER_WORDS_ZH: [&str; 13] = [
    "分数", "评分", "得分", "总分", "整数", "数字", "数值", "结论", "判定", "裁决", "标签", "此处", "填写",
];
/// What may stand beside them.
pub(super) const PLACEHOLDER_FILLERS: [&str; 22] = [
    "a", "an", "the", "your", "my", "final", "overall", "whole", "single", "between", "from", "to", "and", "or",
    "of", "un", "una", "tu", "su", "entre", "y", "de",
];
pub(super) const PLACEHOLDER_FILLERS_ZH: [&str; 12] =
    ["之间", "介于", "的", "到", "至", "一个", "个", "和", "你", "您", "在", "请"];
