//! What is taken for true, and how far a judge agrees with it.

use std::collections::BTreeMap;

use crate::calibration::{Calibration, Ceiling, Thresholds, calibrate, ceiling, lift};
use crate::estimate::{Estimated, Undefined};
use crate::numeric::Resampling;
use crate::protocol::annotation::{AnnotatedCase, HumanAgreement, ProtocolError};

/// How a case came to its truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adjudication {
    /// Two people gave this label.
    Agreed { label: usize },
    /// They differed, or only one spoke, and this was decided.
    Adjudicated { label: usize },
    /// Nothing was decided: the only cases that are left out.
    Unresolved,
}

impl Adjudication {
    pub fn label(self) -> Option<usize> {
        match self {
            Self::Agreed { label } | Self::Adjudicated { label } => Some(label),
            Self::Unresolved => None,
        }
    }
}

/// The truth of each case, with the agreement of the people it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidatedTruth<'a> {
    people: HumanAgreement<'a>,
    states: Vec<Adjudication>,
}

/// A judge against the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeAgreement {
    /// Against the truth of all resolved cases: the figure that decides. Its status takes the ceiling into account.
    pub truth: Calibration,
    pub agreed_only: AgreedOnly,
    /// Kappa of the two people.
    pub people: Estimated,
    /// Judge and people on the same cases; undefined where no case has all three labels.
    pub ceiling: Result<Ceiling, Undefined>,
    pub unresolved: usize,
    /// Share of cases in which a person was not sure.
    pub unsure_share: f64,
    /// Cases in which judge and truth differ, the farthest first, then by id.
    pub disagreements: Vec<Disagreement>,
}

/// The judge on the cases on which people agreed anyway. Optimistic: the hard cases are gone, so it is comparable neither
/// with people's kappa nor with the traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgreedOnly {
    pub kappa: Estimated,
    /// Cases that it leaves out.
    pub n_excluded: usize,
}

/// One case to read.
#[derive(Debug, Clone, PartialEq)]
pub struct Disagreement {
    pub id: String,
    pub judge: usize,
    pub truth: usize,
    /// `|judge - truth|` in the values of the labels, or in their places; 1 on scales without order.
    pub distance: f64,
}

impl<'a> ConsolidatedTruth<'a> {
    pub(super) fn new(
        people: HumanAgreement<'a>,
        decisions: &BTreeMap<String, usize>,
    ) -> Result<Self, ProtocolError> {
        let of = |case: &AnnotatedCase| state(case, decisions.get(&case.id).copied());
        let states = people.annotations().cases().iter().map(of).collect::<Result<_, _>>()?;
        Ok(Self { people, states })
    }

    /// One a case, in the order of the annotations.
    pub fn states(&self) -> &[Adjudication] {
        &self.states
    }

    pub fn people(&self) -> &HumanAgreement<'a> {
        &self.people
    }

    /// Measures a judge that was asked with the rubric of this hash. `labels` are its verdicts by case id; a case that
    /// is not there has none.
    pub fn measure_judge(
        &self,
        rubric_hash: &str,
        labels: &BTreeMap<String, usize>,
        thresholds: Thresholds,
        resampling: Resampling,
    ) -> Result<JudgeAgreement, ProtocolError> {
        let annotations = self.people.annotations();
        if rubric_hash != annotations.rubric_hash() {
            let annotated = annotations.rubric_hash().to_owned();
            return Err(ProtocolError::OtherRubric { annotated, judged: rubric_hash.to_owned() });
        }
        annotations.check_labels(labels)?;
        let (scale, level) = (annotations.labels(), annotations.level());
        let judge = |case: &AnnotatedCase| labels.get(&case.id).copied();
        let with_state = || annotations.cases().iter().zip(&self.states);
        let against = |is_used: &dyn Fn(Adjudication) -> bool| {
            let used = with_state().filter(|(_, state)| is_used(**state));
            let pairs: Vec<_> = used.map(|(case, state)| (judge(case), state.label())).collect();
            calibrate(scale, level, &pairs, thresholds, resampling)
        };
        let mut truth = against(&|state| state.label().is_some())?;
        let agreed = against(&|state| matches!(state, Adjudication::Agreed { .. }))?;
        let label = |annotation: Option<super::Annotation>| annotation.map(|own| own.label);
        let all_three: Vec<_> = annotations
            .cases()
            .iter()
            .map(|case| [judge(case), label(case.first), label(case.second)])
            .collect();
        let ceiling = ceiling(scale, level, &all_three, thresholds, resampling)?;
        if let Ok(known) = &ceiling {
            truth.status = lift(truth.status, known);
        }
        let count = |is: &dyn Fn(&Adjudication) -> bool| self.states.iter().filter(|state| is(state)).count();
        Ok(JudgeAgreement {
            truth,
            agreed_only: AgreedOnly {
                kappa: agreed.headline,
                n_excluded: count(&|state| !matches!(state, Adjudication::Agreed { .. })),
            },
            people: self.people.kappa(),
            ceiling,
            unresolved: count(&|state| *state == Adjudication::Unresolved),
            unsure_share: self.people.unsure_share(),
            disagreements: self.disagreements(labels),
        })
    }

    fn disagreements(&self, labels: &BTreeMap<String, usize>) -> Vec<Disagreement> {
        let annotations = self.people.annotations();
        let differ = |(case, state): (&AnnotatedCase, &Adjudication)| {
            let (judge, truth) = (*labels.get(&case.id)?, state.label()?);
            let distance = annotations.level().label_distance(judge, truth);
            (judge != truth).then(|| Disagreement { id: case.id.clone(), judge, truth, distance })
        };
        let mut found: Vec<Disagreement> =
            annotations.cases().iter().zip(&self.states).filter_map(differ).collect();
        found.sort_by(|a, b| b.distance.total_cmp(&a.distance).then_with(|| a.id.cmp(&b.id)));
        found
    }
}

fn state(case: &AnnotatedCase, decided: Option<usize>) -> Result<Adjudication, ProtocolError> {
    let agreed = case.first.zip(case.second).filter(|(first, second)| first.label == second.label);
    match (agreed, decided) {
        (Some((first, _)), Some(resolved)) if resolved != first.label => {
            Err(ProtocolError::Contradicted { id: case.id.clone(), agreed: first.label, resolved })
        }
        (Some((first, _)), _) => Ok(Adjudication::Agreed { label: first.label }),
        (None, Some(label)) => Ok(Adjudication::Adjudicated { label }),
        (None, None) => Ok(Adjudication::Unresolved),
    }
}
