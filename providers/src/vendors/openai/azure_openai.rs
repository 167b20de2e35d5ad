//! OpenAI's models at Azure: the key in `api-key`, the deployment's name as the model. The address is either
//! `…/openai/v1`, or that of one deployment (`…/openai/deployments/NAME?api-version=…`), whose version every route
//! below it carries along. Answers come with filter results that are not read: what a filter stopped ends with
//! `content_filter`, and a prompt that it stopped is a 400 with that code or with `ResponsibleAIPolicyViolation`.

use crate::vendors::profile::{AnswerCap, Format, Profile, Schemas, SeedName};

pub(crate) const PROFILE: Profile = Profile {
    format: Format::OpenAi,
    answer_cap: AnswerCap::MaxCompletionTokens,
    seed: SeedName::Seed,
    most_alternatives: 20,
    schemas: Schemas::Strict,
    choices: None,
    never: &[],
    health: None,
};
