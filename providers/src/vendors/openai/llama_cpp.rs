//! llama.cpp's server. Takes any number of alternatives, and JSON Schemas in OpenAI's form. With a schema its token list
//! can hold a code fence that the text does not.

use super::{AnswerCap, Profile};

pub(super) const PROFILE: Profile =
    Profile { answer_cap: AnswerCap::MaxTokens, most_alternatives: u8::MAX, health: Some("/health") };
