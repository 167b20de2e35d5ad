//! A caller's messages, in the form of chat completions, as turns.

use std::borrow::Cow;

use serde_json::Value;

use super::{Conversation, Media, Piece, Turn, with_paragraph};

/// Reads roles, parts, images and tool turns; what is empty is left out, and so is what [`foreign_part`] names.
pub(in crate::vendors) fn caller_conversation(messages: &[Value]) -> Conversation<'_> {
    let mut conversation = Conversation { system: None, turns: Vec::new() };
    for message in messages {
        match text_of(message, "role") {
            "system" | "developer" => {
                let text = joined(content(message));
                if !text.is_empty() {
                    conversation.system = Some(with_paragraph(conversation.system.take(), text));
                }
            }
            "assistant" => add(&mut conversation.turns, true, said(message)),
            "tool" => add(&mut conversation.turns, false, vec![result(message, messages)]),
            _ => add(&mut conversation.turns, false, content(message)),
        }
    }
    conversation.with_a_turn()
}

/// The kind of the first part that only OpenAI's format can hold, such as `input_audio`.
pub(in crate::vendors) fn foreign_part(messages: &[Value]) -> Option<&str> {
    messages.iter().flat_map(parts).find(|part| piece(part).is_none()).map(|part| text_of(part, "type"))
}

fn add<'a>(turns: &mut Vec<Turn<'a>>, is_assistant: bool, pieces: Vec<Piece<'a>>) {
    match turns.last_mut() {
        Some(last) if last.is_assistant == is_assistant => last.pieces.extend(pieces),
        Some(_) | None if pieces.is_empty() => {}
        Some(_) | None => turns.push(Turn { is_assistant, pieces }),
    }
}

/// What an assistant said and called.
fn said(message: &Value) -> Vec<Piece<'_>> {
    let refusal = text_of(message, "refusal");
    let refusal = (!refusal.trim().is_empty()).then_some(Piece::Text(Cow::Borrowed(refusal)));
    content(message).into_iter().chain(refusal).chain(calls(message)).collect()
}

fn calls(message: &Value) -> impl Iterator<Item = Piece<'_>> {
    list(message, "tool_calls").iter().filter_map(|call| {
        let function = call.get("function")?;
        let (id, name) = (text_of(call, "id"), text_of(function, "name"));
        Some(Piece::Call { id, name, arguments: text_of(function, "arguments") })
    })
}

fn result<'a>(message: &'a Value, messages: &'a [Value]) -> Piece<'a> {
    let id = text_of(message, "tool_call_id");
    let mut all = messages.iter().flat_map(calls);
    let name = all.find_map(|call| match call {
        Piece::Call { id: of, name, .. } if of == id => Some(name),
        Piece::Call { .. } | Piece::Text(_) | Piece::Media(_) | Piece::Result { .. } => None,
    });
    Piece::Result { id, name: name.unwrap_or_default(), pieces: content(message) }
}

/// The pieces of a message's content, none of them empty.
fn content(message: &Value) -> Vec<Piece<'_>> {
    match message.get("content") {
        Some(Value::String(text)) if !text.trim().is_empty() => vec![Piece::Text(Cow::Borrowed(text))],
        _ => parts(message)
            .iter()
            .filter_map(piece)
            .filter(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()))
            .collect(),
    }
}

fn parts(message: &Value) -> &[Value] {
    list(message, "content")
}

/// `None`: a kind that has no place in other formats.
fn piece(part: &Value) -> Option<Piece<'_>> {
    match text_of(part, "type") {
        "text" | "input_text" | "output_text" => Some(Piece::Text(Cow::Borrowed(text_of(part, "text")))),
        "refusal" => Some(Piece::Text(Cow::Borrowed(text_of(part, "refusal")))),
        "image_url" => {
            let image = part.get("image_url")?;
            media(image.as_str().unwrap_or_else(|| text_of(image, "url"))).map(Piece::Media)
        }
        "file" => data(text_of(part.get("file")?, "file_data")).map(Piece::Media),
        _ => None,
    }
}

fn media(url: &str) -> Option<Media<'_>> {
    let is_remote = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
    if is_remote { Some(Media::Url(url)) } else { data(url) }
}

