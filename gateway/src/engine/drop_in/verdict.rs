//! The verdict on a caller's request: each voted value is a criterion of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aggregation::verdict::EscalationReason;
use aggregation::vote::{Exclusion, Order, Scoring};
use serde_json::Value;

use super::PanelQuestion;
use super::reply::Part;
use crate::dropin::{DecidedBy, Folded, LeafVote, Outcome, Reading};
use crate::engine::assemble::{calls, cost_usd, kind_of};
use crate::engine::work::Work;
use crate::judge::Judge;
use crate::judgment::Judgment;
use crate::verdict::{
    AbstentionKind, AbstentionReport, CaseVerdict, CriterionMethod, CriterionVerdict, NoValue, QuorumReport,
    VoteReport,
};

/// The verdict as it is kept and told; times are filled in by whoever writes it.
pub(super) fn of(
    question: &PanelQuestion,
    work: &Work,
    parts: &[Part],
    excluded: &[(Arc<Judge>, Exclusion)],
    folded: &Folded,
) -> CaseVerdict {
    let panel = &work.panel;
    let (given, reversed): (Vec<&Part>, Vec<&Part>) =
        parts.iter().partition(|part| part.order() == Order::AsGiven);
    let missing = missing(&given, &reversed, excluded, folded);
    let voted_on =
        folded.leaves.iter().map(|leaf| (leaf.path.clone(), criterion(leaf, work, &given, &missing)));
    let mut criteria: BTreeMap<String, CriterionVerdict> = voted_on.collect();
    if criteria.is_empty() && !matches!(folded.outcome, Outcome::Answer(_)) {
        criteria.insert(String::from("reply"), unanswered(missing));
    }
    let reasons = reasons(question, work, folded);
    let voted = folded.readings.iter().filter(|reading| **reading == Reading::Accepted).count();
    let judgments: Vec<Judgment> = parts.iter().map(|part| part.judgment.clone()).collect();
    CaseVerdict {
        id: work.verdict_id.clone(),
        case: work.case.id.0.clone(),
        repeat_of: None,
        run: None,
        panel: panel.name.clone(),
        panel_version: panel.version.clone(),
        mode: work.mode,
        model: None,
        source: None,
        criteria,
        escalated: !reasons.is_empty(),
        escalation_reasons: reasons,
        quorum: QuorumReport {
            asked: given.len(),
            voted,
            required: panel.quorum,
            met: !matches!(folded.outcome, Outcome::BelowQuorum { .. }),
            degraded: voted < panel.judges.len(),
        },
        warnings: panel.warnings.clone(),
        cost_usd: cost_usd(&judgments),
        calls: calls(&judgments),
        latency_ms: 0.0,
        overhead_ms: 0.0,
        record_ms: 0.0,
    }
}

/// What people choose from, by value; only what has a finite list of choices.
pub(super) fn choices(folded: &Folded) -> BTreeMap<String, Value> {
    let listed = folded.leaves.iter().filter_map(|leaf| Some((leaf.path.clone(), leaf.domain.clone()?)));
    let choices: serde_json::Map<String, Value> =
        listed.map(|(path, domain)| (path, Value::Array(domain))).collect();
    if choices.is_empty() {
        return BTreeMap::new();
    }
    BTreeMap::from([(String::from("choices"), Value::Object(choices))])
}

/// Every judge without a vote, and why.
fn missing(
    given: &[&Part],
    reversed: &[&Part],
    excluded: &[(Arc<Judge>, Exclusion)],
    folded: &Folded,
) -> Vec<AbstentionReport> {
    let of_parts = given.iter().zip(&folded.readings).filter_map(|(part, reading)| {
        let Reading::Abstained(abstention) = reading else { return None };
        let (kind, class, reason) = kind_of(*abstention);
        let other = reversed.iter().find(|other| other.judge.id == part.judge.id);
        let detail = part.judgment.detail.as_ref().or_else(|| other?.judgment.detail.as_ref()).cloned();
        Some(AbstentionReport { judge: part.judge.id.to_string(), kind, class, reason, detail })
    });
    let of_excluded = excluded.iter().map(|(judge, exclusion)| AbstentionReport {
        judge: judge.id.to_string(),
        kind: AbstentionKind::Excluded,
        class: None,
        reason: Some(*exclusion),
        detail: None,
    });
    of_parts.chain(of_excluded).collect()
}

