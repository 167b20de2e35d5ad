//! From judgments to the verdict that users see. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use aggregation::order::{ExpectedOrders, fold_orders};
use aggregation::panel_vote::{Method, Weights};
use aggregation::scale::{Preference, Scale, Value};
use aggregation::verdict::{EscalationReason, Outcome, Policy, Undecided, Verdict, Warning, decide};
use aggregation::vote::{Abstention, Exclusion, Order, Pass, UnparseableClass, Vote};

use super::Attendance;
use super::plan::asked_scale;
use super::work::Work;
use crate::case::{Candidates, Case, Mode};
use crate::checks::Finding;
use crate::judgment::{Judgment, Source};
use crate::panel::{MethodName, Orders, Panel};
use crate::rubric::Criterion;
use crate::verdict::{
    AbstentionKind, AbstentionReport, CallReport, CaseVerdict, CriterionMethod, CriterionVerdict, NoValue,
    QuorumReport, VoteReport,
};

/// One criterion, folded and decided.
struct Decided {
    scale: Scale,
    votes: Vec<Vote>,
    verdict: Verdict,
}

/// Votes that the panel lacks: missing members, or one more when the votes are split without a majority.
pub(super) fn missing_votes(work: &Work, attendance: &Attendance, judgments: &[Judgment]) -> usize {
    let members = work.panel.judges.len();
    let mut missing = 0;
    for criterion in &work.panel.rubric.criteria {
        let decided = decide_criterion(work, attendance, criterion, judgments);
        missing = missing.max(members.saturating_sub(decided.verdict.quorum.voted));
        let is_split = matches!(decided.verdict.outcome, Outcome::Undecided(Undecided::NoMajority))
            || decided.verdict.escalation_reasons.contains(&EscalationReason::NoMajority);
        missing = missing.max(usize::from(is_split));
    }
    missing
}

pub(super) fn verdict(work: &Work, attendance: &Attendance, judgments: &[Judgment]) -> CaseVerdict {
    let panel = &work.panel;
    let mut criteria = BTreeMap::new();
    let mut reasons = Vec::new();
    let mut warnings = panel.warnings.clone();
    let mut quorum: Option<QuorumReport> = None;
    for criterion in &panel.rubric.criteria {
        let decided = decide_criterion(work, attendance, criterion, judgments);
        if !work.settled.is_by_check() {
            reasons.extend(decided.verdict.escalation_reasons.iter().copied());
        }
        warnings.extend(criterion_warnings(criterion, &decided));
        quorum = Some(fewest(quorum, &decided.verdict));
        let mut reported = report(criterion, &decided, attendance, judgments);
        if work.settled.is_by_check() && reported.undefined.is_some() {
            reported.undefined = Some(NoValue::FailedCheck);
        }
        criteria.insert(criterion.name.clone(), reported);
    }
    for (check, finding) in panel.rubric.checks.iter().zip(&work.findings) {
        if matches!(finding, Finding::Undecidable(_)) {
            reasons.push(EscalationReason::UndecidableCheck);
        }
        criteria.insert(check.name.clone(), report_check(finding));
    }
    reasons.sort_unstable();
    reasons.dedup();
    if attendance.has_unknown_kin {
        warnings.push(String::from("kinship_unknown: a candidate's model is in no kinship table"));
    }
    if work.allow_kin {
        warnings.push(String::from("kinship exclusion is switched off (--allow-kin)"));
    }
    CaseVerdict {
        id: work.verdict_id.clone(),
        case: work.case.id.0.clone(),
        repeat_of: work.case.repeat_of.as_ref().map(|first| first.0.clone()),
        run: work.in_run().then(|| work.run.to_string()),
        panel: panel.name.clone(),
        panel_version: panel.version.clone(),
        mode: work.mode,
        model: model_of(&work.case),
        source: work.case.source.clone(),
        criteria,
        escalated: !reasons.is_empty(),
        escalation_reasons: reasons,
        quorum: quorum.unwrap_or(QuorumReport {
            asked: 0,
            voted: 0,
            required: panel.quorum,
            met: false,
            degraded: true,
        }),
        warnings,
        cost_usd: cost_usd(judgments),
        calls: calls(judgments),
        latency_ms: 0.0,
        overhead_ms: 0.0,
        record_ms: 0.0,
    }
}

