//! Token estimate for tokens-per-minute limits.
//!
//! No tokenizer: vendors differ and their tables weigh megabytes. The estimate is corrected by the reported usage
//! (`layers::rate_limit`), so it only has to be of the right size.

use crate::chat::ChatRequest;

/// Bytes of ASCII text per token, a little below the English average so that the estimate errs upwards.
const ASCII_BYTES_PER_TOKEN: usize = 4;
/// Role and separators of one message.
const TOKENS_PER_MESSAGE: usize = 4;
/// What an answer is taken to need when the request does not cap it.
const UNCAPPED_ANSWER_TOKENS: usize = 512;

/// Tokens that this call may cost: four ASCII bytes or two non-ASCII bytes to a token, four tokens a message, plus the
/// whole answer allowance, as servers with such limits count it. Saturates at `u32::MAX`; at least 1.
pub fn estimate(request: &ChatRequest) -> u32 {
    let mut tokens = match request.max_tokens {
        Some(cap) => usize::try_from(cap).unwrap_or(usize::MAX),
        None => UNCAPPED_ANSWER_TOKENS,
    };
    for message in &*request.messages {
        let ascii = message.content.bytes().filter(u8::is_ascii).count();
        let other = message.content.len().saturating_sub(ascii);
        tokens = tokens
            .saturating_add(ascii.div_ceil(ASCII_BYTES_PER_TOKEN))
            .saturating_add(other.div_ceil(2))
            .saturating_add(TOKENS_PER_MESSAGE);
    }
    u32::try_from(tokens).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_counts_text_messages_and_answer() {
        let check = |text: &str, max_tokens: Option<u32>, expected: u32| {
            assert_eq!(estimate(&ChatRequest { max_tokens, ..ChatRequest::user(text) }), expected, "{text}");
        };
        check("", Some(0), 4);
        check("Rate the answer.", Some(10), 4 + 4 + 10);
        check("評価してください", Some(10), 12 + 4 + 10);
        check("Rate the answer.", None, 4 + 4 + 512);
        check("x", Some(u32::MAX), u32::MAX);
    }
}