fn criterion(
    leaf: &LeafVote,
    work: &Work,
    given: &[&Part],
    missing: &[AbstentionReport],
) -> CriterionVerdict {
    let members: BTreeSet<&str> = work.panel.judges.iter().map(|judge| judge.id.as_str()).collect();
    let orders = leaf.votes.iter().zip(&leaf.reversed_votes);
    let votes = given.iter().zip(orders).filter_map(|(part, (vote, reversed))| {
        Some(VoteReport {
            judge: part.judge.id.to_string(),
            value: vote.clone()?,
            score: None,
            scoring: Scoring::Discrete,
            fallback: false,
            label_mass: None,
            order_consistent: reversed.as_ref().map(|reversed| vote.as_ref() == Some(reversed)),
            calibration: String::from("missing"),
            rationale: None,
            evidence: None,
            replacement: !members.contains(part.judge.id.as_str()),
        })
    });
    // Where the lead judge settled it the panel has no value of its own.
    let has_value = leaf.decided_by != DecidedBy::Lead;
    CriterionVerdict {
        value: has_value.then(|| leaf.value.clone()),
        undefined: (!has_value).then_some(NoValue::NoMajority),
        score: None,
        passed: None,
        preference: None,
        order_consistent: None,
        method: method(leaf),
        disagreement: leaf.disagreement,
        votes: votes.collect(),
        abstentions: missing.to_vec(),
        detail: None,
    }
}

/// Nobody said anything that could be voted on.
fn unanswered(missing: Vec<AbstentionReport>) -> CriterionVerdict {
    CriterionVerdict {
        value: None,
        undefined: Some(NoValue::NoQuorum),
        score: None,
        passed: None,
        preference: None,
        order_consistent: None,
        method: CriterionMethod::Majority,
        disagreement: None,
        votes: Vec::new(),
        abstentions: missing,
        detail: None,
    }
}

fn method(leaf: &LeafVote) -> CriterionMethod {
    match leaf.decided_by {
        DecidedBy::Median => CriterionMethod::Median,
        DecidedBy::Mean => CriterionMethod::Mean,
        DecidedBy::Majority
        | DecidedBy::Borda
        | DecidedBy::TieLabel
        | DecidedBy::Lead
        | DecidedBy::SameJudge
        | DecidedBy::Whole => CriterionMethod::Majority,
    }
}

/// Why a person should see it; nothing where there is nothing to choose from.
fn reasons(question: &PanelQuestion, work: &Work, folded: &Folded) -> Vec<EscalationReason> {
    let is_unanswered = matches!(folded.outcome, Outcome::BelowQuorum { .. });
    let has_choices = folded.leaves.iter().any(|leaf| leaf.domain.is_some());
    if !(has_choices || question.has_rubric) {
        return Vec::new();
    }
    let is_split = |leaf: &LeafVote| matches!(leaf.decided_by, DecidedBy::Lead | DecidedBy::TieLabel);
    let is_tied = matches!(folded.outcome, Outcome::Tied { .. }) || folded.leaves.iter().any(is_split);
    let limit = work.panel.escalate.disagreement;
    let disagree = folded.disagreement().zip(limit).is_some_and(|(found, limit)| found >= limit - 1e-12);
    let found = [
        (is_unanswered, EscalationReason::NoQuorum),
        (is_tied, EscalationReason::NoMajority),
        (disagree, EscalationReason::Disagreement),
        (work.is_drawn, EscalationReason::RandomReview),
    ];
    found.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect()
}
