//! What happens when something breaks.

mod kill;
