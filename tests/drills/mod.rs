//! What happens when something breaks.

mod field_faults;
mod kill;
mod kill_served;
mod perimeter_bytes;
