//! OpenAI's own API. `max_tokens` is deprecated there and refused by reasoning models; the longer name is taken by
//! all of them. At most 20 alternatives.

use super::{AnswerCap, Profile};

pub(super) const PROFILE: Profile =
    Profile { answer_cap: AnswerCap::MaxCompletionTokens, most_alternatives: 20, health: None };
