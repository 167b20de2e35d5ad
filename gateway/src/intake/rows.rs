//! Rows of a table as RFC 4180 has them: cells may be quoted, and a quoted cell may hold delimiters and line feeds.
//!
//! Own code, because every problem needs the line where its row begins (also after CRLF and blank lines), an open
//! quote must not read the file into memory, and a quote that stands where none may stand is refused, not guessed at.

use std::io::{self, BufRead, Read as _};

use crate::intake::problem::Problem;

pub(super) struct Rows<R> {
    input: R,
    delimiter: u8,
    limit: usize,
    /// Physical lines read so far.
    lines: u64,
    buffer: Vec<u8>,
}

/// One row that is not blank.
pub(super) struct Row {
    /// Where it begins, from 1.
    pub(super) line: u64,
    pub(super) cells: Result<Vec<Vec<u8>>, Problem>,
    /// Where the next row begins is not known.
    pub(super) fatal: bool,
}

impl<R: BufRead> Rows<R> {
    pub(super) fn new(input: R, delimiter: u8, limit: usize) -> Self {
        Self { input, delimiter, limit, lines: 0, buffer: Vec::new() }
    }

    /// Errs with the line at which reading stopped.
    pub(super) fn next_row(&mut self) -> Result<Option<Row>, (u64, io::Error)> {
        let mut cells = Cells::default();
        let mut first_line = None;
        let mut length = 0;
        loop {
            let room = self.limit.saturating_sub(length);
            let read = self.read_line(room).map_err(|error| (self.lines + 1, error))?;
            let Some(line) = first_line.or((read > 0).then_some(self.lines)) else { return Ok(None) };
            if read == 0 {
                return Ok(Some(Row { line, cells: Err(Problem::OpenQuote), fatal: true }));
            }
            length += read;
            if length > self.limit {
                return Ok(Some(Row { line, cells: Err(Problem::TooLong), fatal: true }));
            }
            let (content, ending) = split_ending(&self.buffer);
            if first_line.is_none() && content.is_empty() {
                length = 0;
                continue;
            }
            first_line = Some(line);
            for &byte in content {
                cells.step(byte, self.delimiter);
            }
            if cells.state == State::Quoted {
                cells.current.extend_from_slice(ending);
            } else {
                return Ok(Some(Row { line, cells: cells.finish(), fatal: false }));
            }
        }
    }

    /// One physical line with its ending, cut one byte past `room`; 0 at the end.
    fn read_line(&mut self, room: usize) -> io::Result<usize> {
        self.buffer.clear();
        let most = u64::try_from(room).unwrap_or(u64::MAX).saturating_add(1);
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer)?;
        self.lines += u64::from(read > 0);
        Ok(read)
    }
}

fn split_ending(line: &[u8]) -> (&[u8], &[u8]) {
    let content = line.strip_suffix(b"\n").map_or(line, |rest| rest.strip_suffix(b"\r").unwrap_or(rest));
    line.split_at_checked(content.len()).unwrap_or((line, &[]))
}

#[derive(Default)]
struct Cells {
    done: Vec<Vec<u8>>,
    current: Vec<u8>,
    state: State,
    stray_quote: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Start,
    Plain,
    Quoted,
    /// After a quote inside a quoted cell: either it ends there, or a second quote makes it a character.
    QuoteInQuoted,
}

impl Cells {
    fn step(&mut self, byte: u8, delimiter: u8) {
        match (self.state, byte) {
            (State::Start, b'"') => self.state = State::Quoted,
            (State::Quoted, b'"') => self.state = State::QuoteInQuoted,
            (State::Start | State::Plain | State::QuoteInQuoted, byte) if byte == delimiter => {
                self.done.push(std::mem::take(&mut self.current));
                self.state = State::Start;
            }
            (State::QuoteInQuoted, b'"') => {
                self.current.push(b'"');
                self.state = State::Quoted;
            }
            (State::QuoteInQuoted, _) => {
                self.stray_quote = true;
                self.state = State::Plain;
            }
            (State::Start | State::Plain, byte) => {
                self.current.push(byte);
                self.state = State::Plain;
            }
            (State::Quoted, byte) => self.current.push(byte),
        }
    }

    fn finish(mut self) -> Result<Vec<Vec<u8>>, Problem> {
        self.done.push(self.current);
        if self.stray_quote { Err(Problem::StrayQuote) } else { Ok(self.done) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, limit: usize) -> Vec<(u64, Result<Vec<String>, Problem>, bool)> {
        let mut rows = Rows::new(io::BufReader::with_capacity(3, text.as_bytes()), b',', limit);
        let mut all = Vec::new();
        while let Some(row) = rows.next_row().unwrap() {
            let cells =
                row.cells.map(|cells| cells.into_iter().map(|c| String::from_utf8(c).unwrap()).collect());
            all.push((row.line, cells, row.fatal));
        }
        all
    }

    fn check(text: &str, rows: &[(u64, &[&str])]) {
        let expected: Vec<_> = rows
            .iter()
            .map(|(line, cells)| (*line, Ok(cells.iter().map(|&c| c.to_owned()).collect()), false))
            .collect();
        assert_eq!(read(text, 1000), expected, "{text:?}");
    }

    #[test]
    fn cells_are_plain_or_quoted() {
        check("a,b\n1,2\n", &[(1, &["a", "b"]), (2, &["1", "2"])]);
        check("a,,\n", &[(1, &["a", "", ""])]);
        check("\"a,\"\"b\"\"\",c", &[(1, &["a,\"b\"", "c"])]);
        check("\"\",x", &[(1, &["", "x"])]);
        check("5\" pipe,say \"hi\"", &[(1, &["5\" pipe", "say \"hi\""])]);
        check(" \"x\",y ", &[(1, &[" \"x\"", "y "])]);
    }

    #[test]
    fn line_endings_inside_quotes_are_kept_and_others_are_not() {
        check("\"a\r\nb\",c\r\nd,e\r\n", &[(1, &["a\r\nb", "c"]), (3, &["d", "e"])]);
        check("\"\n\"\n", &[(1, &["\n"])]);
    }

    #[test]
    fn blank_lines_count_and_are_no_rows() {
        check("\r\n\na\n\n\r\nb", &[(3, &["a"]), (6, &["b"])]);
        check("", &[]);
        check("\n\n", &[]);
    }

    #[test]
    fn a_quote_that_is_not_doubled_is_refused() {
        let rows = read("\"say \"hi\" now\",x\ny,z\n", 1000);
        assert_eq!(rows[0], (1, Err(Problem::StrayQuote), false));
        assert_eq!(rows[1].0, 2);
    }

    #[test]
    fn an_open_quote_ends_the_table() {
        assert_eq!(read("a,b\n1,\"x\ny\n", 1000)[1..], [(2, Err(Problem::OpenQuote), true)]);
    }

    #[test]
    fn a_row_over_the_limit_is_not_read_into_memory() {
        let row = read(&format!("a\n\"{}", "x\n".repeat(100)), 20).swap_remove(1);
        assert_eq!(row, (2, Err(Problem::TooLong), true));
        let row = read(&"x".repeat(100), 20).swap_remove(0);
        assert_eq!(row, (1, Err(Problem::TooLong), true));
    }
}
