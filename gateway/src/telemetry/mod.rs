//! What operators see: logs and metrics. Never prompts, replies, keys or the text of a case.

pub mod logs;
pub mod metrics;
