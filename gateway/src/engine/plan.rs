//! Who is asked what. Pure: a panel and a case in, calls out.

use std::sync::Arc;

use aggregation::scale::Scale;
use aggregation::vote::{Exclusion, Order};

use crate::case::{Candidates, Case, Mode};
use crate::checks::{Finding, Texts};
use crate::judge::{Judge, ScoringMode};
use crate::kinship::{Kin, kinship};
use crate::panel::{ModelKin, Orders, Panel};
use crate::perimeter;
use crate::rubric::{Ask, Criterion, EmptyCandidate, FailedCheck};

/// One call to one judge.
#[derive(Debug, Clone)]
pub struct Call {
    pub judge: Arc<Judge>,
    /// One criterion, or all of them when the rubric asks together.
    pub criteria: Vec<Arc<Criterion>>,
    pub order: Order,
    pub sample: u32,
}

/// What a candidate list makes of one judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub excluded: Option<Exclusion>,
    /// A candidate's model is not in the kinship tables.
    pub kinship_unknown: bool,
}

/// What the rubric says about empty candidates in this case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emptiness {
    None,
    /// Nobody is asked; every vote is missing.
    Excluded,
    /// The rubric's `empty: fail`: the empty answer loses without a call.
    Fails(EmptySide),
}

/// Whether a case is settled before any judge is asked, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    No,
    /// Nobody is asked; every vote is missing.
    Excluded(Exclusion),
    /// The rubric says that the answer loses without a call.
    Fails(EmptySide, FailRule),
}

impl Settled {
    /// Whether it was a failed check, so that missing votes are what was meant.
    pub fn is_by_check(self) -> bool {
        match self {
            Self::Excluded(Exclusion::FailedCheck) | Self::Fails(_, FailRule::FailedCheck) => true,
            Self::No | Self::Excluded(_) | Self::Fails(_, FailRule::Empty) => false,
        }
    }
}

/// The rule by which an answer loses without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailRule {
    /// `empty: fail`
    Empty,
    /// `failed_check: fail`
    FailedCheck,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptySide {
    Only,
    A,
    B,
    Both,
}

/// The scale on which a criterion is asked: pairs have their own.
pub fn asked_scale(criterion: &Criterion, mode: Mode) -> Scale {
    match mode {
        Mode::Pairwise => Scale::Pairwise { tie: criterion.tie },
        Mode::Pointwise | Mode::Reference => criterion.scale.clone(),
    }
}

/// Whether the judge may be asked about this case: perimeter first, then kinship.
pub fn standing(panel: &Panel, case: &Case, judge: &Judge, models: &[ModelKin], allow_kin: bool) -> Standing {
    let mut standing = Standing { excluded: None, kinship_unknown: false };
    if !perimeter::may_see(case, panel, judge) {
        standing.excluded = Some(Exclusion::Perimeter);
        return standing;
    }
    for model in case.candidates().filter_map(|candidate| candidate.model.as_deref()) {
        match kinship(judge, model, models) {
            Kin::Unknown => standing.kinship_unknown = true,
            Kin::SameModel if !allow_kin => standing.excluded = Some(Exclusion::SameModel),
            Kin::SameFamily if !allow_kin && standing.excluded.is_none() => {
                standing.excluded = Some(Exclusion::SameFamily);
            }
            Kin::None | Kin::SameModel | Kin::SameFamily => {}
        }
    }
    standing
}

/// The calls that one judge answers: criterion by order by sample.
pub fn calls(panel: &Panel, case: &Case, judge: &Arc<Judge>) -> Vec<Call> {
    let orders: &[Order] = match (case.mode(), panel.orders) {
        (Mode::Pairwise, Orders::Both) => &[Order::AsGiven, Order::Reversed],
        (Mode::Pairwise, Orders::AsGiven) | (Mode::Pointwise | Mode::Reference, _) => &[Order::AsGiven],
    };
    let groups: Vec<Vec<Arc<Criterion>>> = match panel.rubric.ask {
        Ask::PerCriterion => panel.rubric.criteria.iter().map(|c| vec![Arc::clone(c)]).collect(),
        Ask::Together => vec![panel.rubric.criteria.clone()],
    };
    let samples = samples(judge);
    let mut calls = Vec::with_capacity(groups.len() * orders.len() * samples as usize);
    for criteria in groups {
        for &order in orders {
            for sample in 0..samples {
                calls.push(Call { judge: Arc::clone(judge), criteria: criteria.clone(), order, sample });
            }
        }
    }
    calls
}

/// Answers per question under `scoring: sampled`, one otherwise. Recorded judges answer once.
pub fn samples(judge: &Judge) -> u32 {
    match judge.scoring {
        ScoringMode::Sampled => judge.params.samples.max(1),
        ScoringMode::Auto | ScoringMode::Expected | ScoringMode::Discrete => 1,
    }
}

/// What the rubric's checks find, one by one.
pub fn findings(panel: &Panel, case: &Case) -> Vec<Finding> {
    let texts = if is_recorded(panel) { Texts::MayBeMissing } else { Texts::Given };
    panel.rubric.checks.iter().map(|check| check.run(case, texts)).collect()
}

