//! Between judgments and verdicts and the rows that are kept of them.

use std::sync::Arc;

use aggregation::scale::{Scale, Value};
use aggregation::vote::{Distribution, Rating, Scoring};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::assemble::{value_json, value_of_json};
use super::plan::{Call, asked_scale};
use super::work::Work;
use super::{Engine, EngineError, reading};
use crate::case::Case;
use crate::judgment::{CallFacts, Judgment, Source};
use crate::panel::Panel;
use crate::rubric::Criterion;
use crate::store::rows::{
    JudgmentRow, JudgmentSource, Record, RunCaseRow, TextKind, TextRow, TriageRow, TriageStatus, VerdictRow,
};
use crate::verdict::CaseVerdict;

/// A rating as it is stored: its value as users write it, so that it can be read without its scale.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRating {
    value: serde_json::Value,
    scoring: Scoring,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    fallback: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    distribution: Option<Distribution>,
}

impl StoredRating {
    fn of(rating: &Rating, scale: &Scale) -> Self {
        Self {
            value: value_json(scale, rating.value),
            scoring: rating.scoring,
            fallback: rating.fallback,
            distribution: rating.distribution,
        }
    }

    /// `None` when the value is not on the scale.
    fn on(self, scale: &Scale) -> Option<Rating> {
        let value = value_of_json(scale, &self.value)?;
        Some(Rating {
            value,
            scoring: self.scoring,
            distribution: self.distribution,
            fallback: self.fallback,
        })
    }
}

/// The key under which a judgment may be used again: everything that can change the answer, and the case.
pub(super) fn cache_key(work: &Work, call: &Call, criterion: &Criterion) -> String {
    let mut hasher = blake3::Hasher::new();
    let fingerprint = work.prints.fingerprint(&call.judge.id, &criterion.name, work.mode);
    let order = match call.order {
        aggregation::vote::Order::AsGiven => "as_given",
        aggregation::vote::Order::Reversed => "reversed",
    };
    for part in [fingerprint, order, &work.case_hash] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.update(&call.sample.to_le_bytes());
    hasher.finalize().to_hex().to_string()
}

/// The rows of one call, its prompt and its reply.
pub(super) fn of_judgments(
    engine: &Engine,
    work: &Work,
    call: &Call,
    judgments: &[Judgment],
    prompt: Option<&str>,
) -> Vec<Record> {
    let now_us = engine.clock.now_us();
    let call_id = engine.ids.draw();
    let mut records = Vec::with_capacity(judgments.len() + 2);
    let prompt_hash = prompt.map(|prompt| push_text(&mut records, work, TextKind::Prompt, prompt, now_us));
    let mut last_reply: Option<(&str, String)> = None;
    for (judgment, criterion) in judgments.iter().zip(&call.criteria) {
        // Criteria asked together share one reply.
        let reply_hash = judgment.raw.as_deref().map(|raw| match &last_reply {
            Some((text, hash)) if *text == raw => hash.clone(),
            Some(_) | None => {
                let hash = push_text(&mut records, work, TextKind::Reply, raw, now_us);
                last_reply = Some((raw, hash.clone()));
                hash
            }
        });
        if let Some(first) = &judgment.unread_raw {
            push_text(&mut records, work, TextKind::Reply, first, now_us);
        }
        let cache_key = (judgment.source == Source::Asked && judgment.outcome.is_ok())
            .then(|| cache_key(work, call, criterion));
        let scale = asked_scale(criterion, work.mode);
        let hashes = Hashes { cache_key, prompt: prompt_hash.clone(), reply: reply_hash };
        let row = judgment_row(engine, work, call, judgment, &scale, hashes);
        records.push(Record::Judgment(Box::new(JudgmentRow {
            call_id: call_id.clone(),
            created_us: now_us,
            ..row
        })));
    }
    let charged_microusd = judgments.iter().map(|judgment| judgment.call.charged_microusd).sum();
    // What is used again was no call, and shows all the same that the key is in use.
    let calls = i64::from(judgments.iter().any(|judgment| judgment.source == Source::Asked));
    records.extend(work.purse.spending(&work.project, calls, charged_microusd, now_us));
    records
}

struct Hashes {
    cache_key: Option<String>,
    prompt: Option<String>,
    reply: Option<String>,
}

