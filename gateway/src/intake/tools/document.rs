//! One JSON document with a list of records somewhere inside: the list is read one element at a time.

use std::io::BufRead;

use serde_json::{Map, Value};

use crate::intake::problem::Problem;
use crate::intake::reader::Record;
use crate::intake::values::{Element, JsonValues};

/// Walks to the list at `path`, keeps the outer values of `keep` that stand before it, and passes over the rest.
pub(super) struct Document<R> {
    values: JsonValues<R>,
    path: &'static [&'static str],
    keep: &'static [&'static str],
    kept: Map<String, Value>,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// Inside the list, before its first element.
    First,
    /// Inside the list, after an element.
    After,
    Ended,
}

impl<R: BufRead> Document<R> {
    pub(super) fn new(input: R, path: &'static [&'static str], keep: &'static [&'static str]) -> Self {
        let values = JsonValues::new(input);
        Self { values, path, keep, kept: Map::new(), place: Place::Start }
    }

    /// The kept values, complete once a record was read.
    pub(super) fn kept(&self) -> &Map<String, Value> {
        &self.kept
    }

    pub(super) fn next_record(&mut self) -> Option<Record> {
        match self.advance() {
            Ok(record) => record,
            Err(problem) => {
                self.place = Place::Ended;
                Some(Record::fatal(self.values.line(), problem))
            }
        }
    }

    fn advance(&mut self) -> Result<Option<Record>, Problem> {
        if self.place == Place::Ended {
            return Ok(None);
        }
        if self.place == Place::Start {
            self.enter()?;
            self.place = Place::First;
        }
        let mut byte = self.visible()?;
        if byte == b']' {
            self.leave()?;
            self.place = Place::Ended;
            return Ok(None);
        }
        if self.place == Place::After {
            if byte != b',' {
                return Err(Problem::Unexpected(char::from(byte)));
            }
            byte = self.visible()?;
        }
        if matches!(byte, b',' | b']' | b'}' | b':') {
            return Err(Problem::Unexpected(char::from(byte)));
        }
        self.place = Place::After;
        let line = self.values.line();
        let length = self.pass_over(byte)?;
        Ok(Some(Record { line, value: self.values.parsed(length), fatal: false }))
    }

    /// From the first brace to the bracket that opens the list.
    fn enter(&mut self) -> Result<(), Problem> {
        let mut path = self.path.iter();
        let mut wanted = path.next();
        let mut is_outermost = true;
        self.expect(b'{')?;
        loop {
            let byte = self.visible()?;
            if byte != b'"' {
                return Err(self.lacks(byte));
            }
            let key = self.read_value(byte)?;
            self.expect(b':')?;
            let first = self.visible()?;
            if wanted.is_some_and(|wanted| key.as_str() == Some(wanted)) {
                wanted = path.next();
                match (first, wanted) {
                    (b'[', None) => return Ok(()),
                    (b'{', Some(_)) => is_outermost = false,
                    (_, _) => return Err(Problem::NoListAt(self.path.join("."))),
                }
                continue;
            }
            let name = key.as_str().unwrap_or_default();
            if is_outermost && self.keep.contains(&name) {
                let value = self.read_value(first)?;
                self.kept.insert(name.to_owned(), value);
            } else {
                self.pass_over(first)?;
            }
            let byte = self.visible()?;
            if byte != b',' {
                return Err(self.lacks(byte));
            }
        }
    }

    /// After the list: only that every bracket is closed matters.
    fn leave(&mut self) -> Result<(), Problem> {
        let mut depth = self.path.len();
        while depth > 0 {
            match self.visible()? {
                b'}' => depth -= 1,
                first @ (b'"' | b'{' | b'[') => {
                    self.pass_over(first)?;
                }
                _ => {}
            }
        }
        match self.values.next_visible().map_err(|error| Problem::Unreadable(error.to_string()))? {
            None => Ok(()),
            Some(byte) => Err(Problem::Unexpected(char::from(byte))),
        }
    }

    fn lacks(&self, byte: u8) -> Problem {
        match byte {
            b'}' => Problem::NoListAt(self.path.join(".")),
            other => Problem::Unexpected(char::from(other)),
        }
    }

    fn expect(&mut self, expected: u8) -> Result<(), Problem> {
        match self.visible()? {
            byte if byte == expected => Ok(()),
            byte => Err(Problem::Unexpected(char::from(byte))),
        }
    }

    fn visible(&mut self) -> Result<u8, Problem> {
        let byte = self.values.next_visible().map_err(|error| Problem::Unreadable(error.to_string()))?;
        byte.ok_or_else(|| self.cut_off())
    }

    /// The length of the element that begins with this byte. In a document, no element is the last thing.
    fn pass_over(&mut self, first: u8) -> Result<usize, Problem> {
        let element = self.values.read_element(first);
        let Element { length, is_whole } = element.map_err(|error| Problem::Unreadable(error.to_string()))?;
        if is_whole { Ok(length) } else { Err(self.cut_off()) }
    }

    fn cut_off(&self) -> Problem {
        Problem::CutOff { bytes: self.values.offset() }
    }

    fn read_value(&mut self, first: u8) -> Result<Value, Problem> {
        let length = self.pass_over(first)?;
        self.values.parsed(length).map_err(|found| found.problem)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Vec<Result<Value, Problem>> {
        let mut document = Document::new(text.as_bytes(), &["results", "results"], &["evalId"]);
        let mut all = Vec::new();
        while let Some(record) = document.next_record() {
            all.push(record.value.map_err(|found| found.problem));
        }
        all
    }

    #[test]
    fn only_the_list_is_read_and_the_rest_is_passed_over() {
        let text = r#"{"evalId": "e", "config": {"results": [7, "]"]}, "results": {"version": 3, "prompts": [{}],
            "results": [{"n": 1}, {"n": [2]}], "stats": {"a": "}"}}, "more": [1]}"#;
        assert_eq!(read(text), [Ok(json!({"n": 1})), Ok(json!({"n": [2]}))]);
        let mut document = Document::new(text.as_bytes(), &["results", "results"], &["evalId"]);
        document.next_record();
        assert_eq!(document.kept().get("evalId"), Some(&json!("e")));
        assert!(read(r#"{"results": {"results": []}}"#).is_empty());
    }

    #[test]
    fn a_document_cut_off_anywhere_is_a_problem() {
        let text = r#"{"evalId": "e", "results": {"results": [{"n": 1}, {"n": 2}], "stats": {"a": 1}}}"#;
        for end in 0..text.len() {
            let all = read(&text[..end]);
            let bytes = end as u64;
            assert_eq!(all.last(), Some(&Err(Problem::CutOff { bytes })), "{}", &text[..end]);
        }
        assert!(read(text).iter().all(Result::is_ok));
    }

    #[test]
    fn a_document_of_another_form_is_named() {
        let check = |text: &str, problem: Problem| assert_eq!(read(text), [Err(problem)], "{text}");
        check("[]", Problem::Unexpected('['));
        check("{}", Problem::NoListAt("results.results".into()));
        check(r#"{"results": {"a": 1}}"#, Problem::NoListAt("results.results".into()));
        check(r#"{"results": [1]}"#, Problem::NoListAt("results.results".into()));
        check(r#"{"results": {"results": 1}}"#, Problem::NoListAt("results.results".into()));
        check(r#"{"results": {"results": [,1]}}"#, Problem::Unexpected(','));
        check(r#"{"results": {"results": []}} x"#, Problem::Unexpected('x'));
    }
}
