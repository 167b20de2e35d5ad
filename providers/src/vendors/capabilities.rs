//! What a server turned out to refuse, learned from its own words in a 400, so that it is asked only once.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::Dialect;
use super::adapted::{AnswerForm, tools};
use super::profile::{Format, Profile, profile};
use super::refusal::Refusal;
use super::taken::choices;
use crate::call::locked;
use crate::chat::ChatRequest;

/// A parameter that a request can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    Logprobs,
    Temperature,
    TopP,
    Seed,
    Stop,
    ResponseFormat,
    Choices,
    FrequencyPenalty,
    PresencePenalty,
    ReasoningEffort,
    ParallelToolCalls,
    ToolChoice,
    Tools,
}

impl Parameter {
    const ALL: [Self; 13] = [
        Self::Logprobs,
        Self::Temperature,
        Self::TopP,
        Self::Seed,
        Self::Stop,
        Self::ResponseFormat,
        Self::Choices,
        Self::FrequencyPenalty,
        Self::PresencePenalty,
        Self::ReasoningEffort,
        Self::ParallelToolCalls,
        Self::ToolChoice,
        Self::Tools,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Logprobs => "logprobs",
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::Seed => "seed",
            Self::Stop => "stop",
            Self::ResponseFormat => "response_format",
            Self::Choices => "choices",
            Self::FrequencyPenalty => "frequency_penalty",
            Self::PresencePenalty => "presence_penalty",
            Self::ReasoningEffort => "reasoning_effort",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::ToolChoice => "tool_choice",
            Self::Tools => "tools",
        }
    }

    /// Other words under which servers refuse it.
    const fn also(self) -> &'static [&'static str] {
        match self {
            Self::Logprobs => &["top_logprobs", "log probabilities", "responselogprobs"],
            Self::TopP => &["topp"],
            Self::Seed => &["random_seed"],
            Self::Stop => &["stop_sequences", "stopsequences"],
            Self::ResponseFormat => &[
                "json_schema",
                "structured output",
                "structured outputs",
                "output_config",
                "output_format",
                "json mode",
                "responsejsonschema",
                "response_json_schema",
            ],
            Self::Choices => &["structured_outputs", "structured outputs", "grammar", "enum", "text/x.enum"],
            Self::Temperature | Self::ReasoningEffort => &[],
            Self::FrequencyPenalty => &["frequencypenalty", "penalty"],
            Self::PresencePenalty => &["presencepenalty", "penalty"],
            Self::ParallelToolCalls => &["parallel tool calls", "disable_parallel_tool_use"],
            Self::ToolChoice => &["tool choice", "toolconfig", "tool_config"],
            Self::Tools => &[
                "tool",
                "tool choice",
                "function calling",
                "functiondeclarations",
                "function_declarations",
                "tool-call-parser",
            ],
        }
    }

    fn is_asked(self, request: &ChatRequest) -> bool {
        let caller = request.caller.as_deref();
        let has = |name: &str| caller.is_some_and(|caller| caller.other.contains_key(name));
        match self {
            Self::Logprobs => request.top_logprobs.is_some(),
            Self::Temperature => request.temperature.is_some(),
            Self::TopP => request.top_p.is_some(),
            Self::Seed => request.seed.is_some(),
            Self::Stop => !request.stop.is_empty(),
            Self::ResponseFormat => match caller {
                Some(caller) => AnswerForm::of(caller.response_format.as_ref()).is_some(),
                None => request.response_schema.is_some(),
            },
            Self::Choices => choices(request).is_some(),
            Self::FrequencyPenalty
            | Self::PresencePenalty
            | Self::ReasoningEffort
            | Self::ParallelToolCalls => has(self.name()),
            Self::ToolChoice => {
                caller.is_some_and(|caller| caller.tool_choice.is_some() && tools(caller).is_some())
            }
            Self::Tools => caller.is_some_and(|caller| tools(caller).is_some()),
        }
    }
}

/// Sets revisions for calls without schemas apart from the others.
const WITHOUT_SCHEMAS: u32 = 1 << 31;

/// A snapshot of what is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    revision: u32,
    /// As the dialect has it.
    dialect: Profile,
    /// The same, corrected by the server.
    profile: Profile,
    has_switched_cap: bool,
    /// In the order of [`Parameter`].
    refused: [bool; Parameter::ALL.len()],
}

impl Known {
    fn new(profile: Profile) -> Self {
        let mut known = Self {
            revision: 0,
            dialect: profile,
            profile,
            has_switched_cap: false,
            refused: [false; Parameter::ALL.len()],
        };
        if profile.choices.is_none() {
            known.refuse(Parameter::Choices);
        }
        for parameter in profile.never {
            known.refuse(*parameter);
        }
        known
    }

