//! Who may see a case. A judge accepts only a request that was cleared here, so no other module can leak one.

use aggregation::vote::Exclusion;
use providers::ChatRequest;

use crate::case::{Case, Sensitivity};
use crate::judge::{Judge, Perimeter};
use crate::panel::Panel;

/// A request that may leave for one particular judge. Only this module can make one.
#[derive(Debug)]
pub struct Cleared<T> {
    request: T,
}

impl<T> Cleared<T> {
    /// Hands the request out to be sent.
    pub fn into_inner(self) -> T {
        self.request
    }
}

/// Whether the judge may see the case at all.
pub fn may_see(case: &Case, panel: &Panel, judge: &Judge) -> bool {
    let must_stay_inside = panel.inside_only || case.sensitivity == Sensitivity::Confidential;
    judge.server.perimeter == Perimeter::Inside || !must_stay_inside
}

/// Clears a request for a judge: repairs, replacements and probes with case text pass here too.
pub fn clear(
    request: ChatRequest,
    case: &Case,
    panel: &Panel,
    judge: &Judge,
) -> Result<Cleared<ChatRequest>, Exclusion> {
    if may_see(case, panel, judge) { Ok(Cleared { request }) } else { Err(Exclusion::Perimeter) }
}

/// Clears a request that goes to one judge alone, whatever panels it sits on.
pub fn clear_for_judge(
    request: ChatRequest,
    sensitivity: Sensitivity,
    judge: &Judge,
) -> Result<Cleared<ChatRequest>, Exclusion> {
    let may_leave = sensitivity != Sensitivity::Confidential;
    if judge.server.perimeter == Perimeter::Inside || may_leave {
        Ok(Cleared { request })
    } else {
        Err(Exclusion::Perimeter)
    }
}

/// A request without any case text (a probe of our own wording) may go to every configured judge.
pub fn clear_probe(request: ChatRequest) -> Cleared<ChatRequest> {
    Cleared { request }
}
