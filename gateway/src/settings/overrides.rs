//! Values from the environment (`TRIBUNAL__SERVER__BIND=…`) and from flags, laid over the file.

use std::sync::Arc;

use super::environment::Environment;
use super::problem::{KeyPath, Problem, Step};
use super::tree::{Content, Entry, Node, Place};

const PREFIX: &str = "TRIBUNAL__";
const SEPARATOR: &str = "__";

/// One value from outside the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// Keys down to the value, such as `["server", "bind"]`.
    pub keys: Vec<String>,
    /// YAML.
    pub value: String,
    /// The flag or variable, for messages.
    pub origin: String,
}

impl Override {
    /// A flag's value for a key path such as `server.bind`.
    pub fn of_flag(flag: &str, path: &str, value: &str) -> Self {
        let keys = path.split('.').map(str::to_owned).collect();
        Self { keys, value: value.to_owned(), origin: flag.to_owned() }
    }
}

/// Environment first, so that flags win.
pub(super) fn of(flags: &[Override], environment: &Environment) -> Vec<Override> {
    let variables = environment.with_prefix(PREFIX).map(|(name, value)| Override {
        keys: name.strip_prefix(PREFIX).unwrap_or_default().split(SEPARATOR).map(str::to_owned).collect(),
        value: value.to_owned(),
        origin: name.to_owned(),
    });
    variables.chain(flags.iter().cloned()).collect()
}

/// Returns the overrides that fit nowhere. Whether a key exists at all is found when the tree is read.
pub(super) fn apply(tree: &mut Node, overrides: &[Override]) -> Vec<Problem> {
    overrides.iter().filter_map(|o| Some(misplaced(o, &set(tree, o).err()?))).collect()
}

/// The path of the value below which there is nothing to set, if the keys lead there.
fn set(tree: &mut Node, override_: &Override) -> Result<(), KeyPath> {
    let place = Place::Override(Arc::from(override_.origin.as_str()));
    let mut path = KeyPath::default();
    let mut node = tree;
    for key in &override_.keys {
        if matches!(node.content, Content::Null) {
            node.content = Content::Map(Vec::new());
        }
        match &mut node.content {
            Content::Map(entries) => {
                let index = entries.iter().position(|e| same_key(&e.key, key)).unwrap_or_else(|| {
                    let value = Node { content: Content::Null, place: place.clone(), written: None };
                    let key = key.to_lowercase();
                    entries.push(Entry { key, key_place: place.clone(), value });
                    entries.len() - 1
                });
                let Some(entry) = entries.get_mut(index) else { return Err(path) };
                path.0.push(Step::Key(entry.key.clone()));
                node = &mut entry.value;
            }
            Content::List(list) => {
                let element = key.parse::<usize>().ok().and_then(|i| Some((i, list.get_mut(i)?)));
                let Some((index, element)) = element else { return Err(path) };
                path.0.push(Step::Index(index));
                node = element;
            }
            Content::Null
            | Content::Removed
            | Content::Bool(_)
            | Content::Unsigned(_)
            | Content::Signed(_)
            | Content::Float(_)
            | Content::Text(_) => return Err(path),
        }
    }
    *node = value(&override_.value, &place);
    Ok(())
}

/// Variables are upper case and have no dashes; names in the file may be otherwise.
fn same_key(in_file: &str, in_variable: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', '.'], "_");
    plain(in_file) == plain(in_variable)
}

/// The value as YAML reads it; what is no YAML is text.
fn value(text: &str, place: &Place) -> Node {
    let mut node = Node::parse(text).unwrap_or_else(|_| Node {
        content: Content::Text(text.to_owned()),
        place: place.clone(),
        written: None,
    });
    node.set_place(place);
    node
}

fn misplaced(override_: &Override, path: &KeyPath) -> Problem {
    Problem {
        line: None,
        column: None,
        origin: override_.origin.clone(),
        path: path.to_string(),
        message: "there is nothing below this key to set".to_owned(),
        hint: "name keys as the file nests them, such as `TRIBUNAL__SERVER__BIND`".to_owned(),
    }
}
