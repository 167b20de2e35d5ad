use std::sync::Arc;

use aggregation::gate::{GateCase, GateScore};
use providers::Scripted;

use super::decide::{Evidence, ScoreFault, decide};
use super::labels::{LabelFault, Labels};
use super::measure::{Beside, GateFault, measure};
use super::report::Measure;
use super::scores::Scores;
use super::stored::measure_stored;
use super::terms::{BadTerms, GateTerms, Requirement, Threshold, ThresholdError};
use crate::case::Mode;
use crate::engine::scripted::{Bench, PASSES};
use crate::panel::Panel;
use crate::store::rows::{RunKind, RunRow, RunStatus, RunSummary, RunTotals};

const PANELS: &str = "
rubrics:
  both:
    criteria:
      - {name: tone, type: nominal, scale: [warm, cold]}
      - {name: depth, type: ordinal, scale: [1, 2, 3]}
panels:
  default:
    rubric: safety
    judges: [ollama/qwen3, ollama/gemma3, ollama/phi4]
    escalate: {random_review_share: 0}
  other:
    rubric: both
    judges: [ollama/qwen3, ollama/gemma3, ollama/phi4]
";

async fn bench() -> Bench {
    Bench::of(PANELS, &Scripted::always(PASSES)).await
}

fn panel(bench: &Bench, name: &str) -> Arc<Panel> {
    bench.app.in_force().panel(Some(name)).unwrap()
}

fn shares(text: &str) -> Vec<Threshold> {
    vec![text.parse().unwrap()]
}

#[test]
fn a_threshold_is_a_share_with_or_without_a_name() {
    let check = |text: &str, criterion: Option<&str>, value: f64| {
        let expected = Threshold { criterion: criterion.map(str::to_owned), value };
        assert_eq!(text.parse::<Threshold>(), Ok(expected), "{text}");
    };
    check("quality=0.85", Some("quality"), 0.85);
    check("a = b=1", Some("a = b"), 1.0);
    check("0", None, 0.0);
    let wrong =
        |text: &str, error: ThresholdError| assert_eq!(text.parse::<Threshold>(), Err(error), "{text}");
    wrong("quality=", ThresholdError::NotANumber(String::new()));
    wrong("quality=85", ThresholdError::OutOfRange(String::from("85")));
    wrong("NaN", ThresholdError::OutOfRange(String::from("NaN")));
}

#[tokio::test]
async fn thresholds_that_cannot_be_measured_are_refused() {
    let bench = bench().await;
    let other = panel(&bench, "other");
    let of = |min: &[Threshold], pass_rate: &[Threshold]| GateTerms::of(&other, min, pass_rate);
    assert!(matches!(of(&[], &[]).unwrap().check_any(&other), Err(BadTerms::Nothing { .. })));
    assert!(matches!(of(&shares("0.5"), &[]), Err(BadTerms::WhichCriterion { .. })));
    assert!(matches!(of(&shares("deph=0.5"), &[]), Err(BadTerms::UnknownCriterion { .. })));
    assert!(matches!(of(&shares("tone=0.5"), &[]), Err(BadTerms::NoScore { .. })));
    assert!(matches!(of(&[], &shares("depth=0.5")), Err(BadTerms::NoPass { .. })));
    let terms = of(&shares("depth=0.5"), &[]).unwrap();
    assert!(matches!(terms.check_modes([Mode::Pairwise]), Err(BadTerms::Pairs { .. })));
    assert!(matches!(terms.for_pairs(&other).check_modes([Mode::Reference]), Err(BadTerms::NoPairs)));
}

fn run_of(panel: &Panel) -> RunRow {
    RunRow {
        id: String::from("run-1"),
        project: String::from("p"),
        kind: RunKind::Judge,
        panel: panel.name.clone(),
        panel_version: panel.version.clone(),
        input_hash: None,
        case_total: Some(1),
        settings: String::from("{}"),
        created_us: 1,
    }
}

