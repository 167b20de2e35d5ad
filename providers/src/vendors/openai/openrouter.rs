//! OpenRouter, which passes requests on to whoever serves the model. What one of them refuses can be learned from its
//! own words, which come as `metadata.raw`. Errors come inside a 200 and inside a choice; routing is the account's, so
//! `provider` is never sent. `usage.cost` is in credits of the account and is not read: a judge's price is.

use crate::vendors::profile::{AnswerCap, Format, Profile, Schemas, SeedName};

pub(crate) const PROFILE: Profile = Profile {
    format: Format::OpenAi,
    answer_cap: AnswerCap::MaxTokens,
    seed: SeedName::Seed,
    most_alternatives: 20,
    schemas: Schemas::Strict,
    choices: None,
    never: &[],
    health: None,
};
