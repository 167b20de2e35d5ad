//! Ollama's compatible endpoint. Cuts prompts that do not fit without a word: nothing in its answer says so. Takes JSON
//! Schemas in OpenAI's form. Token alternatives came with 0.12.11; older versions pass over the wish without a word.

use crate::vendors::profile::{AnswerCap, Format, Profile, Schemas, SeedName};

pub(crate) const PROFILE: Profile = Profile {
    format: Format::OpenAi,
    answer_cap: AnswerCap::MaxTokens,
    seed: SeedName::Seed,
    most_alternatives: 20,
    schemas: Schemas::Full,
    choices: None,
    never: &[],
    health: None,
};