#[tokio::test]
async fn a_run_that_mixes_versions_is_refused() {
    let bench = bench().await;
    let (default, other) = (panel(&bench, "default"), panel(&bench, "other"));
    let run = RunSummary {
        run: run_of(&default),
        status: RunStatus::Finished,
        finished_us: None,
        outcome: None,
        totals: RunTotals::default(),
        work: None,
    };
    let request = bench.request();
    let request = crate::engine::JudgeRequest { panel: other, run: Some(Arc::from("run-1")), ..request };
    bench.app.engine().judge(request).await.unwrap();
    let terms = GateTerms::of(&default, &shares("1"), &[]).unwrap();
    let measured = measure(bench.app.engine(), &run, &default, &terms, Beside::default()).await;
    assert!(matches!(measured, Err(GateFault::MixedVersions { .. })), "{measured:?}");
    let other = panel(&bench, "other");
    let measured = measure(bench.app.engine(), &run, &other, &terms, Beside::default()).await;
    assert!(matches!(measured, Err(GateFault::OtherVersion { .. })), "{measured:?}");
    let measured = measure_stored(bench.app.engine(), &run, &other, &terms, None).await;
    assert!(matches!(measured, Err(GateFault::OtherPanel { .. })), "{measured:?}");
    let settings = String::from(r#"{"baseline": {"name": "n", "hash": "h", "run": "gone"}}"#);
    let run = RunSummary { run: RunRow { settings, ..run.run }, ..run };
    let measured = measure_stored(bench.app.engine(), &run, &default, &terms, None).await;
    assert!(matches!(measured, Err(GateFault::NoBaselineRun { .. })), "{measured:?}");
}

#[tokio::test]
async fn scores_that_make_no_gate_name_the_run() {
    let bench = bench().await;
    let default = panel(&bench, "default");
    let fault = |measure: Measure, score: f64, correct: bool| {
        let terms = GateTerms { correct, ..GateTerms::of(&default, &shares("1"), &[]).unwrap() };
        let case = GateCase { score: GateScore::Known(score), source: None, covered: true };
        let scores = Scores { cases: vec![case], unlabelled: vec![score], ..Scores::default() };
        let requirement = Requirement { measure, ..terms.requirements.first().unwrap().clone() };
        let evidence = Evidence { scores: &scores, baseline: None, identity: None, is_check: false };
        decide(&requirement, Mode::Pointwise, &terms, &evidence).map(|_| ()).unwrap_err()
    };
    assert!(matches!(fault(Measure::Mean, 2.0, false), ScoreFault::Threshold(_)));
    assert!(matches!(fault(Measure::WinRate, 0.5, false), ScoreFault::Baseline(_)));
    let correction = fault(Measure::Mean, f64::NAN, true);
    assert!(matches!(correction, ScoreFault::Correction(_)), "{correction:?}");
    let fault = GateFault::Scores { run: String::from("run-1"), source: correction };
    assert_eq!(fault.to_string(), "the scores of run run-1 make no gate");
}

#[tokio::test]
async fn labels_are_refused_by_their_line() {
    let bench = bench().await;
    let (default, other) = (panel(&bench, "default"), panel(&bench, "other"));
    let read = |text: &str, panel: &Panel| {
        let path = bench.folder.path().join("labels.jsonl");
        std::fs::write(&path, text).unwrap();
        Labels::read(&path, panel)
    };
    let good = "{\"id\":\"a\",\"label\":\"pass\"}\n";
    let labels = read(&["\u{feff}", good, "\n"].concat(), &default).unwrap();
    assert_eq!((labels.len(), labels.is_empty(), labels.name.as_str()), (1, false, "labels.jsonl"));
    let missing = Labels::read(&bench.folder.path().join("nowhere"), &default);
    assert!(matches!(missing, Err(LabelFault::Open { .. })));
    assert!(matches!(read("{\"id\":1}", &default), Err(LabelFault::Line { line: 1, .. })));
    assert!(matches!(read(&[good, good].concat(), &default), Err(LabelFault::Twice { line: 2, .. })));
    assert!(matches!(read(good, &other), Err(LabelFault::WhichCriterion { .. })));
    let of = |more: &str| format!("{{\"id\":\"b\",\"label\":\"pass\",{more}}}\n");
    assert!(matches!(read(&of("\"criterion\":\"depht\""), &other), Err(LabelFault::Criterion { .. })));
    assert!(matches!(read(&of("\"weight\":0"), &default), Err(LabelFault::Weight { .. })));
    let mixed = [good, &of("\"weight\":2")].concat();
    assert!(matches!(read(&mixed, &default), Err(LabelFault::MixedWeights { .. })));
    assert!(matches!(labels.off_scale("a", "c"), LabelFault::OffScale { .. }));
}
