//! OpenAI's own API. `max_tokens` is deprecated there and refused by reasoning models; the longer name is taken by
//! all of them. At most 20 alternatives. JSON Schemas are taken in strict mode, which refuses many keywords.

use crate::vendors::profile::{AnswerCap, Profile, Schemas};

pub(crate) const PROFILE: Profile = Profile {
    answer_cap: AnswerCap::MaxCompletionTokens,
    most_alternatives: 20,
    schemas: Schemas::Strict,
    choices: None,
    health: None,
};
