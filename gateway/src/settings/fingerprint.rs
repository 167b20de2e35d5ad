//! Hashes that tell whether two answers can be compared.
//!
//! In them is what a judge is asked and how votes become a verdict. Not in them: names of servers, prices, limits,
//! deadlines, keys, and what decides who is asked about one case (perimeter, kinship), which each verdict tells itself.

use serde_json::{Value as Json, json};

use crate::case::Mode;
use crate::judge::Judge;
use crate::panel::Panel;
use crate::rubric::{Ask, Criterion, Rubric};
use crate::templates::{AnswerFormat, Template};

/// `b3:` and 32 hex digits over all that can change an answer of this panel.
pub fn panel_version(panel: &Panel) -> String {
    let judges = |list: &[std::sync::Arc<Judge>]| {
        list.iter().map(|j| json!({"id": j.id, "judge": judge(j, None)})).collect::<Vec<_>>()
    };
    fingerprint(&json!({
        "judges": judges(&panel.judges),
        "replacements": judges(&panel.replacements),
        "rubric": *panel.rubric,
        "method": panel.method,
        "orders": panel.orders,
        "quorum": panel.quorum,
        "escalate": panel.escalate,
        "random_review_share": panel.random_review_share,
    }))
}

/// `b3:` and 32 hex digits over all that can change one judge's answer to one criterion: what a calibration is for,
/// and what a recorded judgment can be reused under.
pub fn judge_fingerprint(judge: &Judge, rubric: &Rubric, criterion: &Criterion, mode: Mode) -> String {
    // Asked together, the other criteria stand in the same prompt.
    let others = match rubric.ask {
        Ask::PerCriterion => Json::Null,
        Ask::Together => json!(rubric.criteria),
    };
    fingerprint(&json!({
        "judge": self::judge(judge, Some(mode)),
        "mode": mode,
        "guidelines": rubric.guidelines,
        "ask": rubric.ask,
        "empty": rubric.empty,
        "criterion": criterion,
        "others": others,
    }))
}

/// Over what a judge is, whatever it is asked: what a reply to a caller's own request can be reused under.
pub fn model_fingerprint(judge: &Judge) -> String {
    let server = &judge.server;
    fingerprint(&json!({"provider": server.provider, "base_url": server.base_url, "model": judge.model}))
}

/// Equal for two judges that would give the same answers: one of them is one vote too many.
pub(super) fn judge_identity(judge: &Judge) -> String {
    fingerprint(&self::judge(judge, None))
}

fn judge(judge: &Judge, mode: Option<Mode>) -> Json {
    let server = &judge.server;
    json!({
        "provider": server.provider,
        "base_url": server.base_url,
        "replay": server.replay,
        "only": judge.only,
        "model": judge.model,
        "template": template(&judge.template, mode),
        "scoring": judge.scoring,
        "params": judge.params,
    })
}

/// Texts, not names: a renamed folder asks the same, an edited file does not.
fn template(template: &Template, mode: Option<Mode>) -> Json {
    let answer = match template.answer {
        AnswerFormat::Json => "json",
        AnswerFormat::Result => "result",
        AnswerFormat::Bare => "bare",
    };
    let modes: Vec<Mode> =
        mode.map_or_else(|| vec![Mode::Pointwise, Mode::Pairwise, Mode::Reference], |m| vec![m]);
    let texts: Vec<Option<&str>> = modes.into_iter().map(|m| template.source(m)).collect();
    json!({"answer": answer, "texts": texts})
}

fn fingerprint(value: &Json) -> String {
    let hex = blake3::hash(canonical(value).as_bytes()).to_hex();
    format!("b3:{}", hex.get(..32).unwrap_or_default())
}

/// JSON without blanks, keys sorted at each level.
fn canonical(value: &Json) -> String {
    match value {
        Json::Object(map) => {
            let mut pairs: Vec<(&String, &Json)> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            let pairs: Vec<String> = pairs
                .into_iter()
                .map(|(k, v)| format!("{}:{}", Json::from(k.as_str()), canonical(v)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
        Json::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.to_string(),
    }
}
