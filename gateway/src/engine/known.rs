//! Judgments that need no call: stored by this run before an interruption, cached, or recorded in a file.

use std::collections::HashMap;
use std::sync::Arc;

use aggregation::vote::Abstention;

use super::plan::{Call, asked_scale};
use super::reading::{self, Read};
use super::replay::{RecordedLine, Recording};
use super::retry::is_error;
use super::rows;
use super::work::Work;
use super::{Engine, EngineError};
use crate::judge::ReplayField;
use crate::judgment::{Judgment, Source};
use crate::store::rows::JudgmentRow;

/// For each call the judgments that are known already, in the order of the calls; `None`: it has to be asked.
pub(super) async fn find(
    engine: &Engine,
    work: &Work,
    calls: &[Call],
) -> Result<Vec<Option<Vec<Judgment>>>, EngineError> {
    let mut known: Vec<Option<Vec<Judgment>>> = vec![None; calls.len()];
    if work.resumed {
        let stored = engine.store.judgments_of_case(&work.project, &work.run, &work.case.id.0).await?;
        if stored.iter().any(|row| row.case_hash != work.case_hash) {
            return Err(EngineError::CaseChanged(work.case.id.to_string()));
        }
        // A panel that changed asks something else.
        let stored = stored.into_iter().filter(|row| row.panel_version == work.panel.version);
        let stored =
            stored.filter(|row| work.retry.is_none() || !row.outcome.as_ref().is_err_and(|a| is_error(*a)));
        fill_from_rows(engine, work, calls, &mut known, stored.collect(), Source::Resumed).await?;
    }
    fill_from_recordings(work, calls, &mut known).await?;
    if work.use_cache {
        let keys: Vec<String> = calls
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .flat_map(|(call, _)| {
                call.criteria.iter().map(|criterion| rows::cache_key(work, call, criterion))
            })
            .collect();
        if !keys.is_empty() {
            let cached = engine.store.cached_judgments(&work.project, &keys, work.cache_since_us).await?;
            fill_from_rows(engine, work, calls, &mut known, cached, Source::Cached).await?;
        }
    }
    Ok(known)
}

async fn fill_from_rows(
    engine: &Engine,
    work: &Work,
    calls: &[Call],
    known: &mut [Option<Vec<Judgment>>],
    stored: Vec<JudgmentRow>,
    source: Source,
) -> Result<(), EngineError> {
    if stored.is_empty() {
        return Ok(());
    }
    let hashes: Vec<String> = stored.iter().filter_map(|row| row.reply_hash.clone()).collect();
    let replies: HashMap<String, String> = engine
        .store
        .texts(&work.project, &work.case.id.0, &hashes)
        .await?
        .into_iter()
        .filter_map(|text| Some((text.hash, text.body?)))
        .collect();
    for (call, slot) in calls.iter().zip(known.iter_mut()).filter(|(_, slot)| slot.is_none()) {
        let found: Option<Vec<Judgment>> = call
            .criteria
            .iter()
            .map(|criterion| {
                let row = stored.iter().find(|row| match source {
                    Source::Cached => {
                        row.cache_key.as_deref() == Some(rows::cache_key(work, call, criterion).as_str())
                    }
                    Source::Resumed | Source::Asked | Source::Replayed | Source::Rule => {
                        row.judge == call.judge.id.as_str()
                            && row.criterion == criterion.name
                            && row.order == call.order
                            && row.sample == i64::from(call.sample)
                    }
                })?;
                let reply = row.reply_hash.as_ref().and_then(|hash| replies.get(hash));
                rows::to_judgment(work, call, criterion, row, reply.map(String::as_str), source)
            })
            .collect();
        *slot = found;
    }
    Ok(())
}

async fn fill_from_recordings(
    work: &Work,
    calls: &[Call],
    known: &mut [Option<Vec<Judgment>>],
) -> Result<(), EngineError> {
    let mut lines_of: Vec<(Arc<Recording>, Vec<RecordedLine>)> = Vec::new();
    for (call, slot) in calls.iter().zip(known.iter_mut()).filter(|(_, slot)| slot.is_none()) {
        let Some(replay) = &call.judge.server.replay else { continue };
        let Some(recording) = work.askers.recording(&replay.path) else { continue };
        if !lines_of.iter().any(|(opened, _)| Arc::ptr_eq(opened, &recording)) {
            let lines = recording.lines(&work.case.id.0).await?;
            lines_of.push((Arc::clone(&recording), lines));
        }
        let lines = lines_of.iter().find(|(opened, _)| Arc::ptr_eq(opened, &recording));
        *slot = Some(recorded(work, call, replay.read, lines.map_or(&[], |(_, lines)| lines)));
    }
    Ok(())
}

/// What the recording says about this call; a missing line is a missing vote.
fn recorded(work: &Work, call: &Call, read: ReplayField, lines: &[RecordedLine]) -> Vec<Judgment> {
    call.criteria
        .iter()
        .map(|criterion| {
            let line = lines.iter().find(|line| {
                line.matches(&call.judge.only)
                    && line.order() == Some(call.order)
                    && line.sample() == call.sample
                    && line.criterion().is_none_or(|name| name == criterion.name)
            });
            let mut judgment = Judgment::uncalled(
                call.judge.id.clone(),
                Arc::from(criterion.name.as_str()),
                call.order,
                call.sample,
                Err(Abstention::Unavailable),
                Source::Replayed,
            );
            match line {
                None => judgment.detail = Some(String::from("the recording has no line for this call")),
                Some(line) => {
                    let scale = asked_scale(criterion, work.mode);
                    let recorded = line.recorded(read);
                    let (read, raw) =
                        reading::read_recorded(&recorded, &work.case, criterion, &scale, call.order);
                    judgment.raw = raw.map(str::to_owned);
                    match read {
                        Ok(Read { rating, rationale, evidence }) => {
                            judgment.outcome = Ok(rating);
                            judgment.rationale = rationale;
                            judgment.evidence = evidence;
                        }
                        Err(abstention) => judgment.outcome = Err(abstention),
                    }
                }
            }
            judgment
        })
        .collect()
}
