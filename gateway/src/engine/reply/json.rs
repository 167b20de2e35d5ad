//! JSON as judges write it, with byte offsets and every member kept, duplicates too.
//!
//! One grammar serves as strict and relaxed: each relaxation (comments, trailing commas, raw control characters in
//! strings, single-quoted strings, Python's literals, NaN and Infinity) starts at a byte where strict JSON has
//! already failed, so valid JSON is read as it stands. What is open is never closed.

use std::ops::Range;

/// Nesting beyond this is no judge's answer; the bound keeps the stack small.
const MAX_DEPTH: u32 = 96;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// With quotes or brackets.
    pub(super) span: Range<usize>,
    pub(super) json: Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    /// Null, None and NaN: nothing is stated.
    Null,
    Bool(bool),
    /// Infinite for `Infinity` and for numbers beyond the range of `f64`.
    Number(f64),
    /// The content is `Node::content`, still escaped.
    String,
    Array(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) value: Node,
}

impl Node {
    /// A string without its quotes.
    pub(super) fn content(&self) -> Range<usize> {
        self.span.start + 1..self.span.end.saturating_sub(1)
    }
}

impl Json {
    /// An object's members.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// An array's elements.
    pub(super) fn elements(&self) -> Option<&[Node]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }
}

/// All objects, and arrays that begin with one, that stand in the text and are not part of each other.
///
/// Linear: a failed attempt is never entered again. What stood inside it was a string or nested, not a verdict.
pub(super) fn scan(text: &str, range: Range<usize>) -> Vec<Node> {
    let text = text.get(..range.end).unwrap_or(text);
    let mut found = Vec::new();
    let mut at = range.start;
    while let Some(start) = next_opening(text.as_bytes(), at) {
        match Parser::new(text, start).value(0) {
            Ok(node) => {
                at = node.span.end;
                found.push(node);
            }
            Err(Failed(position)) => at = position.max(start + 1),
        }
    }
    found
}

/// Whether the range holds exactly one JSON value of any kind.
pub(super) fn is_whole(text: &str, range: Range<usize>) -> bool {
    let text = text.get(..range.end).unwrap_or(text);
    let mut parser = Parser::new(text, range.start);
    parser.skip_white_space();
    let is_value = parser.value(0).is_ok();
    // A comment may hold anything, the end of reasoning too.
    parser.skip_white_space();
    is_value && parser.at == text.len()
}

/// The text that a string's content stands for. An escape that is no escape stands for itself.
pub(super) fn unescape(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    let mut pieces = content.split('\\');
    out.push_str(pieces.next().unwrap_or_default());
    let mut high_surrogate = None;
    while let Some(piece) = pieces.next() {
        let unit = piece.strip_prefix('u').and_then(|hex| hex.get(..4));
        if let Some(unit) = unit.and_then(|hex| u32::from_str_radix(hex, 16).ok()) {
            high_surrogate = push_unit(&mut out, high_surrogate, unit).filter(|_| piece.len() == 5);
            out.push_str(piece.get(5..).unwrap_or_default());
            continue;
        }
        high_surrogate = None;
        let Some(escape) = piece.chars().next() else {
            // Two backslashes: the piece between them is empty, the one after is plain text.
            out.push('\\');
            out.push_str(pieces.next().unwrap_or_default());
            continue;
        };
        out.push(match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            other => other,
        });
        out.push_str(piece.get(escape.len_utf8()..).unwrap_or_default());
    }
    out
}

/// Adds one UTF-16 unit. The first half of a pair is returned, and shown as the replacement character until the
/// second half follows.
fn push_unit(out: &mut String, high: Option<u32>, unit: u32) -> Option<u32> {
    let low = unit.checked_sub(0xdc00).filter(|low| *low < 0x400);
    let pair = high.zip(low).and_then(|(high, low)| char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + low));
    if let Some(c) = pair {
        out.pop();
        out.push(c);
        return None;
    }
    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    (0xd800..0xdc00).contains(&unit).then_some(unit)
}

fn next_opening(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += text.get(at..)?.iter().position(|byte| matches!(byte, b'{' | b'['))?;
        let first_inside = || text.get(at + 1..)?.iter().find(|byte| !byte.is_ascii_whitespace());
        if text.get(at) == Some(&b'{') || first_inside() == Some(&b'{') {
            return Some(at);
        }
        at += 1;
    }
}

