//! Servers that are only known to speak the format: the oldest parameter names, the smallest common limits.

use super::{AnswerCap, Profile};

pub(super) const PROFILE: Profile =
    Profile { answer_cap: AnswerCap::MaxTokens, most_alternatives: 20, health: None };
