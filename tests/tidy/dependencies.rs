//! Which crate may depend on what, from cargo's own resolution of the workspace.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::process::Command;

use serde_json::Value;

use super::{assert_none, read, root};

const AGGREGATION_MAY_USE: [&str; 4] = ["rand_chacha", "serde", "statrs", "thiserror"];
const AGGREGATION_NEVER_REACHES: [&str; 8] =
    ["axum", "hyper", "mio", "prometheus", "reqwest", "sqlx", "tokio", "tracing"];
const PROVIDERS_NEVER_USES: [&str; 9] =
    ["aggregation", "axum", "clap", "config", "gateway", "minijinja", "prometheus", "serde-saphyr", "sqlx"];
const WORKSPACE: [&str; 4] = ["aggregation", "gateway", "providers", "tests"];

/// What `cargo metadata` says, reduced to what the rules need.
pub(super) struct Graph {
    /// Package id → name, version and licence.
    pub(super) packages: BTreeMap<String, Package>,
    /// Package id → ids that it needs at run or build time.
    edges: BTreeMap<String, Vec<String>>,
}

pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) licence: String,
}

impl Graph {
    /// For this machine's platform only: the manifests of other platforms' crates need not have been downloaded.
    pub(super) fn of_the_workspace() -> Self {
        let host = output_of(Command::new("rustc").arg("-vV"));
        let host = host.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
        let metadata = output_of(
            Command::new(env!("CARGO"))
                .args([
                    "metadata",
                    "--format-version",
                    "1",
                    "--locked",
                    "--offline",
                    "--filter-platform",
                    host,
                ])
                .current_dir(root()),
        );
        Self::from_metadata(&serde_json::from_str(&metadata).expect("cargo writes JSON"))
    }

    fn from_metadata(metadata: &Value) -> Self {
        let packages = list(&metadata["packages"]).iter().map(|package| {
            let licence = package["license"].as_str().unwrap_or_default().to_owned();
            let found = Package { name: text(&package["name"]), version: text(&package["version"]), licence };
            (text(&package["id"]), found)
        });
        let edges = list(&metadata["resolve"]["nodes"]).iter().map(|node| {
            let needed = list(&node["deps"]).iter().filter(|dependency| is_used_in_the_product(dependency));
            (text(&node["id"]), needed.map(|dependency| text(&dependency["pkg"])).collect())
        });
        Self { packages: packages.collect(), edges: edges.collect() }
    }

    fn direct(&self, name: &str) -> BTreeSet<&str> {
        let ids = self.edges.get(self.id_of(name)).into_iter().flatten();
        ids.map(|id| self.packages[id].name.as_str()).collect()
    }

    fn reached_from(&self, name: &str) -> BTreeSet<&str> {
        self.ids_reached_from(name).iter().map(|id| self.packages[*id].name.as_str()).collect()
    }

    /// Ids of everything in the shipped program, itself included.
    pub(super) fn ids_reached_from(&self, name: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = VecDeque::from([self.id_of(name)]);
        while let Some(id) = open.pop_front() {
            if reached.insert(id) {
                open.extend(self.edges.get(id).into_iter().flatten().map(String::as_str));
            }
        }
        reached
    }

    fn id_of(&self, name: &str) -> &str {
        let found = self.packages.iter().find(|(_, package)| package.name == name);
        found.map_or_else(|| panic!("no crate `{name}`"), |(id, _)| id.as_str())
    }
}

fn is_used_in_the_product(dependency: &Value) -> bool {
    list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].as_str() != Some("dev"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8 output")
}

fn forbidden_edges(graph: &Graph) -> Vec<String> {
    let mut findings = Vec::new();
    for name in graph.direct("aggregation") {
        if !AGGREGATION_MAY_USE.contains(&name) {
            findings.push(format!("aggregation depends on `{name}`: it is pure"));
        }
    }
    for name in graph.reached_from("aggregation") {
        if AGGREGATION_NEVER_REACHES.contains(&name) {
            findings.push(format!("aggregation reaches `{name}`: it does no I/O"));
        }
    }
    for name in graph.direct("providers") {
        if PROVIDERS_NEVER_USES.contains(&name) {
            findings
                .push(format!("providers depends on `{name}`: it knows one LLM call and nothing of judging"));
        }
    }
    for member in ["aggregation", "providers"] {
        for name in graph.direct(member) {
            if WORKSPACE.contains(&name) {
                findings.push(format!("{member} depends on `{name}`: only gateway joins crates"));
            }
        }
    }
    findings
}

fn banned(graph: &Graph, banned: &[String]) -> Vec<String> {
    let reached = graph.reached_from("gateway");
    let found = banned.iter().filter(|name| reached.contains(name.as_str()));
    found.map(|name| format!("`{name}` is in the tree and banned in deny.toml")).collect()
}

/// Crates of the program in two versions or more, unless deny.toml lists the older one.
fn duplicates(graph: &Graph, skipped: &[String]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in graph.ids_reached_from("gateway") {
        let package = &graph.packages[id];
        versions.entry(&package.name).or_default().push(&package.version);
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
    assert_none(&forbidden_edges(&Graph::of_the_workspace()));
}

#[test]
fn no_banned_crate_and_no_second_version() {
    let (graph, deny) = (Graph::of_the_workspace(), read("deny.toml"));
    let (deny_list, skip_list) = (entries(&deny, "deny"), entries(&deny, "skip"));
    assert!(deny_list.len() > 5 && skip_list.len() > 3, "deny.toml was not read");
    assert_none(&banned(&graph, &deny_list));
    assert_none(&duplicates(&graph, &skip_list));
}

#[test]
fn forbidden_crates_are_found() {
    let graph = sample(&[("aggregation", "tokio"), ("providers", "aggregation"), ("gateway", "openssl")]);
    assert_eq!(forbidden_edges(&graph).len(), 4);
    assert_eq!(banned(&graph, &["openssl".to_owned()]).len(), 1);
    assert_eq!(forbidden_edges(&sample(&[("gateway", "providers"), ("aggregation", "serde")])).len(), 0);
}

#[test]
fn second_versions_are_found() {
    let mut graph = sample(&[("gateway", "http"), ("gateway", "http_old")]);
    let old = graph.packages.get_mut("http_old").expect("in the sample");
    (old.name, old.version) = ("http".to_owned(), "0.2.12".to_owned());
    assert_eq!(duplicates(&graph, &[]).len(), 1);
    assert_eq!(duplicates(&graph, &["http@0.2".to_owned()]).len(), 0);
    assert_eq!(duplicates(&graph, &["http@0.21".to_owned()]).len(), 1);
}

fn sample(edges: &[(&str, &str)]) -> Graph {
    let mut graph = Graph { packages: BTreeMap::new(), edges: BTreeMap::new() };
    let ends = edges.iter().flat_map(|(from, to)| [*from, *to]).chain(WORKSPACE);
    for name in ends {
        let package =
            Package { name: name.to_owned(), version: "1.0.0".to_owned(), licence: "MIT".to_owned() };
        graph.packages.insert(name.to_owned(), package);
    }
    for (from, to) in edges {
        graph.edges.entry((*from).to_owned()).or_default().push((*to).to_owned());
    }
    graph
}
