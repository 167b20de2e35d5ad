//! What a run has to reach: thresholds of `panel.yaml` and of the caller, checked against the rubric.

use std::str::FromStr;

use aggregation::gate::{Claim, GateRule};
use aggregation::scale::Scale;

use super::held::Held;
use super::report::Measure;
use crate::case::Mode;
use crate::panel::Panel;
use crate::rubric::Criterion;
use crate::settings::suggestion;

/// Scored cases below which a gate stays open, unless the caller says otherwise.
const USUAL_MIN_CASES: usize = 30;
/// How much worse than the baseline is still no worse.
pub const USUAL_MARGIN: f64 = 0.05;

/// A threshold as a caller writes it: `CRITERION=0.85`, or `0.85` where the rubric has one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    pub criterion: Option<String>,
    /// 0 to 1.
    pub value: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    #[error("`{0}` is not a number; hint: write CRITERION=0.85")]
    NotANumber(String),
    #[error("`{0}` is not between 0 and 1; hint: thresholds are (value - lowest) / (highest - lowest)")]
    OutOfRange(String),
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        // A criterion's name may hold `=`; a number does not.
        let (criterion, number) =
            text.rsplit_once('=').map_or((None, text), |(name, rest)| (Some(name), rest));
        let value: f64 =
            number.trim().parse().map_err(|_| ThresholdError::NotANumber(number.trim().to_owned()))?;
        if !(0.0..=1.0).contains(&value) {
            return Err(ThresholdError::OutOfRange(number.trim().to_owned()));
        }
        Ok(Self { criterion: criterion.map(|name| name.trim().to_owned()), value })
    }
}

impl Threshold {
    /// Whether the panel has what it names; a threshold without a name is for every panel.
    pub fn concerns(&self, panel: &Panel) -> bool {
        self.criterion.as_deref().is_none_or(|name| Held::named(&panel.rubric, name).is_some())
    }
}

/// One thing that a run has to reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// A criterion's name, or a check's.
    pub criterion: String,
    pub measure: Measure,
    /// 0 to 1; -1 to 1 for a difference.
    pub threshold: f64,
}

/// All that a run has to reach, and how it is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct GateTerms {
    /// All have to hold.
    pub requirements: Vec<Requirement>,
    /// What comparisons with a baseline have to show.
    pub claim: Claim,
    pub rule: GateRule,
    pub min_cases: usize,
    /// Whether every vote has to come from a freshly calibrated judge, and the judges from more than one family.
    pub require_calibration: bool,
    /// Whether people's labels correct the judges' figures.
    pub correct: bool,
}

/// Why thresholds make no gate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadTerms {
    #[error(
        "nothing has to be reached on panel `{panel}`; hint: --min {example}, or `gate: {{min: {{{criterion}: 0.85}}}}` in panel.yaml"
    )]
    Nothing { panel: String, criterion: String, example: String },
    #[error("rubric `{rubric}` has no criterion `{criterion}`; hint: {hint}")]
    UnknownCriterion { rubric: String, criterion: String, hint: String },
    #[error("rubric `{rubric}` has several criteria; hint: write one of {known}, such as {example}")]
    WhichCriterion { rubric: String, known: String, example: String },
    #[error(
        "criterion `{criterion}` has labels without an order, so no mean; hint: use a criterion with an order"
    )]
    NoScore { criterion: String },
    #[error("`{check}` is a check, which passes or fails, so it has no mean; hint: --pass-rate {check}=0.95")]
    MeanOfCheck { check: String },
    #[error(
        "a pass rate needs a value from which a case passes; hint: add `pass: …` to criterion `{criterion}` of rubric `{rubric}`"
    )]
    NoPass { criterion: String, rubric: String },
    #[error(
        "pairs have no score of their own to hold against {threshold}; hint: --baseline b compares `a` with `b`"
    )]
    Pairs { threshold: f64 },
    #[error(
        "cases are no pairs, so nothing was compared; hint: --baseline FILE compares them with pinned outputs"
    )]
    NoPairs,
}

