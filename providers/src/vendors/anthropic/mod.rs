//! Anthropic's Messages API.
//!
//! It has no token probabilities, no seed, no penalties and no list of allowed texts: those parameters are left out and
//! say so. The cap on the answer has to be there. Only whole answers are asked for; `stream` reads streams.

use reqwest::Url;

use super::profile::{AnswerCap, Format, Profile, Schemas, SeedName};
use crate::address::BaseUrl;
use crate::vendors::capabilities::Parameter;

mod blocks;
pub(crate) mod request;
pub(crate) mod response;
pub mod stream;
mod tools;

/// Of the API, as the header `anthropic-version` names it.
pub(crate) const VERSION: &str = "2023-06-01";

pub(crate) const PROFILE: Profile = Profile {
    format: Format::Anthropic,
    answer_cap: AnswerCap::MaxTokens,
    seed: SeedName::Seed,
    most_alternatives: 0,
    schemas: Schemas::Strict,
    choices: None,
    never: &[
        Parameter::Logprobs,
        Parameter::Seed,
        Parameter::FrequencyPenalty,
        Parameter::PresencePenalty,
        Parameter::ReasoningEffort,
    ],
    health: None,
};

/// Anthropic's own tools write its address without a version, so a bare one gets it.
pub(crate) fn route(base: &BaseUrl, route: &str) -> Url {
    if base.is_bare() { base.join(&format!("v1/{route}")) } else { base.join(route) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_added_to_a_bare_address_only() {
        let check = |base: &str, expected: &str| {
            assert_eq!(route(&base.parse().unwrap(), "messages").as_str(), expected);
        };
        check("https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
        check("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages");
        check("http://10.0.0.1/proxy/v1", "http://10.0.0.1/proxy/v1/messages");
    }
}
