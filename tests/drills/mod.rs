//! What happens when something breaks.

mod field_faults;
mod kill;
mod perimeter_bytes;
