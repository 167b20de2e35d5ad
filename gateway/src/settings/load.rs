//! From file, environment and flags to one [`Config`], or to all that is wrong with them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::ExposeSecret;

use super::aliases;
use super::config::{Config, ServerSettings};
use super::environment::Environment;
use super::file::{ListenerEntry, PanelFile};
use super::judges::{CheckedJudge, Roster};
use super::overrides::{self, Override};
use super::panels::{self, CheckedPanel};
use super::problem::{KeyPath, Problem, Problems, Report};
use super::quantity::ByteSize;
use super::secret::{self, AllowedNames};
use super::tree::Node;
use super::{address, rubrics, shape, store};
use crate::judge::{Judge, Server};
use crate::panel::{ModelKin, Panel};
use crate::templates::Template;

/// Largest `panel.yaml` read.
const LARGEST_FILE_BYTES: u64 = 4 * 1024 * 1024;
const BIND: &str = "127.0.0.1:4600";
const BODY_LIMIT: ByteSize = ByteSize(2 * 1024 * 1024);
const SMALLEST_BODY_LIMIT: ByteSize = ByteSize(1024);
const LARGEST_BODY_LIMIT: ByteSize = ByteSize(1024 * 1024 * 1024);
const LONGEST_NAME: usize = 64;

/// Where settings come from, beside the environment.
#[derive(Debug, Clone, Default)]
pub struct Source {
    pub path: PathBuf,
    /// Values of flags; they win over the environment, which wins over the file.
    pub overrides: Vec<Override>,
    /// `--allow-env`: names that keys may be read from, beside those of `TRIBUNAL_ALLOW_ENV`.
    pub allow_env: Option<Vec<String>>,
}

/// Loads a built-in template by name, or a folder relative to the path; the error may end in `hint: …`.
pub type TemplateLoader<'a> = &'a dyn Fn(&str, &Path) -> Result<Template, String>;

/// What the check needs beside the file.
pub(super) struct Surroundings<'a> {
    /// The file's folder; paths in the file start there.
    pub folder: &'a Path,
    pub environment: &'a Environment,
    pub allowed: AllowedNames,
    pub templates: TemplateLoader<'a>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Reads and checks everything that needs no server. A missing key is no problem here: see
/// [`Config::missing_keys`].
pub fn load(
    source: &Source,
    environment: &Environment,
    templates: TemplateLoader<'_>,
) -> Result<Config, Problems> {
    let text = read_file(&source.path).map_err(|(message, hint)| whole_file(&source.path, message, hint))?;
    parse(&text, source, environment, templates)
}

/// As [`load`], with the file's text in hand; `source.path` says where relative paths start.
pub fn parse(
    text: &str,
    source: &Source,
    environment: &Environment,
    templates: TemplateLoader<'_>,
) -> Result<Config, Problems> {
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let allowed = secret::allowed_names(source.allow_env.as_deref(), environment);
    let surroundings = Surroundings { folder, environment, allowed, templates };
    let origin = source.path.display().to_string();
    let tree = Node::parse(text).map_err(|error| {
        let problem = Problem {
            line: Some(error.line),
            column: Some(error.column),
            origin: origin.clone(),
            path: String::new(),
            message: format!("this is no YAML: {}", error.message),
            hint: "check indentation, colons and quotes on this line and the one before".to_owned(),
        };
        Problems { problems: vec![problem], warnings: Vec::new() }
    })?;
    // Why first alone: the file has to be valid without this machine's environment.
    let alone = check(&tree, text, source, &surroundings);
    let set = overrides::of(&source.overrides, environment);
    if set.is_empty() {
        return alone;
    }
    let mut overridden = tree;
    let mut unusable = overrides::apply(&mut overridden, &set);
    let both = check(&overridden, text, source, &surroundings);
    match (alone, both) {
        (Ok(_), Ok(config)) if unusable.is_empty() => Ok(config),
        (alone, both) => {
            let mut all = Problems { problems: Vec::new(), warnings: Vec::new() };
            for found in [alone.err(), both.err()].into_iter().flatten() {
                all.problems.extend(found.problems);
                all.warnings.extend(found.warnings);
            }
            all.problems.append(&mut unusable);
            all.problems.sort();
            all.problems.dedup();
            all.warnings.sort();
            all.warnings.dedup();
            Err(all)
        }
    }
}

fn read_file(path: &Path) -> Result<String, (String, &'static str)> {
    let shown = path.display();
    let file = std::fs::File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            (format!("there is no `{shown}`"), "run `tribunal init` to write one, or name another with `-c`")
        }
        kind => (format!("`{shown}` cannot be read: {kind}"), "check path and permissions"),
    })?;
    let mut bytes = Vec::new();
    let read = file.take(LARGEST_FILE_BYTES + 1).read_to_end(&mut bytes);
    let read =
        read.map_err(|e| (format!("`{shown}` cannot be read: {}", e.kind()), "check path and permissions"))?;
    if u64::try_from(read).is_ok_and(|n| n > LARGEST_FILE_BYTES) {
        return Err((
            format!("`{shown}` is larger than {}", ByteSize(LARGEST_FILE_BYTES)),
            "move long texts to files",
        ));
    }
    String::from_utf8(bytes).map_err(|_| (format!("`{shown}` is no UTF-8 text"), "save it as UTF-8"))
}

fn whole_file(path: &Path, message: String, hint: &str) -> Problems {
    let problem = Problem {
        line: None,
        column: None,
        origin: path.display().to_string(),
        path: String::new(),
        message,
        hint: hint.to_owned(),
    };
    Problems { problems: vec![problem], warnings: Vec::new() }
}