/// Time during which at least one request was on the wire: parallel requests count once.
pub(super) fn upstream_union(judgments: &[Judgment]) -> Duration {
    let mut intervals: Vec<_> =
        judgments.iter().flat_map(|j| j.call.attempts.iter().map(|a| (a.sent, a.ended))).collect();
    intervals.sort_unstable();
    let mut total = Duration::ZERO;
    let mut open: Option<(tokio::time::Instant, tokio::time::Instant)> = None;
    for (sent, ended) in intervals {
        open = match open {
            Some((start, end)) if sent <= end => Some((start, end.max(ended))),
            Some((start, end)) => {
                total += end - start;
                Some((sent, ended))
            }
            None => Some((sent, ended)),
        };
    }
    total + open.map_or(Duration::ZERO, |(start, end)| end - start)
}

fn decide_criterion(
    work: &Work,
    attendance: &Attendance,
    criterion: &Criterion,
    judgments: &[Judgment],
) -> Decided {
    let scale = asked_scale(criterion, work.mode);
    let (orders, order_list): (_, &[Order]) = match (work.mode, work.panel.orders) {
        (Mode::Pairwise, Orders::Both) => (ExpectedOrders::Both, &[Order::AsGiven, Order::Reversed]),
        (Mode::Pairwise, Orders::AsGiven) | (Mode::Pointwise | Mode::Reference, _) => {
            (ExpectedOrders::AsGiven, &[Order::AsGiven])
        }
    };
    let mut passes: Vec<Pass> =
        judgments.iter().filter(|j| *j.criterion == *criterion.name).map(Judgment::pass).collect();
    for (judge, exclusion) in &attendance.excluded {
        passes.extend(order_list.iter().map(|&order| Pass {
            judge: judge.id.clone(),
            order,
            sample: 0,
            outcome: Err(Abstention::Excluded(*exclusion)),
        }));
    }
    let mut votes = fold_orders(&passes, orders, &scale);
    // In the panel's order, whatever order the replies came in.
    let members = || work.panel.judges.iter().chain(&work.panel.replacements);
    votes.sort_by_key(|vote| members().position(|judge| judge.id == vote.judge));
    let policy = policy(&work.panel, criterion, scale.clone());
    let verdict = decide(&votes, &policy);
    Decided { scale, votes, verdict }
}

fn policy(panel: &Panel, criterion: &Criterion, scale: Scale) -> Policy {
    let is_numeric = scale.range().is_some();
    let method = match panel.method {
        // No calibration exists yet, so no judge has weight: `decide` gives the unweighted result and says so.
        Some(MethodName::KappaWeighted) => Method::KappaWeighted(Weights::default()),
        Some(MethodName::LogOdds) => Method::LogOdds(Weights::default()),
        Some(MethodName::Mean) if is_numeric => Method::Mean,
        Some(MethodName::Median) | None if is_numeric => Method::Median,
        // Numbers may be voted on as labels; labels and pairs have no median or mean.
        Some(MethodName::Majority | MethodName::Median | MethodName::Mean) | None => Method::Majority,
    };
    let pass = match scale {
        Scale::Ordinal(_) | Scale::Continuous(_) => criterion.pass,
        Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. } => None,
    };
    Policy { scale, method, quorum: panel.quorum, pass, escalate: panel.escalate }
}

