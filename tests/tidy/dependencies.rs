//! Which crate may depend on what, from cargo's own tree of what is built.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use super::{assert_none, read, root};

const AGGREGATION_MAY_USE: [&str; 4] = ["rand_chacha", "serde", "statrs", "thiserror"];
const AGGREGATION_NEVER_REACHES: [&str; 8] =
    ["axum", "hyper", "mio", "prometheus", "reqwest", "sqlx", "tokio", "tracing"];
const PROVIDERS_NEVER_USES: [&str; 9] =
    ["aggregation", "axum", "clap", "config", "gateway", "minijinja", "prometheus", "serde-saphyr", "sqlx"];
const WORKSPACE: [&str; 4] = ["aggregation", "gateway", "providers", "tests"];

/// What one crate is built from on this machine, itself first; tests and benches not counted.
///
/// `cargo metadata` would also list optional crates that no feature turns on.
pub(super) struct Tree {
    pub(super) packages: Vec<Package>,
}

pub(super) struct Package {
    depth: usize,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) licence: String,
}

impl Tree {
    pub(super) fn of(name: &str) -> Self {
        let arguments = ["tree", "--locked", "--offline", "--package", name, "--edges", "normal,build"];
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).args(["--prefix", "depth", "--format", "|{p}|{l}|"]).current_dir(root());
        let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        Self::parse(&String::from_utf8(output.stdout).expect("UTF-8 output"))
    }

    /// Lines such as `2|serde v1.0.228|MIT OR Apache-2.0|`.
    fn parse(text: &str) -> Self {
        let packages = text.lines().filter(|line| !line.is_empty()).map(|line| {
            let parts: Vec<&str> = line.split('|').collect();
            let [depth, package, licence, _] = parts[..] else { panic!("a line of another form: {line}") };
            let (name, version) = package.split_once(" v").expect("a name and a version");
            Package {
                depth: depth.parse().expect("a depth"),
                name: name.to_owned(),
                version: version.split(' ').next().unwrap_or_default().to_owned(),
                licence: licence.to_owned(),
            }
        });
        Self { packages: packages.collect() }
    }

    fn direct(&self) -> BTreeSet<&str> {
        self.packages
            .iter()
            .filter(|package| package.depth == 1)
            .map(|package| package.name.as_str())
            .collect()
    }

    fn all(&self) -> BTreeSet<&str> {
        self.packages.iter().map(|package| package.name.as_str()).collect()
    }
}

fn impure_aggregation(tree: &Tree) -> Vec<String> {
    let strange = tree.direct().into_iter().filter(|name| !AGGREGATION_MAY_USE.contains(name));
    let mut findings: Vec<String> =
        strange.map(|name| format!("aggregation depends on `{name}`: it is pure")).collect();
    let all = tree.all();
    let reached = all.iter().filter(|name| AGGREGATION_NEVER_REACHES.contains(name));
    findings.extend(reached.map(|name| format!("aggregation reaches `{name}`: it does no I/O")));
    findings
}

fn knowing_providers(tree: &Tree) -> Vec<String> {
    let direct = tree.direct();
    let strange =
        direct.iter().filter(|name| PROVIDERS_NEVER_USES.contains(name) || WORKSPACE.contains(name));
    strange
        .map(|name| format!("providers depends on `{name}`: it knows one LLM call and nothing of judging"))
        .collect()
}

fn banned(tree: &Tree, banned: &[String]) -> Vec<String> {
    let all = tree.all();
    let found = banned.iter().filter(|name| all.contains(name.as_str()));
    found.map(|name| format!("`{name}` is in the tree and banned in deny.toml")).collect()
}

/// Crates in two versions or more, unless deny.toml lists the older one.
fn duplicates(tree: &Tree, skipped: &[String]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &tree.packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let mut findings = Vec::new();
    for (name, found) in versions {
        let is_skipped = |version: &str| {
            skipped.iter().filter_map(|entry| entry.split_once('@')).any(|(skipped_name, skipped_version)| {
                skipped_name == name && format!("{version}.").starts_with(&format!("{skipped_version}."))
            })
        };
        let counted: Vec<&str> = found.into_iter().filter(|version| !is_skipped(version)).collect();
        if counted.len() > 1 {
            findings.push(format!("`{name}` is in the tree as {}", counted.join(" and ")));
        }
    }
    findings
}

/// The `crate = "…"` entries of one list in deny.toml.
fn entries(deny: &str, list: &str) -> Vec<String> {
    let lines = deny.lines().skip_while(|line| *line != format!("{list} = [")).skip(1);
    let lines = lines.take_while(|line| *line != "]");
    lines.filter_map(|line| line.split("crate = \"").nth(1)?.split('"').next()).map(str::to_owned).collect()
}

#[test]
fn crates_depend_as_the_architecture_says() {
    assert_none(&impure_aggregation(&Tree::of("aggregation")));
    assert_none(&knowing_providers(&Tree::of("providers")));
    let gateway = Tree::of("gateway");
    assert!(
        gateway.direct().is_superset(&BTreeSet::from(["aggregation", "providers"])),
        "gateway joins both"
    );
}

#[test]
fn no_banned_crate_and_no_second_version() {
    let (tree, deny) = (Tree::of("gateway"), read("deny.toml"));
    let (deny_list, skip_list) = (entries(&deny, "deny"), entries(&deny, "skip"));
    assert!(deny_list.len() > 5 && skip_list.len() > 3, "deny.toml was not read");
    assert_none(&banned(&tree, &deny_list));
    assert_none(&duplicates(&tree, &skip_list));
}

#[test]
fn forbidden_crates_are_found() {
    let impure =
        "0|aggregation v0.1.0 (/here)|MIT|\n1|serde v1.0.1|MIT|\n1|tokio v1.54.0|MIT|\n2|mio v1.2.0|MIT|\n";
    assert_eq!(impure_aggregation(&Tree::parse(impure)).len(), 3);
    let pure = "0|aggregation v0.1.0 (/here)|MIT|\n1|serde v1.0.1|MIT|\n2|serde_derive v1.0.1 (proc-macro)|MIT| (*)\n";
    assert_eq!(impure_aggregation(&Tree::parse(pure)).len(), 0);
    let knowing =
        "0|providers v0.1.0|MIT|\n1|aggregation v0.1.0|MIT|\n1|tower v0.5.3|MIT|\n2|axum v0.8.9|MIT|\n";
    assert_eq!(knowing_providers(&Tree::parse(knowing)).len(), 1);
    assert_eq!(banned(&Tree::parse(knowing), &["axum".to_owned(), "openssl".to_owned()]).len(), 1);
}

#[test]
fn second_versions_are_found() {
    let tree = Tree::parse(
        "0|gateway v0.1.0|MIT|\n1|http v1.4.0|MIT|\n1|http v1.4.0|MIT| (*)\n2|http v0.2.12|MIT|\n",
    );
    assert_eq!(duplicates(&tree, &[]).len(), 1);
    assert_eq!(duplicates(&tree, &["http@0.2".to_owned()]).len(), 0);
    assert_eq!(duplicates(&tree, &["http@0.21".to_owned()]).len(), 1);
}
