//! vLLM. `--max-logprobs` is 20 unless the operator says otherwise, so more is asked for and the limit learned.

use super::{AnswerCap, Profile};

pub(super) const PROFILE: Profile =
    Profile { answer_cap: AnswerCap::MaxTokens, most_alternatives: u8::MAX, health: Some("/health") };
