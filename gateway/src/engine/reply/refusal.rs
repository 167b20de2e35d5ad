//! Whether a reply without any marker declines to judge.

use super::cursor::plain;

/// A refusal comes at once; later words are about the candidate.
const REACH: usize = 240;

/// Alone these say only that something is regretted.
const APOLOGIES: [&str; 17] = [
    "i'm sorry",
    "i am sorry",
    "sorry",
    "i apologize",
    "i apologise",
    "my apologies",
    "unfortunately",
    "as an ai",
    "as a",
    "lo siento",
    "lo lamento",
    "lamento",
    "抱歉",
    "很抱歉",
    "非常抱歉",
    "对不起",
    "很遗憾",
];
const INABILITIES: [&str; 24] = [
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable to",
    "i am unable to",
    "i'm not able to",
    "i am not able to",
    "i won't",
    "i will not",
    "i must decline",
    "i have to decline",
    "i decline to",
    "i must respectfully decline",
    "no puedo",
    "no poder",
    "no me es posible",
    "no podre",
    "debo negarme",
    "我无法",
    "我不能",
    "我没法",
    "我拒绝",
    "无法",
    "不能",
];
/// What is declined: "I can't find a mistake" declines nothing.
const DUTIES: [&str; 42] = [
    "help",
    "assist",
    "evaluate",
    "rate",
    "score",
    "judge",
    "grade",
    "assess",
    "comply",
    "provide",
    "give",
    "do that",
    "do this",
    "answer",
    "continue",
    "complete",
    "fulfill",
    "fulfil",
    "engage",
    "process",
    "discuss",
    "review",
    "participate",
    "perform",
    "respond",
    "evaluar",
    "ayudar",
    "puntuar",
    "calificar",
    "juzgar",
    "valorar",
    "responder",
    "proporcionar",
    "continuar",
    "dar una",
    "评价",
    "评分",
    "评估",
    "帮助",
    "协助",
    "回答",
    "提供",
];

/// `own` is the reply in the judge's own words, with quotations overwritten: a refusal that the judge quotes is the
/// candidate's.
pub(super) fn is_refusal(own: &str) -> bool {
    let start: String =
        own.trim_start_matches(|c: char| !c.is_alphanumeric()).chars().take(REACH).map(plain).collect();
    let Some((at, inability)) = first_of(&start, &INABILITIES) else { return false };
    let lead = start.get(..at).unwrap_or_default();
    let object = start.get(at + inability.len()..).unwrap_or_default();
    let sentence = object.split(['.', '。', '!', '\n']).next().unwrap_or_default();
    let is_at_once = lead.trim().is_empty()
        || APOLOGIES.iter().any(|apology| lead.starts_with(apology))
        || lead.trim_end().ends_with(',') && !lead.contains('.');
    is_at_once && first_word_of(sentence, &DUTIES)
}

fn first_of<'w>(text: &str, phrases: &[&'w str]) -> Option<(usize, &'w str)> {
    phrases.iter().filter_map(|phrase| text.find(phrase).map(|at| (at, *phrase))).min_by_key(|(at, _)| *at)
}

/// A duty among the first words: the thing that is declined.
fn first_word_of(sentence: &str, duties: &[&str]) -> bool {
    let near: String = sentence.trim_start().chars().take(24).collect();
    duties.iter().any(|duty| near.match_indices(duty).any(|(at, _)| is_word_start(&near, at)))
}

fn is_word_start(text: &str, at: usize) -> bool {
    !text.get(..at).unwrap_or_default().chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, refuses: bool) {
        assert_eq!(is_refusal(text), refuses, "{text}");
    }

    #[test]
    fn declining_to_judge_is_a_refusal() {
        check("I'm sorry, but I can't help with evaluating this text.", true);
        check("I’m sorry, but I can’t assist with that request.", true);
        check("I cannot evaluate this content.", true);
        check("As an AI model, I am unable to provide a rating.", true);
        check("Lo siento, no puedo evaluar este contenido.", true);
        check("抱歉，我无法评价该内容。", true);
        check("很抱歉，我不能提供评分。", true);
    }

    #[test]
    fn regret_about_the_candidate_is_none() {
        check("I'm sorry, the answer is weak.", false);
        check("I can't find any mistake in this answer.", false);
        check("The candidate says that it cannot help, which is wrong.", false);
        check("I give no score to such text.", false);
        check("", false);
    }
}
