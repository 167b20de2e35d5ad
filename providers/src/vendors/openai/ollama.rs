//! Ollama's compatible endpoint. Cuts prompts that do not fit without a word: nothing in its answer says so.

use crate::vendors::profile::{AnswerCap, Profile, Schemas};

pub(crate) const PROFILE: Profile = Profile {
    answer_cap: AnswerCap::MaxTokens,
    most_alternatives: 20,
    schemas: Schemas::Full,
    choices: None,
    health: None,
};
