use std::io::Write as _;
use std::path::Path;

use super::*;
use crate::intake::problem::Problem;

fn file(name: &str, bytes: &[u8]) -> CaseFile {
    CaseFile::spool(Path::new(name), bytes).unwrap()
}

fn validate_text(text: &str) -> Report {
    validate(&file("-", text.as_bytes()), &IntakeOptions::default()).unwrap()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

const JSONL: &str = "{\"id\":\"1\",\"output\":\"x\"}\n{\"id\":\"2\",\"output\":\"y\"}\n";

#[test]
fn every_form_is_read_alike() {
    let array = "[{\"id\":\"1\",\"output\":\"x\"},\n {\"id\":\"2\",\"output\":\"y\"}]";
    let csv = "id,output\r\n1,x\r\n2,y\r\n";
    let tsv = "id\toutput\n1\tx\n2\ty";
    for text in [JSONL, array, csv, tsv] {
        let marked = format!("\u{feff}{text}");
        for bytes in [text.as_bytes().to_vec(), marked.into_bytes(), gzip(text)] {
            let cases: Vec<Case> =
                file("-", &bytes).read(&IntakeOptions::default()).unwrap().map(Result::unwrap).collect();
            let ids: Vec<&str> = cases.iter().map(|case| case.id.0.as_str()).collect();
            assert_eq!(ids, ["1", "2"], "{text}");
        }
    }
}

#[test]
fn a_file_on_disk_is_read_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("cases.jsonl", JSONL.as_bytes().to_vec()),
        ("cases.jsonl.gz", gzip(JSONL)),
        ("cases.json", JSONL.as_bytes().to_vec()),
        ("cases.txt", JSONL.as_bytes().to_vec()),
        ("one-column.csv", b"output\nx\ny\n".to_vec()),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let report = validate(&CaseFile::open(&path).unwrap(), &IntakeOptions::default()).unwrap();
        assert_eq!(report.cases, 2, "{name}");
    }
    for missing in [dir.path().join("none.jsonl"), dir.path().to_owned()] {
        assert!(matches!(CaseFile::open(&missing), Err(IntakeError::Open { .. })));
    }
}

#[test]
fn what_is_no_file_of_cases_is_refused_by_name() {
    let check = |bytes: &[u8], wanted: fn(&IntakeError) -> bool| {
        let error = validate(&file("-", bytes), &IntakeOptions::default()).unwrap_err();
        assert!(wanted(&error), "{error}");
    };
    for empty in ["", "\n \n", "[]", "id,output\n", "\u{feff}"] {
        check(empty.as_bytes(), |error| matches!(error, IntakeError::NoCases { .. }));
    }
    check(b"\xff\xfe{\0", |error| matches!(error, IntakeError::Utf16));
    check(b"hello\nworld\n", |error| matches!(error, IntakeError::UnknownFormat));
    check(&[0x1f, 0x8b, 1, 2], |error| matches!(error, IntakeError::Read(_)));
}

#[test]
fn a_truncated_gzip_is_a_fatal_problem() {
    let lines: Vec<String> =
        (0..5000).map(|i| format!("{{\"id\":\"{i}\",\"output\":\"{}\"}}", i * 7919)).collect();
    let long = lines.join("\n");
    let bytes = gzip(&long);
    let report = validate(&file("-", &bytes[..bytes.len() / 2]), &IntakeOptions::default()).unwrap();
    assert!(report.stopped_early() && report.cases > 0);
    assert!(matches!(report.problems.last().unwrap().problems[0].problem, Problem::Unreadable(_)));
}

#[test]
fn all_bad_lines_are_reported_with_line_and_field() {
    let report = validate_text(
        "{\"id\":\"1\",\"output\":\"x\"}\r\nnot json\r\n\r\n{\"id\":\"2\",\"ouput\":1,\"model\":2}\n{\"output\":\"\\ud800\"}",
    );
    let lines: Vec<u64> = report.problems.iter().map(|problem| problem.line).collect();
    assert_eq!((report.cases, report.problem_count, lines), (1, 3, vec![2, 4, 5]));
    let text = report.problems[1].to_string();
    assert!(text.starts_with("line 4, case `2`: "), "{text}");
    assert!(text.contains("`model` must be a text, is a number; "), "{text}");
    assert!(text.contains("did you mean `output`?"), "{text}");
    assert!(report.problems[2].to_string().contains("`output` lone surrogate"));
    assert!(!report.stopped_early());
}

