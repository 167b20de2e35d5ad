//! The verdict's tokens.

use aggregation::scale::Scale;
use providers::chat::{TokenLogprob, TokenLogprobs};

use super::{PAIR, menu, one_to, reply};
use crate::engine::reply::{Reply, Unusable, VerdictTokens, label_spellings, read, read_distribution};

fn token(text: &str, top: &[(&str, f64)]) -> TokenLogprobs {
    let listed =
        |(text, logprob): &(&str, f64)| TokenLogprob { bytes: text.as_bytes().to_vec(), logprob: *logprob };
    TokenLogprobs {
        token: TokenLogprob { bytes: text.as_bytes().to_vec(), logprob: -0.5 },
        top: top.iter().map(listed).collect(),
    }
}

fn plain(texts: &[&str]) -> Vec<TokenLogprobs> {
    texts.iter().map(|text| token(text, &[])).collect()
}

fn find(text: &str, scale: &Scale, tokens: &[TokenLogprobs]) -> Result<VerdictTokens, Unusable> {
    let reply = Reply { logprobs: Some(tokens), ..reply(text) };
    read_distribution(&reply, &read(&reply, scale).expect(text))
}

fn texts(alternatives: &[TokenLogprob]) -> Vec<String> {
    alternatives.iter().map(|token| String::from_utf8_lossy(&token.bytes).into_owned()).collect()
}

#[test]
fn the_position_is_the_values_own_and_not_the_first_digit() {
    let mut tokens = plain(&[
        "{\"",
        "reason",
        "\":\" lists ",
        "4",
        " items, one wrong\",\"",
        "score",
        "\":",
        " ",
        "4",
        "}",
    ]);
    tokens[3] = token("4", &[("4", -0.001), ("two", -7.0)]);
    tokens[8] = token("4", &[("4", -0.69), ("3", -0.92), ("2", -2.3)]);
    let text = "{\"reason\":\" lists 4 items, one wrong\",\"score\": 4}";
    let found = find(text, &one_to(5), &tokens).unwrap();
    assert_eq!(texts(&found.at), ["4", "3", "2"]);
    assert_eq!(texts(&found.next.unwrap()), ["}"]);
}

#[test]
fn a_number_of_two_tokens_gives_both_positions() {
    let mut tokens = plain(&["Score", ":", " ", "1", "0"]);
    tokens[3] = token("1", &[("1", -0.01), ("9", -5.0)]);
    tokens[4] = token("0", &[("0", -0.02), ("\n", -4.2)]);
    let found = find("Score: 10", &one_to(10), &tokens).unwrap();
    assert_eq!(texts(&found.at), ["1", "9"]);
    assert_eq!(texts(&found.next.unwrap()), ["0", "\n"]);
}

#[test]
fn what_leads_to_the_value_is_taken_off_every_alternative() {
    let zero_to_five = Scale::Ordinal((0..=5).map(f64::from).collect::<Vec<_>>().try_into().unwrap());
    let tokens = [
        token("{\"score\":", &[]),
        token(" 0", &[(" 0", -0.11), (" 1", -2.41), ("▁0", -6.0)]),
        token("}", &[]),
    ];
    assert_eq!(texts(&find("{\"score\": 0}", &zero_to_five, &tokens).unwrap().at), ["0", "1", "0"]);
    let tokens = [
        token("Result: ", &[]),
        token("[[A", &[("[[A", -0.1), ("[[B", -2.0), ("[", -9.0)]),
        token("]]", &[]),
    ];
    assert_eq!(texts(&find("Result: [[A]]", &PAIR, &tokens).unwrap().at), ["A", "B", ""]);
    let tokens =
        [token("{\"score\": ", &[]), token("\"4\"}", &[("\"4\"}", -0.1), ("\"3\"}", -2.0), ("4", -9.0)])];
    let found = find("{\"score\": \"4\"}", &one_to(5), &tokens).unwrap();
    assert_eq!((texts(&found.at), found.next), (vec!["4".into(), "3".into(), "4".into()], None));
    // "4." may become 4.5, so it stays what it is.
    let tokens = [token("Score: ", &[]), token("4.", &[("4.", -0.1), ("3.", -2.0)])];
    assert_eq!(texts(&find("Score: 4.", &one_to(5), &tokens).unwrap().at), ["4.", "3."]);
}

