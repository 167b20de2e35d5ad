//! The environment as one value, read once. The only place of the program that looks at it.

use std::collections::BTreeMap;

/// Variables by name.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Variables of this process; those that are no Unicode are left out.
    pub fn of_process() -> Self {
        let pairs = std::env::vars_os();
        Self(pairs.filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect())
    }

    pub fn of<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether a CI service says that it runs this program.
    pub fn is_in_ci(&self) -> bool {
        self.value("CI").is_some_and(|value| !matches!(value, "" | "0" | "false"))
    }

    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.0.range(prefix.to_owned()..);
        pairs.take_while(move |(k, _)| k.starts_with(prefix)).map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

/// Names only: values may be keys.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_services_say_so() {
        for (value, expected) in
            [("true", true), ("1", true), ("woodpecker", true), ("false", false), ("", false)]
        {
            assert_eq!(Environment::of([("CI", value)]).is_in_ci(), expected, "{value}");
        }
        assert!(!Environment::default().is_in_ci());
    }
}
