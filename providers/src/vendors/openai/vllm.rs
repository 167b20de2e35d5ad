//! vLLM. `--max-logprobs` is 20 unless the operator says otherwise, so more is asked for and the limit learned.
//! Alternatives are reported behind the mask of `structured_outputs`: what may not be written has probability 0.

use crate::vendors::profile::{AnswerCap, Choices, Profile, Schemas};

pub(crate) const PROFILE: Profile = Profile {
    answer_cap: AnswerCap::MaxTokens,
    most_alternatives: u8::MAX,
    schemas: Schemas::Full,
    choices: Some(Choices::StructuredOutputs),
    health: Some("/health"),
};