#[test]
fn the_list_of_problems_is_bounded_and_keeps_a_fatal_one() {
    let bad = "[".to_owned() + &"{\"input\":1},".repeat(1500);
    let report = validate_text(&bad);
    assert_eq!((report.problems.len(), report.problem_count), (Report::MAX_LISTED, 1501));
    assert!(report.stopped_early());
}

#[test]
fn duplicate_ids_are_listed_with_both_lines() {
    let report = validate_text(
        "{\"id\":\"x\",\"output\":\"1\"}\n{\"id\":\"y\",\"output\":\"1\"}\n{\"id\":\"x\",\"output\":\"2\"}\n\
         {\"output\":\"same\"}\n{\"output\":\"same\"}\n{\"id\":\"x\",\"output\":\"3\"}",
    );
    let lines: Vec<(u64, u64)> = report.duplicates.iter().map(|d| (d.first_line, d.line)).collect();
    assert_eq!((report.duplicate_count, lines), (3, vec![(1, 3), (4, 5), (1, 6)]));
}

#[test]
fn the_report_tells_what_decides_who_may_judge() {
    let report = validate_text(
        "{\"output\":\"x\",\"model\":\"m\"}\n{\"output\":\" \",\"model\":\"m\"}\n\
         {\"output\":\"x\",\"reference\":\"r\",\"sensitivity\":\"confidential\"}\n\
         {\"input\":\"q\",\"a\":{\"output\":\"x\",\"model\":\"m\"},\"b\":\"y\"}",
    );
    assert_eq!(
        report.modes,
        BTreeMap::from([(Mode::Pointwise, 2), (Mode::Pairwise, 1), (Mode::Reference, 1)])
    );
    assert!(report.mixes_modes());
    assert_eq!((report.blank_candidates, report.unknown_models, report.profiles.len()), (1, 2, 3));
    let confidential =
        CaseProfile { mode: Mode::Reference, sensitivity: Sensitivity::Confidential, models: vec![None] };
    assert!(report.profiles.contains(&confidential));
    let without: Vec<u64> = report.first_without.values().map(|at| at.line).collect();
    assert_eq!(without, [1, 1, 4, 3]);
}

#[test]
fn profiles_are_bounded() {
    let many: Vec<String> = (0..10_050).map(|i| format!("{{\"output\":\"x\",\"model\":\"m{i}\"}}")).collect();
    let report = validate_text(&many.join("\n"));
    assert_eq!((report.profiles.len(), report.more_profiles), (Report::MAX_PROFILES, true));
}

#[test]
fn a_map_name_that_no_case_has_is_a_warning() {
    let options =
        IntakeOptions { map: "output=answer,reference=ideal".parse().unwrap(), ..IntakeOptions::default() };
    let report = validate(&file("-", b"{\"answer\":\"x\",\"len\":1}"), &options).unwrap();
    assert_eq!(report.cases, 1);
    let warnings = report.warnings();
    assert!(warnings[0].contains("`len`") && warnings[1].contains("`ideal`"), "{warnings:?}");
}

#[test]
fn a_long_input_is_read_to_its_end() {
    /// Cases without end, as far as memory is concerned.
    struct Many(u64, Vec<u8>);
    impl std::io::Read for Many {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.1.is_empty() && self.0 > 0 {
                self.0 -= 1;
                self.1 = format!("{{\"id\":\"{}\",\"output\":\"x\"}}\n", self.0).into_bytes();
            }
            let n = buffer.len().min(self.1.len());
            buffer[..n].copy_from_slice(&self.1[..n]);
            self.1.drain(..n);
            Ok(n)
        }
    }
    let reader = CaseReader::new(Many(50_000, Vec::new()), None, IntakeOptions::default()).unwrap();
    assert_eq!(reader.map(Result::unwrap).count(), 50_000);
}

#[test]
fn the_shipped_examples_are_valid_and_cover_every_mode() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/examples");
    for (name, modes) in [
        ("cases.jsonl", vec![Mode::Pointwise, Mode::Pairwise, Mode::Reference]),
        ("pointwise.jsonl", vec![Mode::Pointwise]),
        ("pairwise.jsonl", vec![Mode::Pairwise]),
        ("reference.jsonl", vec![Mode::Reference]),
        ("cases.csv", vec![Mode::Reference]),
    ] {
        let file = CaseFile::open(&examples.join(name)).unwrap();
        let report = validate(&file, &IntakeOptions::default()).unwrap();
        assert_eq!(
            (report.problems.len(), report.duplicates.len(), report.warnings().len()),
            (0, 0, 0),
            "{name}"
        );
        assert_eq!(report.modes, modes.into_iter().map(|mode| (mode, 8)).collect(), "{name}");
    }
}
