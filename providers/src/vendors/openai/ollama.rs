//! Ollama's compatible endpoint. Cuts prompts that do not fit without a word: nothing in its answer says so. Takes JSON
//! Schemas in OpenAI's form. Token alternatives came with 0.12.11; older versions pass over the wish without a word.
//! It does not hold a model to a function that has to be called, so that the function's schema is asked for instead.

use crate::vendors::capabilities::Parameter;
use crate::vendors::profile::{AnswerCap, Format, Profile, Schemas, SeedName};

pub(crate) const PROFILE: Profile = Profile {
    format: Format::OpenAi,
    answer_cap: AnswerCap::MaxTokens,
    seed: SeedName::Seed,
    most_alternatives: 20,
    schemas: Schemas::Full,
    choices: None,
    never: &[Parameter::ToolChoice],
    health: None,
};
