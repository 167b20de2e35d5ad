//! How many things a prompt lists for the judges to give verdicts on: the last list of texts in it. Lists without names
//! are matched by place, and a judge that gives another number of verdicts cannot be placed.

use std::sync::LazyLock;

use regex::Regex;

use super::prompt::PromptText;
use super::words;

/// Brackets at which a list may begin.
const MAX_OPENINGS: usize = 256;
/// A longer list is not counted.
const MAX_ITEMS: usize = 2000;

/// `1. `, `2) `, `3: ` at the beginning of a line.
static NUMBERED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s{0,8}\(?([0-9]{1,4})[.):]\s+\S").ok());

/// The length of the last list that is no part of a schema; `None` where there is none.
pub(super) fn length(texts: &[PromptText]) -> Option<usize> {
    texts.iter().rev().find_map(|prompt| in_brackets(&prompt.text).or_else(|| numbered(&prompt.text)))
}

/// `["…", "…"]` as JSON or Python write it.
fn in_brackets(text: &str) -> Option<usize> {
    let openings = text.rmatch_indices('[').take(MAX_OPENINGS);
    openings.filter(|(at, _)| !is_of_schema(text.get(..*at).unwrap_or_default())).find_map(|(at, _)| {
        let list = text.get(at + 1..)?;
        count(list)
    })
}

/// `"required": [` and `"enum": [` list names and labels.
fn is_of_schema(before: &str) -> bool {
    let before = before.trim_end();
    let key = before.strip_suffix(':').map(|key| key.trim_end().trim_end_matches(['"', '\'']));
    key.is_some_and(|key| ["required", "enum", "type", "examples"].iter().any(|word| key.ends_with(word)))
}

/// How many quoted texts stand before the closing bracket.
fn count(list: &str) -> Option<usize> {
    let mut rest = list.trim_start();
    for items in 1..=MAX_ITEMS {
        rest = quoted(rest)?.trim_start();
        match rest.strip_prefix(',') {
            // A comma may stand before the end.
            Some(after) => match after.trim_start() {
                after if after.starts_with(']') => return Some(items),
                after => rest = after,
            },
            None => return rest.starts_with(']').then_some(items),
        }
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
    let pattern = NUMBERED.as_ref()?;
    let (mut found, mut run) = (None, None);
    let mut heading = "";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let number = pattern.captures(line).and_then(|captures| captures.get(1)?.as_str().parse().ok());
        run = match (number, run) {
            (Some(1_usize), _) if names_elements(heading) => Some(1),
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
            ("no list", None),
            ("Statements:\n1. A is\n   so.\n2. B.\n\nAnswer with JSON:", Some(2)),
            ("Steps:\n1. Read it.\n2. Judge it.", None),
            ("The claims:\n1) A.\n2) B.\n3) C.", Some(3)),
            ("[\"never closed", None),
        ] {
            let texts = [PromptText { is_instruction: false, text: text.to_owned() }];
            assert_eq!(length(&texts), expected, "{text}");
        }
    }
}
