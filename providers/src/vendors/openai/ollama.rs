//! Ollama's compatible endpoint. Cuts prompts that do not fit without a word: nothing in its answer says so.

use super::{AnswerCap, Profile, Schemas};

pub(super) const PROFILE: Profile = Profile {
    answer_cap: AnswerCap::MaxTokens,
    most_alternatives: 20,
    schemas: Schemas::Full,
    choices: None,
    health: None,
};
