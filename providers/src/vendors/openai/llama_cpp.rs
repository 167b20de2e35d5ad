//! llama.cpp's server. Takes any number of alternatives, and JSON Schemas in OpenAI's form. With a schema its token list
//! can hold a code fence that the text does not. A grammar masks what may be written, not the alternatives that it reports.
//! A function that has to be called is passed over without a word where the model's template knows none, so that its schema
//! is asked for instead.

use crate::vendors::capabilities::Parameter;
use crate::vendors::profile::{AnswerCap, Choices, Format, Profile, Schemas, SeedName};

pub(crate) const PROFILE: Profile = Profile {
    format: Format::OpenAi,
    answer_cap: AnswerCap::MaxTokens,
    seed: SeedName::Seed,
    most_alternatives: u8::MAX,
    schemas: Schemas::Full,
    choices: Some(Choices::Grammar),
    never: &[Parameter::ToolChoice],
    health: Some("/health"),
};
