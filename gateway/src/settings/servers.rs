//! `servers:` checked and completed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::address::{Address, AddressError, is_own_host, usual_address};
use super::file::{KeyEntry, ServerEntry};
use super::load::Surroundings;
use super::problem::{KeyPath, Report};
use super::secret::{self, KeyGap, KeySource};
use crate::judge::{Limits, Perimeter, ProviderKind, ReplaySource, Server};

/// A server, and why its key is missing if it has to have one.
#[derive(Debug, Clone)]
pub(super) struct CheckedServer {
    pub server: Arc<Server>,
    pub gap: Option<KeyGap>,
}

/// `None` for a server with problems, which are reported.
pub(super) fn check_all(
    entries: &BTreeMap<String, ServerEntry>,
    surroundings: &Surroundings<'_>,
    report: &mut Report<'_>,
) -> BTreeMap<String, Option<CheckedServer>> {
    let mut servers = BTreeMap::new();
    for (name, entry) in entries {
        let path = KeyPath::of(&["servers", name]);
        super::load::check_name(name, &path, report);
        servers.insert(name.clone(), check(name, entry, &path, surroundings, report));
    }
    servers
}

/// The server that `openai/…` means when the file defines none of that name.
pub(super) fn implied(provider: ProviderKind, surroundings: &Surroundings<'_>) -> Option<CheckedServer> {
    let name = provider_word(provider);
    let address = parse_address(provider, usual_address(provider)?).ok()?;
    let source = usual_key(provider, &address);
    Some(assemble(name, provider, &address, &ServerEntry::default(), source, surroundings))
}

fn check(
    name: &str,
    entry: &ServerEntry,
    path: &KeyPath,
    surroundings: &Surroundings<'_>,
    report: &mut Report<'_>,
) -> Option<CheckedServer> {
    let Some(provider) = entry.provider.or_else(|| provider_named(name)) else {
        if !report.is_broken(&path.key("provider")) {
            let hint = "add `provider: openai_compatible`, or `vllm`, `llama_cpp`, `ollama`, `openai`, `anthropic` …";
            report.problem(path, "`provider` is missing", hint);
        }
        return None;
    };
    if provider == ProviderKind::Replay {
        return check_replay(name, entry, path, surroundings.folder, report);
    }
    for (key, is_set) in [("path", entry.path.is_some()), ("read", entry.read.is_some())] {
        if is_set {
            let message = "only a server of `provider: replay` has this key";
            report.problem(&path.key(key), message, "remove it, or set `provider: replay`");
        }
    }
    let address = check_address(entry, provider, path, report);
    let key = check_key(entry.api_key.as_ref(), path, surroundings.folder, report);
    let (address, key) = (address?, key?);
    let source = key.or_else(|| usual_key(provider, &address));
    warn(entry, provider, &address, source.as_ref(), path, report);
    Some(assemble(name, provider, &address, entry, source, surroundings))
}

fn check_replay(
    name: &str,
    entry: &ServerEntry,
    path: &KeyPath,
    folder: &Path,
    report: &mut Report<'_>,
) -> Option<CheckedServer> {
    for (key, is_set) in [
        ("base_url", entry.base_url.is_some()),
        ("api_key", entry.api_key.is_some()),
        ("limits", entry.limits.is_some()),
    ] {
        if is_set {
            report.problem(&path.key(key), "a `replay` server calls nobody", "remove the key");
        }
    }
    let Some(written) = &entry.path else {
        report.problem(path, "`path` is missing", "add `path: judgments.jsonl.gz`, the recorded judgments");
        return None;
    };
    let source = ReplaySource { path: folder.join(written), read: entry.read.unwrap_or_default() };
    let server = Server {
        name: name.to_owned(),
        provider: ProviderKind::Replay,
        base_url: String::new(),
        api_key: None,
        api_key_source: None,
        perimeter: entry.perimeter.unwrap_or(Perimeter::Inside),
        limits: Limits::default(),
        replay: Some(source),
    };
    Some(CheckedServer { server: Arc::new(server), gap: None })
}

fn check_address(
    entry: &ServerEntry,
    provider: ProviderKind,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<Address> {
    let Some(text) = entry.base_url.as_deref().or_else(|| usual_address(provider)) else {
        if !report.is_broken(&path.key("base_url")) {
            let message =
                format!("`base_url` is missing: `{}` has no usual address", provider_word(provider));
            report.problem(path, message, missing_address(provider));
        }
        return None;
    };
    match parse_address(provider, text) {
        Ok(address) => Some(address),
        Err(error) => {
            report.problem(&path.key("base_url"), error.to_string(), error.hint());
            None
        }
    }
}

fn parse_address(provider: ProviderKind, text: &str) -> Result<Address, AddressError> {
    if provider == ProviderKind::AzureOpenai { Address::parse_azure(text) } else { Address::parse(text) }
}

fn missing_address(provider: ProviderKind) -> &'static str {
    if provider == ProviderKind::AzureOpenai {
        "add `base_url: https://NAME.openai.azure.com/openai/v1`, and the deployment's name as the judge's `model`"
    } else {
        "add `base_url: https://…/v1`"
    }
}

