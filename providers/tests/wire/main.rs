//! The vendors against bytes on a real socket: recorded and documented exchanges of six servers, and faults that no recording has.
//!
//! `expected.tsv` says in one line what every recording has to become, or why it is no exchange of ours.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod exchange;
mod faults;
mod native;
mod outcome;
mod recordings;
mod requests;
mod server;
mod verbatim;
