//! The part of a request that a server takes, for every format.

use super::adapted::Adapted;
use super::capabilities::{Known, Parameter};
use crate::chat::{ChatRequest, ResponseSchema};

/// What a server with these capabilities takes of a request.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    pub top_logprobs: Option<u8>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub seed: Option<u64>,
    pub stop: Option<&'a [String]>,
    pub schema: Option<&'a ResponseSchema>,
    pub choices: Option<&'a [String]>,
    /// A caller's own body, where there is one: then there are no schema and no choices of ours.
    pub caller: Option<Adapted<'a>>,
    /// Names of what it does not take.
    pub dropped: Vec<&'static str>,
}

impl<'a> Taken<'a> {
    pub(crate) fn of(request: &'a ChatRequest, known: &Known) -> Self {
        let mut dropped = Vec::new();
        // `asked` is whether the request has the parameter at all.
        let mut keeps = |parameter: Parameter, asked: bool| {
            let kept = known.takes(parameter);
            if asked && !kept {
                dropped.push(parameter.name());
            }
            asked && kept
        };
        let takes_logprobs = keeps(Parameter::Logprobs, request.top_logprobs.is_some());
        let temperature = request.temperature.filter(|_| keeps(Parameter::Temperature, true));
        let top_p = request.top_p.filter(|_| keeps(Parameter::TopP, true));
        let seed = request.seed.filter(|_| keeps(Parameter::Seed, true));
        let has_stop = keeps(Parameter::Stop, !request.stop.is_empty());
        let schema = schema(request).filter(|_| keeps(Parameter::ResponseFormat, true));
        let choices = choices(request).filter(|_| keeps(Parameter::Choices, true));
        let top_logprobs = request.top_logprobs.filter(|_| takes_logprobs).map(|asked| {
            let allowed = asked.min(known.profile().most_alternatives);
            if allowed < asked {
                dropped.push("top_logprobs");
            }
            allowed
        });
        let caller = request.caller.as_deref().map(|caller| Adapted::of(caller, known, &mut dropped));
        let stop = has_stop.then_some(request.stop.as_slice());
        Self { top_logprobs, temperature, top_p, seed, stop, schema, choices, caller, dropped }
    }
}

/// Our own schema, which a caller's body has no place for.
fn schema(request: &ChatRequest) -> Option<&ResponseSchema> {
    request.response_schema.as_deref().filter(|_| request.caller.is_none())
}

/// The texts that the answer may be, where the request says so: a schema says more, and a caller has its own.
pub(crate) fn choices(request: &ChatRequest) -> Option<&[String]> {
    let has_room = request.response_schema.is_none() && request.caller.is_none();
    request.choices.as_deref().filter(|choices| has_room && !choices.is_empty())
}
