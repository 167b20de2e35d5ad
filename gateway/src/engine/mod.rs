//! From a case to a verdict.

pub mod reply;