/// `data:image/png;base64,…`.
fn data(url: &str) -> Option<Media<'_>> {
    let (head, base64) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?.split(';').next()?;
    Some(Media::Data { media_type, base64 })
}

fn joined(pieces: Vec<Piece<'_>>) -> Cow<'_, str> {
    let texts = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Media(_) | Piece::Call { .. } | Piece::Result { .. } => None,
    });
    texts.fold(
        Cow::Borrowed(""),
        |before, text| {
            if before.is_empty() { text } else { with_paragraph(Some(before), text) }
        },
    )
}

fn text_of<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> Piece<'_> {
        Piece::Text(Cow::Borrowed(text))
    }

    fn check(messages: &Value, system: Option<&str>, expected: &[(bool, Vec<Piece<'_>>)]) {
        let messages = messages.as_array().unwrap();
        let conversation = caller_conversation(messages);
        assert_eq!(conversation.system.as_deref(), system);
        let turns: Vec<(bool, Vec<Piece<'_>>)> =
            conversation.turns.into_iter().map(|turn| (turn.is_assistant, turn.pieces)).collect();
        assert_eq!(turns, expected);
    }

    #[test]
    fn system_and_developer_are_kept_apart() {
        check(
            &json!([
                {"role": "system", "content": "s"},
                {"role": "developer", "content": [{"type": "text", "text": "d"}, {"type": "text", "text": "e"}]},
                {"role": "user", "content": "u"}, {"role": "assistant", "content": null}, {"role": "user", "content": "v"},
            ]),
            Some("s\n\nd\n\ne"),
            &[(false, vec![text("u"), text("v")])],
        );
        check(&json!([{"role": "system", "content": "s"}]), None, &[(false, vec![text("s")])]);
        check(&json!([]), None, &[]);
    }

    #[test]
    fn images_come_as_data_or_as_addresses() {
        let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}});
        check(
            &json!([{"role": "user", "content": [
                {"type": "text", "text": "Look:"}, image("data:image/png;base64,AAAA"), image("https://x.test/a.png"),
                {"type": "file", "file": {"filename": "a", "file_data": "data:application/pdf;name=a;base64,BB"}},
                {"type": "text", "text": " "},
            ]}]),
            None,
            &[(
                false,
                vec![
                    text("Look:"),
                    Piece::Media(Media::Data { media_type: "image/png", base64: "AAAA" }),
                    Piece::Media(Media::Url("https://x.test/a.png")),
                    Piece::Media(Media::Data { media_type: "application/pdf", base64: "BB" }),
                ],
            )],
        );
    }

    #[test]
    fn tool_turns_keep_their_ids_and_names() {
        let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{"}});
        check(
            &json!([
                {"role": "user", "content": "u"},
                {"role": "assistant", "content": "hm", "tool_calls": [call("1", "f"), call("2", "g")]},
                {"role": "tool", "tool_call_id": "2", "content": "bad"},
                {"role": "tool", "tool_call_id": "9", "content": []},
                {"role": "user", "content": "again"},
            ]),
            None,
            &[
                (false, vec![text("u")]),
                (
                    true,
                    vec![
                        text("hm"),
                        Piece::Call { id: "1", name: "f", arguments: "{" },
                        Piece::Call { id: "2", name: "g", arguments: "{" },
                    ],
                ),
                (
                    false,
                    vec![
                        Piece::Result { id: "2", name: "g", pieces: vec![text("bad")] },
                        Piece::Result { id: "9", name: "", pieces: vec![] },
                        text("again"),
                    ],
                ),
            ],
        );
    }

    #[test]
    fn parts_without_a_place_are_named() {
        let check = |part: Value, expected: Option<&str>| {
            let messages = [json!({"role": "user", "content": [{"type": "text", "text": "x"}, part]})];
            assert_eq!(foreign_part(&messages), expected);
        };
        check(json!({"type": "text", "text": ""}), None);
        check(json!({"type": "image_url", "image_url": "https://x.test/a.png"}), None);
        check(json!({"type": "input_audio", "input_audio": {}}), Some("input_audio"));
        check(
            json!({"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3C"}}),
            Some("image_url"),
        );
        check(json!({"type": "file", "file": {"file_id": "f"}}), Some("file"));
        assert_eq!(foreign_part(&[json!({"role": "user", "content": "x"})]), None);
    }
}
