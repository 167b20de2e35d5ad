//! What a run has to reach: thresholds of `panel.yaml` and of the caller, checked against the rubric.

use std::str::FromStr;

use aggregation::gate::GateRule;
use aggregation::scale::Scale;

use super::report::Measure;
use crate::case::Mode;
use crate::panel::Panel;
use crate::rubric::Criterion;
use crate::settings::suggestion;

/// Scored cases below which a gate stays open, unless the caller says otherwise.
const USUAL_MIN_CASES: usize = 30;

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

/// One thing that a run has to reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    pub criterion: String,
    pub measure: Measure,
    /// 0 to 1.
    pub threshold: f64,
}

/// All that a run has to reach, and how it is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct GateTerms {
    /// All have to hold. At least one, but for a report that decides nothing.
    pub requirements: Vec<Requirement>,
    pub rule: GateRule,
    pub min_cases: usize,
    /// Whether every vote has to come from a freshly calibrated judge, and the judges from more than one family.
    pub require_calibration: bool,
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
    #[error(
        "a pass rate needs a value from which a case passes; hint: add `pass: …` to criterion `{criterion}` of rubric `{rubric}`"
    )]
    NoPass { criterion: String, rubric: String },
    #[error(
        "pairs have no score of their own to hold against {threshold}; hint: --baseline b compares `a` with `b`"
    )]
    Pairs { threshold: f64 },
}

impl GateTerms {
    /// The panel's own thresholds, with the caller's in place of those of the same criterion and measure.
    pub fn of(panel: &Panel, min: &[Threshold], pass_rate: &[Threshold]) -> Result<Self, BadTerms> {
        let mut requirements = own_requirements(panel);
        for (measure, thresholds) in [(Measure::Mean, min), (Measure::PassRate, pass_rate)] {
            for threshold in thresholds {
                let criterion = criterion_of(panel, threshold.criterion.as_deref())?;
                refuse_unmeasurable(panel, criterion, measure)?;
                let wanted =
                    Requirement { criterion: criterion.name.clone(), measure, threshold: threshold.value };
                let same = |known: &&mut Requirement| {
                    known.criterion == wanted.criterion && known.measure == measure
                };
                match requirements.iter_mut().find(same) {
                    Some(known) => *known = wanted,
                    None => requirements.push(wanted),
                }
            }
        }
        if requirements.is_empty() {
            let criterion = panel.rubric.criteria.first().map(|c| c.name.clone()).unwrap_or_default();
            return Err(BadTerms::Nothing {
                panel: panel.name.clone(),
                example: format!("{criterion}=0.85"),
                criterion,
            });
        }
        Ok(Self::usual(requirements))
    }

    /// The panel's own thresholds, also where it has none: for a report that decides nothing.
    pub fn of_stored(panel: &Panel) -> Self {
        Self::usual(own_requirements(panel))
    }

    fn usual(requirements: Vec<Requirement>) -> Self {
        Self {
            requirements,
            rule: GateRule::ThreeState,
            min_cases: USUAL_MIN_CASES,
            require_calibration: false,
        }
    }

    /// Refuses what cases of these modes cannot be held against.
    pub fn check_modes(&self, modes: impl IntoIterator<Item = Mode>) -> Result<(), BadTerms> {
        let has_pairs = modes.into_iter().any(|mode| mode == Mode::Pairwise);
        match self.requirements.first() {
            Some(first) if has_pairs => Err(BadTerms::Pairs { threshold: first.threshold }),
            Some(_) | None => Ok(()),
        }
    }
}

fn own_requirements(panel: &Panel) -> Vec<Requirement> {
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
    requirements
}

fn criterion_of<'a>(panel: &'a Panel, name: Option<&str>) -> Result<&'a Criterion, BadTerms> {
    let rubric = &panel.rubric;
    let known = || rubric.criteria.iter().map(|criterion| criterion.name.as_str());
    match (name, rubric.criteria.as_slice()) {
        (None, [only]) => Ok(only),
        (None, several) => Err(BadTerms::WhichCriterion {
            rubric: rubric.name.clone(),
            known: known().collect::<Vec<_>>().join(", "),
            example: format!("{}=0.85", several.first().map_or("NAME", |c| c.name.as_str())),
        }),
        (Some(name), several) => {
            several.iter().find(|criterion| criterion.name == name).map(|found| &**found).ok_or_else(|| {
                BadTerms::UnknownCriterion {
                    rubric: rubric.name.clone(),
                    criterion: name.to_owned(),
                    hint: suggestion(name, known()),
                }
            })
        }
    }
}

fn refuse_unmeasurable(panel: &Panel, criterion: &Criterion, measure: Measure) -> Result<(), BadTerms> {
    if matches!(criterion.scale, Scale::Nominal(_)) {
        return Err(BadTerms::NoScore { criterion: criterion.name.clone() });
    }
    if measure == Measure::PassRate && criterion.pass.is_none() && criterion.scale != Scale::PassFail {
        return Err(BadTerms::NoPass {
            criterion: criterion.name.clone(),
            rubric: panel.rubric.name.clone(),
        });
    }
    Ok(())
}
