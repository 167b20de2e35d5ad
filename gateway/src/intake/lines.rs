//! JSON Lines: one record a line, with a limit on its length.

use std::io::{self, BufRead, Read as _};

use serde_json::Value;

use crate::intake::json;
use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::{MAX_RECORD_BYTES, reader::Record};

/// The lines of a file, one in memory at a time.
pub(super) struct JsonLines<R> {
    input: R,
    /// Of the last line returned, from 1.
    line: u64,
    buffer: Vec<u8>,
    limit: usize,
}

impl<R: BufRead> JsonLines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: 0, buffer: Vec::new(), limit: MAX_RECORD_BYTES }
    }

    /// The next line that is not blank.
    pub(super) fn next_record(&mut self) -> Option<Record> {
        loop {
            let read = self.read_line();
            let value: Result<Value, FieldProblem> = match read {
                Ok(None) => return None,
                Ok(Some(Length::TooLong)) => Err(FieldProblem::record(Problem::TooLong)),
                Ok(Some(Length::Within)) if self.buffer.trim_ascii().is_empty() => continue,
                Ok(Some(Length::Within)) => json::parse_bytes(&self.buffer),
                Err(error) => return Some(Record::broken(self.line + 1, &error)),
            };
            return Some(Record { line: self.line, value, fatal: false });
        }
    }

    /// Reads up to the next line feed. The rest of a line over the limit is passed over.
    fn read_line(&mut self) -> io::Result<Option<Length>> {
        self.buffer.clear();
        let most = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
        if self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        if self.buffer.len() <= self.limit || self.buffer.ends_with(b"\n") {
            return Ok(Some(Length::Within));
        }
        self.input.skip_until(b'\n')?;
        Ok(Some(Length::TooLong))
    }
}

enum Length {
    Within,
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], limit: usize) -> Vec<(u64, Result<Value, Problem>)> {
        let mut lines = JsonLines { limit, ..JsonLines::new(io::BufReader::with_capacity(3, text)) };
        let mut all = Vec::new();
        while let Some(record) = lines.next_record() {
            all.push((record.line, record.value.map_err(|p| p.problem)));
        }
        all
    }

    #[test]
    fn blank_lines_count_and_hold_no_case() {
        let all = read(b"\r\n1\r\n\n  \n2", 100);
        assert_eq!(all, [(2, Ok(1.into())), (5, Ok(2.into()))]);
    }

    #[test]
    fn a_line_over_the_limit_is_refused_and_the_next_one_is_read() {
        let all = read(b"1\n\"0123456789\"\n3\n", 8);
        assert_eq!(all, [(1, Ok(1.into())), (2, Err(Problem::TooLong)), (3, Ok(3.into()))]);
    }

    #[test]
    fn an_empty_file_has_no_records() {
        assert!(read(b"", 8).is_empty());
        assert!(read(b"\n\n", 8).is_empty());
    }
}
