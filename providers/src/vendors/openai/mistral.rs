//! Mistral's API. Refuses parameters that it does not know, so its own name for the seed is used; content can be a list
//! of chunks with the thinking apart, and arguments can be objects. Full context windows end with `model_length`,
//! failures inside a 200 with `error`. Token alternatives are new there: some models refuse them, which is learned.

use crate::vendors::capabilities::Parameter;
use crate::vendors::profile::{AnswerCap, Format, Profile, Schemas, SeedName};

pub(crate) const PROFILE: Profile = Profile {
    format: Format::OpenAi,
    answer_cap: AnswerCap::MaxTokens,
    seed: SeedName::RandomSeed,
    most_alternatives: 20,
    schemas: Schemas::Strict,
    choices: None,
    never: &[Parameter::ReasoningEffort],
    health: None,
};