    /// Changes whenever something is learned.
    pub(crate) fn revision(&self) -> u32 {
        self.revision
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    pub(crate) fn takes(&self, parameter: Parameter) -> bool {
        !self.refused.get(parameter as usize).copied().unwrap_or(false)
    }

    /// The same server for one call whose schema it refuses: as one that takes none.
    pub(crate) fn without_schemas(mut self) -> Self {
        self.refuse(Parameter::Tools);
        self.refuse(Parameter::ResponseFormat);
        self.revision ^= WITHOUT_SCHEMAS;
        self
    }

    fn refuse(&mut self, parameter: Parameter) {
        if let Some(refused) = self.refused.get_mut(parameter as usize) {
            *refused = true;
        }
    }

    fn switch_cap(&mut self) {
        self.profile.answer_cap = self.profile.answer_cap.other();
        self.has_switched_cap = true;
    }

    fn count_change(&mut self, before: &Self) {
        if (self.refused, self.profile) != (before.refused, before.profile) {
            self.revision = before.revision.wrapping_add(1);
        }
    }
}

/// What a server turned out to refuse; shared by all calls to one model on one server, also by those of the vendors that
/// a later configuration connects. Clones are the same knowledge.
#[derive(Debug, Clone)]
pub struct Capabilities(Arc<Mutex<Known>>);

/// What was learned, as plain data: for reports, and to be kept over a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// Parameters that this server does not take, by the names of [`crate::chat::ChatResponse::dropped`], in a fixed
    /// order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// The answer's cap under the name that the server wanted instead of its dialect's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_cap: Option<String>,
    /// The most alternatives per token that it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_alternatives: Option<u8>,
}

impl Learned {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Capabilities {
    /// What the dialect says, and nothing learned yet.
    pub fn new(dialect: Dialect) -> Self {
        Self(Arc::new(Mutex::new(Known::new(profile(dialect)))))
    }

    /// What was learned beyond what the dialect says.
    pub fn snapshot(&self) -> Learned {
        let known = self.known();
        let fresh = Known::new(known.dialect);
        Learned {
            refused: Parameter::ALL
                .into_iter()
                .filter(|parameter| fresh.takes(*parameter) && !known.takes(*parameter))
                .map(|parameter| parameter.name().to_owned())
                .collect(),
            answer_cap: known.has_switched_cap.then(|| known.profile.answer_cap.name().to_owned()),
            most_alternatives: Some(known.profile.most_alternatives)
                .filter(|most| *most != known.dialect.most_alternatives),
        }
    }

    /// Adds what was learned before. Names that this version does not know are passed over; nothing is unlearned.
    pub fn restore(&self, learned: &Learned) {
        let mut known = locked(&self.0);
        let before = *known;
        for parameter in Parameter::ALL {
            if learned.refused.iter().any(|name| name == parameter.name()) {
                known.refuse(parameter);
            }
        }
        let switched = known.profile.answer_cap.other();
        if !known.has_switched_cap && learned.answer_cap.as_deref() == Some(switched.name()) {
            known.switch_cap();
        }
        if let Some(most) = learned.most_alternatives {
            known.profile.most_alternatives = known.profile.most_alternatives.min(most);
        }
        known.count_change(&before);
    }

    /// Back to what the dialect says: another model answers now.
    pub fn forget(&self) {
        let mut known = locked(&self.0);
        let before = *known;
        *known = Known { revision: before.revision, ..Known::new(before.dialect) };
        known.count_change(&before);
    }

    pub(crate) fn known(&self) -> Known {
        *locked(&self.0)
    }

    /// Remembers what this refusal says about a parameter of this request, if anything.
    pub(crate) fn learn(&self, refusal: &Refusal, request: &ChatRequest) {
        let mut known = locked(&self.0);
        let words = Words::new(refusal);
        let before = *known;
        if !learn_alternatives(&mut known, &words, request) && words.say_unsupported() {
            let _ =
                learn_cap_name(&mut known, &words, request) || learn_parameter(&mut known, &words, request);
        }
        known.count_change(&before);
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
        const PHRASES: [&str; 24] = [
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
            "cannot find field",
            "deprecated for this model",
            "may only be set to",
            "cannot both be specified",
            "unavailable",
            // vLLM's and llama.cpp's flags of the server.
            "requires --",
            "no endpoints found that support",
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

/// OpenAI's format: the answer's cap is refused under one name, so the other name is tried, once.
fn learn_cap_name(known: &mut Known, words: &Words, request: &ChatRequest) -> bool {
    let name = known.profile.answer_cap.name();
    let has_two_names = known.dialect.format == Format::OpenAi && !known.has_switched_cap;
    let is_meant = request.max_tokens.is_some() && has_two_names && words.name(name);
    if is_meant {
        known.switch_cap();
    }
    is_meant
}

fn learn_parameter(known: &mut Known, words: &Words, request: &ChatRequest) -> bool {
    let mut meant = Parameter::ALL.into_iter().filter(|parameter| {
        parameter.is_asked(request)
            && known.takes(*parameter)
            && (words.name(parameter.name()) || parameter.also().iter().any(|also| words.name(also)))
    });
    // Of two that exclude each other the later one can go: temperature says more than `top_p`.
    let meant = if words.text.contains("cannot both") { meant.next_back() } else { meant.next() };
    if let Some(parameter) = meant {
        known.refuse(parameter);
    }
    meant.is_some()
}

#[cfg(test)]
mod tests;
