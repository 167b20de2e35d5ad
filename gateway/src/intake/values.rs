//! JSON arrays, and objects that follow each other: one element in memory at a time.

use std::io::{self, BufRead};

use serde_json::Value;

use crate::intake::json;
use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::{MAX_RECORD_BYTES, reader::Record};

/// Splits by depth of brackets outside strings; each element is then parsed by itself.
pub(super) struct JsonValues<R> {
    input: R,
    /// Line of the next byte, from 1.
    line: u64,
    /// Bytes read so far.
    offset: u64,
    buffer: Vec<u8>,
    limit: usize,
    place: Place,
}

/// Where in the outer array the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before `[`, or before the first of objects that follow each other.
    Start,
    /// After `[` (`comma: false`) or after a comma.
    BeforeElement {
        comma: bool,
    },
    AfterElement,
    /// After `]`: only white space may follow.
    Closed,
    /// Objects one after the other, without an array around them.
    Sequence,
    /// A fatal problem was reported, or the input has ended.
    Ended,
}

impl<R: BufRead> JsonValues<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: 1, offset: 0, buffer: Vec::new(), limit: MAX_RECORD_BYTES, place: Place::Start }
    }

    pub(super) fn next_record(&mut self) -> Option<Record> {
        loop {
            let byte = match self.next_visible() {
                Ok(byte) => byte,
                Err(error) => return Some(self.fatal(|line| Record::broken(line, &error))),
            };
            match (self.place, byte) {
                (Place::Ended, _) | (Place::Start | Place::Closed | Place::Sequence, None) => {
                    self.place = Place::Ended;
                    return None;
                }
                (Place::BeforeElement { .. } | Place::AfterElement, None) => {
                    return Some(self.fatal(|line| Record::fatal(line, Problem::UnclosedArray)));
                }
                (Place::Start, Some(b'[')) => self.place = Place::BeforeElement { comma: false },
                (Place::BeforeElement { comma: false } | Place::AfterElement, Some(b']')) => {
                    self.place = Place::Closed;
                }
                (Place::AfterElement, Some(b',')) => self.place = Place::BeforeElement { comma: true },
                (Place::Start | Place::Sequence, Some(b'{')) => {
                    return Some(self.element(b'{', Place::Sequence));
                }
                (Place::BeforeElement { .. }, Some(first)) if !matches!(first, b',' | b']' | b'}' | b':') => {
                    return Some(self.element(first, Place::AfterElement));
                }
                (_, Some(other)) => {
                    let problem = Problem::Unexpected(char::from(other));
                    return Some(self.fatal(|line| Record::fatal(line, problem)));
                }
            }
        }
    }

    fn fatal(&mut self, record: impl FnOnce(u64) -> Record) -> Record {
        self.place = Place::Ended;
        record(self.line)
    }

    /// Line of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Bytes read so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The value of the element that was read last, which had this length.
    pub(super) fn parsed(&self, length: usize) -> Result<Value, FieldProblem> {
        if length > self.limit {
            return Err(FieldProblem::record(Problem::TooLong));
        }
        json::parse_bytes(&self.buffer)
    }

    fn element(&mut self, first: u8, then: Place) -> Record {
        let line = self.line;
        match self.read_element(first) {
            Ok(Element { length, .. }) => {
                self.place = then;
                Record { line, value: self.parsed(length), fatal: false }
            }
            Err(error) => {
                self.place = Place::Ended;
                Record::broken(line, &error)
            }
        }
    }

    /// The next byte that is not white space, consumed.
    pub(super) fn next_visible(&mut self) -> io::Result<Option<u8>> {
        loop {
            let Some(&byte) = self.input.fill_buf()?.first() else { return Ok(None) };
            self.input.consume(1);
            self.offset += 1;
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => return Ok(Some(byte)),
            }
        }
    }

    /// Fills the buffer with one element, up to the limit. Of an element that the end of input cuts off, it holds what
    /// was there.
    pub(super) fn read_element(&mut self, first: u8) -> io::Result<Element> {
        self.buffer.clear();
        self.buffer.push(first);
        let mut scan = Scan::default();
        let mut length = 1_usize;
        let mut done = scan.step(first) == Step::Last;
        while !done {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                break;
            }
            let mut used = 0;
            for &byte in available {
                match scan.step(byte) {
                    Step::Inside => used += 1,
                    Step::Last => {
                        used += 1;
                        done = true;
                        break;
                    }
                    Step::Past => {
                        done = true;
                        break;
                    }
                }
            }
            let part = available.get(..used).unwrap_or_default();
            if length + part.len() <= self.limit {
                self.buffer.extend_from_slice(part);
            }
            self.line += part.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
            length += part.len();
            self.offset += part.len() as u64;
            self.input.consume(used);
        }
        Ok(Element { length, is_whole: done })
    }
}

