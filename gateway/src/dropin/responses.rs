//! The Responses API: its requests as chat completions, and an answer in its form, whole or as events.

use providers::chat::{FinishReason, Usage};
use serde_json::{Map, Value, json};

use super::caller::{BadRequest, CallerRequest, tokens as cap};
use super::said::{Called, Envelope, Said, tokens, with};

/// Settings of a request that its answer repeats.
const REPEATED: [&str; 12] = [
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "reasoning",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_p",
    "truncation",
    "user",
];

/// A request of `POST /v1/responses` in the form of chat completions.
pub fn request(body: Value) -> Result<CallerRequest, BadRequest> {
    let Value::Object(mut fields) = body else {
        return Err(BadRequest { message: String::from("the body is no JSON object"), param: None });
    };
    let repeated = REPEATED.iter().filter_map(|name| {
        let value = fields.get(*name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.clone()))
    });
    let repeated: Map<String, Value> = repeated.collect();
    let mut take = |name: &str| fields.shift_remove(name).filter(|value| !value.is_null());
    for stored in ["previous_response_id", "conversation"] {
        if take(stored).is_some() {
            let text =
                format!("`{stored}` names what is not kept here; hint: send the earlier turns in `input`");
            return Err(BadRequest { message: text, param: Some("previous_response_id") });
        }
    }
    let mut messages: Vec<Value> = Vec::new();
    messages.extend(take("instructions").map(|text| json!({"role": "system", "content": text})));
    match take("input") {
        Some(Value::String(text)) => messages.push(json!({"role": "user", "content": text})),
        Some(Value::Array(items)) => {
            for item in items {
                messages.push(message(&item)?);
            }
        }
        Some(_) => return Err(BadRequest::of("input", "`input` is neither a text nor a list")),
        None => {}
    }
    let format = take("text").and_then(|text| text.get("format").cloned());
    let tools = take("tools").map(|tools| chat_tools(&tools)).transpose()?;
    let choice = take("tool_choice").map(chat_tool_choice);
    let effort = take("reasoning").and_then(|reasoning| reasoning.get("effort").cloned());
    let includes = take("include");
    let names_logprobs = |list: &Value| {
        list.as_array().is_some_and(|list| list.contains(&json!("message.output_text.logprobs")))
    };
    let wants_logprobs = includes.as_ref().is_some_and(names_logprobs);
    // Named by the caller's own words where it is wrong.
    cap(&fields, "max_output_tokens")?;
    let most_tokens = fields.shift_remove("max_output_tokens");
    let chat = [
        ("messages", Some(Value::Array(messages))),
        ("response_format", format.and_then(response_format)),
        ("tools", tools),
        ("tool_choice", choice),
        ("reasoning_effort", effort.filter(|effort| !effort.is_null())),
        ("max_completion_tokens", most_tokens),
        ("logprobs", wants_logprobs.then_some(Value::Bool(true))),
    ];
    fields.extend(chat.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    let request = CallerRequest::of_chat(Value::Object(fields)).map_err(|bad| match bad.param {
        Some("messages") => BadRequest::of("input", "`input` is missing or empty"),
        _ => bad,
    })?;
    Ok(CallerRequest { repeated, ..request })
}

/// One item of the input as a message.
pub(super) fn message(item: &Value) -> Result<Value, BadRequest> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    match item.get("type").and_then(Value::as_str).unwrap_or("message") {
        "message" => {
            let content = match item.get("content") {
                Some(content) => parts(content),
                None => return Err(BadRequest::of("input", "a message of `input` has no `content`")),
            };
            let role = item.get("role").cloned().unwrap_or_else(|| json!("user"));
            Ok(json!({"role": role, "content": content}))
        }
        kind @ ("function_call" | "custom_tool_call") => {
            let arguments = if kind == "function_call" { text("arguments") } else { text("input") };
            Ok(json!({
                "role": "assistant",
                "content": null,
                "tool_calls": [{
                    "id": text("call_id"),
                    "type": "function",
                    "function": {"name": text("name"), "arguments": arguments},
                }],
            }))
        }
        "function_call_output" | "custom_tool_call_output" => {
            let content = item.get("output").map(parts);
            Ok(json!({"role": "tool", "tool_call_id": text("call_id"), "content": content}))
        }
        other => Err(BadRequest::of("input", format!("items of type `{other}` are not taken in `input`"))),
    }
}

fn parts(content: &Value) -> Value {
    match content {
        Value::Array(parts) => parts.iter().map(part).collect(),
        text => text.clone(),
    }
}

