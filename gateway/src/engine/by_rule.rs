//! `empty: fail` and `failed_check: fail`: such an answer loses without a call.

use std::sync::Arc;

use aggregation::scale::{Preference, Scale, Value};
use aggregation::vote::{Abstention, Exclusion, Rating, Scoring};

use super::fan_out::Collected;
use super::plan::{self, EmptySide, FailRule, asked_scale};
use super::work::Work;
use super::{Engine, EngineError, rows};
use crate::judge::Judge;
use crate::judgment::{Judgment, Source};

impl Engine {
    /// Every judge that would have been asked votes as the rubric says; nothing is sent.
    pub(super) async fn by_rule(
        &self,
        work: &Work,
        judges: &[Arc<Judge>],
        (side, rule): (EmptySide, FailRule),
    ) -> Result<Collected, EngineError> {
        let (exclusion, rationale) = match rule {
            FailRule::Empty => {
                (Exclusion::EmptyCandidate, "The answer is empty (rubric rule `empty: fail`).")
            }
            FailRule::FailedCheck => {
                (Exclusion::FailedCheck, "A required check failed (rubric rule `failed_check: fail`).")
            }
        };
        let mut collected = Collected::default();
        let mut records = Vec::new();
        for call in judges.iter().flat_map(|judge| plan::calls(&work.panel, &work.case, judge)) {
            let judgments: Vec<Judgment> = call
                .criteria
                .iter()
                .map(|criterion| {
                    let outcome = worst(&asked_scale(criterion, work.mode), side)
                        .map(|value| Rating {
                            value,
                            scoring: Scoring::Discrete,
                            distribution: None,
                            fallback: false,
                        })
                        .ok_or(Abstention::Excluded(exclusion));
                    Judgment {
                        rationale: Some(rationale.to_owned()),
                        ..Judgment::uncalled(
                            call.judge.id.clone(),
                            Arc::from(criterion.name.as_str()),
                            call.order,
                            call.sample,
                            outcome,
                            Source::Rule,
                        )
                    }
                })
                .collect();
            records.extend(rows::of_judgments(self, work, &call, &judgments, None));
            collected.judgments.extend(judgments);
        }
        collected.acks.push(self.recorder.submit(records).await?);
        Ok(collected)
    }
}

/// What a failing candidate is worth. Nominal labels have no lowest one, and two empty answers no winner where ties
/// are not allowed: the vote stays missing.
fn worst(scale: &Scale, side: EmptySide) -> Option<Value> {
    match (scale, side) {
        (Scale::Ordinal(_) | Scale::Continuous(_), _) => scale.range().map(|(min, _)| Value::Number(min)),
        (Scale::PassFail, _) => Some(Value::Pass(false)),
        (Scale::Nominal(_), _) | (Scale::Pairwise { .. }, EmptySide::Only) => None,
        (Scale::Pairwise { .. }, EmptySide::A) => Some(Value::Preference(Preference::B)),
        (Scale::Pairwise { .. }, EmptySide::B) => Some(Value::Preference(Preference::A)),
        (Scale::Pairwise { tie }, EmptySide::Both) => tie.then_some(Value::Preference(Preference::Tie)),
    }
}