/// `None`: wrong; `Some(None)`: not given.
#[expect(clippy::option_option, reason = "wrong, absent and given are three things")]
fn check_key(
    entry: Option<&KeyEntry>,
    path: &KeyPath,
    folder: &Path,
    report: &mut Report<'_>,
) -> Option<Option<KeySource>> {
    let Some(entry) = entry else { return Some(None) };
    if let Some(written) = &entry.file {
        return Some(Some(KeySource::File { written: written.clone(), path: folder.join(written) }));
    }
    let name = entry.env.as_deref().unwrap_or_default();
    if secret::is_variable_name(name) {
        return Some(Some(KeySource::Env(vec![name.to_owned()])));
    }
    // Why: the text is not repeated, since a key may have been pasted here.
    let hint = "write the variable's name, such as `OPENAI_API_KEY`; if a key stood here, treat it as leaked";
    report.problem(&path.key("api_key").key("env"), "this is no name of an environment variable", hint);
    None
}

/// The provider's usual variables, which are sent to its own address only.
fn usual_key(provider: ProviderKind, address: &Address) -> Option<KeySource> {
    let names = secret::usual_variables(provider);
    (!names.is_empty() && is_own_host(provider, &address.host))
        .then(|| KeySource::Env(names.iter().map(|n| (*n).to_owned()).collect()))
}

fn warn(
    entry: &ServerEntry,
    provider: ProviderKind,
    address: &Address,
    source: Option<&KeySource>,
    path: &KeyPath,
    report: &mut Report<'_>,
) {
    if address.is_bare && provider != ProviderKind::Anthropic {
        let message = "the address has no path";
        let hint = if provider == ProviderKind::Gemini {
            "Gemini answers below `/v1beta`: append it"
        } else {
            "most servers answer below `/v1`: append it"
        };
        report.warning(&path.key("base_url"), message, hint);
    }
    if provider == ProviderKind::Gemini && address.base_url.ends_with("/openai") {
        let message = "this is Gemini's OpenAI-compatible address";
        let hint = "remove `/openai`, or write `provider: openai_compatible`";
        report.warning(&path.key("base_url"), message, hint);
    }
    if let (None, Some(variable)) = (source, secret::usual_variables(provider).first()) {
        let message = format!("no key is sent: `{variable}` goes to the provider's own address only");
        report.warning(
            path,
            message,
            format!("if this address needs it, add `api_key: {{env: {variable}}}`"),
        );
    }
    let leaves = address.perimeter == Perimeter::Outside && entry.perimeter != Some(Perimeter::Inside);
    if leaves && !address.encrypted {
        let message = "cases and keys travel unencrypted to an outside address";
        report.warning(
            &path.key("base_url"),
            message,
            "use `https://`, or `perimeter: inside` if the network is yours",
        );
    }
}

fn assemble(
    name: &str,
    provider: ProviderKind,
    address: &Address,
    entry: &ServerEntry,
    source: Option<KeySource>,
    surroundings: &Surroundings<'_>,
) -> CheckedServer {
    let resolved =
        source.as_ref().map(|s| secret::resolve(s, surroundings.environment, &surroundings.allowed));
    let (api_key, gap) = match resolved {
        None => (None, None),
        Some(Ok(key)) => (Some(key), None),
        Some(Err(gap)) => (None, Some(gap)),
    };
    let limits = entry.limits.unwrap_or_default();
    let server = Server {
        name: name.to_owned(),
        provider,
        base_url: address.base_url.clone(),
        api_key,
        api_key_source: source.map(|s| s.name(surroundings.environment)),
        perimeter: entry.perimeter.unwrap_or(address.perimeter),
        limits: Limits {
            concurrency: limits.concurrency.and_then(|n| usize::try_from(n.get()).ok()),
            requests_per_minute: limits.requests_per_minute.map(std::num::NonZeroU32::get),
            tokens_per_minute: limits.tokens_per_minute.map(std::num::NonZeroU32::get),
        },
        replay: None,
    };
    CheckedServer { server: Arc::new(server), gap }
}

const PROVIDERS: [(&str, ProviderKind); 11] = [
    ("openai", ProviderKind::Openai),
    ("openai_compatible", ProviderKind::OpenaiCompatible),
    ("vllm", ProviderKind::Vllm),
    ("llama_cpp", ProviderKind::LlamaCpp),
    ("ollama", ProviderKind::Ollama),
    ("azure_openai", ProviderKind::AzureOpenai),
    ("openrouter", ProviderKind::Openrouter),
    ("mistral", ProviderKind::Mistral),
    ("anthropic", ProviderKind::Anthropic),
    ("gemini", ProviderKind::Gemini),
    ("replay", ProviderKind::Replay),
];

/// The provider that `word` names in the file.
pub(super) fn provider_named(word: &str) -> Option<ProviderKind> {
    PROVIDERS.iter().find(|(name, _)| *name == word).map(|(_, provider)| *provider)
}

/// The provider's name as the file writes it.
pub(super) fn provider_word(provider: ProviderKind) -> &'static str {
    PROVIDERS.iter().find(|(_, p)| *p == provider).map_or("", |(name, _)| name)
}

pub(super) fn provider_words<'a>() -> impl Iterator<Item = &'a str> + Clone {
    PROVIDERS.iter().map(|(name, _)| *name)
}
