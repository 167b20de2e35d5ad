//! llama.cpp's server. Takes any number of alternatives, and JSON Schemas in OpenAI's form. With a schema its token list
//! can hold a code fence that the text does not. A grammar masks what may be written, not the alternatives that it reports.

use crate::vendors::profile::{AnswerCap, Choices, Profile, Schemas};

pub(crate) const PROFILE: Profile = Profile {
    answer_cap: AnswerCap::MaxTokens,
    most_alternatives: u8::MAX,
    schemas: Schemas::Full,
    choices: Some(Choices::Grammar),
    health: Some("/health"),
};