fn report(
    criterion: &Criterion,
    decided: &Decided,
    attendance: &Attendance,
    judgments: &[Judgment],
) -> CriterionVerdict {
    let Decided { scale, votes, verdict } = decided;
    let (value, score, undefined) = match verdict.outcome {
        Outcome::Decided { value, score } => (Some(value), score, None),
        Outcome::Undecided(why) => (None, None, Some(NoValue::from(why))),
    };
    let mut report = CriterionVerdict {
        value: value.map(|value| value_json(scale, value)),
        undefined,
        score,
        passed: verdict.passed,
        preference: value.and_then(preference),
        order_consistent: verdict.order_consistent,
        method: verdict.method.into(),
        disagreement: verdict.disagreement,
        votes: Vec::new(),
        abstentions: Vec::new(),
        detail: None,
    };
    for vote in votes {
        let mine = judgments.iter().filter(|j| j.judge == vote.judge && *j.criterion == *criterion.name);
        match vote.outcome {
            Ok(rating) => {
                let mine: Vec<_> = mine.collect();
                report.votes.push(VoteReport {
                    judge: vote.judge.to_string(),
                    value: value_json(scale, rating.value),
                    score: vote.pair.map_or_else(|| scale.score01(rating.value), |pair| Some(pair.pref_a)),
                    scoring: rating.scoring,
                    fallback: rating.fallback,
                    label_mass: rating.distribution.map(|d| d.label_mass),
                    order_consistent: vote.pair.and_then(|pair| pair.consistent),
                    calibration: String::from("missing"),
                    rationale: mine.iter().find_map(|j| j.rationale.clone()),
                    evidence: mine.iter().find_map(|j| j.evidence.clone()),
                    replacement: attendance.replacements.iter().any(|judge| judge.id == vote.judge),
                });
            }
            Err(abstention) => {
                let detail = mine.filter(|j| j.outcome == Err(abstention)).find_map(|j| j.detail.clone());
                report.abstentions.push(abstention_report(vote, abstention, detail));
            }
        }
    }
    report
}

/// A check as a criterion of its own: pass or fail, or neither with the reason; no judge, no vote.
fn report_check(finding: &Finding) -> CriterionVerdict {
    let (passed, detail) = match finding {
        Finding::Pass => (Some(true), None),
        Finding::Fail(why) => (Some(false), Some(why.clone())),
        Finding::Undecidable(why) => (None, Some(why.clone())),
    };
    CriterionVerdict {
        value: passed.map(|passed| value_json(&Scale::PassFail, Value::Pass(passed))),
        undefined: passed.is_none().then_some(NoValue::Undecidable),
        score: passed.map(|passed| if passed { 1.0 } else { 0.0 }),
        passed,
        preference: None,
        order_consistent: None,
        method: CriterionMethod::Check,
        disagreement: None,
        votes: Vec::new(),
        abstentions: Vec::new(),
        detail,
    }
}

fn abstention_report(vote: &Vote, abstention: Abstention, detail: Option<String>) -> AbstentionReport {
    let (kind, class, reason) = kind_of(abstention);
    AbstentionReport { judge: vote.judge.to_string(), kind, class, reason, detail }
}

/// An abstention in the words of the verdict.
pub fn kind_of(abstention: Abstention) -> (AbstentionKind, Option<UnparseableClass>, Option<Exclusion>) {
    match abstention {
        Abstention::Refused => (AbstentionKind::Refused, None, None),
        Abstention::Unparseable(class) => (AbstentionKind::Unparseable, Some(class), None),
        Abstention::Unsupported => (AbstentionKind::Unsupported, None, None),
        Abstention::TooLong => (AbstentionKind::TooLong, None, None),
        Abstention::TimedOut => (AbstentionKind::TimedOut, None, None),
        Abstention::Unavailable => (AbstentionKind::Unavailable, None, None),
        Abstention::RateLimited => (AbstentionKind::RateLimited, None, None),
        Abstention::OverBudget => (AbstentionKind::OverBudget, None, None),
        Abstention::Excluded(reason) => (AbstentionKind::Excluded, None, Some(reason)),
    }
}

/// A value as users write it: a number, a label, `pass`/`fail`, or `a`/`b`/`tie`.
pub fn value_json(scale: &Scale, value: Value) -> serde_json::Value {
    match value {
        Value::Number(x) => serde_json::Value::from(x),
        Value::Category(index) => match scale {
            Scale::Nominal(labels) => {
                labels.values().get(index).map_or(serde_json::Value::Null, |l| l.as_str().into())
            }
            Scale::Ordinal(_) | Scale::Continuous(_) | Scale::PassFail | Scale::Pairwise { .. } => {
                serde_json::Value::Null
            }
        },
        Value::Pass(passed) => serde_json::Value::from(if passed { "pass" } else { "fail" }),
        Value::Preference(p) => serde_json::Value::from(p.to_string()),
    }
}

