//! What a gate found, for machines and people: each output is a rendering of [`GateReport`](super::GateReport).
//!
//! Nothing here computes a figure or reads the environment. Names of cases, criteria, judges and models come from
//! files of strangers: each format has one function that makes them harmless.

pub mod annotations;
pub mod html;
pub mod junit;
pub mod markdown;
mod plot;
#[cfg(test)]
mod tests;
mod words;
mod xml;

pub(crate) use self::words::{counted, percent, plural, progress};

/// What an open question counts as: the exit code and every output say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    Fails,
    Passes,
}
