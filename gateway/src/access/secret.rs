//! The text of a key: drawn once, shown once, and kept only as a hash.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// What every key begins with, so that scanners of secrets and people know it.
const PREFIX: &str = "tribunal";

const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// Longest text that is looked at.
const LONGEST: usize = 256;

/// A key as its owner has it: `tribunal_ID_SECRET`, both in hexadecimal digits. `Debug` shows the id alone.
pub struct Secret {
    id: String,
    text: SecretString,
}

/// The text is no key of this gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key of this gateway: it begins with `tribunal_`, as `tribunal keys create` shows it")]
pub struct BadSecret;

/// Of the whole text; a key of 256 random bits needs no slow hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SecretHash(blake3::Hash);

impl Secret {
    /// A new one from the system's randomness.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut random = [0_u8; ID_BYTES + SECRET_BYTES];
        getrandom::fill(&mut random)?;
        let digits = hexadecimal(&random);
        let (id, secret) = digits.split_at(2 * ID_BYTES);
        Ok(Self { id: id.to_owned(), text: format!("{PREFIX}_{id}_{secret}").into() })
    }

    /// What somebody presents.
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        let parts = (text.len() <= LONGEST).then(|| text.trim().split('_')).ok_or(BadSecret)?;
        let [PREFIX, id, secret] = parts.collect::<Vec<_>>()[..] else { return Err(BadSecret) };
        let is_hex = |text: &str, bytes: usize| {
            text.len() == 2 * bytes && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        if !is_hex(id, ID_BYTES) || !is_hex(secret, SECRET_BYTES) {
            return Err(BadSecret);
        }
        Ok(Self { id: id.to_owned(), text: text.trim().into() })
    }

    /// Names the key without giving it away.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The text, for the one moment in which its owner is shown it.
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }

    pub fn hash(&self) -> SecretHash {
        SecretHash(blake3::hash(self.expose().as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Comparing two takes the same time wherever they differ.
impl SecretHash {
    /// As it is kept: 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        blake3::Hash::from_hex(text).map(Self).map_err(|_| BadSecret)
    }
}

impl fmt::Display for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash")
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit));
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_key_is_read_back_and_known_by_its_hash() {
        let drawn = Secret::draw().unwrap();
        let read = Secret::parse(drawn.expose()).unwrap();
        assert_eq!((read.id(), read.hash()), (drawn.id(), drawn.hash()));
        assert_eq!(SecretHash::parse(&drawn.hash().to_string()), Ok(drawn.hash()));
        assert_ne!(Secret::draw().unwrap().hash(), drawn.hash());
    }

    #[test]
    fn nothing_shows_the_secret_but_expose() {
        let drawn = Secret::draw().unwrap();
        let secret = drawn.expose().rsplit('_').next().unwrap();
        assert!(!format!("{drawn:?} {:?} {}", drawn.hash(), drawn.hash()).contains(secret));
    }

    #[test]
    fn other_texts_are_no_keys() {
        let good = Secret::draw().unwrap().expose().to_owned();
        assert!(Secret::parse(&format!(" {good}\n")).is_ok());
        let long = "tribunal_".repeat(100);
        for bad in
            ["", "none", "sk-proj-1234", "tribunal__", &good[1..], &good[..80], &format!("{good}0"), &long]
        {
            assert_eq!(Secret::parse(bad).err(), Some(BadSecret), "{bad}");
        }
        assert!(Secret::parse(&good.to_uppercase()).is_err());
        assert_eq!(SecretHash::parse("b3"), Err(BadSecret));
    }
}
