use serde_json::json;

use super::*;
use crate::chat::ChatRequest;
use crate::vendors::Dialect;
use crate::vendors::capabilities::Capabilities;
use crate::vendors::refusal::Refusal;
use crate::vendors::samples::{asking_again_with_tools, caller, verdict_tool};

/// A server that refuses what these words say, to a request that asks for everything.
fn refusing(words: &[&str]) -> Capabilities {
    let capabilities = Capabilities::new(Dialect::Compatible);
    let mut body = asking_again_with_tools();
    body.response_format = Some(json!({"type": "json_object"}));
    let request = ChatRequest::from_caller(body);
    for message in words {
        capabilities.learn(&Refusal::of(400, &json!({"error": {"message": message}})), &request);
    }
    capabilities
}

fn adapted<'a>(body: &'a CallerBody, capabilities: &Capabilities) -> (Adapted<'a>, Vec<&'static str>) {
    let mut dropped = Vec::new();
    (Adapted::of(body, &capabilities.known(), &mut dropped), dropped)
}

/// The user's last words and what is left out.
fn last_words(body: &CallerBody, capabilities: &Capabilities) -> (String, Vec<&'static str>) {
    let (adapted, dropped) = adapted(body, capabilities);
    let last = adapted.messages.last().unwrap();
    assert_eq!(last["role"], "user");
    (last["content"].as_str().unwrap().to_owned(), dropped)
}

fn instructed(schema: &Value) -> String {
    format!("u\n\n{}", instruction(Some(schema)))
}

#[test]
fn forced_tool_becomes_an_instruction_where_there_are_no_tools() {
    let check = |choice: Value, tools: Value, expected: String, dropped: &[&str]| {
        let body = caller(json!({
            "messages": [{"role": "user", "content": "u"}], "tools": tools, "tool_choice": choice,
        }));
        assert_eq!(
            last_words(&body, &refusing(&["this model does not support tools"])),
            (expected, dropped.to_vec())
        );
    };
    let parameters = verdict_tool()["function"]["parameters"].clone();
    let other = json!({"type": "function", "function": {"name": "other"}});
    let by_name = json!({"type": "function", "function": {"name": "verdict"}});
    let both = json!({"anyOf": [{"type": "object"}, parameters]});
    check(
        by_name.clone(),
        json!([other, verdict_tool()]),
        instructed(&parameters),
        &["tool_choice", "tools"],
    );
    check(json!("required"), json!([verdict_tool()]), instructed(&parameters), &["tool_choice", "tools"]);
    check(json!("required"), json!([other, verdict_tool()]), instructed(&both), &["tool_choice", "tools"]);
    check(by_name, json!([other]), instructed(&json!({"type": "object"})), &["tool_choice", "tools"]);
    check(json!("auto"), json!([verdict_tool()]), "u".to_owned(), &["tool_choice", "tools"]);
    check(Value::Null, json!([verdict_tool()]), "u".to_owned(), &["tools"]);
    check(json!("required"), json!([]), "u".to_owned(), &[]);
}

#[test]
fn choice_that_is_not_taken_costs_the_tools_unless_the_model_chooses() {
    let check = |choice: Value, sends_tools: bool, dropped: &[&str]| {
        let body = caller(json!({
            "messages": [{"role": "user", "content": "u"}], "tools": [verdict_tool()], "tool_choice": choice,
        }));
        let capabilities = refusing(&["tool_choice=\"required\" requires --tool-call-parser to be set"]);
        let (adapted, left_out) = adapted(&body, &capabilities);
        assert_eq!((adapted.tools.is_some(), adapted.tool_choice), (sends_tools, None), "{choice}");
        assert_eq!(left_out, dropped, "{choice}");
    };
    check(json!("auto"), true, &["tool_choice"]);
    check(Value::Null, true, &[]);
    check(json!("none"), false, &["tool_choice", "tools"]);
    check(json!("required"), false, &["tool_choice", "tools"]);
}

#[test]
fn refused_format_becomes_an_instruction() {
    let check = |format: Value, expected: String| {
        let body = caller(json!({"messages": [{"role": "user", "content": "u"}], "response_format": format}));
        let capabilities = refusing(&["This response_format type is unavailable now"]);
        assert_eq!(last_words(&body, &capabilities), (expected, vec!["response_format"]));
    };
    let schema = json!({"type": "string"});
    check(json!({"type": "json_schema", "json_schema": {"schema": schema}}), instructed(&schema));
    check(json!({"type": "json_object"}), format!("u\n\n{}", instruction(None)));
}

