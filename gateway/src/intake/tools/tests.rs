use std::path::{Path, PathBuf};

use super::*;
use crate::case::{Candidates, Case};
use crate::intake::problem::CaseProblem;
use crate::intake::{CaseFile, IntakeOptions, Report, validate};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/intake/tools/fixtures").join(name)
}

fn from(tool: Tool) -> IntakeOptions {
    IntakeOptions { from: Some(tool), ..IntakeOptions::default() }
}

fn read(path: &Path, tool: Tool) -> (Vec<Case>, Vec<CaseProblem>) {
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for read in CaseFile::open(path).unwrap().read(&from(tool)).unwrap() {
        match read {
            Ok(case) => cases.push(case),
            Err(problem) => problems.push(problem),
        }
    }
    (cases, problems)
}

fn read_text(name: &str, text: &str, tool: Tool) -> Result<Report, IntakeError> {
    validate(&CaseFile::spool(Path::new(name), text.as_bytes())?, &from(tool))
}

fn case<'a>(cases: &'a [Case], id: &str) -> &'a Case {
    cases.iter().find(|case| case.id.0 == id).unwrap_or_else(|| panic!("{id} in {cases:?}"))
}

fn one(case: &Case) -> (&str, Option<&str>) {
    match &case.candidates {
        Candidates::One(answer) => (&answer.output, answer.model.as_deref()),
        Candidates::Pair { .. } => panic!("a pair"),
    }
}

#[test]
fn promptfoo_documents_and_lines_give_the_same_cases() {
    let (mut cases, problems) = read(&fixture("promptfoo.json"), Tool::Promptfoo);
    let (mut lines, _) = read(&fixture("promptfoo.jsonl"), Tool::Promptfoo);
    assert_eq!(cases.len(), 7);
    let peru = case(&cases, "test-0-prompt-1-tutor-2");
    assert_eq!(peru.input.as_deref(), Some("Answer in one word: What is the capital of Peru?"));
    assert_eq!(one(peru), ("Lima.", Some("tutor-2")));
    assert_eq!(peru.reference.as_deref(), Some("Lima"), "the var `expected`");
    assert_eq!(peru.source.as_deref(), Some("test-0"));
    assert_eq!(peru.metadata["question"], "What is the capital of Peru?");
    let colour = case(&cases, "test-2-prompt-1-tutor-2");
    assert_eq!(one(colour).0, r#"{"colours":["red","white"]}"#);
    assert_eq!(colour.reference.as_deref(), Some("red"), "the check `equals`");
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(problem.id.as_deref(), Some("test-3-prompt-1-tutor-2"));
    assert!(problem.to_string().contains("the tutor is away") && !problem.fatal && problem.line > 1);
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    lines.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(cases, lines);
}

#[test]
fn inspect_samples_are_cases_of_their_epochs() {
    let (cases, problems) = read(&fixture("inspect.json"), Tool::Inspect);
    assert_eq!(cases.len(), 4);
    let peru = case(&cases, "peru-epoch-2");
    assert_eq!(one(peru), ("Lima.", Some("mockllm/model")));
    assert_eq!((peru.reference.as_deref(), peru.source.as_deref()), (Some("Lima"), Some("peru")));
    assert_eq!(peru.metadata["topic"], "capitals");
    let water = case(&cases, "2-epoch-1");
    assert_eq!(
        water.input.as_deref(),
        Some("[system]\nBe brief.\n\n[user]\nBoiling point of water in Celsius?")
    );
    assert_eq!(water.reference.as_deref(), Some("100\n100 degrees"));
    let names: Vec<_> = problems.iter().filter_map(|problem| problem.id.as_deref()).collect();
    assert_eq!(names, ["away-epoch-1", "away-epoch-2"]);
    assert!(problems.iter().all(|problem| problem.to_string().contains("the tutor is away")));
}

#[test]
fn an_inspect_answer_without_a_completion_is_the_text_of_its_first_choice() {
    let check = |content: Value, answer: &str| {
        let choice = serde_json::json!({"message": {"role": "assistant", "content": content}});
        let sample = serde_json::json!({"id": "a", "epoch": 1, "output": {"choices": [choice]}});
        let case: Case = inspect::case_of(sample, &serde_json::Map::new()).1.unwrap().try_into().unwrap();
        assert_eq!(one(&case).0, answer);
    };
    check("Lima.".into(), "Lima.");
    let parts = r#"[{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Li"}, {"type": "text", "text": "ma."}]"#;
    check(serde_json::from_str(parts).unwrap(), "Li\nma.");
    check("".into(), "");
}

#[test]
fn inspect_logs_in_archives_hold_the_same_cases() {
    let (mut json, _) = read(&fixture("inspect.json"), Tool::Inspect);
    json.sort_by(|a, b| a.id.cmp(&b.id));
    for name in ["inspect.eval", "inspect-deflated.eval"] {
        let (mut cases, problems) = read(&fixture(name), Tool::Inspect);
        cases.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(cases, json, "{name}");
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), 2, "{name}: {problems:?}");
        let said = "case `away-epoch-1`: `error` holds no answer: RuntimeError('the tutor is away')";
        assert!(problems.iter().any(|problem| problem.contains(said)), "{name}: {problems:?}");
    }
}

