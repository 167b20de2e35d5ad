//! Reports with every part filled, and names that try to get out of it.

use std::collections::BTreeMap;

use aggregation::Decision;
use aggregation::gate::GateReason;
use aggregation::verdict::{AppliedMethod, EscalationReason};
use aggregation::vote::{Scoring, UnparseableClass};
use serde_json::json;

use crate::case::Mode;
use crate::gate::report::{
    BaselineReport, CaseLine, Claimed, Comparison, Correction, CriterionReport, GateReport, JudgeReport,
    LabelReport, Measure, Obstacle, PairAgreement, Regression, RequirementReport, RunGate, Slice,
};
use crate::verdict::{
    AbstentionKind, AbstentionReport, CallReport, CaseVerdict, CriterionVerdict, NoValue, QuorumReport,
    VoteReport,
};

/// What a stranger may call a case, a criterion, a judge, a model.
pub(super) const HOSTILE: &str = "</title><script>alert(1)</script>\"'`|[x](http://x)\\|*_@team\r\n# h\n::add-mask::x%0A\u{0}\u{1b}\u{202e}<img onerror=\"x\">&amp;";

pub(super) fn report() -> GateReport {
    let second = RunGate {
        run: String::from("01934e30-0000-7000-8000-000000000002"),
        panel: String::from("strict"),
        ..run(Decision::Pass)
    };
    GateReport::of(vec![run(Decision::Fail), second])
}

pub(super) fn hostile() -> GateReport {
    let name = || HOSTILE.to_owned();
    let mut run = run(Decision::Fail);
    (run.panel, run.run, run.panel_version) = (name(), name(), name());
    run.warnings = BTreeMap::from([(name(), 2)]);
    run.obstacles = vec![Obstacle::ModelChanged { judge: name(), models: vec![name(), String::from("m2")] }];
    for own in &mut run.requirements {
        (own.criterion, own.explanation) = (name(), name());
    }
    for own in &mut run.criteria {
        own.criterion = name();
        own.calibration = BTreeMap::from([(name(), 3)]);
        for pair in &mut own.agreement {
            pair.first = name();
        }
    }
    for own in &mut run.judges {
        (own.judge, own.models) = (name(), vec![name()]);
    }
    for own in run.worst.iter_mut().chain(&mut run.disputed) {
        (own.case, own.criterion, own.value) = (name(), name(), Some(json!(HOSTILE)));
        own.votes = BTreeMap::from([(name(), json!(HOSTILE))]);
    }
    for own in &mut run.regressions {
        (own.case, own.criterion) = (name(), name());
    }
    if let Some(own) = &mut run.baseline {
        (own.name, own.hash) = (name(), name());
    }
    if let Some(own) = &mut run.labels {
        own.name = name();
    }
    for own in &mut run.slices {
        (own.name, own.criterion) = (name(), name());
    }
    GateReport::of(vec![run])
}

/// A run with one requirement of this decision.
pub(super) fn run(decision: Decision) -> RunGate {
    RunGate {
        run: String::from("01934e30-0000-7000-8000-000000000001"),
        begun: String::from("2026-01-31T12:00:00.5Z"),
        panel: String::from("default"),
        panel_version: String::from("b3:0f1e"),
        decision,
        obstacles: Vec::new(),
        requirements: vec![requirement(decision)],
        cases: Some(60),
        finished: 60,
        escalated: 3,
        undecided: 1,
        criteria: vec![criterion()],
        judges: vec![judge("ann", true), judge("bob", false)],
        baseline: Some(BaselineReport {
            name: String::from("main.jsonl"),
            hash: String::from("b3:77aa"),
            run: None,
        }),
        labels: Some(LabelReport {
            name: String::from("labels.jsonl"),
            hash: String::from("b3:88bb"),
            labels: 20,
            replaced: 2,
        }),
        regressions: vec![Regression {
            case: String::from("q4"),
            criterion: String::from("quality"),
            candidate: 0.25,
            baseline: 0.875,
        }],
        worst: vec![line("q7", 0.0)],
        disputed: vec![line("q9", 0.75)],
        slices: vec![Slice {
            by: String::from("model"),
            name: String::from("support-2"),
            criterion: String::from("quality"),
            mode: Mode::Pointwise,
            cases: 30,
            scored: 29,
            mean: Some(0.75),
        }],
        cost_usd: Some(0.0123),
        warnings: BTreeMap::from([
            (String::from("all judges are of one family (`llama`)"), 60),
            (String::from("no fresh calibration for bob on quality"), 2),
        ]),
    }
}

pub(super) fn requirement(decision: Decision) -> RequirementReport {
    let (estimate, reason) = match decision {
        Decision::Pass => (0.912, GateReason::Decided),
        Decision::Fail => (0.78, GateReason::Decided),
        Decision::Inconclusive => (0.855, GateReason::BoundsHoldThreshold),
    };
    RequirementReport {
        criterion: String::from("quality"),
        mode: Mode::Pointwise,
        measure: Measure::Mean,
        threshold: 0.85,
        decision,
        reason,
        explanation: format!("mean {estimate:.3}, held against 0.85"),
        estimate: Some(estimate),
        undefined: None,
        lower: Some(estimate - 0.03),
        upper: Some(estimate + 0.03),
        confidence: 0.95,
        n: 59,
        clusters: 40,
        n_pending: 3,
        n_missing: 1,
        pending_range: Some((estimate - 0.04, estimate + 0.01)),
        needed_more: (decision == Decision::Inconclusive).then_some(140),
        most_failures: None,
        comparison: (decision == Decision::Pass).then_some(Comparison {
            claim: Claimed::NonInferior,
            wins: 20,
            ties: 31,
            losses: 8,
            p_sign: 0.036,
            detectable: Some(0.07),
        }),
        correction: (decision == Decision::Fail).then_some(Correction {
            judge_only: 0.81,
            human_only: 0.77,
            lambda: 0.6,
            labelled: 20,
            unlabelled: 40,
        }),
    }
}

