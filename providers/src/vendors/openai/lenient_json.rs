//! JSON as Python servers write it: bare `NaN`, `Infinity` and `-Infinity` become null.

/// A copy of the text in which those three words, outside strings, are null. `None` when there are none.
pub(super) fn without_non_numbers(text: &[u8]) -> Option<Vec<u8>> {
    let mut clean = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut has_changed = false;
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'"' {
            let (string, next) = rest.split_at(string_length(rest));
            clean.extend_from_slice(string);
            rest = next;
            continue;
        }
        let word = [&b"-Infinity"[..], b"Infinity", b"NaN"].into_iter().find(|word| rest.starts_with(word));
        if let Some(word) = word {
            clean.extend_from_slice(b"null");
            has_changed = true;
            rest = rest.get(word.len()..).unwrap_or_default();
        } else {
            clean.push(byte);
            rest = after;
        }
    }
    has_changed.then_some(clean)
}

/// Bytes up to and including the closing quote; all of them when there is none.
fn string_length(text: &[u8]) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_strings_become_null() {
        let check = |text: &str, expected: Option<&str>| {
            let clean = without_non_numbers(text.as_bytes());
            assert_eq!(clean.as_deref(), expected.map(str::as_bytes), "{text}");
        };
        check(r#"{"a":NaN,"b":[-Infinity,Infinity]}"#, Some(r#"{"a":null,"b":[null,null]}"#));
        check(r#"{"a":"NaN and -Infinity"}"#, None);
        check(r#"{"a":"\"NaN","b":NaN}"#, Some(r#"{"a":"\"NaN","b":null}"#));
        check(r#"{"a":"\\","b":NaN}"#, Some(r#"{"a":"\\","b":null}"#));
        check(r#"{"a":"cut NaN"#, None);
        check("", None);
    }
}
