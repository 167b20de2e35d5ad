//! What the tests of the whole stand on: judges that answer from a script, a gateway of each test's own, the built
//! program. Must not know what any test expects.

pub mod binary;
pub mod gate;
pub mod gateway;
pub mod judges;
pub mod panel;
pub mod stored;
pub mod upstream;