pub(super) fn part(part: &Value) -> Value {
    match part.get("type").and_then(Value::as_str) {
        Some("input_json") => {
            let data = part.get("data").unwrap_or(&Value::Null);
            json!({"type": "text", "text": data.to_string()})
        }
        Some("input_text" | "output_text") => json!({"type": "text", "text": part.get("text")}),
        Some("input_image") => {
            let detail = part.get("detail").map(|detail| ("detail", detail.clone()));
            let image = with(json!({"url": part.get("image_url")}), detail);
            json!({"type": "image_url", "image_url": image})
        }
        Some(_) | None => part.clone(),
    }
}

/// `text.format` as `response_format`; plain text is none.
fn response_format(format: Value) -> Option<Value> {
    match format.get("type").and_then(Value::as_str) {
        Some("json_schema") => {
            let mut schema: Map<String, Value> = match format {
                Value::Object(fields) => fields,
                _ => return None,
            };
            schema.shift_remove("type");
            Some(json!({"type": "json_schema", "json_schema": schema}))
        }
        Some("json_object") => Some(json!({"type": "json_object"})),
        Some(_) | None => None,
    }
}

fn chat_tools(tools: &Value) -> Result<Value, BadRequest> {
    let Value::Array(tools) = tools else { return Err(BadRequest::of("tools", "`tools` is no list")) };
    let functions = tools.iter().map(|tool| {
        let Value::Object(fields) = tool else { return Err(BadRequest::of("tools", "a tool is no object")) };
        if fields.get("type").and_then(Value::as_str) != Some("function") {
            return Err(BadRequest::of("tools", "only tools of type `function` are taken"));
        }
        let mut function = fields.clone();
        function.shift_remove("type");
        Ok(json!({"type": "function", "function": function}))
    });
    functions.collect::<Result<Vec<_>, _>>().map(Value::Array)
}

fn chat_tool_choice(choice: Value) -> Value {
    match (choice.get("type").and_then(Value::as_str), choice.get("name")) {
        (Some("function"), Some(name)) => json!({"type": "function", "function": {"name": name}}),
        (_, _) => choice,
    }
}

/// The body of `POST /v1/responses`.
pub fn response(said: &Said, envelope: &Envelope) -> Value {
    let status = status(said);
    let output: Vec<Value> = output(said, envelope).iter().map(|item| item.json(status)).collect();
    let filled = [
        ("incomplete_details", cut_by(said).map_or(Value::Null, |reason| json!({"reason": reason}))),
        ("output", Value::Array(output)),
        ("usage", usage(&envelope.usage)),
        ("tribunal", envelope.tribunal.clone()),
    ];
    with(head(envelope, status), filled)
}

/// What ended the answer before its own end, in this API's words.
fn cut_by(said: &Said) -> Option<&'static str> {
    match said.finish {
        FinishReason::Length => Some("max_output_tokens"),
        FinishReason::ContentFilter => Some("content_filter"),
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other => None,
    }
}

fn status(said: &Said) -> &'static str {
    if cut_by(said).is_some() { "incomplete" } else { "completed" }
}

/// The same as the events of a stream, each a name and its data.
pub fn events(said: &Said, envelope: &Envelope) -> Vec<(&'static str, Value)> {
    let begun = head(envelope, "in_progress");
    let mut events = vec![
        ("response.created", json!({"response": begun})),
        ("response.in_progress", json!({"response": begun})),
    ];
    for (index, item) in output(said, envelope).iter().enumerate() {
        let opened = item.empty().json("in_progress");
        events.push(("response.output_item.added", json!({"output_index": index, "item": opened})));
        events.extend(item.events(index));
        let done = item.json(status(said));
        events.push(("response.output_item.done", json!({"output_index": index, "item": done})));
    }
    let last = if cut_by(said).is_some() { "response.incomplete" } else { "response.completed" };
    events.push((last, json!({"response": response(said, envelope)})));
    let numbered = events.into_iter().enumerate().map(|(number, (name, data))| {
        (name, with(data, [("type", json!(name)), ("sequence_number", json!(number))]))
    });
    numbered.collect()
}

/// One item of the output.
struct Item {
    id: String,
    said: ItemSaid,
}

enum ItemSaid {
    /// `None`: not begun.
    Text(Option<(String, Vec<Value>)>),
    Refusal(Option<String>),
    Call(Called),
}

impl Item {
    /// The same before anything of it was said.
    fn empty(&self) -> Self {
        let said = match &self.said {
            ItemSaid::Text(_) => ItemSaid::Text(None),
            ItemSaid::Refusal(_) => ItemSaid::Refusal(None),
            ItemSaid::Call(call) => ItemSaid::Call(Called { arguments: String::new(), ..call.clone() }),
        };
        Self { id: self.id.clone(), said }
    }

