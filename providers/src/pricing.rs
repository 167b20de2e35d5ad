//! Usage → cost. Owns a small dated table of list prices; knows nothing of budgets.

use crate::chat::Usage;
use crate::vendors::Dialect;

/// USD per million tokens, which is the same number as millionths of a dollar per token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Input read from the server's cache; `None`: charged as any input.
    pub cached_input: Option<f64>,
}

/// Whose list price is meant. A local server has no list price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceList {
    OpenAi,
    Anthropic,
    Gemini,
}

impl PriceList {
    /// The list that applies to a dialect's own address; `None` for local and unknown servers.
    pub fn of(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::OpenAi => Some(Self::OpenAi),
            Dialect::Anthropic => Some(Self::Anthropic),
            Dialect::Gemini => Some(Self::Gemini),
            // Mistral is not in the table; at Azure the model's name is whatever the deployment is called.
            Dialect::Vllm
            | Dialect::LlamaCpp
            | Dialect::Ollama
            | Dialect::Mistral
            | Dialect::AzureOpenAi
            | Dialect::OpenRouter
            | Dialect::Compatible => None,
        }
    }
}

/// The day for which [`builtin`]'s table gives list prices, as its authors knew them. They were not compared with the
/// vendors' price pages: look there before you rely on a cost, and put the price into the settings where it differs.
pub const TABLE_DATE: &str = "2025-10-01";

/// What a token costs that goes into the cache for five minutes, as a share of an input token: Anthropic's list price.
/// Other vendors count no such tokens.
const CACHE_WRITE_SHARE: f64 = 1.25;

/// Cost in millionths of a dollar, rounded half up. `None` when a price is negative or not finite, or the sum does not
/// fit. Reasoning tokens are part of the completion and cost what output costs.
pub fn cost_microusd(usage: &Usage, price: &Price) -> Option<u64> {
    let cached_price = price.cached_input.unwrap_or(price.input);
    if [price.input, price.output, cached_price].iter().any(|p| !p.is_finite() || *p < 0.0) {
        return None;
    }
    // A server that reports more cached than prompt tokens is wrong about the cache, not about the prompt.
    let cached = usage.cached_tokens.min(usage.prompt_tokens);
    let written = usage.cache_write_tokens.min(usage.prompt_tokens - cached);
    let cost = tokens(usage.prompt_tokens - cached - written)? * price.input
        + tokens(cached)? * cached_price
        + tokens(written)? * (price.input * CACHE_WRITE_SHARE)
        + tokens(usage.completion_tokens)? * price.output;
    whole(cost.round())
}

/// Token counts beyond 2^32 are a fault of the server; below that the conversion is exact.
fn tokens(count: u64) -> Option<f64> {
    u32::try_from(count).ok().map(f64::from)
}

fn whole(cost: f64) -> Option<u64> {
    if cost > 2f64.powi(53) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative and at most 2^53, checked above"
    )]
    Some(cost as u64)
}

/// List price of a well-known hosted model on [`TABLE_DATE`]; a dated snapshot (`gpt-4o-2024-08-06`) has its model's
/// price. `None` when unknown: cost is then unknown, not zero.
pub fn builtin(list: PriceList, model: &str) -> Option<Price> {
    let table = match list {
        PriceList::OpenAi => OPENAI,
        PriceList::Anthropic => ANTHROPIC,
        PriceList::Gemini => GEMINI,
    };
    let name = undated(model);
    table.iter().find(|(known, _)| *known == name).map(|(_, price)| *price)
}

/// The name without `-2024-08-06` or `-20240806` at its end.
fn undated(model: &str) -> &str {
    let is_date = |tail: &str, dashes: &[usize]| {
        tail.bytes()
            .enumerate()
            .all(|(at, byte)| if dashes.contains(&at) { byte == b'-' } else { byte.is_ascii_digit() })
    };
    for (length, dashes) in [(11, &[0usize, 5, 8][..]), (9, &[0][..])] {
        if let Some((name, tail)) = model.len().checked_sub(length).and_then(|at| model.split_at_checked(at))
            && !name.is_empty()
            && is_date(tail, dashes)
        {
            return name;
        }
    }
    model
}

const fn usd(input: f64, cached: f64, output: f64) -> Price {
    Price { input, output, cached_input: Some(cached) }
}

const OPENAI: &[(&str, Price)] = &[
    ("gpt-4o", usd(2.5, 1.25, 10.0)),
    ("gpt-4o-mini", usd(0.15, 0.075, 0.6)),
    ("gpt-4.1", usd(2.0, 0.5, 8.0)),
    ("gpt-4.1-mini", usd(0.4, 0.1, 1.6)),
    ("gpt-4.1-nano", usd(0.1, 0.025, 0.4)),
    ("gpt-5", usd(1.25, 0.125, 10.0)),
    ("gpt-5-mini", usd(0.25, 0.025, 2.0)),
    ("gpt-5-nano", usd(0.05, 0.005, 0.4)),
    ("o3", usd(2.0, 0.5, 8.0)),
    ("o3-mini", usd(1.1, 0.55, 4.4)),
    ("o4-mini", usd(1.1, 0.275, 4.4)),
];