fn check(
    tree: &Node,
    text: &str,
    source: &Source,
    surroundings: &Surroundings<'_>,
) -> Result<Config, Problems> {
    let origin = source.path.display().to_string();
    let mut report = Report::new(tree, &origin);
    let Some(mut file) = shape::read::<PanelFile>(tree, &mut report) else {
        let (problems, warnings) = report.finish();
        return Err(Problems { problems, warnings });
    };
    let server = check_listener(&file.server, &mut report);
    let store = store::check(file.store.as_deref().unwrap_or(store::STORE), surroundings.folder, &mut report);
    let known_rubrics = rubrics::check_all(&file.rubrics, surroundings.folder, &mut report);
    let mut roster = Roster::of(&file, surroundings, &mut report);
    let mut checked: BTreeMap<String, CheckedPanel> = BTreeMap::new();
    for (name, entry) in &file.panels {
        let panel = panels::check(name, entry, &mut roster, &known_rubrics, &mut report);
        checked.extend(panel.map(|p| (name.clone(), p)));
    }
    if file.panels.is_empty() && !report.is_broken(&KeyPath::of(&["panels"])) {
        let hint = "add `panels: {default: {rubric: …, judges: […]}}`, or run `tribunal init`";
        report.problem(&KeyPath::of(&["panels"]), "there is no panel", hint);
    }
    let aliases = aliases::check_all(&file, &checked, &mut roster, &mut report);
    let (problems, warnings) = report.finish();
    // Each part that could not be built has told why.
    let (Some(server), Some(store), true) = (server, store, problems.is_empty()) else {
        return Err(Problems { problems, warnings });
    };
    let (servers, judges) = parts(roster);
    let panels: BTreeMap<_, _> =
        checked.iter().map(|(name, p)| (name.clone(), Arc::clone(&p.panel))).collect();
    // Kept for printing only, so without its password.
    file.store = Some(store.shown);
    Ok(Config {
        source_path: source.path.clone(),
        server,
        store_url: store.url,
        missing: checked.iter().map(|(name, p)| (name.clone(), p.missing_keys.clone())).collect(),
        digest: digest(text, &panels, &servers),
        servers,
        panels,
        judges,
        rubrics: known_rubrics.into_iter().filter_map(|(name, r)| Some((name, r?))).collect(),
        models: kinships(&file),
        aliases,
        warnings,
        file,
    })
}

/// Panel versions stand for rubrics, guidelines and templates; keys are hashed too, so that a rotated one is noticed.
fn digest(
    text: &str,
    panels: &BTreeMap<String, Arc<Panel>>,
    servers: &BTreeMap<String, Arc<Server>>,
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(text.as_bytes());
    for panel in panels.values() {
        part(panel.version.as_bytes());
    }
    for server in servers.values() {
        part(server.api_key.as_ref().map_or(&[], |key| key.expose_secret().as_bytes()));
    }
    hasher.finalize().to_hex().to_string()
}

type Parts = (BTreeMap<String, Arc<Server>>, BTreeMap<String, Arc<Judge>>);

fn parts(roster: Roster<'_>) -> Parts {
    let servers = roster.servers.into_iter().filter_map(|(name, s)| Some((name, s?.server))).collect();
    let judge = |(name, judge): (String, Option<CheckedJudge>)| Some((name, judge?.judge));
    (servers, roster.judges.into_iter().filter_map(judge).collect())
}

fn kinships(file: &PanelFile) -> Vec<ModelKin> {
    let models = file.models.iter().map(|(pattern, entry)| ModelKin {
        pattern: pattern.clone(),
        base: entry.base.clone(),
        family: entry.family.clone(),
    });
    models.collect()
}

fn check_listener(entry: &ListenerEntry, report: &mut Report<'_>) -> Option<ServerSettings> {
    let path = KeyPath::of(&["server"]);
    let text = entry.bind.as_deref().unwrap_or(BIND);
    let bind = address::bind_address(text);
    if bind.is_none() {
        let message = format!("`{text}` is no address with a port");
        report.problem(
            &path.key("bind"),
            message,
            format!("write `{BIND}`, or `0.0.0.0:4600` for all networks"),
        );
    }
    for (index, host) in entry.hosts.iter().enumerate() {
        if !address::is_host_name(host) {
            let message = format!("`{host}` is no host name");
            let hint = "write the name alone, without scheme, port or path, such as `tribunal.example.com`";
            report.problem(&path.key("hosts").index(index), message, String::from(hint));
        }
    }
    let body_limit = entry.body_limit.unwrap_or(BODY_LIMIT);
    if !(SMALLEST_BODY_LIMIT..=LARGEST_BODY_LIMIT).contains(&body_limit) {
        let message = format!("`{body_limit}` is not between {SMALLEST_BODY_LIMIT} and {LARGEST_BODY_LIMIT}");
        report.problem(&path.key("body_limit"), message, format!("the usual limit is {BODY_LIMIT}"));
    }
    let hosts = entry.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
    Some(ServerSettings { bind: bind?, hosts, body_limit_bytes: usize::try_from(body_limit.0).ok()? })
}

/// Judges may be called `provider/model`, as panels call them.
pub(super) fn check_judge_name(name: &str, path: &KeyPath, report: &mut Report<'_>) {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '`' | '\\' | '<' | '>');
    if name.is_empty() || name.len() > 2 * LONGEST_NAME || !name.chars().all(is_plain) {
        let message = format!("`{name}` cannot be a judge's name");
        report.problem(
            path,
            message,
            "use letters, digits and punctuation without blanks and quotes, at most 128",
        );
    }
}

/// Names stand in addresses (`panel/NAME`), reports and columns.
pub(super) fn check_name(name: &str, path: &KeyPath, report: &mut Report<'_>) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
        let message = format!("`{name}` cannot be a name");
        report.problem(path, message, "use letters, digits, `_`, `-` and `.`, at most 64");
    }
}