    fn json(&self, status: &str) -> Value {
        let content: Vec<Value> = match &self.said {
            ItemSaid::Text(said) => said.iter().map(|(text, logprobs)| text_part(text, logprobs)).collect(),
            ItemSaid::Refusal(said) => said.iter().map(|text| refusal_part(text)).collect(),
            ItemSaid::Call(Called { id, name, arguments }) => {
                return json!({
                    "type": "function_call",
                    "id": self.id,
                    "call_id": id,
                    "name": name,
                    "arguments": arguments,
                    "status": status,
                });
            }
        };
        json!({"type": "message", "id": self.id, "status": status, "role": "assistant", "content": content})
    }

    /// What is said between the item's opening and its end.
    fn events(&self, index: usize) -> Vec<(&'static str, Value)> {
        let item = || json!({"item_id": self.id, "output_index": index});
        let part = || with(item(), [("content_index", json!(0))]);
        match &self.said {
            ItemSaid::Call(call) => vec![
                ("response.function_call_arguments.delta", with(item(), [("delta", json!(call.arguments))])),
                (
                    "response.function_call_arguments.done",
                    with(item(), [("arguments", json!(call.arguments))]),
                ),
            ],
            ItemSaid::Text(said) => said
                .iter()
                .flat_map(|(text, logprobs)| {
                    let delta = [("delta", json!(text)), ("logprobs", json!(logprobs))];
                    let done = [("text", json!(text)), ("logprobs", json!(logprobs))];
                    [
                        ("response.content_part.added", with(part(), [("part", text_part("", &[]))])),
                        ("response.output_text.delta", with(part(), delta)),
                        ("response.output_text.done", with(part(), done)),
                        ("response.content_part.done", with(part(), [("part", text_part(text, logprobs))])),
                    ]
                })
                .collect(),
            ItemSaid::Refusal(said) => said
                .iter()
                .flat_map(|text| {
                    [
                        ("response.content_part.added", with(part(), [("part", refusal_part(""))])),
                        ("response.refusal.delta", with(part(), [("delta", json!(text))])),
                        ("response.refusal.done", with(part(), [("refusal", json!(text))])),
                        ("response.content_part.done", with(part(), [("part", refusal_part(text))])),
                    ]
                })
                .collect(),
        }
    }
}

fn text_part(text: &str, logprobs: &[Value]) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs})
}

fn refusal_part(text: &str) -> Value {
    json!({"type": "refusal", "refusal": text})
}

fn head(envelope: &Envelope, status: &str) -> Value {
    let mut head = json!({
        "id": format!("resp_{}", envelope.id),
        "object": "response",
        "created_at": envelope.created_s,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "model": envelope.model,
        "output": [],
        "parallel_tool_calls": false,
        "temperature": null,
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "usage": null,
    });
    if let Value::Object(fields) = &mut head {
        fields.extend(envelope.repeated.clone());
    }
    head
}

fn output(said: &Said, envelope: &Envelope) -> Vec<Item> {
    let message = |said| Item { id: format!("msg_{}", envelope.id), said };
    let mut items = Vec::new();
    if let Some(text) = &said.content {
        let logprobs = said.logprobs.as_deref().map(tokens).unwrap_or_default();
        items.push(message(ItemSaid::Text(Some((text.clone(), logprobs)))));
    }
    if let Some(text) = &said.refusal {
        items.push(message(ItemSaid::Refusal(Some(text.clone()))));
    }
    items.extend(
        said.tool_calls
            .iter()
            .map(|call| Item { id: format!("fc_{}", envelope.id), said: ItemSaid::Call(call.clone()) }),
    );
    items
}

