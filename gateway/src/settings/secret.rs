//! Keys of servers: where they are named, who may name them, and why one is missing.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use aggregation::vote::JudgeId;
use secrecy::SecretString;

use super::environment::Environment;
use crate::judge::ProviderKind;

/// The variable that lists the names which `api_key` may use, separated by commas.
pub const ALLOW_ENV: &str = "TRIBUNAL_ALLOW_ENV";

/// Largest key file read.
const LARGEST_KEY_BYTES: u64 = 64 * 1024;

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The first variable that is set.
    Env(Vec<String>),
    File {
        /// As the file names it.
        written: String,
        path: PathBuf,
    },
}

impl KeySource {
    /// The variable (the one that is set, else the first) or the file, as it may be shown.
    pub fn name(&self, environment: &Environment) -> String {
        match self {
            Self::Env(names) => {
                let set = names.iter().find(|n| environment.value(n).is_some());
                set.or(names.first()).cloned().unwrap_or_default()
            }
            Self::File { written, .. } => written.clone(),
        }
    }
}

/// Why there is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyGap {
    #[error("`{0}` is not set")]
    Unset(String),
    #[error("`{0}` is empty")]
    Empty(String),
    #[error("`{0}` cannot be read: {1}")]
    Unreadable(String, std::io::ErrorKind),
    #[error("`{0}` holds characters that no key has")]
    Malformed(String),
    #[error("`{0}` is not among the names that keys may be read from")]
    NotAllowed(String),
}

/// A judge that cannot be asked for want of its server's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingKey {
    pub judge: JudgeId,
    pub server: String,
    pub gap: KeyGap,
}

impl fmt::Display for MissingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { judge, server, gap } = self;
        write!(f, "judge `{judge}` on server `{server}` has no key: {gap}\n  hint: ")?;
        match gap {
            KeyGap::Unset(name) | KeyGap::Empty(name) => {
                write!(f, "set `{name}`, or mark the judge `optional: true`")
            }
            KeyGap::Unreadable(name, _) => write!(f, "check path and permissions of `{name}`"),
            KeyGap::Malformed(name) => write!(f, "`{name}` has to hold the key on one line and nothing else"),
            KeyGap::NotAllowed(name) => write!(f, "add `{name}` to `{ALLOW_ENV}` or to `--allow-env`"),
        }
    }
}

/// Names that keys may be read from; `None`: any.
pub(super) type AllowedNames = Option<BTreeSet<String>>;

/// Names of flag and variable together, when either is given.
pub(super) fn allowed_names(flag: Option<&[String]>, environment: &Environment) -> AllowedNames {
    let variable = environment.value(ALLOW_ENV);
    if flag.is_none() && variable.is_none() {
        return None;
    }
    let listed = variable.unwrap_or_default().split(',').map(str::trim).map(str::to_owned);
    Some(flag.unwrap_or_default().iter().cloned().chain(listed).filter(|n| !n.is_empty()).collect())
}

/// The variables a provider's key usually stands in; empty when it needs none.
pub(super) fn usual_variables(provider: ProviderKind) -> &'static [&'static str] {
    match provider {
        ProviderKind::Openai => &["OPENAI_API_KEY"],
        ProviderKind::Anthropic => &["ANTHROPIC_API_KEY"],
        ProviderKind::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        ProviderKind::Mistral => &["MISTRAL_API_KEY"],
        ProviderKind::Openrouter => &["OPENROUTER_API_KEY"],
        ProviderKind::AzureOpenai => &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
        ProviderKind::OpenaiCompatible
        | ProviderKind::Vllm
        | ProviderKind::LlamaCpp
        | ProviderKind::Ollama
        | ProviderKind::Replay => &[],
    }
}

