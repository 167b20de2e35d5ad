//! What kinship does to a quorum, known before the first call.

use crate::case::Case;
use crate::kinship::{Kin, kinship};
use crate::panel::{ModelKin, Panel};

/// Candidates whose related judges are too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KinshipGap {
    /// The candidate's model; the first one of a pair that a judge is related to.
    pub model: String,
    /// Who would be left out.
    pub judges: Vec<String>,
}

/// Whether kinship leaves this panel without a quorum for this case; replacements count as members that may step in.
pub fn kinship_gap(panel: &Panel, case: &Case, models: &[ModelKin]) -> Option<KinshipGap> {
    let candidates: Vec<&str> =
        case.candidates().filter_map(|candidate| candidate.model.as_deref()).collect();
    kinship_gap_of(panel, candidates.iter().copied(), models)
}

/// The same for candidate models alone.
pub fn kinship_gap_of<'a>(
    panel: &Panel,
    candidates: impl IntoIterator<Item = &'a str>,
    models: &[ModelKin],
) -> Option<KinshipGap> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let mut gap = KinshipGap { model: String::new(), judges: Vec::new() };
    let mut free = 0;
    for judge in panel.judges.iter().chain(&panel.replacements) {
        let related = candidates
            .iter()
            .find(|model| matches!(kinship(judge, model, models), Kin::SameModel | Kin::SameFamily));
        match related {
            None => free += 1,
            Some(model) => {
                gap.judges.push(judge.id.to_string());
                if gap.model.is_empty() {
                    (*model).clone_into(&mut gap.model);
                }
            }
        }
    }
    (free < panel.quorum && !gap.judges.is_empty()).then_some(gap)
}
