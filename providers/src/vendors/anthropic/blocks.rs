//! Turns as content blocks.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::vendors::turns::{Media, Piece};

/// One text as it is; everything else as blocks.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text { text: Cow<'a, str> },
    Image { source: Source<'a> },
    Document { source: Source<'a> },
    ToolUse { id: &'a str, name: &'a str, input: Value },
    ToolResult { tool_use_id: &'a str, content: Vec<Block<'a>> },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

impl<'a> From<Vec<Piece<'a>>> for Content<'a> {
    fn from(mut pieces: Vec<Piece<'a>>) -> Self {
        match (pieces.pop(), pieces.is_empty()) {
            (Some(Piece::Text(text)), true) => Self::Text(text),
            (last, _) => Self::Blocks(pieces.into_iter().chain(last).map(Block::from).collect()),
        }
    }
}

impl<'a> From<Piece<'a>> for Block<'a> {
    fn from(piece: Piece<'a>) -> Self {
        match piece {
            Piece::Text(text) => Self::Text { text },
            Piece::Media(media) => match media {
                Media::Data { media_type, base64 } => {
                    let source = Source::Base64 { media_type, data: base64 };
                    if media_type.starts_with("image/") {
                        Self::Image { source }
                    } else {
                        Self::Document { source }
                    }
                }
                Media::Url(url) => Self::Image { source: Source::Url { url } },
            },
            Piece::Call { id, name, arguments } => Self::ToolUse { id, name, input: input(arguments) },
            Piece::Result { id, name: _, pieces } => {
                Self::ToolResult { tool_use_id: id, content: pieces.into_iter().map(Self::from).collect() }
            }
        }
    }
}

/// Arguments have to be an object; broken ones are shown as they are.
fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(input @ Value::Object(_)) => input,
        Ok(_) | Err(_) => json!({ "arguments": arguments }),
    }
}
