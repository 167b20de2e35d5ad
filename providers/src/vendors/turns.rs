//! Messages for formats that keep the system's words apart and want the other two roles to take turns.

use std::borrow::Cow;

use crate::chat::{Message, Role};

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
    /// Messages of the same role that followed each other are paragraphs of one.
    pub text: Cow<'a, str>,
}

/// Empty messages, which such servers refuse, are left out. Where there are only system messages, the user says them:
/// a conversation of no turns is refused too.
pub(super) fn conversation(messages: &[Message]) -> Conversation<'_> {
    let mut system: Option<Cow<'_, str>> = None;
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages.iter().filter(|message| !message.content.trim().is_empty()) {
        let is_assistant = match message.role {
            Role::System => {
                system = Some(with_paragraph(system, &message.content));
                continue;
            }
            Role::User => false,
            Role::Assistant => true,
        };
        match turns.pop() {
            Some(last) if last.is_assistant == is_assistant => {
                turns.push(Turn { is_assistant, text: with_paragraph(Some(last.text), &message.content) });
            }
            other => {
                turns.extend(other);
                turns.push(Turn { is_assistant, text: Cow::Borrowed(&message.content) });
            }
        }
    }
    if turns.is_empty() {
        turns.extend(system.take().map(|text| Turn { is_assistant: false, text }));
    }
    Conversation { system, turns }
}

fn with_paragraph<'a>(before: Option<Cow<'a, str>>, text: &'a str) -> Cow<'a, str> {
    match before {
        None => Cow::Borrowed(text),
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
            let turns: Vec<(bool, &str)> =
                conversation.turns.iter().map(|turn| (turn.is_assistant, &*turn.text)).collect();
            assert_eq!(turns, expected);
        };
        check(&[(System, "s"), (User, "u")], Some("s"), &[(false, "u")]);
        check(&[(User, "a"), (User, "b"), (Assistant, "c")], None, &[(false, "a\n\nb"), (true, "c")]);
        check(&[(User, "a"), (Assistant, " "), (User, "b")], None, &[(false, "a\n\nb")]);
        check(&[(System, "s"), (User, "u"), (System, "t")], Some("s\n\nt"), &[(false, "u")]);
        check(&[(System, "s")], None, &[(false, "s")]);
        check(&[], None, &[]);
    }
}
