//! Whether a run may pass: reads its verdicts page by page, asks `aggregation`, and says what was found as one value.
//!
//! Every output (table, JUnit, Markdown, annotations, page, JSON) is a rendering of [`GateReport`]; none computes.

mod agreement;
mod explain;
mod extremes;
mod gather;
mod measure;
pub mod render;
mod report;
mod terms;
#[cfg(test)]
mod tests;

pub use self::explain::apart;
pub use self::measure::{GateFault, measure};
pub use self::report::{
    CaseLine, CriterionReport, GateReport, JudgeReport, Measure, Obstacle, PairAgreement, RequirementReport,
    RunGate, Slice,
};
pub use self::terms::{BadTerms, GateTerms, Requirement, Threshold, ThresholdError};
