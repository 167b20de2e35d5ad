//! OpenAI's own API. `max_tokens` is deprecated there and refused by reasoning models; the longer name is taken by
//! all of them. At most 20 alternatives. JSON Schemas are taken in strict mode, which refuses many keywords.

use crate::vendors::profile::{AnswerCap, Format, Profile, Schemas, SeedName};

pub(crate) const PROFILE: Profile = Profile {
    format: Format::OpenAi,
    answer_cap: AnswerCap::MaxCompletionTokens,
    seed: SeedName::Seed,
    most_alternatives: 20,
    schemas: Schemas::Strict,
    choices: None,
    never: &[],
    health: None,
};
