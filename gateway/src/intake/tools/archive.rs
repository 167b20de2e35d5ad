//! inspect's `.eval` logs: a zip archive with one JSON file for each sample.

use std::fs::File;
use std::io::{self, BufReader, Read as _};

use flate2::Crc;
use flate2::read::DeflateDecoder;
use ruzstd::decoding::StreamingDecoder;
use serde_json::{Map, Value};
use zip::{CompressionMethod, ZipArchive};

use crate::intake::problem::{FieldProblem, Problem};
use crate::intake::reader::Record;
use crate::intake::{MAX_RECORD_BYTES, json};

/// What a zip archive begins with.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";
/// The log without its samples. The second is all that a run leaves which was killed.
const HEADERS: [&str; 2] = ["header.json", "_journal/start.json"];

/// The samples in the order of the archive, one in memory at a time.
pub(super) struct Archive {
    zip: ZipArchive<BufReader<File>>,
    header: Map<String, Value>,
    /// Places in the archive.
    samples: Vec<usize>,
    next: usize,
}

/// By the names of the first files, which stand in the archive as they are.
pub(super) fn is_log(head: &[u8]) -> bool {
    let has = |name: &str| head.windows(name.len()).any(|bytes| bytes == name.as_bytes());
    head.starts_with(MAGIC) && (HEADERS.into_iter().any(has) || has("samples/"))
}

impl Archive {
    /// Errs with what is wrong with the archive as a whole.
    pub(super) fn open(file: File) -> Result<Self, String> {
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|error| error.to_string())?;
        let found = HEADERS.iter().find_map(|name| Some((name, zip.index_for_name(name)?)));
        let Some((name, index)) = found else {
            return Err(format!("it holds no `{}`", HEADERS.join("` and no `")));
        };
        let header = match read(&mut zip, index) {
            Ok(Value::Object(header)) => header,
            Ok(_) => return Err(format!("its `{name}` is no JSON object")),
            Err(problem) => return Err(format!("its `{name}` {problem}")),
        };
        let is_sample = |name: &str| name.starts_with("samples/") && name.ends_with(".json");
        let samples =
            (0..zip.len()).filter(|&index| name_of(&zip, index).is_some_and(|name| is_sample(&name)));
        let samples = samples.collect();
        Ok(Self { zip, header, samples, next: 0 })
    }

    /// The log's own fields, such as `eval`.
    pub(super) fn header(&self) -> &Map<String, Value> {
        &self.header
    }

    /// The record's line is the place of the sample in the log, from 1.
    pub(super) fn next_record(&mut self) -> Option<Record> {
        let index = *self.samples.get(self.next)?;
        self.next += 1;
        let value = read(&mut self.zip, index)
            .map_err(|problem| FieldProblem { field: name_of(&self.zip, index), problem });
        Some(Record { line: self.next as u64, value, fatal: false })
    }
}

fn name_of(zip: &ZipArchive<BufReader<File>>, index: usize) -> Option<String> {
    Some(zip.name_for_index(index)?.ok()?.into_owned())
}

/// One file of the archive, checked against its checksum.
fn read(zip: &mut ZipArchive<BufReader<File>>, index: usize) -> Result<Value, Problem> {
    let damaged = |why: &dyn std::fmt::Display| Problem::Damaged(why.to_string());
    let file = zip.by_index_raw(index).map_err(|error| damaged(&error))?;
    let (method, size, crc32) = (file.compression(), file.size(), file.crc32());
    if size > MAX_RECORD_BYTES as u64 {
        return Err(Problem::TooLong);
    }
    let mut bytes = Vec::new();
    // One byte more than there should be: a longer text has another checksum.
    let most = size + 1;
    let unpacked = match method {
        CompressionMethod::Stored => file.take(most).read_to_end(&mut bytes),
        CompressionMethod::DEFLATE => DeflateDecoder::new(file).take(most).read_to_end(&mut bytes),
        // inspect begins a second frame only in samples that are over the limit.
        CompressionMethod::ZSTD => StreamingDecoder::new(file)
            .map_err(io::Error::other)
            .and_then(|frame| frame.take(most).read_to_end(&mut bytes)),
        other => return Err(damaged(&format!("compressed by method {other}, which is not read"))),
    };
    unpacked.map_err(|error| damaged(&error))?;
    let mut sum = Crc::new();
    sum.update(&bytes);
    if sum.sum() != crc32 {
        return Err(damaged(&"another checksum than was written"));
    }
    json::parse_bytes(&bytes).map_err(|found| found.problem)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use serde_json::json;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(files: &[(&str, &str)]) -> File {
        let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
        for (name, text) in files {
            let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            zip.start_file(*name, stored).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap()
    }

    fn bytes(mut file: File) -> Vec<u8> {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn open(bytes: &[u8]) -> Result<Archive, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Archive::open(file)
    }

    const START: (&str, &str) = ("_journal/start.json", r#"{"eval": {"model": "m"}}"#);

    #[test]
    fn a_log_whose_run_was_killed_has_its_start() {
        let mut log = Archive::open(archive(&[START, ("samples/a.json", "{\"id\": 1}")])).unwrap();
        assert_eq!(log.header().get("eval"), Some(&json!({"model": "m"})));
        let Record { line: 1, value: Ok(value), fatal: false } = log.next_record().unwrap() else {
            panic!("no sample")
        };
        assert_eq!(value, json!({"id": 1}));
        assert!(log.next_record().is_none());
    }

    #[test]
    fn an_archive_that_is_no_log_is_refused() {
        let check = |bytes: &[u8], said: &str| {
            let reason = open(bytes).err().unwrap();
            assert!(reason.contains(said), "{reason}");
        };
        let log = bytes(archive(&[START]));
        check(&log[..log.len() - 30], "");
        check(&bytes(archive(&[("word/document.xml", "<x/>")])), "it holds no `header.json` and no");
        check(&bytes(archive(&[("header.json", "[]")])), "its `header.json` is no JSON object");
        check(&bytes(archive(&[("header.json", "{")])), "its `header.json` not JSON");
    }

    #[test]
    fn a_damaged_sample_is_named_and_the_next_one_is_read() {
        let log = bytes(archive(&[START, ("samples/a.json", "[1111]"), ("samples/b.json", "[2]")]));
        let at = log.windows(6).position(|part| part == b"[1111]").unwrap();
        let mut damaged = log.clone();
        damaged[at + 1] = b'7';
        let mut log = open(&damaged).unwrap();
        let problem = log.next_record().unwrap().value.unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("samples/a.json"));
        assert_eq!(problem.problem, Problem::Damaged("another checksum than was written".into()));
        assert_eq!(log.next_record().unwrap().value, Ok(json!([2])));
    }

    #[test]
    fn a_sample_over_the_limit_is_refused() {
        let text = " ".repeat(MAX_RECORD_BYTES + 1);
        let mut log = Archive::open(archive(&[START, ("samples/a.json", &text)])).unwrap();
        assert_eq!(log.next_record().unwrap().value.unwrap_err().problem, Problem::TooLong);
    }
}
