//! Google's `generateContent`.
//!
//! Token probabilities exist for some models only, which is learned. Only whole answers are asked for; `stream` reads
//! streams.

use super::capabilities::Parameter;
use super::profile::{AnswerCap, Choices, Format, Profile, Schemas, SeedName};

mod parts;
pub(crate) mod request;
pub(crate) mod response;
pub mod stream;
mod tools;

pub(crate) const PROFILE: Profile = Profile {
    format: Format::Gemini,
    answer_cap: AnswerCap::MaxTokens,
    seed: SeedName::Seed,
    most_alternatives: 20,
    schemas: Schemas::Gemini,
    choices: Some(Choices::Enum),
    // Which call is parallel is the model's own affair, and how it thinks is set in other ways from model to model.
    never: &[Parameter::ParallelToolCalls, Parameter::ReasoningEffort],
    health: None,
};

/// The route that asks this model, with or without the `models/` of the model list; `tunedModels/x` is a kind of its own.
pub(crate) fn route(model: &str) -> String {
    let folder = if model.contains('/') { "" } else { "models/" };
    format!("{folder}{model}:generateContent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_part_of_the_route() {
        let check = |model: &str, expected: &str| assert_eq!(route(model), expected);
        check("gemini-2.5-flash", "models/gemini-2.5-flash:generateContent");
        check("models/gemini-2.5-flash", "models/gemini-2.5-flash:generateContent");
        check("tunedModels/mine", "tunedModels/mine:generateContent");
    }
}
