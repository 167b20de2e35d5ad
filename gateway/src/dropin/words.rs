//! Names that clients give their fields, and what such names say of a value's part in an answer.

/// Free text: never a verdict, whatever it holds.
const REASONS: [&str; 24] = [
    "reason",
    "reasons",
    "reasoning",
    "rationale",
    "explanation",
    "feedback",
    "comment",
    "comments",
    "analysis",
    "chain_of_thought",
    "thought",
    "thoughts",
    "justification",
    "critique",
    "summary",
    "evidence",
    "supporting_evidence",
    "concise_explanation",
    "rewritten_reason",
    "criteria",
    "notes",
    "steps",
    "quote",
    "description",
];

/// A string under one of these is a verdict even where no domain is declared.
const VERDICTS: [&str; 25] = [
    "result",
    "verdict",
    "label",
    "category",
    "choice",
    "winner",
    "rating",
    "score",
    "grade",
    "decision",
    "outcome",
    "preference",
    "preferred",
    "answer",
    "judgment",
    "judgement",
    "class",
    "classification",
    "evaluation",
    "value",
    "correct",
    "is_correct",
    "better",
    "best",
    "[[verdict]]",
];

/// What names an element of a list.
const ELEMENT_KEYS: [&str; 20] = [
    "statement",
    "claim",
    "sentence",
    "id",
    "name",
    "index",
    "model",
    "fact",
    "truth",
    "question",
    "criterion",
    "criterion_name",
    "context",
    "title",
    "key",
    "text",
    "opinion",
    "statement_id",
    "claim_id",
    "requirement",
];

const ELEMENT_NUMBERS: [&str; 8] =
    ["id", "index", "statement_id", "claim_id", "number", "statement_index", "claim_index", "position"];

/// Lists that share one set of statements among them.
const PARTITIONS: [&str; 16] = [
    "tp",
    "fp",
    "fn",
    "tn",
    "true_positives",
    "false_positives",
    "false_negatives",
    "true_negatives",
    "supported",
    "unsupported",
    "attributed",
    "not_attributed",
    "contradicted",
    "correct",
    "incorrect",
    "missing",
];

/// The label that says that neither side is ahead.
const TIES: [&str; 14] = [
    "tie",
    "tied",
    "equal",
    "draw",
    "same",
    "neither",
    "both",
    "no preference",
    "no_preference",
    "even",
    "equally good",
    "a=b",
    "b=a",
    "=",
];

/// Labels on the good side, for counting shares of positive verdicts.
const POSITIVES: [&str; 22] = [
    "yes",
    "y",
    "true",
    "t",
    "correct",
    "c",
    "pass",
    "passed",
    "supported",
    "attributed",
    "faithful",
    "relevant",
    "good",
    "a",
    "entailed",
    "valid",
    "accurate",
    "ok",
    "right",
    "factual",
    "useful",
    "present",
];

const RANKS: [&str; 3] = ["rank", "ranking", "place"];
const PASSES: [&str; 5] = ["pass", "passed", "passes", "passing", "is_pass"];
const SCORES: [&str; 3] = ["score", "rating", "points"];

fn is_in(list: &[&str], key: &str) -> bool {
    list.iter().any(|word| word.eq_ignore_ascii_case(key))
}

pub(super) fn is_reason(key: &str) -> bool {
    is_in(&REASONS, key)
}

pub(super) fn is_verdict_key(key: &str) -> bool {
    is_in(&VERDICTS, key)
}

pub(super) fn is_element_key(key: &str) -> bool {
    is_in(&ELEMENT_KEYS, key)
}

pub(super) fn is_element_number(key: &str) -> bool {
    is_in(&ELEMENT_NUMBERS, key)
}

pub(super) fn is_partition_name(key: &str) -> bool {
    is_in(&PARTITIONS, key)
}

pub(super) fn is_tie(label: &str) -> bool {
    is_in(&TIES, label.trim())
}

pub(super) fn is_positive(label: &str) -> bool {
    is_in(&POSITIVES, label.trim())
}

pub(super) fn is_rank(key: &str) -> bool {
    is_in(&RANKS, key)
}

pub(super) fn is_pass(key: &str) -> bool {
    is_in(&PASSES, key)
}

pub(super) fn is_score(key: &str) -> bool {
    is_in(&SCORES, key)
}

/// Words alone, in lower case: two judges' copies of one statement.
pub(super) fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// A list of bare labels under such a name is a list of verdicts.
pub(super) fn is_verdict_list(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or(path).to_lowercase();
    key.strip_suffix('s').is_some_and(is_verdict_key)
}