const ANTHROPIC: &[(&str, Price)] = &[
    ("claude-3-haiku", usd(0.25, 0.03, 1.25)),
    ("claude-3-5-haiku", usd(0.8, 0.08, 4.0)),
    ("claude-3-7-sonnet", usd(3.0, 0.3, 15.0)),
    ("claude-sonnet-4", usd(3.0, 0.3, 15.0)),
    ("claude-sonnet-4-5", usd(3.0, 0.3, 15.0)),
    ("claude-opus-4", usd(15.0, 1.5, 75.0)),
    ("claude-opus-4-1", usd(15.0, 1.5, 75.0)),
];

const GEMINI: &[(&str, Price)] = &[
    ("gemini-2.0-flash", usd(0.1, 0.025, 0.4)),
    ("gemini-2.5-flash", usd(0.3, 0.075, 2.5)),
    ("gemini-2.5-flash-lite", usd(0.1, 0.025, 0.4)),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(prompt: u64, cached: u64, completion: u64) -> Usage {
        Usage {
            prompt_tokens: prompt,
            completion_tokens: completion,
            cached_tokens: cached,
            ..Usage::default()
        }
    }

    #[test]
    fn cost_counts_input_cache_and_output() {
        let price = usd(2.5, 1.25, 10.0);
        let plain = Price { cached_input: None, ..price };
        let check = |usage: Usage, price: &Price, expected: Option<u64>| {
            assert_eq!(cost_microusd(&usage, price), expected, "{usage:?}");
        };
        check(usage(1000, 0, 100), &price, Some(3500));
        check(usage(1000, 400, 100), &price, Some(3000));
        check(usage(1000, 400, 100), &plain, Some(3500));
        check(usage(1000, 5000, 0), &price, Some(1250));
        check(usage(1, 0, 0), &price, Some(3));
        check(usage(0, 0, 0), &price, Some(0));
        check(usage(7, 0, 7), &usd(0.0, 0.0, 0.0), Some(0));
        check(usage(u64::MAX, 0, 0), &price, None);
        check(usage(1, 0, 0), &usd(f64::NAN, 0.0, 0.0), None);
        check(usage(1, 0, 0), &usd(-1.0, 0.0, 0.0), None);
        check(usage(u64::from(u32::MAX), 0, 0), &usd(1e300, 0.0, 0.0), None);
    }

    #[test]
    fn every_vendor_is_charged_as_it_counts() {
        let check = |list, model, usage: Usage, expected: u64| {
            assert_eq!(cost_microusd(&usage, &builtin(list, model).unwrap()), Some(expected), "{model}");
        };
        // 500 × 2.5 + 500 × 1.25 + 100 × 10; hidden reasoning is within the 100.
        let openai = Usage { reasoning_tokens: 80, ..usage(1000, 500, 100) };
        check(PriceList::OpenAi, "gpt-4o", openai, 2875);
        // 12 × 3 + 1000 × 0.3 + 100 × 3.75 + 90 × 15
        let anthropic = Usage { cache_write_tokens: 100, ..usage(1112, 1000, 90) };
        check(PriceList::Anthropic, "claude-sonnet-4-5", anthropic, 2061);
        // 61 × 0.3 + (1 + 88) × 2.5
        let gemini = Usage { reasoning_tokens: 88, ..usage(61, 0, 89) };
        check(PriceList::Gemini, "gemini-2.5-flash", gemini, 241);
        // 40 × 0.3 + 60 × 0.075, rounded half up
        check(PriceList::Gemini, "gemini-2.5-flash", usage(100, 60, 0), 17);
        // More written than there was: only as much as there was.
        let odd = Usage { cache_write_tokens: 500, ..usage(100, 60, 0) };
        check(PriceList::Anthropic, "claude-sonnet-4-5", odd, 168);
    }

    #[test]
    fn cache_reads_cost_anthropic_a_tenth() {
        for (model, price) in ANTHROPIC {
            let share = price.cached_input.unwrap() / price.input;
            // The oldest model's price is rounded to cents.
            assert!((share - 0.1).abs() < 0.021, "{model}: {share}");
        }
    }

    #[test]
    fn only_hosted_dialects_have_a_list() {
        assert_eq!(PriceList::of(Dialect::OpenAi), Some(PriceList::OpenAi));
        assert_eq!(PriceList::of(Dialect::Anthropic), Some(PriceList::Anthropic));
        assert_eq!(PriceList::of(Dialect::Gemini), Some(PriceList::Gemini));
        for local in
            [Dialect::Vllm, Dialect::LlamaCpp, Dialect::Ollama, Dialect::Mistral, Dialect::Compatible]
        {
            assert_eq!(PriceList::of(local), None);
        }
    }

    #[test]
    fn dated_snapshot_has_its_models_price() {
        let check = |list, model, input: Option<f64>| {
            assert_eq!(builtin(list, model).map(|price| price.input), input, "{model}");
        };
        check(PriceList::OpenAi, "gpt-4o", Some(2.5));
        check(PriceList::OpenAi, "gpt-4o-2024-08-06", Some(2.5));
        check(PriceList::OpenAi, "gpt-4.1-mini-2025-04-14", Some(0.4));
        check(PriceList::Anthropic, "claude-sonnet-4-20250514", Some(3.0));
        check(PriceList::Gemini, "gemini-2.5-flash", Some(0.3));
        check(PriceList::OpenAi, "gpt-4o-audio-preview", None);
        check(PriceList::OpenAi, "smollm2-135m", None);
        check(PriceList::OpenAi, "-2024-08-06", None);
        check(PriceList::Anthropic, "gpt-4o", None);
    }
}