fn judgment_row(
    engine: &Engine,
    work: &Work,
    call: &Call,
    judgment: &Judgment,
    scale: &Scale,
    hashes: Hashes,
) -> JudgmentRow {
    let facts = &judgment.call;
    let usage = facts.usage;
    // A resumed judgment stands in the store already.
    let retry = work.retry.as_ref().filter(|_| judgment.source != Source::Resumed);
    let (replaces, revision) =
        retry.and_then(|retry| retry.of(judgment)).map_or((None, 0), |(id, revision)| (Some(id), revision));
    JudgmentRow {
        id: engine.ids.draw(),
        project: work.project.to_string(),
        run: work.run.to_string(),
        case_id: work.case.id.0.clone(),
        case_hash: work.case_hash.clone(),
        judge: judgment.judge.to_string(),
        criterion: judgment.criterion.to_string(),
        order: judgment.order,
        sample: i64::from(judgment.sample),
        revision,
        replaces,
        source: match judgment.source {
            Source::Asked | Source::Rule | Source::Resumed => JudgmentSource::Asked,
            Source::Cached => JudgmentSource::Cache,
            Source::Replayed => JudgmentSource::Replay,
        },
        origin_id: judgment.origin_id.clone(),
        call_id: String::new(),
        mode: work.mode,
        panel_version: work.panel.version.clone(),
        judge_fingerprint: work
            .prints
            .fingerprint(&judgment.judge, &judgment.criterion, work.mode)
            .to_owned(),
        template_hash: work.prints.template_hash(&call.judge.id).to_owned(),
        rubric_hash: work.prints.rubric_hash.clone(),
        model_replied: facts.model.clone(),
        system_fingerprint: facts.system_fingerprint.clone(),
        outcome: judgment.outcome.map(|rating| json_text(&StoredRating::of(&rating, scale))),
        reply_hash: hashes.reply,
        prompt_hash: hashes.prompt,
        repaired: facts.repaired,
        attempts: integer(facts.attempts.len() as u64),
        prompt_tokens: usage.map(|u| integer(u.prompt_tokens)),
        completion_tokens: usage.map(|u| integer(u.completion_tokens)),
        cached_tokens: usage.map(|u| integer(u.cached_tokens)),
        reasoning_tokens: usage.map(|u| integer(u.reasoning_tokens)),
        cost_microusd: facts.cost_microusd.map(integer),
        latency_us: integer(facts.latency_us),
        cache_key: hashes.cache_key,
        created_us: 0,
    }
}

/// A stored row as a judgment of this call; `None` when its rating cannot be read (written by a newer version).
pub(super) fn to_judgment(
    work: &Work,
    call: &Call,
    criterion: &Criterion,
    row: &JudgmentRow,
    reply: Option<&str>,
    source: Source,
) -> Option<Judgment> {
    let outcome = match &row.outcome {
        Ok(rating) => {
            Ok(serde_json::from_str::<StoredRating>(rating).ok()?.on(&asked_scale(criterion, work.mode))?)
        }
        Err(abstention) => Err(*abstention),
    };
    let reasons =
        reply.filter(|_| outcome.is_ok()).map(|reply| reading::reasons(reply, call, criterion, work.mode));
    let (rationale, evidence) = reasons.unwrap_or_default();
    Some(Judgment {
        rationale,
        evidence,
        raw: reply.map(str::to_owned),
        origin_id: Some(row.origin_id.clone().unwrap_or_else(|| row.id.clone())),
        call: stored_facts(row, source),
        ..Judgment::uncalled(
            call.judge.id.clone(),
            Arc::from(criterion.name.as_str()),
            call.order,
            call.sample,
            outcome,
            source,
        )
    })
}

/// What a stored judgment took. Only a resumed one was paid for by the verdict that it goes into.
fn stored_facts(row: &JudgmentRow, source: Source) -> CallFacts {
    let model = row.model_replied.clone();
    match source {
        Source::Resumed => {
            let cost_microusd = row.cost_microusd.and_then(|cost| u64::try_from(cost).ok());
            CallFacts { cost_microusd, model, ..CallFacts::default() }
        }
        Source::Asked | Source::Cached | Source::Replayed | Source::Rule => {
            CallFacts { model, ..CallFacts::default() }
        }
    }
}

/// What a verdict carries in words, kept apart so that it can be erased.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Reasons {
    /// By criterion and judge.
    votes: Vec<ReasonOf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReasonOf {
    criterion: String,
    judge: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    rationale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    evidence: Option<String>,
}