#[test]
fn mt_bench_answers_are_judged_alone_or_in_pairs() {
    let (cases, problems) = read(&fixture("mt_bench/model_answer/tutor-b.jsonl"), Tool::MtBench);
    let failed =
        "line 3, case `903`: `choices.turns` holds no answer: `$ERROR$` stands for a call that failed";
    assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [failed]);
    let math = case(&cases, "901");
    assert_eq!(math.input.as_deref(), Some("[user]\nWhat is 12 times 12?\n\n[user]\nAnd half of that?"));
    assert_eq!(one(math), ("[assistant]\nIt is 140.\n\n[assistant]\n70.", Some("tutor-b")));
    assert_eq!(math.reference.as_deref(), Some("[assistant]\n144\n\n[assistant]\n72"));
    assert_eq!(math.metadata["category"], "math");
    let colour = "[assistant]\nBlue.\n\n[assistant]\nOrange,\nas the sun sets.";
    assert_eq!((one(case(&cases, "902")).0, &case(&cases, "902").reference), (colour, &None));
    let (answers, problems) = read(&fixture("mt_bench/model_answer/tutor-a.jsonl"), Tool::MtBench);
    assert_eq!((one(case(&answers, "903")).0, problems.len()), ("This one.", 0));
    let (pairs, problems) = read(&fixture("mt_bench"), Tool::MtBench);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].problems[0].field.as_deref(), Some("b.choices.turns"));
    let Candidates::Pair { a, b } = &case(&pairs, "902").candidates else { panic!("{pairs:?}") };
    assert_eq!(
        (a.output.as_str(), a.model.as_deref()),
        ("[assistant]\nGreen.\n\n[assistant]\nRed.", Some("tutor-a"))
    );
    assert_eq!((b.output.as_str(), b.model.as_deref()), (colour, Some("tutor-b")));
}

