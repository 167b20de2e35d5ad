//! Servers that are only known to speak the format: the oldest parameter names, the smallest common limits and schemas.
//! Many of them pass requests on to OpenAI.

use crate::vendors::profile::{AnswerCap, Profile, Schemas};

pub(crate) const PROFILE: Profile = Profile {
    answer_cap: AnswerCap::MaxTokens,
    most_alternatives: 20,
    schemas: Schemas::Strict,
    choices: None,
    health: None,
};
