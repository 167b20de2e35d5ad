//! What happens when something breaks.

mod field_faults;
mod field_faults_store;
mod kill;
mod kill_served;
mod perimeter_bytes;
