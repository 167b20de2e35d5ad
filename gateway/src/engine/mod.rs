//! From a case to a verdict.
