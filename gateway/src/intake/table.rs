//! CSV and TSV: a header of field names, then one case a row.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};

use crate::intake::mapping::{FieldMap, typo_of};
use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::{MAX_RECORD_BYTES, reader::Record};

/// Rows as objects of texts. An empty cell is no field, except in the columns of `required`.
pub(super) struct Table {
    reader: csv::Reader<Bounded>,
    seen: Arc<AtomicUsize>,
    row: ByteRecord,
    header: Option<Vec<String>>,
    delimiter: u8,
    map: FieldMap,
    /// Columns whose empty cells are empty answers, because the table has no other kind of candidate.
    required: Vec<usize>,
    limit: usize,
}

impl Table {
    pub(super) fn new(input: Box<dyn Read + Send>, delimiter: u8, map: &FieldMap) -> Self {
        Self::with_limit(input, delimiter, map, MAX_RECORD_BYTES)
    }

    fn with_limit(input: Box<dyn Read + Send>, delimiter: u8, map: &FieldMap, limit: usize) -> Self {
        let seen = Arc::new(AtomicUsize::new(0));
        let bounded = Bounded { input, seen: Arc::clone(&seen), limit: limit + BUFFER_BYTES };
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(bounded);
        let (row, map) = (ByteRecord::new(), map.clone());
        Self { reader, seen, row, header: None, delimiter, map, required: Vec::new(), limit }
    }

    pub(super) fn next_record(&mut self) -> Option<Record> {
        if self.header.is_none() {
            match self.read_header() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(problem) => return Some(problem),
            }
        }
        match self.read_row() {
            Ok(true) => {}
            Ok(false) => return None,
            Err(problem) => return Some(problem),
        }
        Some(Record { line: self.row_line(), value: self.object(), fatal: false })
    }

    fn row_line(&self) -> u64 {
        self.row.position().map_or(1, csv::Position::line)
    }

    fn read_row(&mut self) -> Result<bool, Record> {
        self.seen.store(0, Ordering::Relaxed);
        let line = self.reader.position().line();
        match self.reader.read_byte_record(&mut self.row) {
            Ok(_) if self.row.as_slice().len() > self.limit => Err(Record::fatal(line, Problem::TooLong)),
            Ok(more) => Ok(more),
            Err(_) if self.seen.load(Ordering::Relaxed) > self.limit => {
                Err(Record::fatal(line, Problem::TooLong))
            }
            Err(error) => Err(Record::fatal(line, Problem::Unreadable(error.to_string()))),
        }
    }

    /// A header that is wrong is one fatal problem, not one a row.
    fn read_header(&mut self) -> Result<bool, Record> {
        if !self.read_row()? {
            return Ok(false);
        }
        let line = self.row_line();
        let failed = |field: Option<String>, problem| Record {
            line,
            value: Err(FieldProblem { field, problem }),
            fatal: true,
        };
        let mut header: Vec<String> = Vec::with_capacity(self.row.len());
        for cell in &self.row {
            let name = text(cell).map_err(|problem| failed(None, problem))?.trim().to_owned();
            if header.contains(&name) {
                return Err(failed(Some(name), Problem::DuplicateColumn));
            }
            if let Some(meant) = typo_of(&name).filter(|_| self.map.field_for(&name).is_none()) {
                return Err(failed(Some(name), Problem::Typo(meant)));
            }
            header.push(name);
        }
        self.required = required_columns(&header, &self.map);
        self.header = Some(header);
        Ok(true)
    }

    fn object(&self) -> Result<Value, FieldProblem> {
        let header = self.header.as_deref().unwrap_or_default();
        if self.row.len() != header.len() {
            let problem = Problem::FieldCount { expected: header.len(), found: self.row.len() };
            return Err(FieldProblem::record(problem));
        }
        let mut object = Map::new();
        for (column, (name, cell)) in header.iter().zip(&self.row).enumerate() {
            if name.is_empty() || (cell.is_empty() && !self.required.contains(&column)) {
                continue;
            }
            let cell = text(cell).map_err(|problem| FieldProblem::field(name.clone(), problem))?;
            object.insert(name.clone(), cell_value(self.map.field_for(name).unwrap_or(name), cell));
        }
        Ok(Value::Object(object))
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("delimiter", &self.delimiter).finish_non_exhaustive()
    }
}

/// A cell is a text. Only a list in `context` or `input` and an object in `metadata` may be written as JSON.
fn cell_value(field: &str, cell: &str) -> Value {
    let structured = match field {
        "context" | "input" => cell.trim_start().starts_with('['),
        "metadata" => true,
        _ => false,
    };
    let parsed = if structured { serde_json::from_str::<Value>(cell).ok() } else { None };
    match parsed {
        Some(value @ Value::Object(_)) if field == "metadata" => value,
        Some(Value::Array(parts)) if field == "context" && parts.iter().all(Value::is_string) => {
            Value::Array(parts)
        }
        Some(Value::Array(parts))
            if field == "input" && parts.iter().any(|part| part.get("role").is_some()) =>
        {
            Value::Array(parts)
        }
        _ => Value::String(cell.to_owned()),
    }
}

fn required_columns(header: &[String], map: &FieldMap) -> Vec<usize> {
    let column = |field: &str| {
        let name = map.name_for(field).unwrap_or(field);
        header.iter().position(|column| column == name)
    };
    match (column("output"), column("a"), column("b")) {
        (Some(output), None, None) => vec![output],
        (None, Some(a), Some(b)) => vec![a, b],
        (_, _, _) => Vec::new(),
    }
}

