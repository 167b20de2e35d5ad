//! Prices of judges that the file does not price: the vendor's list price, where the vendor itself answers.

use providers::pricing::{self, PriceList, TABLE_DATE};

use super::address::{Address, is_own_host};
use crate::judge::{Judge, Price, ProviderKind, Server};

/// `None` for local servers, for proxies (which may charge otherwise), and for models that the table does not know.
pub(super) fn list_price(server: &Server, model: &str) -> Option<Price> {
    let list = match server.provider {
        ProviderKind::Openai => PriceList::OpenAi,
        ProviderKind::Anthropic => PriceList::Anthropic,
        ProviderKind::Gemini => PriceList::Gemini,
        ProviderKind::OpenaiCompatible
        | ProviderKind::Vllm
        | ProviderKind::LlamaCpp
        | ProviderKind::Ollama
        | ProviderKind::AzureOpenai
        | ProviderKind::Openrouter
        | ProviderKind::Mistral
        | ProviderKind::Replay => return None,
    };
    let address = Address::parse(&server.base_url).ok()?;
    let pricing::Price { input, output, cached_input } =
        pricing::builtin(list, model).filter(|_| is_own_host(server.provider, &address.host))?;
    Some(Price { input, output, cached_input })
}

/// Where a judge's price comes from, for people. It follows from the price alone, so that printed settings say the
/// same when they are read again.
pub(super) fn source(judge: &Judge) -> String {
    match judge.price {
        None => String::from("unknown: costs are null"),
        Some(price) if list_price(&judge.server, &judge.model) == Some(price) => {
            format!("USD per million tokens, as in the built-in table of {TABLE_DATE}")
        }
        Some(_) => String::from("USD per million tokens, from the file"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::settings::tests::judge;

    #[test]
    fn only_a_vendor_itself_has_its_list_price() {
        let check = |provider, base_url: &str, model: &str, input: Option<f64>| {
            let mut judge = judge(model, "any");
            let server = Server { provider, base_url: base_url.to_owned(), ..(*judge.server).clone() };
            judge.server = Arc::new(server);
            judge.price = list_price(&judge.server, model);
            assert_eq!(judge.price.map(|price| price.input), input, "{provider:?} {base_url} {model}");
            let is_listed = source(&judge).contains("as in the built-in table");
            assert_eq!(is_listed, input.is_some(), "{}", source(&judge));
        };
        let openai = "https://api.openai.com/v1";
        check(ProviderKind::Openai, openai, "gpt-4o", Some(2.5));
        check(ProviderKind::Openai, openai, "gpt-4o-2024-08-06", Some(2.5));
        check(ProviderKind::Openai, openai, "gpt-unheard-of", None);
        check(ProviderKind::Openai, "https://proxy.example.com/v1", "gpt-4o", None);
        check(ProviderKind::Anthropic, "https://api.anthropic.com/v1", "claude-sonnet-4-20250514", Some(3.0));
        check(
            ProviderKind::Gemini,
            "https://generativelanguage.googleapis.com/v1beta",
            "gemini-2.5-flash",
            Some(0.3),
        );
        check(ProviderKind::Ollama, "http://127.0.0.1:11434/v1", "gpt-4o", None);
        check(ProviderKind::Vllm, "http://10.0.0.5:8000/v1", "gpt-4o", None);
        check(ProviderKind::Openrouter, "https://openrouter.ai/api/v1", "gpt-4o", None);
    }
}