/// One element as it was read.
pub(super) struct Element {
    /// In bytes, those over the limit included.
    pub(super) length: usize,
    /// The input did not end before it was closed. A number or a word needs a byte after it.
    pub(super) is_whole: bool,
}

/// How deep the scan stands in one element.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    started: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Inside,
    /// This byte ends the element and belongs to it.
    Last,
    /// This byte is already outside (a number or a word ended before it).
    Past,
}

impl Scan {
    fn step(&mut self, byte: u8) -> Step {
        let first = !std::mem::replace(&mut self.started, true);
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    return if self.depth == 0 { Step::Last } else { Step::Inside };
                }
                _ => {}
            }
            return Step::Inside;
        }
        match byte {
            b',' | b']' | b'}' | b'"' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 && !first => {
                Step::Past
            }
            b'"' => {
                self.in_string = true;
                Step::Inside
            }
            b'{' | b'[' => {
                self.depth += 1;
                Step::Inside
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 { Step::Last } else { Step::Inside }
            }
            _ => Step::Inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str, limit: usize) -> Vec<(u64, Result<Value, Problem>, bool)> {
        let mut values =
            JsonValues { limit, ..JsonValues::new(io::BufReader::with_capacity(2, text.as_bytes())) };
        let mut all = Vec::new();
        while let Some(record) = values.next_record() {
            all.push((record.line, record.value.map_err(|p| p.problem), record.fatal));
        }
        assert!(values.next_record().is_none(), "nothing after the end");
        all
    }

    fn good(text: &str) -> Vec<Value> {
        read(text, 1000).into_iter().map(|(_, value, _)| value.unwrap()).collect()
    }

    #[test]
    fn elements_are_split_by_depth_outside_strings() {
        assert_eq!(
            good(r#"[{"a":"]}\"[{"},{"b":[1,{"c":2}]}]"#),
            [json!({"a":"]}\"[{"}), json!({"b":[1,{"c":2}]})]
        );
        assert_eq!(good(" [ 1 , \"x\" , null , [] ] \n"), [json!(1), json!("x"), json!(null), json!([])]);
        assert!(good("[]").is_empty());
        assert!(good("").is_empty());
    }

    #[test]
    fn objects_that_follow_each_other_need_no_array() {
        assert_eq!(good("{\"a\":1}\n{\n\"a\":2}"), [json!({"a":1}), json!({"a":2})]);
    }

    #[test]
    fn the_line_is_where_the_element_begins() {
        let lines: Vec<u64> = read("[\n{\"a\":\n1},\n\n{}]", 1000).into_iter().map(|r| r.0).collect();
        assert_eq!(lines, [2, 5]);
    }

    #[test]
    fn a_bad_element_does_not_end_the_array() {
        let all = read("[{'a':1},{\"b\":2}]", 1000);
        assert!(matches!(all[0].1, Err(Problem::NotJson { .. })));
        assert_eq!(all[1].1, Ok(json!({"b":2})));
    }

    #[test]
    fn an_element_over_the_limit_is_refused_and_the_next_one_is_read() {
        let all = read(r#"["0123456789", 2]"#, 8);
        assert_eq!(all, [(1, Err(Problem::TooLong), false), (1, Ok(json!(2)), false)]);
    }

    #[test]
    fn a_broken_array_is_a_fatal_problem() {
        for (text, problem) in [
            ("[{\"a\":1}", Problem::UnclosedArray),
            ("[1,", Problem::UnclosedArray),
            ("[1,]", Problem::Unexpected(']')),
            ("[1 2]", Problem::Unexpected('2')),
            ("[,1]", Problem::Unexpected(',')),
            ("[1] x", Problem::Unexpected('x')),
            ("{} 1", Problem::Unexpected('1')),
        ] {
            let all = read(text, 1000);
            let last = all.last().unwrap();
            assert_eq!((&last.1, last.2), (&Err(problem), true), "{text}");
        }
    }

    #[test]
    fn an_element_cut_off_by_the_end_is_not_json() {
        let all = read("[{\"a\":\"x", 1000);
        assert!(matches!(all[0].1, Err(Problem::NotJson { .. })));
        assert_eq!(all[1].1, Err(Problem::UnclosedArray));
    }
}
