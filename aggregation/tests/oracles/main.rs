//! Every formula against vectors that were computed elsewhere.
//!
//! `TRIBUNAL_ORACLES` names another folder with files of the same form; files that are missing there are left out.
//! One module an area; the vectors lie in `data/`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test: a fault here fails it"
)]

mod agreement;
mod bias;
mod disagreement;
mod drift;
mod expected_score;
mod gate;
mod harness;
mod hypothesis;
mod numeric;
mod order;
mod panel;
mod panel_vote;
mod reliability;