/// Verdict, case, and queue place in one submission: they are committed together.
pub(super) fn of_verdict(engine: &Engine, work: &Work, verdict: &CaseVerdict) -> Vec<Record> {
    let now_us = engine.clock.now_us();
    let mut records = Vec::with_capacity(5);
    let text_hash = push_text(&mut records, work, TextKind::Case, &json_text(&*work.case), now_us);
    let (body, reasons) = split(verdict);
    let reasons_hash = (!reasons.votes.is_empty())
        .then(|| push_text(&mut records, work, TextKind::Reasons, &json_text(&reasons), now_us));
    if work.in_run() {
        let place = Place { project: &work.project, run: &work.run, position: work.position };
        records.push(Record::RunCase(run_case(place, &work.case, inclusion_ppb(work), text_hash, now_us)));
    }
    let disagreement = most(verdict.criteria.values().filter_map(|c| c.disagreement));
    let row = VerdictRow {
        id: verdict.id.clone(),
        project: work.project.to_string(),
        run: work.run.to_string(),
        case_id: work.case.id.0.clone(),
        case_hash: work.case_hash.clone(),
        revision: work.retry.as_ref().map_or(0, |retry| retry.revision),
        replaces: work.retry.as_ref().map(|retry| retry.verdict_id.clone()),
        endpoint: work.endpoint,
        key_id: work.purse.key.as_ref().map(|key| key.id.to_string()),
        panel: work.panel.name.clone(),
        panel_version: work.panel.version.clone(),
        mode: work.mode,
        decided: verdict.is_decided(),
        escalated: verdict.escalated,
        degraded: verdict.quorum.degraded,
        disagreement_ppm: disagreement.map(ppm),
        score_ppm: least(verdict.judged().filter_map(|c| c.score)).map(ppm),
        reasons_hash,
        body: json_text(&body),
        cost_microusd: verdict.cost_usd.map(ppm),
        latency_us: micros(verdict.latency_ms),
        overhead_us: micros(verdict.overhead_ms),
        created_us: now_us,
    };
    // People judge a case once, however often judges did.
    if verdict.escalated && !work.case.is_further_repeat() {
        records.push(Record::Triage(Box::new(triage_row(engine, work, verdict, &row, now_us))));
    }
    records.push(Record::Verdict(Box::new(row)));
    records
}

fn triage_row(
    engine: &Engine,
    work: &Work,
    verdict: &CaseVerdict,
    row: &VerdictRow,
    now_us: i64,
) -> TriageRow {
    let severity = verdict.escalation_reasons.iter().map(|reason| *reason as i64).min().unwrap_or(i64::MAX);
    TriageRow {
        id: engine.ids.draw(),
        project: row.project.clone(),
        verdict_id: row.id.clone(),
        run: row.run.clone(),
        case_id: row.case_id.clone(),
        case_hash: row.case_hash.clone(),
        panel: row.panel.clone(),
        panel_version: row.panel_version.clone(),
        rubric_hash: work.prints.rubric_hash.clone(),
        mode: work.mode,
        status: TriageStatus::Open,
        severity,
        reasons: json_text(&verdict.escalation_reasons),
        disagreement_ppm: row.disagreement_ppm,
        nearness_ppm: nearness(work, verdict).map(ppm),
        slots: 1,
        practice: false,
        inclusion_ppb: inclusion_ppb(work),
        created_us: now_us,
    }
}

/// Least distance of a score from its pass threshold, in score01.
fn nearness(work: &Work, verdict: &CaseVerdict) -> Option<f64> {
    let distances = work.panel.rubric.criteria.iter().filter_map(|criterion| {
        let threshold = criterion.scale.score01(Value::Number(criterion.pass?))?;
        let score = verdict.criteria.get(&criterion.name)?.score?;
        Some((score - threshold).abs())
    });
    least(distances)
}

/// Where a case stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub project: &'a str,
    pub run: &'a str,
    pub position: i64,
}

pub(crate) fn run_case(
    place: Place<'_>,
    case: &Case,
    inclusion_ppb: Option<i64>,
    text_hash: String,
    now_us: i64,
) -> RunCaseRow {
    let models: Vec<Option<&str>> = case.candidates().map(|candidate| candidate.model.as_deref()).collect();
    let lengths: Vec<usize> = case.candidates().map(|candidate| candidate.output.chars().count()).collect();
    RunCaseRow {
        project: place.project.to_owned(),
        run: place.run.to_owned(),
        case_id: case.id.0.clone(),
        case_hash: case.content_hash(),
        position: place.position,
        shard: 0,
        mode: case.mode(),
        source: case.source.clone(),
        sensitivity: case.sensitivity,
        inclusion_ppb,
        facts: json!({"models": models, "lengths": lengths}).to_string(),
        text_hash: Some(text_hash),
        created_us: now_us,
    }
}

