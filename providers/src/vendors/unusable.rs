//! Why the body of a successful answer is no completion, in any format.

use super::refusal::Refusal;
use crate::chat::Usage;
use crate::error::ErrorKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// It is an error, whatever the status said.
    Refused(Box<Refusal>),
    /// There is no answer in it. It may have been paid for all the same.
    Empty { kind: ErrorKind, usage: Option<Usage> },
}

impl From<Refusal> for Unusable {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Unusable {
    pub(crate) fn garbage(message: &str) -> Self {
        Self::Empty { kind: ErrorKind::Garbage { message: message.to_owned() }, usage: None }
    }

    /// It stops before its end.
    pub(crate) fn cut() -> Self {
        let message = "answer stops in the middle".to_owned();
        Self::Empty { kind: ErrorKind::Connection { message }, usage: None }
    }

    /// The server says itself that it failed, in its reason for ending an answer.
    pub(crate) fn failed(reason: &str, usage: Option<Usage>) -> Self {
        let message = format!("answer ended with `{reason}`");
        Self::Empty { kind: ErrorKind::Server { status: 200, message }, usage }
    }

    /// A body that could not be read as JSON of the format.
    pub(crate) fn unreadable(body: &[u8], error: &serde_json::Error) -> Self {
        match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Self::garbage("empty body"),
            Some(b'<') => Self::garbage("HTML instead of JSON"),
            Some(_) if error.is_eof() => Self::cut(),
            Some(_) => Self::garbage("no JSON of a chat completion"),
        }
    }

    /// The kind of failure without a call to hide the words of.
    pub(crate) fn into_kind(self) -> ErrorKind {
        match self {
            Self::Refused(refusal) => {
                refusal.kind(crate::error_text::Secrets { key: None, host: "", request: None })
            }
            Self::Empty { kind, .. } => kind,
        }
    }
}
