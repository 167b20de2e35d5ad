//! The functions that a model calls, whole or in pieces of a stream.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::response::WireMessage;
use crate::chat::ToolCall;
use crate::vendors::compact;

#[derive(Debug, Deserialize)]
struct WireCall<'a> {
    /// In a stream: which of the calls this piece belongs to.
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Debug, Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    /// A string that holds JSON; Mistral's can be an object.
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// Calls in the making, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct ToolCalls(Vec<(Option<u64>, ToolCall)>);

impl ToolCalls {
    /// Those of a whole message.
    pub(super) fn of(message: &WireMessage<'_>) -> Self {
        let mut calls = Self::default();
        let (list, function) = message.calls();
        for call in list.map(read).unwrap_or_default() {
            calls.begin(None, call);
        }
        calls.add_function(function);
        calls
    }

    /// A piece of a stream: one with an index that was there before goes on with that call, and so does one without
    /// index and id.
    pub(super) fn add(&mut self, delta: &WireMessage<'_>) {
        let (list, function) = delta.calls();
        for call in list.map(read).unwrap_or_default() {
            let begun = match call.index {
                Some(index) => self.0.iter_mut().find(|(of, _)| *of == Some(index)),
                None if call.id.is_none() => self.0.last_mut(),
                None => None,
            };
            match begun {
                Some((_, begun)) => begun.go_on(call),
                None => self.begin(call.index, call),
            }
        }
        match (self.0.last_mut(), function.and_then(read_function)) {
            (Some((_, begun)), Some(function)) => {
                begun.go_on(WireCall { index: None, id: None, function: Some(function) });
            }
            (None, Some(_)) => self.add_function(function),
            (_, None) => {}
        }
    }

    /// Without those that have no name.
    pub(super) fn finish(self) -> Vec<ToolCall> {
        self.0.into_iter().map(|(_, call)| call).filter(|call| !call.name.is_empty()).collect()
    }

    fn begin(&mut self, index: Option<u64>, wire: WireCall<'_>) {
        let mut call = ToolCall { id: None, name: String::new(), arguments: String::new() };
        call.go_on(wire);
        self.0.push((index, call));
    }

    fn add_function(&mut self, function: Option<&RawValue>) {
        if let Some(function) = function.and_then(read_function) {
            self.begin(None, WireCall { index: None, id: None, function: Some(function) });
        }
    }
}

impl ToolCall {
    fn go_on(&mut self, wire: WireCall<'_>) {
        self.id = self.id.take().or(wire.id.map(Cow::into_owned).filter(|id| !id.is_empty()));
        let Some(function) = wire.function else { return };
        // Why: some servers repeat the name with every piece.
        if let Some(name) = function.name.filter(|_| self.name.is_empty()) {
            self.name = name.into_owned();
        }
        let Some(arguments) = function.arguments.filter(|json| json.get() != "null") else { return };
        match serde_json::from_str::<String>(arguments.get()) {
            Ok(text) => self.arguments.push_str(&text),
            Err(_) => self.arguments.push_str(&compact(arguments)),
        }
    }
}

fn read(list: &RawValue) -> Vec<WireCall<'_>> {
    serde_json::from_str(list.get()).unwrap_or_default()
}

fn read_function(function: &RawValue) -> Option<Function<'_>> {
    serde_json::from_str(function.get()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(calls: &[ToolCall], expected: &[(Option<&str>, &str, &str)]) {
        let calls: Vec<(Option<&str>, &str, &str)> =
            calls.iter().map(|call| (call.id.as_deref(), &*call.name, &*call.arguments)).collect();
        assert_eq!(calls, expected);
    }

    fn whole(message: &Value) -> Vec<ToolCall> {
        let text = message.to_string();
        ToolCalls::of(&serde_json::from_str(&text).unwrap()).finish()
    }

    fn streamed(deltas: &[Value]) -> Vec<ToolCall> {
        let mut calls = ToolCalls::default();
        for delta in deltas {
            let text = delta.to_string();
            calls.add(&serde_json::from_str(&text).unwrap());
        }
        calls.finish()
    }

    #[test]
    fn arguments_are_text_whatever_they_hold() {
        let call = |id: Value, arguments: Value| json!({"tool_calls": [{"id": id, "function": {"name": "f", "arguments": arguments}}]});
        check(
            &whole(&call(json!("1"), json!("{\"a\": \"\u{e9}\"}"))),
            &[(Some("1"), "f", "{\"a\": \"\u{e9}\"}")],
        );
        check(&whole(&call(Value::Null, json!("{\"a\": "))), &[(None, "f", "{\"a\": ")]);
        check(&whole(&call(json!(""), json!({"a": 1}))), &[(None, "f", "{\"a\":1}")]);
        check(&whole(&call(json!("1"), Value::Null)), &[(Some("1"), "f", "")]);
    }

    #[test]
    fn odd_lists_are_none() {
        for odd in
            [json!(null), json!([]), json!({}), json!("x"), json!([{"id": "1"}]), json!([{"function": {}}])]
        {
            check(&whole(&json!({"tool_calls": odd})), &[]);
        }
        let function = json!({"function_call": {"name": "f", "arguments": "{}"}, "tool_calls": null});
        check(&whole(&function), &[(None, "f", "{}")]);
    }

    #[test]
    fn pieces_are_joined_by_their_index() {
        let piece = |index: Value, id: Value, name: Value, arguments: &str| json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]});
        let (zero, one, none) = (json!(0), json!(1), Value::Null);
        check(
            &streamed(&[
                piece(zero.clone(), json!("a"), json!("f"), ""),
                piece(one.clone(), json!("b"), json!("g"), "{"),
                piece(zero.clone(), none.clone(), none.clone(), "{\"x\":"),
                piece(one, none.clone(), none.clone(), "}"),
                piece(zero, json!("a"), json!("f"), "1}"),
            ]),
            &[(Some("a"), "f", "{\"x\":1}"), (Some("b"), "g", "{}")],
        );
        check(
            &streamed(&[
                piece(none.clone(), json!("a"), json!("f"), "{"),
                piece(none.clone(), none.clone(), none.clone(), "}"),
                piece(none.clone(), json!("b"), json!("g"), "{}"),
            ]),
            &[(Some("a"), "f", "{}"), (Some("b"), "g", "{}")],
        );
        let function =
            |name: Value, arguments: &str| json!({"function_call": {"name": name, "arguments": arguments}});
        check(&streamed(&[function(json!("f"), "{"), function(none, "}")]), &[(None, "f", "{}")]);
    }
}
