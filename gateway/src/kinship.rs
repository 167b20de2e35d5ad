//! Who may judge whom: a judge does not judge its own model's answers, nor those of its family.
//!
//! Works on names alone, since that is all a case tells about its author. Must not know panels or quorums.

use crate::judge::Judge;
use crate::panel::ModelKin;
use crate::settings::{UNKNOWN_FAMILY, family};

/// What a judge is to the model that wrote a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kin {
    None,
    /// The judge's model wrote it, or is what the author was trained from.
    SameModel,
    SameFamily,
    /// Either family is unknown and the names differ: it cannot be told.
    Unknown,
}

/// More steps from a model to its base than anyone takes; ends circles in `models`.
const MOST_BASES: usize = 8;

/// How judge and author are related. `models` are the entries of the settings; a model without an entry is known by
/// the built-in table of families.
pub fn kinship(judge: &Judge, candidate_model: &str, models: &[ModelKin]) -> Kin {
    let lineage = lineage(candidate_model, models);
    let own = plain_name(&judge.model);
    if lineage.iter().any(|ancestor| plain_name(ancestor) == own) {
        return Kin::SameModel;
    }
    let author_family = lineage.iter().find_map(|model| {
        let declared = entry(model, models).and_then(|kin| kin.family.as_deref());
        declared.or_else(|| family(model)).filter(|f| *f != UNKNOWN_FAMILY)
    });
    let judge_family = Some(judge.family.as_str()).filter(|f| *f != UNKNOWN_FAMILY);
    match (author_family, judge_family) {
        (Some(author), Some(judge)) if author.eq_ignore_ascii_case(judge) => Kin::SameFamily,
        (Some(_), Some(_)) => Kin::None,
        (None, _) | (_, None) => Kin::Unknown,
    }
}

/// The model, its base, the base's base and so on.
fn lineage<'a>(model: &'a str, models: &'a [ModelKin]) -> Vec<&'a str> {
    let mut lineage = vec![model];
    while let Some(base) = lineage.last().and_then(|m| entry(m, models)).and_then(|kin| kin.base.as_deref())
        && lineage.len() <= MOST_BASES
    {
        lineage.push(base);
    }
    lineage
}

/// The entry whose pattern matches with the most letters of its own.
fn entry<'a>(model: &str, models: &'a [ModelKin]) -> Option<&'a ModelKin> {
    let matching = models.iter().filter(|kin| matches(&kin.pattern, model));
    matching.max_by_key(|kin| (!kin.pattern.contains('*'), kin.pattern.chars().filter(|c| *c != '*').count()))
}

