//! Turns as parts.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::vendors::turns::{Media, Piece};

/// Google's word for calls that its model did not make itself, in place of the signature that newer models insist on.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// One of its fields is there, and a signature beside a call.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<FileData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileData<'a> {
    mime_type: &'static str,
    file_uri: &'a str,
}

#[derive(Debug, Serialize)]
struct FunctionCall<'a> {
    name: &'a str,
    args: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct FunctionResponse<'a> {
    name: &'a str,
    response: Map<String, Value>,
}

impl<'a> From<Cow<'a, str>> for Part<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self { text: Some(text), ..Self::default() }
    }
}

impl<'a> From<Piece<'a>> for Part<'a> {
    fn from(piece: Piece<'a>) -> Self {
        match piece {
            Piece::Text(text) => text.into(),
            Piece::Media(Media::Data { media_type, base64 }) => Self {
                inline_data: Some(InlineData { mime_type: media_type, data: base64 }),
                ..Self::default()
            },
            Piece::Media(Media::Url(url)) => Self {
                file_data: Some(FileData { mime_type: mime_type(url), file_uri: url }),
                ..Self::default()
            },
            Piece::Call { id: _, name, arguments } => Self {
                function_call: Some(FunctionCall { name, args: object(arguments, "arguments") }),
                thought_signature: Some(NO_SIGNATURE),
                ..Self::default()
            },
            Piece::Result { id: _, name, pieces } => {
                let texts: Vec<Cow<'_, str>> = pieces.into_iter().filter_map(text).collect();
                let response = object(&texts.join("\n\n"), "result");
                Self { function_response: Some(FunctionResponse { name, response }), ..Self::default() }
            }
        }
    }
}

fn text(piece: Piece<'_>) -> Option<Cow<'_, str>> {
    match piece {
        Piece::Text(text) => Some(text),
        Piece::Media(_) | Piece::Call { .. } | Piece::Result { .. } => None,
    }
}

/// JSON where it is an object; otherwise the text under this name.
fn object(text: &str, name: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_else(|_| Map::from_iter([(name.to_owned(), json!(text))]))
}

/// By the ending of the address's path: the field has to be there.
fn mime_type(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    match path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "gif" => "image/gif",
        _ => "image/jpeg",
    }
}
