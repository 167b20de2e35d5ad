//! Servers that fail, met by the whole stack over real sockets on paused time.
//!
//! The servers run on the same runtime as the caller, so that tokio's time moves for both of them together: a server
//! that sends one byte a second costs no second.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod bytes;
mod field_faults;
mod idle;
mod relay;
mod server;
mod streams;
