//! Whether a run may pass: reads its verdicts page by page, asks `aggregation`, and says what was found as one value.
//!
//! Every output (table, JUnit, Markdown, annotations, page, JSON) is a rendering of [`GateReport`]; none computes.

mod agreement;
mod decide;
mod explain;
mod extremes;
mod gather;
mod held;
mod labels;
mod measure;
pub mod render;
mod report;
mod scores;
mod stored;
mod terms;
#[cfg(test)]
mod tests;

pub use self::decide::ScoreFault;
pub use self::explain::apart;
pub use self::held::without_checks;
pub use self::labels::{LabelFault, Labels};
pub use self::measure::{Beside, GateFault, measure};
pub use self::report::{
    BaselineReport, CaseLine, Claimed, Comparison, Correction, CriterionReport, FailedCheckLine, GateReport,
    JudgeReport, LabelReport, Measure, Obstacle, PairAgreement, Regression, RequirementReport, RunGate,
    Slice,
};
pub use self::stored::{describe_stored, measure_stored};
pub use self::terms::{BadTerms, GateTerms, Requirement, Threshold, ThresholdError, USUAL_MARGIN};
