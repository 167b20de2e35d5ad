//! What a server turned out to refuse, learned from its own words in a 400, so that it is asked only once.

use std::sync::Mutex;

use super::errors::Refusal;
use super::request::choices;
use super::{AnswerCap, Profile};
use crate::call::locked;
use crate::chat::ChatRequest;

/// A parameter that a request can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Logprobs,
    Temperature,
    TopP,
    Seed,
    Stop,
    ResponseFormat,
    Choices,
}

impl Parameter {
    const ALL: [Self; 7] = [
        Self::Logprobs,
        Self::Temperature,
        Self::TopP,
        Self::Seed,
        Self::Stop,
        Self::ResponseFormat,
        Self::Choices,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Logprobs => "logprobs",
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::Seed => "seed",
            Self::Stop => "stop",
            Self::ResponseFormat => "response_format",
            Self::Choices => "choices",
        }
    }

    /// Other words under which servers refuse it.
    const fn also(self) -> &'static [&'static str] {
        match self {
            Self::Logprobs => &["top_logprobs", "log probabilities"],
            Self::ResponseFormat => &["json_schema", "structured output", "structured outputs"],
            Self::Choices => &["structured_outputs", "structured outputs", "grammar"],
            Self::Temperature | Self::TopP | Self::Seed | Self::Stop => &[],
        }
    }

    fn is_asked(self, request: &ChatRequest) -> bool {
        match self {
            Self::Logprobs => request.top_logprobs.is_some(),
            Self::Temperature => request.temperature.is_some(),
            Self::TopP => request.top_p.is_some(),
            Self::Seed => request.seed.is_some(),
            Self::Stop => !request.stop.is_empty(),
            Self::ResponseFormat => request.response_schema.is_some(),
            Self::Choices => choices(request).is_some(),
        }
    }
}

/// A snapshot of what is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    revision: u32,
    /// As the dialect has it, corrected by the server.
    profile: Profile,
    has_switched_cap: bool,
    /// In the order of [`Parameter`].
    refused: [bool; Parameter::ALL.len()],
}

impl Known {
    /// Changes whenever something is learned.
    pub(super) fn revision(&self) -> u32 {
        self.revision
    }

    pub(super) fn profile(&self) -> Profile {
        self.profile
    }

    pub(super) fn takes(&self, parameter: Parameter) -> bool {
        !self.refused.get(parameter as usize).copied().unwrap_or(false)
    }

    fn refuse(&mut self, parameter: Parameter) {
        if let Some(refused) = self.refused.get_mut(parameter as usize) {
            *refused = true;
        }
    }
}

/// Shared by all calls to one model on one server.
#[derive(Debug)]
pub(super) struct Capabilities(Mutex<Known>);

impl Capabilities {
    pub(super) fn new(profile: Profile) -> Self {
        let mut known =
            Known { revision: 0, profile, has_switched_cap: false, refused: [false; Parameter::ALL.len()] };
        if profile.choices.is_none() {
            known.refuse(Parameter::Choices);
        }
        Self(Mutex::new(known))
    }

    pub(super) fn known(&self) -> Known {
        *locked(&self.0)
    }

    /// Remembers what this refusal says about a parameter of this request, if anything.
    pub(super) fn learn(&self, refusal: &Refusal, request: &ChatRequest) {
        let mut known = locked(&self.0);
        let words = Words::new(refusal);
        let before = *known;
        if !learn_alternatives(&mut known, &words, request) && words.say_unsupported() {
            let _ =
                learn_cap_name(&mut known, &words, request) || learn_parameter(&mut known, &words, request);
        }
        if (known.refused, known.profile) != (before.refused, before.profile) {
            known.revision = before.revision.wrapping_add(1);
        }
    }
}

/// A refusal in lower case, its parameter and its text.
struct Words {
    param: String,
    code: String,
    text: String,
}

impl Words {
    fn new(refusal: &Refusal) -> Self {
        // Validators give the path: `body.temperature`, `response_format.type`.
        let param = refusal.param.to_lowercase();
        Self {
            param: param.strip_prefix("body.").map_or(param.clone(), str::to_owned),
            code: refusal.code.to_lowercase(),
            text: refusal.text().to_lowercase(),
        }
    }

    fn say_unsupported(&self) -> bool {
        const CODES: [&str; 4] =
            ["unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"];
        const PHRASES: [&str; 17] = [
            "not supported",
            "unsupported",
            "not allowed",
            "does not support",
            "doesn't support",
            "not permitted",
            "extra inputs",
            "unrecognized",
            "unrecognised",
            "unknown parameter",
            "unknown field",
            "unexpected keyword",
            "not available",
            "not enabled",
            "not implemented",
            "only the default",
            "failed to parse grammar",
        ];
        CODES.contains(&self.code.as_str()) || PHRASES.iter().any(|phrase| self.text.contains(phrase))
    }

    /// The parameter field decides; without one, the text does.
    fn name(&self, parameter: &str) -> bool {
        if self.param.is_empty() {
            has_word(&self.text, parameter)
        } else {
            first_part(&self.param) == parameter
        }
    }

    fn say_limit(&self) -> bool {
        const PHRASES: [&str; 9] =
            ["between", "max", "<=", "less than", "at most", "exceed", "above", "greater than", "range"];
        PHRASES.iter().any(|phrase| self.text.contains(phrase))
    }
}

fn first_part(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// The name as a whole word: `max_tokens` is not in `max_tokens_per_day`.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let after = rest.get(word.len()..).unwrap_or_default();
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

/// "top_logprobs must be between 0 and 5", "requested sample logprobs of 100, which is greater than max allowed: 20":
/// the largest number below the one that was asked for.
fn learn_alternatives(known: &mut Known, words: &Words, request: &ChatRequest) -> bool {
    let Some(asked) = request.top_logprobs.map(|asked| asked.min(known.profile.most_alternatives)) else {
        return false;
    };
    let is_meant = words.name("top_logprobs") || words.name("logprobs");
    if !is_meant || !words.say_limit() {
        return false;
    }
    let allowed = words
        .text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse::<u8>().ok())
        .filter(|number| (1..asked).contains(number))
        .max();
    match allowed {
        Some(allowed) => known.profile.most_alternatives = allowed,
        // No number, or none but zero: there are no alternatives to be had here.
        None => known.refuse(Parameter::Logprobs),
    }
    true
}

/// The answer's cap is refused under one name: the other name is tried, once.
fn learn_cap_name(known: &mut Known, words: &Words, request: &ChatRequest) -> bool {
    let (name, other) = match known.profile.answer_cap {
        AnswerCap::MaxTokens => ("max_tokens", AnswerCap::MaxCompletionTokens),
        AnswerCap::MaxCompletionTokens => ("max_completion_tokens", AnswerCap::MaxTokens),
    };
    let is_meant = request.max_tokens.is_some() && !known.has_switched_cap && words.name(name);
    if is_meant {
        known.profile.answer_cap = other;
        known.has_switched_cap = true;
    }
    is_meant
}

fn learn_parameter(known: &mut Known, words: &Words, request: &ChatRequest) -> bool {
    let meant = Parameter::ALL.into_iter().find(|parameter| {
        parameter.is_asked(request)
            && known.takes(*parameter)
            && (words.name(parameter.name()) || parameter.also().iter().any(|also| words.name(also)))
    });
    if let Some(parameter) = meant {
        known.refuse(parameter);
    }
    meant.is_some()
}

#[cfg(test)]
mod tests;
