//! Synthetic logprobs, and the field's faults with them.

use providers::chat::{TokenLogprob, TokenLogprobs};
use serde_json::json;

use super::super::{Asked, Reply};
use super::{answer_of, asked, asked_schema, fold_all, said};

fn token(text: &str, logprob: f64) -> TokenLogprob {
    TokenLogprob { bytes: text.as_bytes().to_vec(), logprob }
}

fn text_of(tokens: &[TokenLogprobs]) -> Vec<String> {
    tokens.iter().map(|token| String::from_utf8(token.token.bytes.clone()).unwrap()).collect()
}

fn top_of(token: &TokenLogprobs) -> Vec<(String, f64)> {
    let top = token.top.iter();
    top.map(|top| (String::from_utf8(top.bytes.clone()).unwrap(), (top.logprob.exp() * 100.0).round()))
        .collect()
}

fn wanting(asked: Asked, alternatives: Option<u8>) -> Asked {
    Asked { wants_logprobs: true, top_logprobs: alternatives, ..asked }
}

fn tokens(asked: &Asked, replies: &[Reply]) -> (String, Vec<TokenLogprobs>) {
    let folded = fold_all(asked, replies);
    let answer = answer_of(&folded);
    (said(answer).to_owned(), answer.logprobs.clone().unwrap())
}

#[test]
fn a_bare_verdict_is_one_token_with_the_shares_of_votes() {
    let (_, tokens) =
        tokens(&wanting(asked("Yes or No"), Some(5)), &["Yes", "Yes", "No"].map(Reply::of_text));
    assert_eq!(text_of(&tokens), ["Yes"]);
    assert_eq!(top_of(&tokens[0]), [("Yes".into(), 67.0), ("No".into(), 33.0)]);
}

#[test]
fn unvoted_labels_are_listed_with_next_to_nothing() {
    let (_, tokens) = tokens(&wanting(asked("m or M only"), Some(5)), &["M", "M"].map(Reply::of_text));
    let top = top_of(&tokens[0]);
    assert_eq!(top, [("M".into(), 100.0), ("m".into(), 0.0)]);
}

#[test]
fn the_verdict_is_the_last_token_of_a_label_answer() {
    let replies = ["M names Paris.\n\nM", "M names it.\n\nM", "m is right.\n\nm"].map(Reply::of_text);
    let (content, tokens) = tokens(&wanting(asked("at the very end m or M"), Some(5)), &replies);
    assert_eq!(text_of(&tokens).concat(), content);
    assert_eq!(text_of(&tokens).last().unwrap(), "M");
    let graded = ["GRADE: C\nThat is all.", "GRADE: C", "GRADE: C"].map(Reply::of_text);
    let (content, _) = self::tokens(&wanting(asked("GRADE: C or GRADE: I"), Some(5)), &graded);
    assert_eq!(content, "GRADE: C");
}

#[test]
fn all_digits_of_a_score_are_one_token() {
    let schema = json!({"type": "object", "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}, "reason": {"type": "string"}}, "required": ["score", "reason"]});
    let replies =
        [10, 10, 8].map(|score| Reply::of_text(format!("{{\"score\": {score}, \"reason\": \"10 of 10\"}}")));
    let (content, tokens) = tokens(&wanting(asked_schema(&schema), Some(20)), &replies);
    assert_eq!(text_of(&tokens), ["{\"score\": ", "10", ", \"reason\": \"10 of 10\"}"]);
    assert_eq!(text_of(&tokens).concat(), content);
    assert_eq!(tokens[1].top.len(), 11);
    assert_eq!(top_of(&tokens[1])[..2], [("10".into(), 66.0), ("8".into(), 33.0)]);
    assert_eq!(top_of(&tokens[0]), [("{\"score\": ".into(), 100.0)]);
}

#[test]
fn judges_own_distributions_are_averaged() {
    let reply = |yes: f64| Reply {
        logprobs: Some(vec![TokenLogprobs {
            token: token("yes", yes.ln()),
            top: vec![token("yes", yes.ln()), token(" no", (1.0 - yes).ln()), token("maybe", -9.0)],
        }]),
        ..Reply::of_text("yes")
    };
    let (_, tokens) = tokens(&wanting(asked("yes or no"), Some(2)), &[reply(0.9), reply(0.7)]);
    assert_eq!(top_of(&tokens[0]), [("yes".into(), 80.0), ("no".into(), 20.0)]);
}

#[test]
fn ff_drop_003_top_logprobs_are_a_list_even_when_none_are_asked_for() {
    let (_, tokens) = tokens(&wanting(asked("yes or no"), None), &["yes", "yes"].map(Reply::of_text));
    assert!(tokens.iter().all(|token| token.top.is_empty()));
    assert!(tokens[0].token.logprob <= 0.0 && tokens[0].token.logprob.is_finite());
}

#[test]
fn ff_drop_005_logprobs_are_for_those_who_ask_and_as_many_as_they_ask() {
    let reply = Reply {
        logprobs: Some(vec![TokenLogprobs { token: token("4", -0.1), top: vec![token("4", -0.1)] }]),
        ..Reply::of_text("4")
    };
    let folded = fold_all(&asked("1 to 5"), &[reply.clone(), reply.clone()]);
    assert_eq!(answer_of(&folded).logprobs, None);
    let (_, tokens) = tokens(&wanting(asked("1 to 5"), Some(2)), &[reply.clone(), reply]);
    assert_eq!(tokens[0].top.len(), 2);
}

#[test]
fn ff_drop_006_a_missing_score_is_an_abstention_never_a_default() {
    let schema =
        json!({"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]});
    let reply = Reply::of_text("{\"verdicts\":[{\"name\":\"safety\",\"passed\":false}]}");
    let folded = fold_all(&asked_schema(&schema), &[reply.clone(), reply.clone(), reply]);
    assert!(matches!(folded.outcome, super::super::Outcome::BelowQuorum { answered: 0, .. }));
}
