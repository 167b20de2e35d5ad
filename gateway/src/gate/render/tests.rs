mod sample;

use std::io::Write as _;

use aggregation::Decision;

use self::sample::{hostile, report, run, verdicts};
use super::junit::Suite;
use super::{Open, annotations, html, markdown};
use crate::gate::report::{GateReport, Obstacle, RunGate};

fn junit(report: &GateReport, open: Open) -> String {
    let mut out = Vec::new();
    out.write_all(b"<testsuites>\n").unwrap();
    for (index, run) in report.runs.iter().enumerate() {
        let mut suite = Suite::begin(run, index, open).unwrap();
        for verdict in verdicts() {
            suite.add(&verdict).unwrap();
        }
        suite.finish(&mut out).unwrap();
    }
    out.write_all(b"</testsuites>\n").unwrap();
    String::from_utf8(out).unwrap()
}

fn with(decision: Decision, change: impl FnOnce(&mut RunGate)) -> GateReport {
    let mut run = run(decision);
    change(&mut run);
    GateReport::of(vec![run])
}

#[test]
fn each_format_keeps_its_shape() {
    let report = report();
    insta::assert_snapshot!("junit", junit(&report, Open::Fails));
    insta::assert_snapshot!("markdown", markdown::render(&report));
    insta::assert_snapshot!("annotations", annotations::render(&report, Open::Fails));
    insta::assert_snapshot!("html", html::render(&report).unwrap());
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let all = || {
        let report = report();
        let page = html::render(&report).unwrap();
        [
            junit(&report, Open::Fails),
            markdown::render(&report),
            annotations::render(&report, Open::Fails),
            page,
        ]
    };
    assert_eq!(all(), all());
}

#[test]
fn an_open_question_is_as_severe_as_the_exit_code() {
    let open = with(Decision::Inconclusive, |run| run.obstacles = vec![Obstacle::SingleFamily]);
    assert_eq!(annotations::render(&open, Open::Fails).matches("::error ").count(), 3);
    assert_eq!(annotations::render(&open, Open::Passes).matches("::warning ").count(), 3);
    assert!(junit(&open, Open::Fails).contains("<error type=\"inconclusive\""));
    let passes = junit(&open, Open::Passes);
    assert_eq!(passes.matches("<skipped type=\"inconclusive\"").count(), 3, "{passes}");
}

#[test]
fn names_of_strangers_cannot_leave_their_place() {
    let report = hostile();
    let page = html::render(&report).unwrap();
    let markup = ["<script", "<img", "onerror=\""];
    assert!(markup.iter().all(|mark| !page.contains(mark)), "{page}");
    assert!(page.contains("&lt;script&gt;"), "{page}");
    let lines = annotations::render(&report, Open::Fails);
    assert!(lines.lines().all(|line| line.starts_with("::error title=gate ")), "{lines}");
    assert_eq!((lines.lines().count(), lines.contains('\u{1b}')), (3, false), "{lines}");
    let text = markdown::render(&report);
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let columns = line.matches('|').count() - 1;
        assert!((3..=8).contains(&columns), "{columns} columns: {line}");
    }
    let outside =
        text.replace("<code>", "").replace("</code>", "").replace("<sub>", "").replace("</sub>", "");
    let outside =
        outside.replace("<details><summary>", "").replace("</summary>", "").replace("</details>", "");
    assert!(!outside.contains('<') && !outside.contains('`') && !outside.contains("]("), "{outside}");
    assert!(!text.lines().any(|line| line.starts_with("# ")), "{text}");
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = html::render(&report()).unwrap();
    let reaching = ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe"];
    for word in reaching {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""), "{page}");
    assert!(page.contains("<title>Fail: gate of default, strict</title>"), "{page}");
}

#[test]
fn a_page_says_what_is_not_there() {
    let empty = with(Decision::Inconclusive, |run| {
        run.requirements.clear();
        run.criteria.clear();
        run.judges.clear();
        run.worst.clear();
        run.disputed.clear();
        run.slices.clear();
        run.warnings.clear();
        (run.finished, run.cases, run.cost_usd) = (0, None, None);
    });
    let page = html::render(&empty).unwrap();
    assert!(page.contains("No case was judged.") && page.contains("<dd>unknown</dd>"), "{page}");
    let undecided = with(Decision::Inconclusive, |run| run.requirements.clear());
    let page = html::render(&undecided).unwrap();
    assert!(page.contains("Nothing had to be reached") && page.contains("<title>Report of default</title>"));
    assert!(markdown::render(&undecided).contains("Nothing had to be reached."));
    let without = with(Decision::Inconclusive, |run| {
        for own in &mut run.requirements {
            (own.estimate, own.lower, own.upper) = (None, None, None);
            own.undefined = Some(String::from("no values"));
        }
    });
    assert!(html::render(&without).unwrap().contains("No figure: no values"));
}

/// What both schemas demand of a file: elements in order, attributes that are there, counts that are right.
#[test]
fn a_junit_file_has_the_structure_of_the_common_schemas() {
    for report in [report(), hostile(), with(Decision::Pass, |_| ())] {
        let text = junit(&report, Open::Fails);
        assert!(!text.chars().any(|c| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}')));
        let tags: Vec<&str> = text.split('<').skip(1).map(|tag| tag.split('>').next().unwrap()).collect();
        let mut open = Vec::new();
        for tag in &tags {
            let name = tag.trim_matches('/').split([' ', '/']).next().unwrap();
            let parent = open.last().copied().unwrap_or("");
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name), "{tag}");
                continue;
            }
            let expected = match name {
                "testsuites" => "",
                "testsuite" => "testsuites",
                "properties" | "testcase" | "system-out" | "system-err" => "testsuite",
                "property" => "properties",
                "failure" | "error" | "skipped" => "testcase",
                other => panic!("an element `{other}`"),
            };
            assert_eq!(parent, expected, "{tag}");
            let needed: &[&str] = match name {
                "testsuite" => &[
                    "name",
                    "package",
                    "id",
                    "hostname",
                    "timestamp",
                    "tests",
                    "failures",
                    "errors",
                    "skipped",
                    "time",
                ],
                "testcase" => &["classname", "name", "time"],
                "property" => &["name", "value"],
                "failure" | "error" | "skipped" => &["type", "message"],
                _ => &[],
            };
            for attribute in needed {
                assert!(tag.contains(&format!(" {attribute}=\"")), "{attribute} is not in <{tag}>");
            }
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
        for suite in text.split("<testsuite ").skip(1) {
            for (attribute, element) in [
                ("tests", "<testcase "),
                ("failures", "<failure "),
                ("errors", "<error "),
                ("skipped", "<skipped "),
            ] {
                let count = suite.matches(element).count();
                assert!(
                    suite.contains(&format!(" {attribute}=\"{count}\"")),
                    "{attribute}: {count} in {suite}"
                );
            }
        }
    }
}
