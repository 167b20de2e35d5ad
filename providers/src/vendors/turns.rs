//! Messages for formats that keep the system's words apart and want the other two roles to take turns.

use std::borrow::Cow;

use crate::chat::{Message, Role};

mod caller;

pub(super) use caller::{caller_conversation, foreign_part};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conversation<'a> {
    /// All system messages, wherever they stood.
    pub system: Option<Cow<'a, str>>,
    /// User and assistant by turns, each with something to say.
    pub turns: Vec<Turn<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Turn<'a> {
    pub is_assistant: bool,
    /// At least one. Messages of the same role that followed each other are one turn.
    pub pieces: Vec<Piece<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Media(Media<'a>),
    /// An earlier call of a function, in the assistant's turn.
    Call {
        id: &'a str,
        name: &'a str,
        /// JSON by agreement.
        arguments: &'a str,
    },
    /// What that call gave, in the user's turn.
    Result {
        id: &'a str,
        /// Empty when the call is not there.
        name: &'a str,
        pieces: Vec<Piece<'a>>,
    },
}

/// An image or a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media<'a> {
    Data { media_type: &'a str, base64: &'a str },
    Url(&'a str),
}

/// Empty messages, which such servers refuse, are left out. Where there are only system messages, the user says them:
/// a conversation of no turns is refused too.
pub(super) fn conversation(messages: &[Message]) -> Conversation<'_> {
    let mut system: Option<Cow<'_, str>> = None;
    let mut turns: Vec<(bool, Cow<'_, str>)> = Vec::new();
    for message in messages.iter().filter(|message| !message.content.trim().is_empty()) {
        let is_assistant = match message.role {
            Role::System => {
                system = Some(with_paragraph(system, Cow::Borrowed(&message.content)));
                continue;
            }
            Role::User => false,
            Role::Assistant => true,
        };
        match turns.pop() {
            Some((last, text)) if last == is_assistant => {
                turns.push((last, with_paragraph(Some(text), Cow::Borrowed(&message.content))));
            }
            other => {
                turns.extend(other);
                turns.push((is_assistant, Cow::Borrowed(&message.content)));
            }
        }
    }
    let turns = turns
        .into_iter()
        .map(|(is_assistant, text)| Turn { is_assistant, pieces: vec![Piece::Text(text)] })
        .collect();
    Conversation { system, turns }.with_a_turn()
}

impl Conversation<'_> {
    fn with_a_turn(mut self) -> Self {
        if self.turns.is_empty() {
            let text = self.system.take();
            self.turns.extend(text.map(|text| Turn { is_assistant: false, pieces: vec![Piece::Text(text)] }));
        }
        self
    }
}

fn with_paragraph<'a>(before: Option<Cow<'a, str>>, text: Cow<'a, str>) -> Cow<'a, str> {
    match before {
        None => text,
        Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
    }
}

#[cfg(test)]
mod tests {
    use Role::{Assistant, System, User};

    use super::*;

    #[test]
    fn roles_take_turns() {
        let check = |messages: &[(Role, &str)], system: Option<&str>, expected: &[(bool, &str)]| {
            let messages: Vec<Message> = messages
                .iter()
                .map(|(role, content)| Message { role: *role, content: (*content).to_owned() })
                .collect();
            let conversation = conversation(&messages);
            assert_eq!(conversation.system.as_deref(), system);
            let expected: Vec<Turn<'_>> = expected
                .iter()
                .map(|(is_assistant, text)| Turn {
                    is_assistant: *is_assistant,
                    pieces: vec![Piece::Text(Cow::Borrowed(*text))],
                })
                .collect();
            assert_eq!(conversation.turns, expected);
        };
        check(&[(System, "s"), (User, "u")], Some("s"), &[(false, "u")]);
        check(&[(User, "a"), (User, "b"), (Assistant, "c")], None, &[(false, "a\n\nb"), (true, "c")]);
        check(&[(User, "a"), (Assistant, " "), (User, "b")], None, &[(false, "a\n\nb")]);
        check(&[(System, "s"), (User, "u"), (System, "t")], Some("s\n\nt"), &[(false, "u")]);
        check(&[(System, "s")], None, &[(false, "s")]);
        check(&[], None, &[]);
    }
}