/// Whether the checks or an empty answer settle the case. `empty: fail` is the more special rule, so it goes first.
pub fn settled(panel: &Panel, case: &Case, findings: &[Finding]) -> Settled {
    let emptiness = emptiness(panel, case);
    if let Emptiness::Fails(side) = emptiness {
        return Settled::Fails(side, FailRule::Empty);
    }
    if fails_required(panel, findings) {
        return match panel.rubric.failed_check {
            FailedCheck::Exclude => Settled::Excluded(Exclusion::FailedCheck),
            FailedCheck::Fail => Settled::Fails(EmptySide::Only, FailRule::FailedCheck),
        };
    }
    match emptiness {
        Emptiness::Excluded => Settled::Excluded(Exclusion::EmptyCandidate),
        Emptiness::None | Emptiness::Fails(_) => Settled::No,
    }
}

fn fails_required(panel: &Panel, findings: &[Finding]) -> bool {
    let checks = panel.rubric.checks.iter().zip(findings);
    checks.into_iter().any(|(check, finding)| check.required && matches!(finding, Finding::Fail(_)))
}

/// A panel of recorded judges needs no texts, so those of its cases may be missing.
fn is_recorded(panel: &Panel) -> bool {
    panel.judges.iter().all(|judge| judge.server.replay.is_some())
}

fn emptiness(panel: &Panel, case: &Case) -> Emptiness {
    if is_recorded(panel) {
        return Emptiness::None;
    }
    let side = match &case.candidates {
        Candidates::One(only) if only.is_blank() => EmptySide::Only,
        Candidates::One(_) => return Emptiness::None,
        Candidates::Pair { a, b } => match (a.is_blank(), b.is_blank()) {
            (true, true) => EmptySide::Both,
            (true, false) => EmptySide::A,
            (false, true) => EmptySide::B,
            (false, false) => return Emptiness::None,
        },
    };
    match panel.rubric.empty {
        EmptyCandidate::Exclude => Emptiness::Excluded,
        EmptyCandidate::Fail => Emptiness::Fails(side),
    }
}

/// Why some judge of the panel could not be asked about this case at all: a template without a file for its mode, or
/// a field that the template needs and the case lacks. Known before the first call.
pub fn unaskable(panel: &Panel, case: &Case) -> Option<String> {
    let mode = case.mode();
    if let Some(why) = unchecked(panel, mode) {
        return Some(why);
    }
    askable_judges(panel).find_map(|judge| {
        let template = &judge.template;
        if template.source(mode).is_none() {
            return Some(no_file(judge, mode));
        }
        let missing = template.needs(mode).iter().find(|field| !field.is_in(case))?;
        Some(lacks(judge, missing.name()))
    })
}

/// Why the panel's checks cannot be made on cases of this mode: they read one answer.
pub fn unchecked(panel: &Panel, mode: Mode) -> Option<String> {
    let rubric = &panel.rubric;
    let is_pair = mode == Mode::Pairwise && !rubric.checks.is_empty();
    is_pair.then(|| {
        format!(
            "rubric `{}` has checks, which read one answer, and a pair has two; hint: judge pairs by a rubric without `checks`",
            rubric.name
        )
    })
}

/// Members and replacements that are asked with a prompt; recorded judges need none.
pub fn askable_judges(panel: &Panel) -> impl Iterator<Item = &Arc<Judge>> {
    panel.judges.iter().chain(&panel.replacements).filter(|judge| judge.server.replay.is_none())
}

pub fn no_file(judge: &Judge, mode: Mode) -> String {
    format!("template `{}` of judge `{}` has no file for {mode} cases", judge.template.name, judge.id)
}

pub fn lacks(judge: &Judge, field: &str) -> String {
    format!("`{field}` is missing, which template `{}` of judge `{}` needs", judge.template.name, judge.id)
}

/// Whether a case is drawn for a person's review: by hash, before the first call, so nothing that the judges say
/// can move it. The share of drawn cases tends to `share`.
pub fn is_drawn_for_review(seed: u64, panel: &Panel, case: &Case) -> bool {
    // People see a case once, however often it is judged.
    !case.is_further_repeat() && is_drawn(seed, &panel.version, &case.id.0, panel.random_review_share)
}

fn is_drawn(seed: u64, panel_version: &str, case_id: &str, share: f64) -> bool {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"random review");
    hasher.update(&seed.to_le_bytes());
    for part in [panel_version, case_id] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0_u8; 8];
    hasher.finalize_xof().fill(&mut bytes);
    // The top 53 bits are an exact double in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    let draw = (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64;
    draw < share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn review_draw_is_stable_and_near_its_share() {
        let drawn = (0..20_000).filter(|i| is_drawn(1, "b3:x", &format!("c{i}"), 0.05)).count();
        assert!((900..1100).contains(&drawn), "{drawn} of 20000");
        assert!(!is_drawn(1, "b3:x", "c1", 0.0));
        assert!(is_drawn(1, "b3:x", "c1", 1.0));
        assert_eq!(is_drawn(9, "b3:x", "c1", 0.5), is_drawn(9, "b3:x", "c1", 0.5));
    }
}
