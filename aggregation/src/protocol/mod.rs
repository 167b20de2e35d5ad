//! How people's labels are gathered and used, in the only order that makes sense of them.
//!
//! Cases that the rubric shows as examples are left out ([`leave_out_examples`]); a stratified sample is drawn
//! ([`draw_sample`]); two people label it, blind to the judge and to each other ([`Annotations`]); their agreement is
//! measured ([`HumanAgreement`]), where they differ a third decides ([`ConsolidatedTruth`]), and only then is a judge
//! measured ([`JudgeAgreement`]). Each step takes the one before, so none can be left out. A low kappa has a cause
//! ([`diagnose`]). Source: specification 2. Must not know: where cases and labels are kept.

mod adjudication;
mod annotation;
mod design;
mod examples;
mod low_kappa;
mod sampling;

pub use adjudication::{Adjudication, AgreedOnly, ConsolidatedTruth, Disagreement, JudgeAgreement};
pub use annotation::{AnnotatedCase, Annotation, Annotations, HumanAgreement, ProtocolError};
pub use design::{DesignCase, DesignKappa, design_kappa};
pub use examples::{WithoutExamples, leave_out_examples};
pub use low_kappa::{Cause, Diagnosis, Evidence, Finding, History, TreeThresholds, diagnose};
pub use sampling::{
    Allocation, Candidate, Sample, SampledCase, SamplingError, Stratification, Stratum, StratumCount,
    draw_sample,
};

#[cfg(test)]
mod tests;
