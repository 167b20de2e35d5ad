//! How many things a prompt lists for the judges to give verdicts on: the last list of texts in it. Lists without names
//! are matched by place, and a judge that gives another number of verdicts cannot be placed.

use super::prompt::PromptText;
use super::words;

/// A longer list is not counted.
const MAX_ITEMS: usize = 2000;

/// The length of the last list that is no part of a schema; `None` where there is none.
pub(super) fn length(texts: &[PromptText]) -> Option<usize> {
    texts.iter().rev().find_map(|prompt| in_brackets(&prompt.text).or_else(|| numbered(&prompt.text)))
}

/// `["…", "…"]` as JSON or Python write it. Read from the beginning, so that a bracket within an item opens no list.
fn in_brackets(text: &str) -> Option<usize> {
    let (mut found, mut rest) = (None, text);
    while let Some((before, list)) = rest.split_once('[') {
        rest = list;
        if let Some((items, after)) = counted(list) {
            rest = after;
            found = if is_of_schema(before) { found } else { Some(items) };
        }
    }
    found
}

/// `"required": [` and `"enum": [` list names and labels.
fn is_of_schema(before: &str) -> bool {
    let before = before.trim_end();
    let key = before.strip_suffix(':').map(|key| key.trim_end().trim_end_matches(['"', '\'']));
    key.is_some_and(|key| ["required", "enum", "type", "examples"].iter().any(|word| key.ends_with(word)))
}

/// How many quoted texts stand before the closing bracket, and what follows it.
fn counted(list: &str) -> Option<(usize, &str)> {
    let mut rest = list.trim_start();
    for items in 1..=MAX_ITEMS {
        rest = quoted(rest)?.trim_start();
        // A comma may stand before the end.
        let after = rest.strip_prefix(',').map(str::trim_start);
        if let Some(end) = after.unwrap_or(rest).strip_prefix(']') {
            return Some((items, end));
        }
        rest = after?;
    }
    None
}

/// What follows a text in quotes.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return text.get(at + 1..),
            _ => {}
        }
    }
    None
}

/// The last run of lines numbered from 1 under a line such as `Statements:`. Other numbered lines are instructions.
fn numbered(text: &str) -> Option<usize> {
    let (mut found, mut run) = (None, None);
    let mut heading = "";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        run = match (number_of(line), run) {
            (Some(1), _) if names_elements(heading) => Some(1),
            (Some(number), Some(last)) if number == last + 1 => Some(number),
            // An item may go on over several lines.
            (None, Some(last)) if !line.trim_end().ends_with(':') => Some(last),
            (Some(_) | None, _) => None,
        };
        found = run.or(found);
        heading = line;
    }
    found
}

/// `1. `, `2) ` or `(3) ` at the beginning of a line that goes on.
fn number_of(line: &str) -> Option<usize> {
    let line = line.trim();
    let (number, text) = line.strip_prefix('(').unwrap_or(line).split_once(['.', ')', ':'])?;
    number.parse().ok().filter(|_| text.starts_with(char::is_whitespace))
}

fn names_elements(heading: &str) -> bool {
    let Some(heading) = heading.trim().strip_suffix(':') else { return false };
    let last =
        heading.rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    let last = last.to_lowercase();
    last.strip_suffix('s').is_some_and(words::is_element_key)
}

#[cfg(test)]
mod tests {
    use super::length;
    use crate::dropin::prompt::PromptText;

    #[test]
    fn the_last_list_of_texts_counts() {
        for (text, expected) in [
            ("Statements:\n[\"a\", \"b, [c]\"]\nJSON:", Some(2)),
            ("Claims: ['it''s', \"don't\"]", None),
            ("Claims: ['one', \"don't\", 'it\\'s',]", Some(3)),
            ("Example: ['x', 'y', 'z']. Now: ['x']", Some(1)),
            (
                "{\"statements\": [\"a\", \"b\"]} Schema: {\"required\": [\"verdicts\"], \"enum\": [\"yes\"]}",
                Some(2),
            ),
            ("[1, 2, 3] and [] and [[\"a\"]]", Some(1)),
            ("Claims: [\"it says ['a', 'b', 'c']\", \"so\"]", Some(2)),
            ("no list", None),
            ("Statements:\n1. A is\n   so.\n2. B.\n\nAnswer with JSON:", Some(2)),
            ("Steps:\n1. Read it.\n2. Judge it.", None),
            ("The claims:\n1) A.\n(2) B.\n3) C.", Some(3)),
            ("[\"never closed", None),
        ] {
            let texts = [PromptText { is_instruction: false, text: text.to_owned() }];
            assert_eq!(length(&texts), expected, "{text}");
        }
    }
}
