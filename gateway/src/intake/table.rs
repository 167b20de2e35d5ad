//! CSV and TSV: a header of field names, then one case a row.

use std::io::BufRead;

use serde_json::{Map, Value};

use crate::intake::mapping::{FieldMap, typo_of};
use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::reader::Record;
use crate::intake::rows::{Row, Rows};

/// Rows as objects of texts. An empty cell is no field, except in the columns of `required`.
pub(super) struct Table<R> {
    rows: Rows<R>,
    header: Option<Vec<String>>,
    map: FieldMap,
    /// Columns whose empty cells are empty answers, because the table has no other kind of candidate.
    required: Vec<usize>,
}

impl<R: BufRead> Table<R> {
    pub(super) fn new(rows: Rows<R>, map: &FieldMap) -> Self {
        Self { rows, header: None, map: map.clone(), required: Vec::new() }
    }

    pub(super) fn next_record(&mut self) -> Option<Record> {
        if self.header.is_none()
            && let Err(problem) = self.read_header()?
        {
            return Some(problem);
        }
        let Row { line, cells, fatal } = match self.rows.next_row() {
            Ok(row) => row?,
            Err((line, error)) => return Some(Record::broken(line, &error)),
        };
        let value = cells.map_err(FieldProblem::record).and_then(|cells| self.object(&cells));
        Some(Record { line, value, fatal })
    }

    /// `None`: no rows at all. A header that is wrong is one fatal problem, not one a row.
    fn read_header(&mut self) -> Option<Result<(), Record>> {
        let row = match self.rows.next_row() {
            Ok(row) => row?,
            Err((line, error)) => return Some(Err(Record::broken(line, &error))),
        };
        let read = row.cells.map_err(FieldProblem::record).and_then(|cells| self.header_of(&cells));
        Some(read.map_err(|problem| Record { line: row.line, value: Err(problem), fatal: true }))
    }

    fn header_of(&mut self, cells: &[Vec<u8>]) -> Result<(), FieldProblem> {
        let mut header: Vec<String> = Vec::with_capacity(cells.len());
        for cell in cells {
            let name = text(cell).map_err(FieldProblem::record)?.trim().to_owned();
            if !name.is_empty() && header.contains(&name) {
                return Err(FieldProblem::field(name, Problem::DuplicateColumn));
            }
            if let Some(meant) = typo_of(&name).filter(|_| self.map.field_for(&name).is_none()) {
                return Err(FieldProblem::field(name, Problem::Typo(meant)));
            }
            header.push(name);
        }
        self.required = required_columns(&header, &self.map);
        self.header = Some(header);
        Ok(())
    }

    fn object(&self, cells: &[Vec<u8>]) -> Result<Value, FieldProblem> {
        let header = self.header.as_deref().unwrap_or_default();
        if cells.len() != header.len() {
            let problem = Problem::FieldCount { expected: header.len(), found: cells.len() };
            return Err(FieldProblem::record(problem));
        }
        let mut object = Map::new();
        for (column, (name, cell)) in header.iter().zip(cells).enumerate() {
            if name.is_empty() || (cell.is_empty() && !self.required.contains(&column)) {
                continue;
            }
            let cell = text(cell).map_err(|problem| FieldProblem::field(name.clone(), problem))?;
            object.insert(name.clone(), cell_value(self.map.field_for(name).unwrap_or(name), cell));
        }
        Ok(Value::Object(object))
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

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::json;

    use super::*;

    fn read(text: &[u8], delimiter: u8, map: &str) -> Vec<(u64, Result<Value, FieldProblem>, bool)> {
        let mut table = Table::new(Rows::new(text, delimiter, 1000), &map.parse().unwrap());
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
        read(text.as_bytes(), b',', "").into_iter().map(|(_, value, _)| value.unwrap()).collect()
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
        let lines: Vec<u64> = read(b"id,output\n1,\"x\ny\"\n2,z\n", b',', "").iter().map(|r| r.0).collect();
        assert_eq!(lines, [2, 4]);
        let lines: Vec<u64> = read(b"id,output\r\n1,x\r\n2,y\r\n", b',', "").iter().map(|r| r.0).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn tabs_separate_too() {
        let rows = read(b"id\toutput\n1\ta,b\n", b'\t', "");
        assert_eq!(rows[0].1, Ok(json!({"id": "1", "output": "a,b"})));
    }

    #[test]
    fn an_empty_cell_is_no_field_unless_it_is_the_only_candidate() {
        assert_eq!(good("id,output,reference\n1,,\n"), [json!({"id": "1", "output": ""})]);
        assert_eq!(good("id,a,b\n1,,x\n"), [json!({"id": "1", "a": "", "b": "x"})]);
        assert_eq!(good("id,output,a,b\n1,x,,\n"), [json!({"id": "1", "output": "x"})]);
        let mapped = read(b"id,answer\n1,\n", b',', "output=answer");
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
        let all = read(b"id,output\n1\n2,x\n", b',', "");
        let expected = FieldProblem::record(Problem::FieldCount { expected: 2, found: 1 });
        assert_eq!(all[0], (2, Err(expected), false));
        assert!(all[1].1.is_ok());
    }

    #[test]
    fn a_wrong_header_is_one_fatal_problem() {
        let check = |text: &[u8], field: Option<&str>, problem: Problem| {
            let expected = FieldProblem { field: field.map(str::to_owned), problem };
            assert_eq!(read(text, b',', ""), [(1, Err(expected), true)]);
        };
        check(b"id,id\n1,2\n", Some("id"), Problem::DuplicateColumn);
        check(b"id,ouput\n1,2\n", Some("ouput"), Problem::Typo("output"));
        check(b"id,\xff\n1,2\n", None, Problem::NotUtf8 { byte: 1 });
        check(b"id,\"x\"y\n1,2\n", None, Problem::StrayQuote);
    }

    #[test]
    fn a_cell_that_is_not_utf8_is_named() {
        let all = read(b"id,output\n1,ab\xff\n2,x\n", b',', "");
        assert_eq!(all[0].1, Err(FieldProblem::field("output", Problem::NotUtf8 { byte: 3 })));
        assert!(all[1].1.is_ok());
    }

    #[test]
    fn a_table_without_rows_has_no_cases() {
        assert!(good("id,output\n").is_empty());
        assert!(good("").is_empty());
    }

    #[test]
    fn a_table_that_stops_is_unreadable() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk"))
            }
        }
        let rows = Rows::new(io::BufReader::new(Broken), b',', 1000);
        let record = Table::new(rows, &FieldMap::default()).next_record().unwrap();
        assert!(matches!(record.value.unwrap_err().problem, Problem::Unreadable(_)));
    }
}