#[test]
fn the_sampled_token_is_listed_even_when_the_server_left_it_out() {
    let mut tokens = plain(&["{\"score", "\":", "4", "}"]);
    tokens[2] = token("4", &[("\":", 0.0), ("\"", -19.1)]);
    tokens[2].token.logprob = f64::NEG_INFINITY;
    let found = find("{\"score\":4}", &one_to(5), &tokens).unwrap();
    assert_eq!(texts(&found.at), ["", "", "4"]);
    assert_eq!(found.sampled, TokenLogprob { bytes: b"4".to_vec(), logprob: f64::NEG_INFINITY });
}

#[test]
fn tokens_may_be_parts_of_characters() {
    let part = |bytes: &[u8]| TokenLogprobs {
        token: TokenLogprob { bytes: bytes.to_vec(), logprob: -0.1 },
        top: Vec::new(),
    };
    let tokens = [part(&[233, 128]), part(&[154]), part(&[232, 191, 135])];
    let found = find("通过", &menu(&["通过", "不通过"]), &tokens).unwrap();
    assert_eq!(found.at[0].bytes, [233, 128]);
    assert_eq!(found.next.unwrap()[0].bytes, [154]);
}

#[test]
fn a_trimmed_reply_is_aligned_from_its_end() {
    let tokens = plain(&["<think>", "5?", "</think>", "\n\n", "Score", ": ", "4", "\n", "<|eot_id|>"]);
    assert_eq!(texts(&find("Score: 4", &one_to(5), &tokens).unwrap().at), ["4"]);
}

#[test]
fn unusable_logprobs_say_why() {
    let five = one_to(5);
    let reply = reply("Score: 4");
    let reading = read(&reply, &five).unwrap();
    assert_eq!(read_distribution(&reply, &reading), Err(Unusable::Missing));
    assert_eq!(find("Score: 4", &five, &[]), Err(Unusable::Missing));
    assert_eq!(find("Score: 4", &five, &plain(&["Score", ": ", "5"])), Err(Unusable::Unaligned));
    assert_eq!(find("Score: 4", &five, &plain(&["4"])), Err(Unusable::Unaligned));
    assert_eq!(find("Score: 4 stars", &five, &plain(&["Score: 4", " stars"])), Err(Unusable::NotAtValue));
}

#[test]
fn labels_are_spelled_as_the_reply_spells_them_first() {
    assert_eq!(label_spellings(&one_to(3), "2"), [["1"], ["2"], ["3"]]);
    let halves = Scale::Ordinal(vec![0.0, 0.5].try_into().unwrap());
    assert_eq!(label_spellings(&halves, "0"), [["0"], ["0.5"]]);
    let [fail, pass] = &label_spellings(&Scale::PassFail, "YES")[..] else { panic!("two labels") };
    assert_eq!(pass[0], "YES");
    assert!(
        ["fail", "FAIL", "no", "No", "0", "incorrect", "不通过"]
            .iter()
            .all(|word| fail.contains(&(*word).into()))
    );
    assert!(["pass", "Pass", "true", "1", "通过"].iter().all(|word| pass.contains(&(*word).into())));
    assert!(!pass.iter().any(|word| fail.contains(word)));
    let pair = label_spellings(&PAIR, "a");
    assert_eq!(
        (pair[0][0].as_str(), pair[1].contains(&"B".into()), pair[2].contains(&"tie".into())),
        ("a", true, true)
    );
    assert_eq!(label_spellings(&Scale::Pairwise { tie: false }, "A").len(), 2);
    assert_eq!(label_spellings(&super::interval(0.0, 1.0), "0.5"), Vec::<Vec<String>>::new());
}