/// The inverse of `value_json`; `None` when it is not on the scale.
pub fn value_of_json(scale: &Scale, json: &serde_json::Value) -> Option<Value> {
    let value = match scale {
        Scale::Ordinal(_) | Scale::Continuous(_) => Value::Number(json.as_f64()?),
        Scale::Nominal(labels) => {
            let label = json.as_str()?;
            Value::Category(labels.values().iter().position(|known| known == label)?)
        }
        Scale::PassFail => match json.as_str()? {
            "pass" => Value::Pass(true),
            "fail" => Value::Pass(false),
            _ => return None,
        },
        Scale::Pairwise { .. } => Value::Preference(serde_json::from_value(json.clone()).ok()?),
    };
    scale.contains(value).then_some(value)
}

fn preference(value: Value) -> Option<Preference> {
    match value {
        Value::Preference(p) => Some(p),
        Value::Number(_) | Value::Category(_) | Value::Pass(_) => None,
    }
}

fn criterion_warnings(criterion: &Criterion, decided: &Decided) -> Vec<String> {
    let name = &criterion.name;
    let mut warnings: Vec<String> = decided
        .verdict
        .warnings
        .iter()
        .map(|warning| match warning {
            Warning::WeightsUnusable => format!(
                "weights_unusable: fewer judges than the quorum have a positive weight on {name}; the unweighted result is given"
            ),
            Warning::ScoringMixed => format!("scoring_mixed: expected and discrete scores stand side by side on {name}"),
        })
        .collect();
    let judges: Vec<&str> =
        decided.votes.iter().filter(|v| v.outcome.is_ok()).map(|v| v.judge.as_str()).collect();
    if !judges.is_empty() {
        warnings.push(format!("no fresh calibration for {} on {name}", judges.join(", ")));
    }
    warnings
}

fn fewest(so_far: Option<QuorumReport>, verdict: &Verdict) -> QuorumReport {
    let q = verdict.quorum;
    let this = QuorumReport {
        asked: q.asked,
        voted: q.voted,
        required: q.required,
        met: q.met,
        degraded: q.voted < q.asked,
    };
    match so_far {
        Some(other) if other.voted <= this.voted => {
            QuorumReport { met: other.met && this.met, degraded: other.degraded || this.degraded, ..other }
        }
        Some(other) => {
            QuorumReport { met: other.met && this.met, degraded: other.degraded || this.degraded, ..this }
        }
        None => this,
    }
}

/// The sum of what was asked now and, for a resumed case, before; `None` as soon as one call of now that was sent has
/// no known cost.
pub(super) fn cost_usd(judgments: &[Judgment]) -> Option<f64> {
    let resumed = judgments.iter().filter(|j| j.source == Source::Resumed);
    let mut total: u64 = resumed.filter_map(|j| j.call.cost_microusd).sum();
    for judgment in judgments.iter().filter(|j| j.source == Source::Asked && !j.call.attempts.is_empty()) {
        total = total.saturating_add(judgment.call.cost_microusd?);
    }
    #[expect(clippy::cast_precision_loss, reason = "exact below 9 billion dollars")]
    let total = total as f64;
    Some(total / 1e6)
}

pub(super) fn calls(judgments: &[Judgment]) -> CallReport {
    let mut report = CallReport::default();
    for judgment in judgments {
        match judgment.source {
            Source::Asked => {
                report.asked += 1;
                let requests = u32::try_from(judgment.call.attempts.len()).unwrap_or(u32::MAX);
                let planned = 1 + u32::from(judgment.call.repaired);
                report.retried += requests.saturating_sub(planned);
                report.repaired += u32::from(judgment.call.repaired);
            }
            Source::Cached | Source::Resumed | Source::Replayed => report.reused += 1,
            Source::Rule => {}
        }
    }
    report
}

fn model_of(case: &Case) -> Option<String> {
    match &case.candidates {
        Candidates::One(only) => only.model.clone(),
        Candidates::Pair { a, b } => match (&a.model, &b.model) {
            (None, None) => None,
            (a, b) => Some(format!("{} / {}", a.as_deref().unwrap_or("?"), b.as_deref().unwrap_or("?"))),
        },
    }
}
