//! `--project`: whose rows a command makes and reads.

use std::sync::Arc;

use clap::Args;

use crate::api::DEFAULT_PROJECT;

/// Longest name, in characters.
const LONGEST: usize = 64;

/// A project's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project(Arc<str>);

/// The flag of commands that read or make rows.
#[derive(Debug, Args)]
pub struct ProjectArg {
    /// The project whose runs and verdicts it makes and reads; those of other projects are not seen.
    #[arg(id = "project", long = "project", value_name = "NAME", env = "TRIBUNAL_PROJECT", default_value = DEFAULT_PROJECT, value_parser = Project::parse)]
    pub name: Project,
}

impl Project {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        if text.is_empty() || text.len() > LONGEST || !text.bytes().all(is_plain) {
            return Err(format!("a project is called by 1 to {LONGEST} of a-z, 0-9, `_` and `-`"));
        }
        Ok(Self(Arc::from(text)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn to_arc(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The flag, where a command that is shown to be typed needs it.
    pub(super) fn flag(&self) -> Option<String> {
        (self.as_str() != DEFAULT_PROJECT).then(|| format!("--project {}", self.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_short() {
        for name in ["default", "a", "team_7-x", &"p".repeat(64)] {
            assert_eq!(Project::parse(name).map(|project| project.as_str().to_owned()), Ok(name.to_owned()));
        }
        for name in ["", "Team", "a b", "a/b", "ñ", &"p".repeat(65)] {
            assert!(Project::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn only_another_project_is_written_out() {
        assert_eq!(Project::parse("default").unwrap().flag(), None);
        assert_eq!(Project::parse("search").unwrap().flag().as_deref(), Some("--project search"));
    }
}
