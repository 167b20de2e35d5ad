//! Who may use this gateway: keys, what each allows, and the ones that are known now.
//!
//! Knows nothing of HTTP: the API asks it whether a text is a key, and what the key may do.

mod key;
mod ring;
mod secret;
mod stored;

pub use self::key::{AccessKey, Allowance, BadAllowance, BadRole, Role, Window, day};
pub use self::ring::{KeyError, KeyRing, LOOKED_AT_EVERY, Refusal};
pub use self::secret::{BadSecret, Secret, SecretHash};
pub use self::stored::UnreadableKey;
