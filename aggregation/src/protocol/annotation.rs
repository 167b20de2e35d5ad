//! What two people said, and how far they agree: the step that no judge can be measured without.

use std::collections::{BTreeMap, BTreeSet};

use crate::agreement::{Level, PositionsError};
use crate::calibration::{CalibrationError, Thresholds, calibrate};
use crate::estimate::Estimated;
use crate::numeric::Resampling;
use crate::protocol::ConsolidatedTruth;

/// One person's label of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotation {
    /// Index into the labels of the scale.
    pub label: usize,
    /// The person was not sure: where many are not, the rubric has a gap.
    pub is_unsure: bool,
}

/// One case with what two people said about it, blind to the judge and to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotatedCase {
    pub id: String,
    pub first: Option<Annotation>,
    pub second: Option<Annotation>,
}

/// Labelled cases of one criterion under one rubric: every label is on the scale, every case stands once.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotations<'a> {
    labels: usize,
    level: Level<'a>,
    rubric_hash: String,
    cases: Vec<AnnotatedCase>,
}

/// Why a step is refused. Cases count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProtocolError {
    #[error("case {case} repeats the id `{id}`")]
    RepeatedCase { case: usize, id: String },
    #[error("label {label} of case `{id}` is not one of the {labels} labels of the scale")]
    UnknownLabel { id: String, label: usize, labels: usize },
    #[error("case `{id}` was not annotated")]
    UnknownCase { id: String },
    #[error(
        "none of {cases} cases has the labels of two people\nhint: let a second person label them before a judge is measured"
    )]
    NoDoubleAnnotation { cases: usize },
    #[error("both people gave case `{id}` label {agreed}, and label {resolved} was decided")]
    Contradicted { id: String, agreed: usize, resolved: usize },
    #[error(
        "the judge was asked with rubric `{judged}` and people with `{annotated}`\nhint: label the cases again under the new rubric"
    )]
    OtherRubric { annotated: String, judged: String },
    #[error(transparent)]
    Positions(#[from] PositionsError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

impl<'a> Annotations<'a> {
    /// `rubric_hash` is that of the rubric text that people read: it must be the judge's.
    pub fn new(
        labels: usize,
        level: Level<'a>,
        rubric_hash: &str,
        cases: Vec<AnnotatedCase>,
    ) -> Result<Self, ProtocolError> {
        level.check(labels)?;
        let mut seen = BTreeSet::new();
        for (case, own) in cases.iter().enumerate() {
            if !seen.insert(own.id.as_str()) {
                return Err(ProtocolError::RepeatedCase { case, id: own.id.clone() });
            }
            for annotation in [own.first, own.second].into_iter().flatten() {
                check_label(&own.id, annotation.label, labels)?;
            }
        }
        Ok(Self { labels, level, rubric_hash: rubric_hash.to_owned(), cases })
    }

    /// The kappa of the two people, on all cases that both labelled.
    pub fn measure(self, resampling: Resampling) -> Result<HumanAgreement<'a>, ProtocolError> {
        let label = |annotation: Option<Annotation>| annotation.map(|own| own.label);
        let pairs: Vec<_> = self.cases.iter().map(|case| (label(case.first), label(case.second))).collect();
        if !pairs.iter().any(|(first, second)| first.is_some() && second.is_some()) {
            return Err(ProtocolError::NoDoubleAnnotation { cases: pairs.len() });
        }
        let measured = calibrate(self.labels, self.level, &pairs, Thresholds::default(), resampling)?;
        Ok(HumanAgreement { kappa: measured.headline, annotations: self })
    }

    pub fn cases(&self) -> &[AnnotatedCase] {
        &self.cases
    }

    pub(super) fn labels(&self) -> usize {
        self.labels
    }

    pub(super) fn level(&self) -> Level<'a> {
        self.level
    }

    pub(super) fn rubric_hash(&self) -> &str {
        &self.rubric_hash
    }

    /// Labels by case, all of them of annotated cases and on the scale.
    pub(super) fn check_labels(&self, by_case: &BTreeMap<String, usize>) -> Result<(), ProtocolError> {
        let known: BTreeSet<&str> = self.cases.iter().map(|case| case.id.as_str()).collect();
        for (id, label) in by_case {
            if !known.contains(id.as_str()) {
                return Err(ProtocolError::UnknownCase { id: id.clone() });
            }
            check_label(id, *label, self.labels)?;
        }
        Ok(())
    }
}

fn check_label(id: &str, label: usize, labels: usize) -> Result<(), ProtocolError> {
    if label < labels {
        Ok(())
    } else {
        Err(ProtocolError::UnknownLabel { id: id.to_owned(), label, labels })
    }
}

/// How far the two people agree. Only this leads to a truth, and only a truth to a judge's kappa.
#[derive(Debug, Clone, PartialEq)]
pub struct HumanAgreement<'a> {
    annotations: Annotations<'a>,
    kappa: Estimated,
}

impl<'a> HumanAgreement<'a> {
    /// Quadratic on ordered scales, plain on others, on the cases that both labelled.
    pub fn kappa(&self) -> Estimated {
        self.kappa
    }

    /// Of the cases that anybody labelled, the share in which somebody was not sure, 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    pub fn unsure_share(&self) -> f64 {
        let said = |case: &&AnnotatedCase| case.first.is_some() || case.second.is_some();
        let is_unsure = |case: &&AnnotatedCase| {
            [case.first, case.second].into_iter().flatten().any(|annotation| annotation.is_unsure)
        };
        let labelled = self.annotations.cases.iter().filter(said);
        labelled.clone().filter(is_unsure).count() as f64 / labelled.count().max(1) as f64
    }

    pub fn annotations(&self) -> &Annotations<'a> {
        &self.annotations
    }

    /// The truth of each case: what both said, else what was decided. A decision against both is refused.
    pub fn resolve(
        self,
        decisions: &BTreeMap<String, usize>,
    ) -> Result<ConsolidatedTruth<'a>, ProtocolError> {
        self.annotations.check_labels(decisions)?;
        ConsolidatedTruth::new(self, decisions)
    }
}