#[test]
fn instruction_is_the_users() {
    let check = |messages: Value, expected: Value| {
        let body = caller(json!({"messages": messages, "response_format": {"type": "json_object"}}));
        let (adapted, _) = adapted(&body, &refusing(&["response_format is not supported"]));
        assert_eq!(adapted.messages.last(), Some(&expected));
    };
    let words = instruction(None);
    check(json!([]), json!({"role": "user", "content": words}));
    check(json!([{"role": "assistant", "content": "a"}]), json!({"role": "user", "content": words}));
    check(json!([{"role": "user", "content": null}]), json!({"role": "user", "content": words}));
    let text = |text: &str| json!({"type": "text", "text": text});
    check(
        json!([{"role": "user", "content": [text("u")]}]),
        json!({"role": "user", "content": [text("u"), text(&words)]}),
    );
}

#[test]
fn tool_turns_are_plain_talk_without_tools() {
    let body = caller(json!({
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "hm", "tool_calls": [{"id": "1", "function": {"name": "verdict", "arguments": "{\"score\": 9}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "at most 5"}]},
            {"role": "user", "content": "Again."},
        ],
        "tools": [verdict_tool()],
    }));
    let (plain, _) = adapted(&body, &refusing(&["tool calling is not supported"]));
    let expected = json!([
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "hm\n{\"score\": 9}"},
        {"role": "user", "content": "at most 5\n\nAgain."},
    ]);
    assert_eq!(json!(plain.messages), expected);
    let (as_sent, _) = adapted(&body, &Capabilities::new(Dialect::Compatible));
    assert!(matches!(as_sent.messages, Cow::Borrowed(_)));
}

#[test]
fn what_is_refused_of_a_callers_body_is_learned() {
    let check = |message: &str, expected: &[&str]| {
        let capabilities = refusing(&[message]);
        assert_eq!(capabilities.snapshot().refused, expected, "{message}");
    };
    check("Unsupported param: tools", &["tools"]);
    check("registry.ollama.ai/library/gemma3:1b does not support tools", &["tools"]);
    check("Function calling is not enabled for models/gemma-3-1b-it", &["tools"]);
    check("tools param requires --jinja flag", &["tools"]);
    check("No endpoints found that support tool use.", &["tools"]);
    check(
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        &["tool_choice"],
    );
    check("No endpoints found that support the provided 'tool_choice' value.", &["tool_choice"]);
    check(
        "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
        &["parallel_tool_calls"],
    );
    check("This response_format type is unavailable now", &["response_format"]);
    check("'frequency_penalty' is not supported", &["frequency_penalty"]);
    check("Penalty is not enabled for models/x", &["frequency_penalty"]);
    check("Unrecognized request argument supplied: reasoning_effort", &["reasoning_effort"]);
    check("messages with role 'tool' must follow a call", &[]);
}

#[test]
fn what_a_caller_did_not_ask_for_is_not_learned() {
    let capabilities = Capabilities::new(Dialect::Compatible);
    let request =
        ChatRequest::from_caller(caller(json!({"messages": [], "tools": [], "tool_choice": "auto"})));
    for message in
        ["tools are not supported", "tool_choice is not supported", "response_format is not supported"]
    {
        capabilities.learn(&Refusal::of(400, &json!({"error": {"message": message}})), &request);
    }
    assert!(capabilities.snapshot().is_empty());
}

#[test]
fn servers_that_hold_no_model_to_a_function_are_given_its_schema() {
    let parameters = verdict_tool()["function"]["parameters"].clone();
    let asked = |choice: &str| {
        caller(json!({
            "messages": [{"role": "user", "content": "u"}], "tools": [verdict_tool()], "tool_choice": choice,
        }))
    };
    for dialect in [Dialect::LlamaCpp, Dialect::Ollama] {
        let (forced, free) = (asked("required"), asked("auto"));
        let capabilities = Capabilities::new(dialect);
        let (forced, _) = adapted(&forced, &capabilities);
        assert_eq!((forced.tools, forced.schema()), (None, Some(&parameters)), "{dialect:?}");
        assert_eq!(forced.messages[0]["content"], instructed(&parameters));
        let (free, _) = adapted(&free, &capabilities);
        assert_eq!((free.tools.map(<[Value]>::len), free.schema()), (Some(1), None), "{dialect:?}");
    }
}