/// The probability with which the case was drawn for review; `None` when it was not drawn.
fn inclusion_ppb(work: &Work) -> Option<i64> {
    inclusion_ppb_of(&work.panel, work.is_drawn)
}

pub(super) fn inclusion_ppb_of(panel: &Panel, is_drawn: bool) -> Option<i64> {
    is_drawn.then(|| rounded(panel.random_review_share * 1e9))
}

/// The stored verdict with its words put back, as far as they are still there.
pub(super) fn to_verdict(row: &VerdictRow, reasons: Option<&str>) -> Result<CaseVerdict, EngineError> {
    let mut verdict: CaseVerdict = serde_json::from_str(&row.body)
        .map_err(|source| EngineError::Unreadable { id: row.id.clone(), source })?;
    let reasons: Reasons = reasons.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    for reason in reasons.votes {
        let criterion = verdict.criteria.get_mut(&reason.criterion);
        if let Some(vote) = criterion.and_then(|c| c.votes.iter_mut().find(|vote| vote.judge == reason.judge))
        {
            vote.rationale = reason.rationale;
            vote.evidence = reason.evidence;
        }
    }
    Ok(verdict)
}

fn split(verdict: &CaseVerdict) -> (CaseVerdict, Reasons) {
    let mut body = verdict.clone();
    let mut reasons = Reasons::default();
    for (name, criterion) in &mut body.criteria {
        for vote in &mut criterion.votes {
            let (rationale, evidence) = (vote.rationale.take(), vote.evidence.take());
            if rationale.is_some() || evidence.is_some() {
                let (criterion, judge) = (name.clone(), vote.judge.clone());
                reasons.votes.push(ReasonOf { criterion, judge, rationale, evidence });
            }
        }
    }
    (body, reasons)
}

/// A verdict as it was answered, to be answered again word for word.
pub(super) fn response_text(
    project: &str,
    case: &Case,
    panel: &Panel,
    verdict: &CaseVerdict,
    now_us: i64,
) -> TextRow {
    text_row(project, case, panel, (TextKind::Response, &json_text(verdict)), now_us)
}

/// The text that a case is read from again.
pub(super) fn case_text(project: &str, case: &Case, panel: &Panel, now_us: i64) -> TextRow {
    text_row(project, case, panel, (TextKind::Case, &json_text(case)), now_us)
}

fn push_text(records: &mut Vec<Record>, work: &Work, kind: TextKind, body: &str, now_us: i64) -> String {
    let row = text_row(&work.project, &work.case, &work.panel, (kind, body), now_us);
    let hash = row.hash.clone();
    records.push(Record::Text(row));
    hash
}

fn text_row(
    project: &str,
    case: &Case,
    panel: &Panel,
    (kind, body): (TextKind, &str),
    now_us: i64,
) -> TextRow {
    let retained_until_us = panel
        .retain_texts
        .map(|kept| now_us.saturating_add(i64::try_from(kept.as_micros()).unwrap_or(i64::MAX)));
    TextRow {
        project: project.to_owned(),
        case_id: case.id.0.clone(),
        kind,
        hash: blake3::hash(body.as_bytes()).to_hex().to_string(),
        source: case.source.clone(),
        panel: panel.name.clone(),
        body: body.to_owned(),
        recorded_us: now_us,
        retained_until_us,
    }
}

fn json_text(value: &impl Serialize) -> String {
    // Our own structures always serialise; an empty text would be seen as unreadable, never as a value.
    serde_json::to_string(value).unwrap_or_default()
}

fn integer(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn ppm(x: f64) -> i64 {
    rounded(x * 1e6)
}

fn micros(millis: f64) -> i64 {
    rounded(millis * 1e3)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and these quantities are far below 2^53"
)]
fn rounded(x: f64) -> i64 {
    x.round() as i64
}

fn most(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.fold(None, |most, x| Some(most.map_or(x, |m: f64| m.max(x))))
}

fn least(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.fold(None, |least, x| Some(least.map_or(x, |m: f64| m.min(x))))
}
