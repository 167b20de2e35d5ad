use std::sync::Arc;

use aggregation::gate::{GateCase, GateScore};
use providers::Scripted;

use super::measure::{self, GateFault};
use super::terms::{BadTerms, GateTerms, Threshold, ThresholdError};
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
    assert!(matches!(of(&[], &[]), Err(BadTerms::Nothing { .. })));
    assert!(matches!(of(&shares("0.5"), &[]), Err(BadTerms::WhichCriterion { .. })));
    assert!(matches!(of(&shares("deph=0.5"), &[]), Err(BadTerms::UnknownCriterion { .. })));
    assert!(matches!(of(&shares("tone=0.5"), &[]), Err(BadTerms::NoScore { .. })));
    assert!(matches!(of(&[], &shares("depth=0.5")), Err(BadTerms::NoPass { .. })));
    let terms = of(&shares("depth=0.5"), &[]).unwrap();
    assert!(matches!(terms.check_modes([Mode::Pairwise]), Err(BadTerms::Pairs { .. })));
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
    let measured = measure::measure(bench.app.engine(), &run, &default, &terms).await;
    assert!(matches!(measured, Err(GateFault::MixedVersions { .. })), "{measured:?}");
}

#[tokio::test]
async fn scores_that_make_no_gate_name_the_run() {
    let bench = bench().await;
    let default = panel(&bench, "default");
    let terms = GateTerms::of(&default, &shares("1"), &[]).unwrap();
    let wrong = GateCase { score: GateScore::Known(2.0), source: None, covered: true };
    let requirement = terms.requirements.first().unwrap();
    let error = measure::require(requirement, Mode::Pointwise, &terms, &[wrong]).unwrap_err();
    let fault = GateFault::Scores { run: String::from("run-1"), source: error };
    assert_eq!(fault.to_string(), "the scores of run run-1 make no gate");
}