/// What it took, in the words of this API.
pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::said::samples::{called, envelope, weighed};
    use super::*;

    #[test]
    fn a_request_becomes_a_chat_completion() {
        let request = request(json!({
            "model": "panel", "instructions": "Judge.", "max_output_tokens": 9, "reasoning": {"effort": "low"},
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "This?"}, {"type": "input_image", "image_url": "data:x"}]},
                {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "seen"},
            ],
            "text": {"format": {"type": "json_schema", "name": "V", "strict": true, "schema": {"type": "object"}}},
            "tools": [{"type": "function", "name": "grade", "parameters": {"type": "object"}}],
            "tool_choice": {"type": "function", "name": "grade"}, "include": ["message.output_text.logprobs"],
        }))
        .unwrap();
        assert_eq!(
            request.body["messages"],
            json!([
                {"role": "system", "content": "Judge."},
                {"role": "user", "content": [{"type": "text", "text": "This?"}, {"type": "image_url", "image_url": {"url": "data:x"}}]},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "seen"},
            ])
        );
        assert_eq!(
            request.body["response_format"],
            json!({"type": "json_schema", "json_schema": {"name": "V", "strict": true, "schema": {"type": "object"}}})
        );
        assert_eq!(request.body["tools"][0]["function"]["name"], "grade");
        assert_eq!(request.body["tool_choice"], json!({"type": "function", "function": {"name": "grade"}}));
        assert_eq!(request.body["reasoning_effort"], "low");
        assert_eq!((request.sampling.max_tokens, request.sampling.wants_logprobs), (Some(9), true));
    }

    #[test]
    fn what_cannot_be_answered_is_named() {
        let check = |body: Value, param: &str, words: &str| {
            let bad = request(body).unwrap_err();
            assert_eq!(bad.param, Some(param), "{bad}");
            assert!(bad.message.contains(words), "{bad}");
        };
        check(json!({"model": "panel"}), "input", "missing or empty");
        check(json!({"input": 5}), "input", "neither");
        check(json!({"input": [{"type": "item_reference", "id": "x"}]}), "input", "item_reference");
        check(json!({"input": [{"role": "user"}]}), "input", "no `content`");
        check(json!({"input": "x", "previous_response_id": "r"}), "previous_response_id", "earlier turns");
        check(json!({"input": "x", "tools": [{"type": "web_search"}]}), "tools", "only tools of type");
        check(json!({"input": "x", "max_output_tokens": 0}), "max_output_tokens", "at least 1");
    }

    #[test]
    fn an_answer_has_every_field_that_clients_read() {
        let body = response(&weighed(), &envelope());
        assert_eq!(
            (&body["id"], &body["status"], &body["object"]),
            (&json!("resp_v1"), &json!("completed"), &json!("response"))
        );
        let part = &body["output"][0]["content"][0];
        assert_eq!((&part["type"], &part["text"]), (&json!("output_text"), &json!("yes.")));
        assert_eq!(part["logprobs"].as_array().map(Vec::len), Some(2));
        assert_eq!(body["usage"]["total_tokens"], 7);
        let call = &response(&called(), &envelope())["output"][0];
        assert_eq!(
            (&call["type"], &call["call_id"], &call["name"]),
            (&json!("function_call"), &json!("call_1"), &json!("grade"))
        );
        let refused = response(&Said::refusal("No."), &envelope());
        assert_eq!(refused["output"][0]["content"], json!([{"type": "refusal", "refusal": "No."}]));
    }

    #[test]
    fn an_answer_repeats_the_settings_it_was_given_under() {
        let sent = json!({
            "input": "x", "metadata": {"suite": "s"}, "temperature": 0.5, "max_output_tokens": 9, "top_p": null,
            "text": {"format": {"type": "text"}}, "user": "u", "instructions": "Judge.",
        });
        let repeated = request(sent.clone()).unwrap().repeated;
        let body = response(&weighed(), &Envelope { repeated, ..envelope() });
        for name in ["metadata", "temperature", "max_output_tokens", "text", "user", "instructions"] {
            assert_eq!(body[name], sent[name], "{name}");
        }
        assert_eq!((&body["top_p"], &body["tools"]), (&Value::Null, &json!([])));
    }

    #[test]
    fn an_answer_that_was_cut_is_incomplete() {
        for (finish, reason) in
            [(FinishReason::Length, "max_output_tokens"), (FinishReason::ContentFilter, "content_filter")]
        {
            let said = Said { finish, ..Said::text("ye") };
            let body = response(&said, &envelope());
            assert_eq!(
                (&body["status"], &body["incomplete_details"]["reason"]),
                (&json!("incomplete"), &json!(reason))
            );
            assert_eq!(body["output"][0]["status"], "incomplete");
            assert_eq!(events(&said, &envelope()).last().unwrap().0, "response.incomplete");
        }
        assert_eq!(response(&Said::text("yes"), &envelope())["incomplete_details"], Value::Null);
    }

    #[test]
    fn a_stream_is_numbered_and_ends_with_the_whole_answer() {
        for said in [Said::text("yes"), called(), Said::refusal("No.")] {
            let events = events(&said, &envelope());
            for (number, (name, data)) in events.iter().enumerate() {
                assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(number)));
            }
            assert_eq!(events[0].0, "response.created");
            let (name, last) = events.last().unwrap();
            assert_eq!((*name, &last["response"]), ("response.completed", &response(&said, &envelope())));
        }
    }
}
