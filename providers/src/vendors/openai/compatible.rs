//! Servers that are only known to speak the format: the oldest parameter names, the smallest common limits and schemas.
//! Many of them pass requests on to OpenAI.

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