fn text(cell: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(cell).map_err(|error| Problem::NotUtf8 { byte: error.valid_up_to() + 1 })
}

const BUFFER_BYTES: usize = 64 << 10;

/// Fails when one row asks for more bytes than the limit: an open quote must not read the file into memory.
struct Bounded {
    input: Box<dyn Read + Send>,
    /// Bytes read since the row began; the buffer may hold the beginning of the next rows.
    seen: Arc<AtomicUsize>,
    limit: usize,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let seen = self.seen.fetch_add(read, Ordering::Relaxed).saturating_add(read);
        if seen > self.limit {
            return Err(io::Error::other("row too long"));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(
        text: &[u8],
        delimiter: u8,
        map: &str,
        limit: usize,
    ) -> Vec<(u64, Result<Value, FieldProblem>, bool)> {
        let input = Box::new(io::Cursor::new(text.to_vec()));
        let mut table = Table::with_limit(input, delimiter, &map.parse().unwrap(), limit);
        let mut all = Vec::new();
        while let Some(record) = table.next_record() {
            all.push((record.line, record.value, record.fatal));
            if record.fatal {
                break;
            }
        }
        all
    }

    fn good(text: &str) -> Vec<Value> {
        read(text.as_bytes(), b',', "", 1000).into_iter().map(|(_, value, _)| value.unwrap()).collect()
    }

    #[test]
    fn quoted_cells_hold_commas_quotes_and_line_feeds() {
        let rows = good("id,output\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,plain\r\n");
        assert_eq!(
            rows,
            [json!({"id": "1", "output": "a, \"b\"\nc"}), json!({"id": "2", "output": "plain"})]
        );
    }

    #[test]
    fn rows_know_their_line() {
        let lines: Vec<u64> =
            read(b"id,output\n1,\"x\ny\"\n2,z\n", b',', "", 1000).iter().map(|r| r.0).collect();
        assert_eq!(lines, [2, 4]);
    }

    #[test]
    fn tabs_separate_too() {
        let rows = read(b"id\toutput\n1\ta,b\n", b'\t', "", 1000);
        assert_eq!(rows[0].1, Ok(json!({"id": "1", "output": "a,b"})));
    }

    #[test]
    fn an_empty_cell_is_no_field_unless_it_is_the_only_candidate() {
        assert_eq!(good("id,output,reference\n1,,\n"), [json!({"id": "1", "output": ""})]);
        assert_eq!(good("id,a,b\n1,,x\n"), [json!({"id": "1", "a": "", "b": "x"})]);
        assert_eq!(good("id,output,a,b\n1,x,,\n"), [json!({"id": "1", "output": "x"})]);
        let mapped = read(b"id,answer\n1,\n", b',', "output=answer", 1000);
        assert_eq!(mapped[0].1, Ok(json!({"id": "1", "answer": ""})));
    }

    #[test]
    fn lists_and_objects_are_read_only_where_they_belong() {
        let rows = good(
            "output,context,metadata\n[1],\"[\"\"p\"\",\"\"q\"\"]\",\"{\"\"k\"\":1}\"\n[x],[see note],\n",
        );
        assert_eq!(rows[0], json!({"output": "[1]", "context": ["p", "q"], "metadata": {"k": 1}}));
        assert_eq!(rows[1], json!({"output": "[x]", "context": "[see note]"}));
    }

    #[test]
    fn a_row_of_another_length_is_a_problem_of_its_line() {
        let all = read(b"id,output\n1\n2,x\n", b',', "", 1000);
        let expected = FieldProblem::record(Problem::FieldCount { expected: 2, found: 1 });
        assert_eq!(all[0], (2, Err(expected), false));
        assert!(all[1].1.is_ok());
    }

    #[test]
    fn a_wrong_header_is_one_fatal_problem() {
        let check = |text: &[u8], field: Option<&str>, problem: Problem| {
            let expected = FieldProblem { field: field.map(str::to_owned), problem };
            assert_eq!(read(text, b',', "", 1000), [(1, Err(expected), true)]);
        };
        check(b"id,id\n1,2\n", Some("id"), Problem::DuplicateColumn);
        check(b"id,ouput\n1,2\n", Some("ouput"), Problem::Typo("output"));
        check(b"id,\xff\n1,2\n", None, Problem::NotUtf8 { byte: 1 });
    }

    #[test]
    fn a_cell_that_is_not_utf8_is_named() {
        let all = read(b"id,output\n1,ab\xff\n2,x\n", b',', "", 1000);
        assert_eq!(all[0].1, Err(FieldProblem::field("output", Problem::NotUtf8 { byte: 3 })));
        assert!(all[1].1.is_ok());
    }

    #[test]
    fn an_open_quote_does_not_read_the_file_into_memory() {
        let text = format!("id,output\n1,\"{}", "x".repeat(400_000));
        let all = read(text.as_bytes(), b',', "", 100_000);
        assert_eq!(all, [(2, Err(FieldProblem::record(Problem::TooLong)), true)]);
    }

    #[test]
    fn a_table_without_rows_has_no_cases() {
        assert!(good("id,output\n").is_empty());
        assert!(good("").is_empty());
    }

    #[test]
    fn a_table_that_stops_is_unreadable() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk"))
            }
        }
        let record = Table::new(Box::new(Broken), b',', &FieldMap::default()).next_record().unwrap();
        assert!(matches!(record.value.unwrap_err().problem, Problem::Unreadable(_)));
    }
}
