//! Judging a case again whose verdict lacks votes through failures: only what failed is asked, and the new rows name the
//! ones that they replace.

use std::collections::HashMap;

use aggregation::vote::{Abstention, Order};

use super::{Engine, EngineError};
use crate::judgment::Judgment;
use crate::store::rows::JudgmentRow;
use crate::verdict::{AbstentionKind, CaseVerdict};

/// What a second verdict on a case replaces.
#[derive(Debug)]
pub struct Retry {
    pub(super) verdict_id: String,
    /// Of the new verdict.
    pub(super) revision: i64,
    failed: HashMap<Place, Replaced>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Place {
    judge: String,
    criterion: String,
    order: Order,
    sample: i64,
}

#[derive(Debug)]
struct Replaced {
    id: String,
    revision: i64,
}

impl Retry {
    /// Id of the replaced judgment and revision of the new one; `None`: there is nothing to replace.
    pub(super) fn of(&self, judgment: &Judgment) -> Option<(String, i64)> {
        let place = Place {
            judge: judgment.judge.to_string(),
            criterion: judgment.criterion.to_string(),
            order: judgment.order,
            sample: i64::from(judgment.sample),
        };
        self.failed.get(&place).map(|replaced| (replaced.id.clone(), replaced.revision + 1))
    }
}

/// Whether a missing vote is a failure that may be over: of a server, of time or of money, or a reply that could not be read.
/// A refusal is an answer.
pub(super) fn is_error(abstention: Abstention) -> bool {
    match abstention {
        Abstention::TimedOut
        | Abstention::Unavailable
        | Abstention::RateLimited
        | Abstention::OverBudget
        | Abstention::Unparseable(_) => true,
        Abstention::Refused | Abstention::Unsupported | Abstention::TooLong | Abstention::Excluded(_) => {
            false
        }
    }
}

fn is_error_kind(kind: AbstentionKind) -> bool {
    match kind {
        AbstentionKind::TimedOut
        | AbstentionKind::Unavailable
        | AbstentionKind::RateLimited
        | AbstentionKind::OverBudget
        | AbstentionKind::Unparseable => true,
        AbstentionKind::Refused
        | AbstentionKind::Unsupported
        | AbstentionKind::TooLong
        | AbstentionKind::Excluded => false,
    }
}

fn has_errors(verdict: &CaseVerdict) -> bool {
    let mut missing = verdict.criteria.values().flat_map(|criterion| &criterion.abstentions);
    missing.any(|abstention| is_error_kind(abstention.kind))
}

impl Engine {
    /// What a new verdict on this case would replace; `None`: no vote is missing through a failure.
    pub(super) async fn retry_of(
        &self,
        project: &str,
        run: &str,
        verdict: &CaseVerdict,
    ) -> Result<Option<Retry>, EngineError> {
        if !has_errors(verdict) {
            return Ok(None);
        }
        let Some(row) = self.store.verdict_of_case(project, run, &verdict.case).await? else {
            return Ok(None);
        };
        let failed = |row: JudgmentRow| {
            let place =
                Place { judge: row.judge, criterion: row.criterion, order: row.order, sample: row.sample };
            row.outcome
                .is_err_and(is_error)
                .then_some((place, Replaced { id: row.id, revision: row.revision }))
        };
        let judgments = self.store.judgments_of_case(project, run, &verdict.case).await?;
        Ok(Some(Retry {
            verdict_id: row.id,
            revision: row.revision + 1,
            failed: judgments.into_iter().filter_map(failed).collect(),
        }))
    }
}
