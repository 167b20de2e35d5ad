//! A list of texts as a grammar in GBNF, llama.cpp's notation.

use std::fmt::Write as _;

/// The grammar of which these texts, and no others, are the sentences.
pub(super) fn grammar(texts: &[String]) -> String {
    let alternatives: Vec<String> = texts.iter().map(|text| literal(text)).collect();
    format!("root ::= {}", alternatives.join(" | "))
}

/// In quotes. Whatever could end or break the literal is written as its code point.
fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') || c.is_control() {
            let _ = write!(literal, "\\U{:08X}", u32::from(c));
        } else {
            literal.push(c);
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_one_literal() {
        let check = |texts: &[&str], expected: &str| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(grammar(&texts), expected);
        };
        check(&["1", "10", "-0.5"], r#"root ::= "1" | "10" | "-0.5""#);
        check(&["not sure", "mañana [x] 'y' #"], r#"root ::= "not sure" | "mañana [x] 'y' #""#);
        check(&[r#"a" | [^x]* "b"#], r#"root ::= "a\U00000022 | [^x]* \U00000022b""#);
        check(&["a\\n\n\tb"], r#"root ::= "a\U0000005Cn\U0000000A\U00000009b""#);
    }
}
