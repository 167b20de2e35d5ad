//! What refuses cases before the first call: the same for a file and for a request body.

use std::collections::BTreeSet;

use crate::case::Mode;
use crate::engine::{KinshipGap, kinship_gap_of, plan};
use crate::intake::{CandidateTexts, CaseAt, Report};
use crate::judge::ProviderKind;
use crate::panel::{ModelKin, Panel};

/// Whether this panel needs the texts under judgment.
pub fn candidate_texts(panel: &Panel) -> CandidateTexts {
    if panel.judges.iter().all(|judge| judge.server.provider == ProviderKind::Replay) {
        CandidateTexts::Optional
    } else {
        CandidateTexts::Required
    }
}

/// Most times that a case is judged in one run.
pub const MOST_REPEATS: u32 = 100;

/// Why judging the cases several times would show nothing: a recording says the same each time.
pub fn unrepeatable(panel: &Panel, repeat: u32) -> Option<String> {
    let mut judges = panel.judges.iter().chain(&panel.replacements).filter(|_| repeat > 1);
    let recorded = judges.find(|judge| judge.server.provider == ProviderKind::Replay)?;
    Some(format!("judge `{}` repeats a recording, which says the same each time", recorded.id))
}

/// Whether some cases have a reference and some have none, so that their scores are not comparable.
pub fn mixes_references(report: &Report) -> bool {
    let kinds = BTreeSet::from([Mode::Pointwise, Mode::Reference]);
    report.modes.keys().filter(|mode| kinds.contains(mode)).count() > 1
}

/// Why a judge could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unaskable {
    /// The panel's checks read one answer, and a case has two.
    Unchecked(String),
    /// A template has no file for a mode.
    NoFile(String),
    /// A case lacks what a template needs; the first such case.
    Lacks(CaseAt, String),
}

/// Checks that cannot be made, templates without a file for a mode, and cases without a field that a template needs.
pub fn unaskable(panel: &Panel, report: &Report) -> Vec<Unaskable> {
    let unchecked = report.modes.keys().find_map(|&mode| plan::unchecked(panel, mode));
    let mut found: Vec<Unaskable> = unchecked.map(Unaskable::Unchecked).into_iter().collect();
    for judge in plan::askable_judges(panel) {
        for &mode in report.modes.keys() {
            if judge.template.source(mode).is_none() {
                found.push(Unaskable::NoFile(plan::no_file(judge, mode)));
            }
            for field in judge.template.needs(mode) {
                if let Some(at) = report.first_without.get(&(mode, *field)) {
                    found.push(Unaskable::Lacks(at.clone(), plan::lacks(judge, field.name())));
                }
            }
        }
    }
    found
}

/// The first candidates whose related judges leave no quorum.
pub fn kinship_gap(panel: &Panel, report: &Report, models: &[ModelKin]) -> Option<KinshipGap> {
    report.profiles.iter().find_map(|profile| {
        kinship_gap_of(panel, profile.models.iter().flatten().map(String::as_str), models)
    })
}
