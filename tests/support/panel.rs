//! A folder with a panel.yaml. JSON is YAML, so the file is a JSON value that each test changes where it needs to.

use std::path::{Path, PathBuf};

use gateway::settings::{Config, Environment, Source};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The three judges of [`panel`].
pub const JUDGES: [&str; 3] = ["ann", "bob", "cid"];

/// An address where nothing listens: scripted judges are never called there.
pub const NOWHERE: &str = "http://127.0.0.1:9/v1";

/// Three judges of three families, each on a server of its own at `base_url`; one criterion, `quality`, from 1 to 5;
/// nothing left to chance: written labels count and no case is drawn for review.
pub fn panel(base_url: &str) -> Value {
    let server = || json!({"provider": "openai_compatible", "base_url": base_url, "perimeter": "inside"});
    let judge = |server: &str, family: &str| {
        json!({
            "server": server, "model": format!("{family}-one"), "family": family, "template": "direct",
            "scoring": "discrete", "price": {"input": 1.0, "output": 2.0},
        })
    };
    json!({
        "store": "tribunal.db",
        "servers": {"s-ann": server(), "s-bob": server(), "s-cid": server()},
        "judges": {
            "ann": judge("s-ann", "alder"), "bob": judge("s-bob", "birch"), "cid": judge("s-cid", "cedar"),
        },
        "rubrics": {"quality": {"criteria": [{
            "name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5], "pass": 4,
            "instructions": "Is the answer right?",
        }]}},
        "panels": {"default": {
            "judges": JUDGES, "rubric": "quality",
            "escalate": {"random_review_share": "off"},
        }},
    })
}

/// JSON Lines.
pub fn lines(values: impl IntoIterator<Item = Value>) -> String {
    let lines: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    lines.join("\n") + "\n"
}

/// `file` with `change` laid over it: mappings are merged, everything else replaced, null removes (RFC 7386).
pub fn with(file: Value, change: Value) -> Value {
    match (file, change) {
        (Value::Object(mut whole), Value::Object(changes)) => {
            for (key, value) in changes {
                if value.is_null() {
                    whole.remove(&key);
                } else {
                    let before = whole.remove(&key).unwrap_or(Value::Null);
                    whole.insert(key, with(before, value));
                }
            }
            Value::Object(whole)
        }
        (_, change) => change,
    }
}

/// A fourth judge, `dan`, as a replacement.
pub fn with_replacement(file: Value) -> Value {
    let change = json!({
        "servers": {"s-dan": file["servers"]["s-ann"]},
        "judges": {"dan": {
            "server": "s-dan", "model": "elm-one", "family": "elm", "template": "direct", "scoring": "discrete",
            "price": {"input": 1.0, "output": 2.0},
        }},
        "panels": {"default": {"replacements": ["dan"]}},
    });
    with(file, change)
}

/// A folder of one test, gone with it.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
}

impl Folder {
    pub fn empty() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    pub fn with_panel(file: &Value) -> Self {
        let folder = Self::empty();
        folder.write("panel.yaml", &format!("{file:#}"));
        folder
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_else(|error| panic!("read {name}: {error}"))
    }

    /// The valid settings in panel.yaml, read without this machine's environment.
    pub fn config(&self) -> Config {
        self.try_config().unwrap_or_else(|problems| panic!("{problems}"))
    }

    pub fn try_config(&self) -> Result<Config, String> {
        let source = Source { path: self.file("panel.yaml"), ..Source::default() };
        let templates =
            |name: &str, base: &Path| gateway::templates::load(name, base).map_err(|error| error.to_string());
        gateway::settings::load(&source, &Environment::default(), &templates)
            .map_err(|problems| problems.to_string())
    }
}