/// An MT-bench folder of these files.
fn bench(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

const QUESTION: &str = "{\"question_id\":1,\"turns\":[\"q\"]}\n";
const ANSWER: &str = "{\"question_id\":1,\"model_id\":\"m\",\"choices\":[{\"turns\":[\"x\"]}]}\n";
const OTHER: &str = "{\"question_id\":2,\"model_id\":\"n\",\"choices\":[{\"turns\":[\"y\"]}]}\n";

const A: &str = "model_answer/a.jsonl";
const B: &str = "model_answer/b.jsonl";

#[test]
fn mt_bench_folders_that_cannot_be_read_are_refused_by_name() {
    let refused = |files: &[(&str, &str)], said: &str| {
        let folder = bench(files);
        let error = CaseFile::open(folder.path()).unwrap().read(&from(Tool::MtBench)).unwrap_err();
        assert!(error.to_string().contains(said), "{said} is not in: {error}");
        error
    };
    let question = ("question.jsonl", QUESTION);
    let three = [question, (A, ANSWER), (B, ANSWER), ("model_answer/c.jsonl", ANSWER)];
    let error = refused(&three, "has 3 files in `model_answer`, and one or two can be judged");
    assert!(matches!(error, IntakeError::AnswerFiles { found: 3, .. }));
    let error = refused(&[(A, ANSWER)], "mt-bench's answers are judged where the tool wrote them");
    assert!(matches!(error, IntakeError::NoQuestions { .. }));
    let twice = format!("{QUESTION}{QUESTION}");
    let said = "question.jsonl`, line 2: `question_id` `1` stands twice in the file";
    let error = refused(&[("question.jsonl", &twice), (A, ANSWER)], said);
    let IntakeError::SideFile { line: 2, problem, .. } = error else { panic!("{error}") };
    assert_eq!(problem.problem, Problem::TwiceInFile("1".into()));
    let nameless = ("question.jsonl", "{\"id\":1}");
    refused(&[nameless, (A, ANSWER)], "`question_id` missing or of another kind");
    refused(&[question, (A, ANSWER), (B, "question_id")], "b.jsonl`, line 1: not JSON");
}

#[test]
fn mt_bench_answers_that_lack_something_are_named() {
    let check = |files: &[(&str, &str)], said: &str| {
        let folder = bench(files);
        let (_, problems) = read(folder.path(), Tool::MtBench);
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(problem.to_string().contains(said), "{said} is not in: {problem}");
        problem.problems[0].problem.clone()
    };
    let question = ("question.jsonl", QUESTION);
    check(&[question, (A, ANSWER), (B, OTHER)], "the second file has no answer");
    let problem = check(&[question, (A, OTHER)], "`question_id` is not in `question.jsonl`");
    assert_eq!(problem, Problem::NoQuestion);
    let turns = |turns: &str| {
        format!(r#"{{"question_id":1,"model_id":"m","choices":[{{"index":0,"turns":{turns}}}]}}"#)
    };
    check(&[question, (A, &turns("[]"))], "case `1`: `choices.turns` holds no answer: no turns");
    let failed = turns(r#"["x", "$ERROR$"]"#);
    let said = "choices.turns` holds no answer: `$ERROR$` stands for a call that failed";
    check(&[question, (A, &failed)], &format!("`{said}"));
    check(&[question, (A, ANSWER), (B, &failed)], &format!("`b.{said}"));
    let reference = ("reference_answer/r.jsonl", failed.as_str());
    check(&[question, (A, ANSWER), reference], &format!("`reference_answer.{said}"));
    check(&[question, (A, &turns(r#"["ERROR"]"#))], "`ERROR` stands for a call that failed");
}

#[test]
fn a_file_beside_the_answers_has_a_limit() {
    let folder = bench(&[("model_answer/a.jsonl", ANSWER)]);
    let file = File::create(folder.path().join("question.jsonl")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let error = CaseFile::open(folder.path()).unwrap().read(&from(Tool::MtBench)).unwrap_err();
    let IntakeError::SideFile { line: 1, problem, .. } = error else { panic!("{error}") };
    assert_eq!(problem, FieldProblem::record(Problem::FileTooLong { mib: 64 }));
}

#[test]
fn the_file_of_another_tool_is_named() {
    for (name, found) in [
        ("promptfoo.json", Tool::Promptfoo),
        ("promptfoo.jsonl", Tool::Promptfoo),
        ("inspect.json", Tool::Inspect),
        ("inspect.eval", Tool::Inspect),
        ("mt_bench/model_answer/tutor-a.jsonl", Tool::MtBench),
    ] {
        let file = CaseFile::open(&fixture(name)).unwrap();
        for asked in [Tool::Promptfoo, Tool::Inspect, Tool::MtBench].into_iter().filter(|tool| *tool != found)
        {
            let error = file.read(&from(asked)).unwrap_err().to_string();
            let hint = format!("looks like a file of {found}, not of {asked}; hint: --from {found}");
            assert!(error.contains(&hint), "{error}");
        }
        let report = match validate(&file, &IntakeOptions::default()) {
            Ok(report) => report,
            Err(error) => {
                assert!(matches!(error, IntakeError::FileOfTool(tool) if tool == found), "{error}");
                continue;
            }
        };
        let expected = Problem::FileOfTool(found);
        assert_eq!(report.problems[0].problems, [FieldProblem::record(expected)], "{name}");
        assert!(report.problem_count == 1 && report.stopped_early(), "{name}");
    }
}

#[test]
fn a_folder_of_another_tool_is_named() {
    let folder = CaseFile::open(&fixture("mt_bench")).unwrap();
    let error = folder.read(&from(Tool::Inspect)).unwrap_err().to_string();
    assert!(
        error.contains("looks like a file of mt-bench, not of inspect; hint: --from mt-bench"),
        "{error}"
    );
    let error = folder.read(&IntakeOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "this looks like a file of mt-bench; hint: --from mt-bench");
    let logs = tempfile::tempdir().unwrap();
    assert!(matches!(CaseFile::open(logs.path()), Err(IntakeError::Open { .. })));
}

#[test]
fn the_other_files_of_mt_bench_are_no_answers() {
    let judgment = r#"{"question_id":1,"model":"m","judge":["j","single-v1"],"judgment":"Rating: [[9]]","score":9,"turn":1}"#;
    for (name, text) in [("question.jsonl", QUESTION), ("model_judgment/j_single.jsonl", judgment)] {
        let folder = bench(&[
            ("question.jsonl", QUESTION),
            ("mt/question.jsonl", QUESTION),
            (&format!("mt/{name}"), text),
        ]);
        let path = folder.path().join("mt").join(name);
        let (cases, problems) = read(&path, Tool::MtBench);
        assert!(cases.is_empty());
        let said = "`model_id` missing or of another kind than mt-bench writes; hint: --from mt-bench reads an answer file in `model_answer`, or the folder around it";
        assert!(problems[0].to_string().contains(said), "{problems:?}");
    }
}

#[test]
fn cases_are_not_a_file_of_a_tool() {
    let text = r#"{"id": "q1", "input": "q", "output": "x"}"#;
    for (tool, said) in [
        (Tool::Promptfoo, "no list at `results.results`; hint:"),
        (Tool::Inspect, "leave --from out if these are cases"),
    ] {
        let report = read_text("cases.jsonl", text, tool).unwrap();
        let [problem] = report.problems.as_slice() else { panic!("{report:?}") };
        assert!(problem.to_string().contains(said), "{problem}");
    }
}

#[test]
fn forms_that_are_not_read_are_named() {
    let check = |name: &str, text: &str, tool, said: &str| {
        let error = read_text(name, text, tool).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    check("x.csv", include_str!("fixtures/promptfoo.csv"), Tool::Promptfoo, "write .json or .jsonl");
    let sheet = read_text("x.xlsx", "PK\u{3}\u{4}[Content_Types].xml", Tool::Promptfoo).unwrap_err();
    assert!(matches!(sheet, IntakeError::TableOfTool { tool: Tool::Promptfoo, .. }), "{sheet}");
    check(
        "x.eval",
        "PK\u{3}\u{4}[Content_Types].xml",
        Tool::Inspect,
        "`x.eval` is no whole log of inspect: ",
    );
    let plain = CaseFile::open(&fixture("inspect.eval")).unwrap();
    let error = plain.read(&IntakeOptions::default()).unwrap_err();
    assert!(matches!(error, IntakeError::FileOfTool(Tool::Inspect)), "{error}");
}

#[test]
fn good_cases_with_a_tools_names_are_cases() {
    let text = r#"{"question_id": 1, "turns": ["q"], "output": "x"}"#;
    let file = CaseFile::spool(Path::new("-"), text.as_bytes()).unwrap();
    let report = validate(&file, &IntakeOptions::default()).unwrap();
    assert_eq!((report.cases, report.problem_count), (1, 0));
}

#[test]
fn a_file_cut_off_is_never_judged_in_part() {
    for (name, tool) in [("promptfoo.json", Tool::Promptfoo), ("inspect.json", Tool::Inspect)] {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        for part in [2, 3, 5] {
            let end = text.len() - text.len() / part;
            let report = read_text(name, text.get(..end).unwrap(), tool).unwrap();
            assert!(report.stopped_early(), "{name} cut at {end}");
            let last = report.problems.last().unwrap();
            let bytes = end as u64;
            assert_eq!(last.problems, [FieldProblem::record(Problem::CutOff { bytes })]);
            assert_eq!(last.line, text[..end].lines().count() as u64, "the line that it ends in");
        }
    }
}

#[test]
fn results_that_stand_twice_are_found() {
    let text = include_str!("fixtures/promptfoo.jsonl");
    let report = read_text("x.jsonl", &format!("{text}\n{text}"), Tool::Promptfoo).unwrap();
    assert_eq!(report.duplicate_count, 7);
}

#[test]
fn records_of_no_tool_are_named() {
    let check = |text: &str, tool, said: &str| {
        let report = read_text("-", text, tool).unwrap();
        let problem = report.problems[0].to_string();
        assert!(problem.contains(said), "{problem}");
    };
    check(
        "{\"promptIdx\": 1}",
        Tool::Promptfoo,
        "`testIdx` missing or of another kind than promptfoo writes",
    );
    check("{\"promptIdx\": 1, \"testIdx\": 0}", Tool::Promptfoo, "`provider` missing");
    check("{\"id\": 1}", Tool::Promptfoo, "no list at `results.results`; hint:");
    check("{\"samples\": [{\"id\": \"x\"}]}", Tool::Inspect, "`samples.epoch` missing");
    check("{\"samples\": [{\"epoch\": 1}]}", Tool::Inspect, "`samples.id` missing");
    check("{\"samples\": [3]}", Tool::Inspect, "`samples` missing");
    let unasked =
        "{\"samples\": [{\"id\": 1, \"epoch\": 1, \"output\": {\"choices\": [], \"completion\": \"\"}}]}";
    check(unasked, Tool::Inspect, "case `1-epoch-1`: `output.completion` holds no answer");
    let refused = "{\"samples\": [{\"id\": 1, \"epoch\": 1, \"output\": {\"error\": \"too long\"}}]}";
    check(refused, Tool::Inspect, "`output.error` holds no answer: too long");
    let silent = "{\"promptIdx\": 1, \"testIdx\": 0, \"provider\": \"p\", \"response\": {\"output\": null}}";
    check(silent, Tool::Promptfoo, "`response` holds no answer: no output");
    assert_eq!(
        "nobody".parse::<Tool>().unwrap_err().to_string(),
        "no reader for `nobody`; hint: there are promptfoo, inspect, mt-bench"
    );
}

#[test]
fn a_promptfoo_reference_is_taken_only_when_there_is_one() {
    let check = |test: Value, vars: Value, reference: Option<&str>| {
        let result = serde_json::json!({"testIdx": 0, "promptIdx": 0, "provider": "p", "vars": vars,
            "prompt": {"raw": "[{\"role\":\"user\",\"content\":\"q\"}]"}, "response": {"output": "x"}, "testCase": {"assert": test}});
        let case: Case = promptfoo::case_of(result).1.unwrap().try_into().unwrap();
        assert_eq!(case.reference.as_deref(), reference);
        assert_eq!(case.input.as_deref(), Some("[user]\nq"));
    };
    let value = serde_json::json!([{"type": "equals", "value": "a"}, {"type": "contains", "value": "b"}]);
    let none = || serde_json::json!({});
    check(value.clone(), none(), Some("a"));
    check(value.clone(), serde_json::json!({"expected": "a"}), Some("a"));
    check(value, serde_json::json!({"expected": "other"}), None);
    check(serde_json::json!([{"type": "similar", "value": ["a", "b"]}]), none(), None);
    check(serde_json::json!([{"type": "contains", "value": "b"}]), none(), None);
}