/// No JSON, found out at this byte. The end of the text when something was left open.
#[derive(Debug, Clone, Copy)]
struct Failed(usize);

/// A key never holds a raw line break: text that opens a brace and a quote in passing is prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineBreaks {
    Allowed,
    Refused,
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        Self { text, bytes: text.as_bytes(), at }
    }

    fn value(&mut self, depth: u32) -> Result<Node, Failed> {
        if depth > MAX_DEPTH {
            return Err(Failed(self.bytes.len()));
        }
        let start = self.at;
        let json = match self.peek()? {
            b'{' => Json::Object(self.members(depth)?),
            b'[' => Json::Array(self.elements(depth)?),
            quote @ (b'"' | b'\'') => {
                self.string(quote, LineBreaks::Allowed)?;
                Json::String
            }
            b'-' | b'0'..=b'9' if !self.starts_with("-I") => self.number()?,
            _ => self.literal()?,
        };
        Ok(Node { span: start..self.at, json })
    }

    fn members(&mut self, depth: u32) -> Result<Vec<Member>, Failed> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip_filler();
            match self.peek()? {
                b'}' => break,
                quote @ (b'"' | b'\'') => {
                    let key = self.string(quote, LineBreaks::Refused)?;
                    let key = unescape(self.text.get(key).unwrap_or_default());
                    self.skip_filler();
                    self.expect(b':')?;
                    self.skip_filler();
                    members.push(Member { key, value: self.value(depth + 1)? });
                }
                _ => return Err(Failed(self.at)),
            }
            self.separator(b'}')?;
        }
        self.at += 1;
        Ok(members)
    }

    fn elements(&mut self, depth: u32) -> Result<Vec<Node>, Failed> {
        let mut elements = Vec::new();
        self.at += 1;
        loop {
            self.skip_filler();
            if self.peek()? == b']' {
                break;
            }
            elements.push(self.value(depth + 1)?);
            self.separator(b']')?;
        }
        self.at += 1;
        Ok(elements)
    }

    /// A comma, or the closing bracket ahead.
    fn separator(&mut self, close: u8) -> Result<(), Failed> {
        self.skip_filler();
        if self.peek()? == close { Ok(()) } else { self.expect(b',') }
    }

    /// The content's range.
    fn string(&mut self, quote: u8, line_breaks: LineBreaks) -> Result<Range<usize>, Failed> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek()? {
                byte if byte == quote => break,
                b'\\' => {
                    self.at += 1;
                    // Python's single-quoted strings keep an unknown escape; JSON's do not know any.
                    let escape = self.peek()?;
                    if quote == b'"' && !self.is_json_escape(escape) {
                        return Err(Failed(self.at));
                    }
                }
                b'\n' if line_breaks == LineBreaks::Refused => return Err(Failed(self.at)),
                _ => {}
            }
            self.at += 1;
        }
        let content = start..self.at;
        self.at += 1;
        Ok(content)
    }

    fn is_json_escape(&self, escape: u8) -> bool {
        match escape {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => true,
            b'u' => {
                let hex = self.bytes.get(self.at + 1..self.at + 5);
                hex.is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
            }
            _ => false,
        }
    }

    fn number(&mut self) -> Result<Json, Failed> {
        let start = self.at;
        self.eat(b'-');
        let whole = self.digits()?;
        if whole > 1 && self.bytes.get(self.at - whole) == Some(&b'0') {
            return Err(Failed(self.at));
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _is_signed = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        let number = self.text.get(start..self.at).and_then(|digits| digits.parse().ok());
        number.map(Json::Number).ok_or(Failed(self.at))
    }

    /// How many digits stood here; none is a failure.
    fn digits(&mut self) -> Result<usize, Failed> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == start { Err(Failed(self.at)) } else { Ok(self.at - start) }
    }

    fn literal(&mut self) -> Result<Json, Failed> {
        let literals = [
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("null", Json::Null),
            ("True", Json::Bool(true)),
            ("False", Json::Bool(false)),
            ("None", Json::Null),
            ("NaN", Json::Null),
            ("Infinity", Json::Number(f64::INFINITY)),
            ("-Infinity", Json::Number(f64::NEG_INFINITY)),
        ];
        for (word, json) in literals {
            if self.starts_with(word) {
                self.at += word.len();
                return Ok(json);
            }
        }
        Err(Failed(self.at))
    }

    fn skip_white_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// White space and comments. An unclosed comment runs to the end.
    fn skip_filler(&mut self) {
        loop {
            self.skip_white_space();
            match self.bytes.get(self.at) {
                Some(b'#') => self.skip_past("\n"),
                Some(b'/') if self.starts_with("//") => self.skip_past("\n"),
                Some(b'/') if self.starts_with("/*") => self.skip_past("*/"),
                Some(_) | None => return,
            }
        }
    }

    fn skip_past(&mut self, end: &str) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at = rest.find(end).map_or(self.bytes.len(), |found| self.at + found + end.len());
    }

    fn starts_with(&self, word: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()))
    }

    fn peek(&self) -> Result<u8, Failed> {
        self.bytes.get(self.at).copied().ok_or(Failed(self.at))
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let is_here = self.bytes.get(self.at) == Some(&wanted);
        self.at += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Failed> {
        if self.eat(wanted) { Ok(()) } else { Err(Failed(self.at)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, found: &[&str]) {
        let spans: Vec<&str> = scan(text, 0..text.len()).into_iter().map(|node| &text[node.span]).collect();
        assert_eq!(spans, found, "{text}");
    }

    #[test]
    fn finds_objects_between_prose() {
        check(r#"Draft {"a": 1}, then [{"b": [2]}] and {c}."#, &[r#"{"a": 1}"#, r#"[{"b": [2]}]"#]);
        check("source [4] and [[A]]", &[]);
        check(r#"{{"a": 1}}"#, &[r#"{"a": 1}"#]);
    }

    #[test]
    fn relaxes_only_what_the_policy_lists() {
        for text in [
            r"{'a': 'it\'s'}",
            "{\"a\": 1, // why\n}",
            "{\"a\": 1, # why\n}",
            r#"{"a": [1, /* two */ 2,],}"#,
            "{\"a\": \"line\nline\"}",
            "{'a': True, 'b': None, 'c': NaN, 'd': -Infinity}",
        ] {
            check(text, &[text]);
        }
        for text in [
            "{a: 1}",
            r#"{"a": 1"#,
            r#"{"a": 01}"#,
            r#"{"a": .5}"#,
            r#"{"a": 4/5}"#,
            r#"{"a": "\(x\)"}"#,
            "{,}",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn what_is_nested_in_a_broken_object_is_not_read() {
        check(r#"{"a": {"score": 5}, "b": "cut"#, &[]);
        check(r#"{"a": {"score": 5} oops"#, &[]);
        check("{\"score\n{\"score\": 2}", &["{\"score\": 2}"]);
    }

    #[test]
    fn keeps_duplicate_keys() {
        let nodes = scan(r#"{"a": 1, "a": 2}"#, 0..16);
        let Json::Object(members) = &nodes[0].json else { panic!("an object") };
        assert_eq!(members.iter().map(|m| m.key.as_str()).collect::<Vec<_>>(), ["a", "a"]);
    }

    #[test]
    fn deep_nesting_is_refused_without_recursion() {
        check(&"{\"a\":".repeat(100_000), &[]);
        check(&"[{\"a\":".repeat(100_000), &[]);
    }

    #[test]
    fn unescapes_like_json() {
        assert_eq!(unescape(r#"a\\n\n\u8bc4\ud83d\ude00\ud800 \""#), "a\\n\n评😀\u{fffd} \"");
        assert_eq!(unescape(r"plain \\"), "plain \\");
    }

    #[test]
    fn whole_means_one_value_and_nothing_else() {
        for (text, whole) in [
            ("{}", true),
            (" [1] ", true),
            (r#""<think>""#, true),
            ("{} {}", false),
            ("4 stars", false),
            (r#""a"/* b"#, false),
        ] {
            assert_eq!(is_whole(text, 0..text.len()), whole, "{text}");
        }
    }
}
