//! What of a server's error text may be shown: short, and without keys, hosts, URLs or the text of a case.

use std::net::{IpAddr, SocketAddr};

use secrecy::{ExposeSecret, SecretString};

use crate::chat::ChatRequest;

/// Longest message kept, in characters.
const LONGEST: usize = 200;
/// Shorter quotes (parameter names, roles) are left alone.
const SHORTEST_QUOTE: usize = 8;
const QUOTES: [char; 3] = ['\'', '"', '`'];
/// Last labels by which a dotted word is taken for a host.
const HOST_ENDINGS: &[&str] =
    &["com", "net", "org", "io", "ai", "dev", "co", "local", "internal", "cloud", "svc", "lan", "localhost"];

/// What must not be in a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Secrets<'a> {
    pub key: Option<&'a SecretString>,
    pub host: &'a str,
    /// Whose words a message may repeat.
    pub request: Option<&'a ChatRequest>,
}

/// The message without what it echoes from the request: validators repeat the refused value after `'input':`.
pub(crate) fn without_echo(message: &str) -> &str {
    let end = ["'input':", "\"input\":"].iter().filter_map(|mark| message.find(mark)).min();
    match end {
        Some(end) => message.get(..end).unwrap_or_default().trim_end_matches([' ', ',', '{']),
        None => message,
    }
}

/// One line of at most 200 characters that is fit for logs and reports.
pub(crate) fn presentable(message: &str, secrets: Secrets<'_>) -> String {
    let unquoted = without_case_text(without_echo(message), secrets.request);
    let mut line = String::new();
    let mut is_after_bearer = false;
    for word in unquoted.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(if is_after_bearer || holds_key(word, secrets.key) {
            "[key]"
        } else if word.contains("://") {
            "[url]"
        } else if holds_host(word, secrets.host) {
            "[host]"
        } else {
            word
        });
        is_after_bearer = word.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("bearer");
    }
    shortened(line)
}

fn shortened(mut line: String) -> String {
    if let Some((cut, _)) = line.char_indices().nth(LONGEST) {
        let keep = line.char_indices().nth(LONGEST - 1).map_or(cut, |(at, _)| at);
        line.truncate(keep);
        line.push('…');
    }
    line
}

/// Replaces quoted text that also stands in the prompt.
fn without_case_text(message: &str, request: Option<&ChatRequest>) -> String {
    let mut kept = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find(QUOTES) {
        let (before, quoted) = rest.split_at(start);
        let mut chars = quoted.chars();
        let Some(quote) = chars.next() else { break };
        let inner = chars.as_str();
        kept.push_str(before);
        kept.push(quote);
        let Some(end) = inner.find(quote) else {
            rest = inner;
            continue;
        };
        let (text, after) = inner.split_at(end);
        let is_case_text = text.len() >= SHORTEST_QUOTE && request.is_some_and(|request| request.says(text));
        if is_case_text {
            kept.push('…');
            kept.push(quote);
            rest = after.get(quote.len_utf8()..).unwrap_or_default();
        } else {
            // The closing quote may open the next quotation, as in `it's 'x'`.
            kept.push_str(text);
            rest = after;
        }
    }
    kept.push_str(rest);
    kept
}

fn holds_key(word: &str, key: Option<&SecretString>) -> bool {
    let is_ours = key.is_some_and(|key| key.expose_secret().len() >= 4 && word.contains(key.expose_secret()));
    let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    is_ours || bare.starts_with("sk-") || word.contains("=sk-")
}

fn holds_host(word: &str, host: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '[' && c != ']');
    let name = bare.split([':', '/']).next().unwrap_or_default();
    (!host.is_empty() && word.contains(host))
        || bare.parse::<IpAddr>().is_ok()
        || bare.parse::<SocketAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || looks_like_domain(name)
}

fn looks_like_domain(name: &str) -> bool {
    let Some((front, ending)) = name.rsplit_once('.') else { return false };
    HOST_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        && front.split('.').all(|label| {
            !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendors::samples::caller;

    fn check(message: &str, expected: &str) {
        let key = SecretString::from("topsecret99");
        let text = "Rate: the answer is forty-two.";
        let body = caller(serde_json::json!({"messages": [{"role": "user", "content": text}]}));
        for request in [ChatRequest::user(text), ChatRequest::from_caller(body)] {
            let secrets = Secrets { key: Some(&key), host: "gpu1.example", request: Some(&request) };
            assert_eq!(presentable(message, secrets), expected);
        }
    }

    #[test]
    fn keys_hosts_and_urls_are_removed() {
        check("Incorrect API key provided: sk-jud***1.", "Incorrect API key provided: [key]");
        check("bad token topsecret99, sorry", "bad token [key] sorry");
        check(
            "header 'Authorization: Bearer abc.def' is wrong",
            "header 'Authorization: Bearer [key] is wrong",
        );
        check("see https://example.com/x?key=1 for help", "see [url] for help");
        check("upstream gpu1.example:8000 is down", "upstream [host] is down");
        check("no route to api.openai.com now", "no route to [host] now");
        check("connect 10.0.0.5:8000 and (127.0.0.1), [::1]:80", "connect [host] and [host] [host]");
        check("dial localhost:11434 failed", "dial [host] failed");
    }

    #[test]
    fn ordinary_words_stay() {
        let text = "body.messages.0 of models/smollm2.gguf at 3.5 tokens: type must be number, e.g. 12";
        check(text, text);
    }

    #[test]
    fn case_text_is_removed() {
        check("value 'the answer is forty-two' is wrong", "value '…' is wrong");
        check("it's `the answer is` bad", "it's `…` bad");
        check("param 'messages' is wrong", "param 'messages' is wrong");
        check(
            "1 validation error:\n  {'type': 'list_type', 'msg': 'a valid list', 'input': 'hi there'}",
            "1 validation error: {'type': 'list_type', 'msg': 'a valid list'",
        );
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let long = "é".repeat(500);
        let key = None;
        let shown = presentable(&long, Secrets { key, host: "", request: None });
        assert_eq!(shown.chars().count(), 200);
        assert!(shown.ends_with('…'));
    }
}