impl GateTerms {
    /// The panel's own thresholds, with the caller's in place of those of the same criterion and measure.
    pub fn of(panel: &Panel, min: &[Threshold], pass_rate: &[Threshold]) -> Result<Self, BadTerms> {
        let own = |measure, thresholds: &std::collections::BTreeMap<String, f64>| -> Vec<Requirement> {
            let requirement = |(criterion, threshold): (&String, &f64)| Requirement {
                criterion: criterion.clone(),
                measure,
                threshold: *threshold,
            };
            thresholds.iter().map(requirement).collect()
        };
        let mut requirements = own(Measure::Mean, &panel.gate.min);
        requirements.extend(own(Measure::PassRate, &panel.gate.pass_rate));
        for (measure, thresholds) in [(Measure::Mean, min), (Measure::PassRate, pass_rate)] {
            for threshold in thresholds {
                let held = held_of(panel, threshold.criterion.as_deref())?;
                held.check_measure(&panel.rubric, measure)?;
                let wanted =
                    Requirement { criterion: held.name().to_owned(), measure, threshold: threshold.value };
                let same = |known: &&mut Requirement| {
                    known.criterion == wanted.criterion && known.measure == measure
                };
                match requirements.iter_mut().find(same) {
                    Some(known) => *known = wanted,
                    None => requirements.push(wanted),
                }
            }
        }
        Ok(Self {
            requirements,
            claim: Claim::NonInferior { margin: USUAL_MARGIN },
            rule: GateRule::ThreeState,
            min_cases: USUAL_MIN_CASES,
            require_calibration: false,
            correct: false,
        })
    }

    /// Refuses a gate that nothing could fail.
    pub fn check_any(&self, panel: &Panel) -> Result<(), BadTerms> {
        if !self.requirements.is_empty() {
            return Ok(());
        }
        let criterion = panel.rubric.criteria.first().map(|c| c.name.clone()).unwrap_or_default();
        Err(BadTerms::Nothing { panel: panel.name.clone(), example: format!("{criterion}=0.85"), criterion })
    }

    /// The claim on every criterion of pairs with a baseline, and nothing else: no check is made of pairs.
    #[must_use]
    pub fn for_pairs(&self, panel: &Panel) -> Self {
        let requirements = panel.rubric.criteria.iter().map(|own| self.compared(own, Measure::WinRate, 0.5));
        Self { requirements: requirements.collect(), ..self.clone() }
    }

    /// These terms, and the claim on every criterion that judges give scores on.
    pub fn with_differences(&self, panel: &Panel) -> Result<Self, BadTerms> {
        let scored = panel.rubric.criteria.iter().filter(|own| !matches!(own.scale, Scale::Nominal(_)));
        let differences: Vec<Requirement> =
            scored.map(|own| self.compared(own, Measure::Difference, 0.0)).collect();
        if let (Some(first), true) = (panel.rubric.criteria.first(), differences.is_empty()) {
            return Err(BadTerms::NoScore { criterion: first.name.clone() });
        }
        Ok(Self { requirements: [self.requirements.clone(), differences].concat(), ..self.clone() })
    }

    fn compared(&self, criterion: &Criterion, measure: Measure, equal: f64) -> Requirement {
        let margin = match self.claim {
            Claim::NonInferior { margin } => margin,
            Claim::Superior => 0.0,
        };
        Requirement { criterion: criterion.name.clone(), measure, threshold: equal - margin }
    }

    /// Refuses what cases of these modes cannot be held against.
    pub fn check_modes(&self, modes: impl IntoIterator<Item = Mode>) -> Result<(), BadTerms> {
        let (mut has_pairs, mut has_others) = (false, false);
        for mode in modes {
            has_pairs |= mode == Mode::Pairwise;
            has_others |= mode != Mode::Pairwise;
        }
        for own in &self.requirements {
            match own.measure {
                Measure::WinRate if has_others => return Err(BadTerms::NoPairs),
                Measure::Mean | Measure::PassRate | Measure::Difference if has_pairs => {
                    return Err(BadTerms::Pairs { threshold: own.threshold });
                }
                Measure::WinRate | Measure::Mean | Measure::PassRate | Measure::Difference => {}
            }
        }
        Ok(())
    }
}

/// A threshold without a name is about the one criterion that judges are asked about, whatever code checks beside it.
fn held_of<'a>(panel: &'a Panel, name: Option<&str>) -> Result<Held<'a>, BadTerms> {
    let rubric = &panel.rubric;
    let criteria = rubric.criteria.iter().map(|criterion| criterion.name.as_str());
    let known = || criteria.clone().chain(rubric.checks.iter().map(|check| check.name.as_str()));
    match (name, rubric.criteria.as_slice()) {
        (None, [only]) => Ok(Held::Judged(only)),
        (None, several) => Err(BadTerms::WhichCriterion {
            rubric: rubric.name.clone(),
            known: known().collect::<Vec<_>>().join(", "),
            example: format!("{}=0.85", several.first().map_or("NAME", |c| c.name.as_str())),
        }),
        (Some(name), _) => Held::named(rubric, name).ok_or_else(|| BadTerms::UnknownCriterion {
            rubric: rubric.name.clone(),
            criterion: name.to_owned(),
            hint: suggestion(name, known()),
        }),
    }
}
