//! Ollama's compatible endpoint. Cuts prompts that do not fit without a word: nothing in its answer says so.

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