/// The key, trimmed of the blanks and line ends that copies and files leave.
pub(super) fn resolve(
    source: &KeySource,
    environment: &Environment,
    allowed: &AllowedNames,
) -> Result<SecretString, KeyGap> {
    let is_allowed = |name: &str| allowed.as_ref().is_none_or(|names| names.contains(name));
    let name = source.name(environment);
    if !is_allowed(&name) {
        return Err(KeyGap::NotAllowed(name));
    }
    match source {
        KeySource::Env(_) => match environment.value(&name) {
            None => Err(KeyGap::Unset(name)),
            Some(value) => checked(value, name),
        },
        KeySource::File { path, .. } => match read_key(path) {
            Ok(text) => checked(&text, name),
            Err(error) => Err(KeyGap::Unreadable(name, error.kind())),
        },
    }
}

fn checked(value: &str, name: String) -> Result<SecretString, KeyGap> {
    let value = value.trim();
    if value.is_empty() {
        Err(KeyGap::Empty(name))
    } else if value.chars().all(|c| c.is_ascii_graphic()) {
        Ok(SecretString::from(value.to_owned()))
    } else {
        Err(KeyGap::Malformed(name))
    }
}

fn read_key(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(LARGEST_KEY_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether a text can be the name of a variable, and does not look like a key pasted in its place.
pub(super) fn is_variable_name(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let looks_like_key = text.len() >= 24 && text.chars().any(|c| c.is_ascii_lowercase());
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && !looks_like_key
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn env(names: &[&str]) -> KeySource {
        KeySource::Env(names.iter().map(|n| (*n).to_owned()).collect())
    }

    #[test]
    fn each_gap_is_named() {
        let environment = Environment::of([("GOOD", " sk-1\n"), ("BLANK", "  "), ("TWO", "a\nb")]);
        let check = |source: &KeySource, allowed: &AllowedNames, expected: Result<&str, KeyGap>| {
            let found = resolve(source, &environment, allowed);
            assert_eq!(found.map(|k| k.expose_secret().to_owned()), expected.map(str::to_owned));
        };
        check(&env(&["GOOD"]), &None, Ok("sk-1"));
        check(&env(&["OTHER", "GOOD"]), &None, Ok("sk-1"));
        check(&env(&["OTHER", "THIRD"]), &None, Err(KeyGap::Unset("OTHER".to_owned())));
        check(&env(&["BLANK"]), &None, Err(KeyGap::Empty("BLANK".to_owned())));
        check(&env(&["TWO"]), &None, Err(KeyGap::Malformed("TWO".to_owned())));
        let only_other = Some(BTreeSet::from(["OTHER".to_owned()]));
        check(&env(&["GOOD"]), &only_other, Err(KeyGap::NotAllowed("GOOD".to_owned())));
        let file = KeySource::File { written: "k".to_owned(), path: PathBuf::from("/nonexistent/k") };
        let missing = KeyGap::Unreadable("k".to_owned(), std::io::ErrorKind::NotFound);
        check(&file, &None, Err(missing));
        check(&file, &only_other, Err(KeyGap::NotAllowed("k".to_owned())));
    }

    #[test]
    fn allow_list_is_the_union_of_flag_and_variable() {
        let none = Environment::default();
        let listed = Environment::of([(ALLOW_ENV, "A, B,")]);
        let names = |n: &[&str]| Some(n.iter().map(|s| (*s).to_owned()).collect::<BTreeSet<_>>());
        assert_eq!(allowed_names(None, &none), None);
        assert_eq!(allowed_names(None, &listed), names(&["A", "B"]));
        assert_eq!(allowed_names(Some(&["C".to_owned()]), &listed), names(&["A", "B", "C"]));
        assert_eq!(allowed_names(Some(&[]), &none), names(&[]));
    }

    #[test]
    fn pasted_keys_are_not_variable_names() {
        assert!(is_variable_name("OPENAI_API_KEY"));
        assert!(is_variable_name("vllm_key"));
        for wrong in ["sk-abc", "", "1A", "AIzaSyA1234567890abcdefghij", "A B"] {
            assert!(!is_variable_name(wrong), "{wrong}");
        }
    }
}