pub(super) fn criterion() -> CriterionReport {
    CriterionReport {
        criterion: String::from("quality"),
        mode: Mode::Pointwise,
        cases: 60,
        coverage: Some(59.0 / 60.0),
        mean: Some(0.78),
        pass_rate: Some(0.85),
        a: 0,
        b: 0,
        ties: 0,
        mean_disagreement: Some(0.21),
        histogram: vec![2, 0, 5, 0, 0, 11, 0, 19, 0, 22],
        agreement: vec![PairAgreement {
            first: String::from("ann"),
            second: String::from("bob"),
            n: 58,
            kappa: Some(0.64),
            undefined: None,
        }],
        calibration: BTreeMap::from([(String::from("fresh"), 59), (String::from("missing"), 58)]),
    }
}

pub(super) fn judge(name: &str, is_priced: bool) -> JudgeReport {
    JudgeReport {
        judge: name.to_owned(),
        models: vec![format!("{name}-2026")],
        votes: 58,
        abstentions: BTreeMap::from([(AbstentionKind::TimedOut, 1), (AbstentionKind::Unparseable, 1)]),
        order_inconsistent: 0,
        order_measured: 0,
        calls: 60,
        cost_usd: is_priced.then_some(0.0123),
        mean_latency_ms: Some(812.4),
        max_latency_ms: Some(2210.0),
    }
}

pub(super) fn line(case: &str, disagreement: f64) -> CaseLine {
    CaseLine {
        case: case.to_owned(),
        criterion: String::from("quality"),
        mode: Mode::Pointwise,
        value: Some(json!(1.5)),
        score: Some(0.125),
        disagreement: Some(disagreement),
        votes: BTreeMap::from([(String::from("ann"), json!(1)), (String::from("bob"), json!(2))]),
        escalated: disagreement > 0.5,
    }
}

/// One case of each ending: passed, not passed, waiting, without a value; then one with hostile words.
pub(super) fn verdicts() -> Vec<CaseVerdict> {
    let vote = |judge: &str, value: f64, rationale: &str| VoteReport {
        judge: judge.to_owned(),
        value: json!(value),
        score: Some((value - 1.0) / 4.0),
        scoring: Scoring::Discrete,
        fallback: false,
        label_mass: None,
        order_consistent: None,
        calibration: String::from("missing"),
        rationale: Some(rationale.to_owned()),
        evidence: None,
        replacement: false,
    };
    let given = |value: f64| CriterionVerdict {
        value: Some(json!(value)),
        undefined: None,
        score: Some((value - 1.0) / 4.0),
        passed: Some(value >= 4.0),
        preference: None,
        order_consistent: None,
        method: AppliedMethod::Median.into(),
        disagreement: Some(0.1),
        votes: vec![vote("ann", value, "says why"), vote("bob", value, HOSTILE)],
        abstentions: Vec::new(),
        detail: None,
    };
    let nothing = CriterionVerdict {
        value: None,
        undefined: Some(NoValue::NoQuorum),
        score: None,
        passed: None,
        disagreement: None,
        votes: Vec::new(),
        abstentions: vec![AbstentionReport {
            judge: String::from("ann"),
            kind: AbstentionKind::Unparseable,
            class: Some(UnparseableClass::NoVerdict),
            reason: None,
            detail: Some(String::from("no label in <reply>")),
        }],
        ..given(1.0)
    };
    vec![
        verdict("q1", given(5.0), &[]),
        verdict("q2", given(2.0), &[]),
        verdict("q3", given(4.0), &[EscalationReason::Disagreement, EscalationReason::NearThreshold]),
        verdict("q4", nothing, &[EscalationReason::NoQuorum]),
        verdict(HOSTILE, given(1.0), &[]),
    ]
}

fn verdict(case: &str, given: CriterionVerdict, reasons: &[EscalationReason]) -> CaseVerdict {
    CaseVerdict {
        id: String::from("01934e30-0000-7000-8000-0000000000ff"),
        case: case.to_owned(),
        repeat_of: None,
        run: None,
        panel: String::from("default"),
        panel_version: String::from("b3:0f1e"),
        mode: Mode::Pointwise,
        model: None,
        source: None,
        criteria: BTreeMap::from([(String::from("quality"), given)]),
        escalated: !reasons.is_empty(),
        escalation_reasons: reasons.to_vec(),
        quorum: QuorumReport { asked: 2, voted: 2, required: 2, met: true, degraded: false },
        warnings: Vec::new(),
        cost_usd: Some(0.0001),
        calls: CallReport::default(),
        latency_ms: 812.5,
        overhead_ms: 0.5,
        record_ms: 0.1,
    }
}