/// `*` stands for any run of characters; case does not matter.
fn matches(pattern: &str, model: &str) -> bool {
    let (pattern, model) = (pattern.to_lowercase(), model.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|start| model.strip_prefix(start)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(end) = parts.pop() else { return rest.is_empty() };
    let mut rest = rest;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(end)
}

/// The name without what differs between servers of the same model: maker's prefix, separators, dates,
/// quantisation, file format and the marks of a chat version.
fn plain_name(model: &str) -> String {
    let lower = model.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let name = name.strip_prefix("meta-").unwrap_or(name);
    let words: Vec<&str> = name.split(['-', '_', ':', ' ', '@']).filter(|w| !w.is_empty()).collect();
    let mut plain = String::new();
    let mut after_quantisation = false;
    for (i, word) in words.iter().enumerate() {
        // `q4_k_m` and `q8_0` are several words here.
        after_quantisation = is_quantisation(word)
            || (after_quantisation && matches!(*word, "k" | "s" | "m" | "l" | "xs" | "xxs" | "0" | "1"));
        if i > 0 && (after_quantisation || is_date(&words, i) || PACKAGING.contains(word)) {
            continue;
        }
        plain.extend(word.chars().filter(|c| *c != '.'));
    }
    plain
}

/// Words that name a file or a server's way of running a model, or its version for chats.
const PACKAGING: [&str; 22] = [
    "latest", "instruct", "chat", "it", "hf", "gguf", "ggml", "awq", "gptq", "mlx", "exl2", "bnb", "fp16",
    "bf16", "fp8", "fp32", "f16", "f32", "int4", "int8", "4bit", "8bit",
];

/// `20241022`, `2024-10-22`, or four digits at the end (`0613`, `2407`).
fn is_date(words: &[&str], at: usize) -> bool {
    let digits = |i: usize, n: usize| {
        words.get(i).is_some_and(|w| w.len() == n && w.bytes().all(|b| b.is_ascii_digit()))
    };
    let starts = |i: usize| digits(i, 4) && digits(i + 1, 2) && digits(i + 2, 2);
    digits(at, 8)
        || (digits(at, 4) && at + 1 == words.len())
        || starts(at)
        || (at >= 1 && starts(at - 1))
        || (at >= 2 && starts(at - 2))
}

fn is_quantisation(word: &str) -> bool {
    let digits = word.strip_prefix("iq").or_else(|| word.strip_prefix('q'));
    digits.is_some_and(|d| d.len() == 1 && d.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(model: &str) -> Judge {
        let family = family(model).unwrap_or(UNKNOWN_FAMILY);
        crate::settings::tests::judge(model, family)
    }

    fn models() -> Vec<ModelKin> {
        let kin = |pattern: &str, base: Option<&str>, family: Option<&str>| ModelKin {
            pattern: pattern.to_owned(),
            base: base.map(str::to_owned),
            family: family.map(str::to_owned),
        };
        vec![
            kin("support-lora-*", Some("llama-3-8b"), Some("llama")),
            kin("support-lora-v9", Some("qwen3:32b"), None),
            kin("*-second", Some("support-lora-2"), None),
            kin("round", Some("trip"), None),
            kin("trip", Some("round"), None),
        ]
    }

    #[test]
    fn relation_by_name() {
        let check = |own: &str, author: &str, expected: Kin| {
            assert_eq!(kinship(&judge(own), author, &models()), expected, "{own} judges {author}");
        };
        check("gpt-4o", "gpt-4o", Kin::SameModel);
        check("gpt-4o", "openai/GPT-4o", Kin::SameModel);
        check("gpt-4o", "gpt-4o-2024-08-06", Kin::SameModel);
        check("gpt-4", "gpt-4-0613", Kin::SameModel);
        check("claude-3-haiku-20240307", "claude-3-haiku", Kin::SameModel);
        check("gpt-4o", "gpt-4o-mini", Kin::SameFamily);
        check("claude-sonnet-4", "claude-sonnet-4-1", Kin::SameFamily);
        check("llama3.1:8b", "meta-llama/Meta-Llama-3.1-8B-Instruct", Kin::SameModel);
        check("llama3.1:8b", "llama3.1:8b-instruct-q4_K_M", Kin::SameModel);
        check("qwen3:32b", "Qwen/Qwen3-32B-AWQ", Kin::SameModel);
        check("qwen3:32b", "qwen3:8b", Kin::SameFamily);
        check("mistral-large-2407", "mistral-large", Kin::SameModel);
        check("prometheus-8x7b-v2.0", "mixtral-8x7b", Kin::SameFamily);
        check("gpt-4o", "claude-3-opus", Kin::None);
        check("gpt-4o", "some-finetune", Kin::Unknown);
        check("house-judge", "gpt-4o", Kin::Unknown);
        check("house-judge", "House-Judge", Kin::SameModel);
    }

    #[test]
    fn declared_bases_count() {
        let check = |own: &str, author: &str, expected: Kin| {
            assert_eq!(kinship(&judge(own), author, &models()), expected, "{own} judges {author}");
        };
        check("llama-3-8b", "support-lora-7", Kin::SameModel);
        check("llama-3-70b", "support-lora-7", Kin::SameFamily);
        check("qwen3:32b", "support-lora-7", Kin::None);
        check("qwen3:32b", "support-lora-v9", Kin::SameModel);
        check("qwen3:8b", "support-lora-v9", Kin::SameFamily);
        check("llama-3-8b", "my-second", Kin::SameModel);
        check("gpt-4o", "round", Kin::Unknown);
    }

    #[test]
    fn patterns_match_whole_names() {
        let check = |pattern: &str, model: &str, expected: bool| {
            assert_eq!(matches(pattern, model), expected, "{pattern} {model}");
        };
        check("a", "A", true);
        check("a", "ab", false);
        check("a*", "a", true);
        check("a*", "abc", true);
        check("*c", "abc", true);
        check("a*c", "abc", true);
        check("a*b*c", "a-b-c", true);
        check("a*b*c", "a-c", false);
        check("ab*bc", "abc", false);
        check("*", "", true);
    }
}
