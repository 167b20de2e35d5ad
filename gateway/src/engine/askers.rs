//! Judges, connected: the provider stack of each, their recordings, and the fingerprints under which answers are kept.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aggregation::vote::JudgeId;
use providers::{
    AddressError, BaseUrl, Client, Dialect, Learned, Provider, ServerHandle, ServerLimits, SetupError,
    StackSettings, Vendor, VendorConfig, stack, vendors,
};

use super::model_facts::{ModelFact, ModelFacts};
use super::replay::{self, Recording, ReplayError};
use crate::case::Mode;
use crate::judge::{Judge, ProviderKind, Server};
use crate::panel::{ModelKin, Panel};
use crate::settings::{Config, judge_fingerprint};

/// A judge that is asked by itself has as long as a client may wait: long answers are streamed.
const ALONE: Duration = Duration::from_mins(10);

#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    #[error("server `{server}`")]
    Address {
        server: String,
        #[source]
        source: AddressError,
    },
    #[error("server `{server}`")]
    Setup {
        server: String,
        #[source]
        source: SetupError,
    },
    #[error("recorded judgments")]
    Recording(#[from] ReplayError),
}

/// One version of the connected judges, swapped as a whole.
#[derive(Debug)]
pub struct Askers {
    /// By panel and judge: a panel has its own deadline for one attempt.
    providers: HashMap<String, HashMap<JudgeId, Provider>>,
    /// Judges that are asked by themselves, whether or not a panel has them.
    alone: HashMap<JudgeId, Provider>,
    servers: HashMap<String, ConnectedServer>,
    client: Client,
    /// What is known of each judge's model.
    models_asked: HashMap<JudgeId, Arc<ModelFact>>,
    facts: ModelFacts,
    recordings: BTreeMap<PathBuf, Arc<Recording>>,
    /// By panel version.
    prints: HashMap<String, Arc<PanelPrints>>,
    models: Arc<[ModelKin]>,
}

/// What all judges of a server share, and where it is.
#[derive(Debug, Clone)]
struct ConnectedServer {
    base_url: String,
    handle: ServerHandle,
}

/// Hashes of one panel version.
#[derive(Debug)]
pub(super) struct PanelPrints {
    pub rubric_hash: String,
    judges: HashMap<JudgeId, JudgePrints>,
}

#[derive(Debug)]
struct JudgePrints {
    template_hash: String,
    /// By criterion and mode.
    fingerprints: Vec<(String, Mode, String)>,
}

impl Askers {
    /// Connects every judge of every panel. A judge without its key, or whose provider this version does not know, is
    /// left unconnected; asking it is an `unavailable`.
    pub async fn connect(config: &Config, facts: ModelFacts) -> Result<Self, WiringError> {
        Self::wire(config, Client::new(), facts, &HashMap::new()).await
    }

    /// The same for changed settings. Connections, what was learned of models, and the limits and breakers of servers
    /// that are the same go on as they are.
    pub async fn followed_by(&self, config: &Config) -> Result<Self, WiringError> {
        Self::wire(config, self.client.clone(), self.facts.clone(), &self.servers).await
    }

    async fn wire(
        config: &Config,
        client: Client,
        facts: ModelFacts,
        before: &HashMap<String, ConnectedServer>,
    ) -> Result<Self, WiringError> {
        let mut models_asked = HashMap::new();
        let mut vendors: HashMap<JudgeId, Vendor> = HashMap::new();
        let mut servers: HashMap<String, ConnectedServer> = HashMap::new();
        for judge in config.judges.values() {
            let server = &judge.server;
            servers.entry(server.name.clone()).or_insert_with(|| connected(server, before));
            if let Some((vendor, fact)) = vendor(judge, &client, &facts)? {
                vendors.insert(judge.id.clone(), vendor);
                models_asked.insert(judge.id.clone(), fact);
            }
        }
        let mut providers: HashMap<String, HashMap<JudgeId, Provider>> = HashMap::new();
        for panel in config.panels.values() {
            let settings = StackSettings {
                deadline: panel.deadline.case,
                attempt_timeout: panel.deadline.attempt,
                ..StackSettings::default()
            };
            let stacks = providers.entry(panel.name.clone()).or_default();
            for judge in panel.judges.iter().chain(&panel.replacements) {
                let (Some(vendor), Some(server)) = (vendors.get(&judge.id), servers.get(&judge.server.name))
                else {
                    continue;
                };
                stacks.insert(
                    judge.id.clone(),
                    stack::build(vendor.clone(), &judge.model, &server.handle, settings),
                );
            }
        }
        let alone = config.judges.values().filter_map(|judge| {
            let (vendor, server) = (vendors.get(&judge.id)?, servers.get(&judge.server.name)?);
            let settings =
                StackSettings { deadline: ALONE, attempt_timeout: ALONE, ..StackSettings::default() };
            let stack = stack::build(vendor.clone(), &judge.model, &server.handle, settings);
            Some((judge.id.clone(), stack))
        });
        let alone = alone.collect();
        let recordings = replay::open_all(recording_paths(config)).await?;
        Ok(Self {
            providers,
            alone,
            servers,
            client,
            models_asked,
            facts,
            recordings,
            prints: prints(config),
            models: config.models.clone().into(),
        })
    }

    /// The same with providers of the caller's own, by judge (tests).
    pub async fn with_providers(
        config: &Config,
        own: &HashMap<JudgeId, Provider>,
    ) -> Result<Self, WiringError> {
        let providers = config.panels.keys().map(|panel| (panel.clone(), own.clone())).collect();
        let recordings = replay::open_all(recording_paths(config)).await?;
        let (prints, models) = (prints(config), config.models.clone().into());
        Ok(Self {
            providers,
            alone: own.clone(),
            servers: HashMap::new(),
            client: Client::new(),
            models_asked: HashMap::new(),
            facts: ModelFacts::default(),
            recordings,
            prints,
            models,
        })
    }

    pub(super) fn provider(&self, panel: &str, judge: &JudgeId) -> Option<Provider> {
        self.providers.get(panel)?.get(judge).cloned()
    }

    /// Of a judge that is asked by itself.
    pub(super) fn alone(&self, judge: &JudgeId) -> Option<Provider> {
        self.alone.get(judge).cloned()
    }

    /// Whether some panel can ask this judge.
    pub fn is_wired(&self, judge: &JudgeId) -> bool {
        self.providers.values().any(|stacks| stacks.contains_key(judge))
    }

    /// What the judges of this server share; `None` when no judge is on it.
    pub fn server(&self, name: &str) -> Option<&ServerHandle> {
        self.servers.get(name).map(|server| &server.handle)
    }

    /// What this judge's model turned out to refuse; `None` where nothing is called.
    pub fn learned(&self, judge: &JudgeId) -> Option<Learned> {
        self.models_asked.get(judge).map(|fact| fact.capabilities.snapshot())
    }

    /// The model that last answered for this judge.
    pub fn model_replied(&self, judge: &JudgeId) -> Option<String> {
        self.models_asked.get(judge)?.replied()
    }

    pub(super) fn note_reply(&self, judge: &JudgeId, model: Option<&str>) {
        if let Some(fact) = self.models_asked.get(judge) {
            fact.note_reply(model);
        }
    }

    pub(super) fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    pub(super) fn recording(&self, path: &Path) -> Option<Arc<Recording>> {
        self.recordings.get(path).cloned()
    }

    /// Of this version of the panel, which may be an older one than is wired now.
    pub(super) fn prints(&self, panel: &Panel) -> Arc<PanelPrints> {
        self.prints.get(&panel.version).cloned().unwrap_or_else(|| Arc::new(panel_prints(panel)))
    }

    pub(super) fn models(&self) -> Arc<[ModelKin]> {
        Arc::clone(&self.models)
    }
}

impl PanelPrints {
    pub fn fingerprint(&self, judge: &JudgeId, criterion: &str, mode: Mode) -> &str {
        self.judges
            .get(judge)
            .and_then(|prints| {
                prints.fingerprints.iter().find(|(name, of, _)| name == criterion && *of == mode)
            })
            .map_or("", |(_, _, print)| print)
    }

    pub fn template_hash(&self, judge: &JudgeId) -> &str {
        self.judges.get(judge).map_or("", |prints| &prints.template_hash)
    }
}

/// The wire dialect of a provider. Recorded judgments are called nowhere.
pub fn dialect(provider: ProviderKind) -> Option<Dialect> {
    match provider {
        ProviderKind::Openai => Some(Dialect::OpenAi),
        ProviderKind::Vllm => Some(Dialect::Vllm),
        ProviderKind::LlamaCpp => Some(Dialect::LlamaCpp),
        ProviderKind::Ollama => Some(Dialect::Ollama),
        ProviderKind::OpenaiCompatible => Some(Dialect::Compatible),
        ProviderKind::Openrouter => Some(Dialect::OpenRouter),
        ProviderKind::Mistral => Some(Dialect::Mistral),
        ProviderKind::Anthropic => Some(Dialect::Anthropic),
        ProviderKind::Gemini => Some(Dialect::Gemini),
        ProviderKind::AzureOpenai => Some(Dialect::AzureOpenAi),
        ProviderKind::Replay => None,
    }
}

/// `None` for a judge that cannot be called.
fn vendor(
    judge: &Judge,
    client: &Client,
    facts: &ModelFacts,
) -> Result<Option<(Vendor, Arc<ModelFact>)>, WiringError> {
    let server = &judge.server;
    let lacks_key = server.api_key.is_none() && server.api_key_source.is_some();
    let Some(dialect) = dialect(server.provider).filter(|_| !lacks_key) else { return Ok(None) };
    let base_url: BaseUrl = server
        .base_url
        .parse()
        .map_err(|source| WiringError::Address { server: server.name.clone(), source })?;
    let fact = facts.of(dialect, &server.base_url, &judge.model);
    let config = VendorConfig {
        dialect,
        base_url,
        api_key: server.api_key.clone(),
        model: judge.model.clone(),
        capabilities: fact.capabilities.clone(),
    };
    vendors::connect(&config, client)
        .map(|vendor| Some((vendor, fact)))
        .map_err(|source| WiringError::Setup { server: server.name.clone(), source })
}

/// The same server with the same limits keeps what it has counted; a breaker survives changed limits too.
fn connected(server: &Server, before: &HashMap<String, ConnectedServer>) -> ConnectedServer {
    let limits = limits(server);
    let known = before.get(&server.name).filter(|known| known.base_url == server.base_url);
    let handle = match known {
        None => ServerHandle::new(limits),
        Some(known) => {
            // The key may be another one, or its account filled.
            known.handle.forget_refusals();
            known.handle.with_limits(limits)
        }
    };
    ConnectedServer { base_url: server.base_url.clone(), handle }
}

fn limits(server: &Server) -> ServerLimits {
    ServerLimits {
        concurrency: server.limits.concurrency.and_then(|n| u32::try_from(n).ok()).and_then(NonZeroU32::new),
        requests_per_minute: server.limits.requests_per_minute.and_then(NonZeroU32::new),
        tokens_per_minute: server.limits.tokens_per_minute.and_then(NonZeroU32::new),
        ..ServerLimits::default()
    }
}

/// Paths of all recordings that the configuration reads.
fn recording_paths(config: &Config) -> Vec<PathBuf> {
    config
        .servers
        .values()
        .filter_map(|server| server.replay.as_ref())
        .map(|replay| replay.path.clone())
        .collect()
}

fn prints(config: &Config) -> HashMap<String, Arc<PanelPrints>> {
    config.panels.values().map(|panel| (panel.version.clone(), Arc::new(panel_prints(panel)))).collect()
}

fn panel_prints(panel: &Panel) -> PanelPrints {
    let modes = [Mode::Pointwise, Mode::Pairwise, Mode::Reference];
    let judges = panel.judges.iter().chain(&panel.replacements).map(|judge| {
        let mut fingerprints = Vec::new();
        for criterion in &panel.rubric.criteria {
            for mode in modes {
                let print = judge_fingerprint(judge, &panel.rubric, criterion, mode);
                fingerprints.push((criterion.name.clone(), mode, print));
            }
        }
        (judge.id.clone(), JudgePrints { template_hash: judge.template.hash().to_owned(), fingerprints })
    });
    let rubric = serde_json::to_vec(&*panel.rubric).unwrap_or_default();
    PanelPrints { rubric_hash: blake3::hash(&rubric).to_hex().to_string(), judges: judges.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Environment, Source, parse};

    const PANEL: &str = "servers: {s: {provider: vllm, base_url: \"http://127.0.0.1:9/v1\", api_key: {env: KEY}}}\n\
                         judges: {j: {server: s, model: m, family: f}}\n\
                         panels: {p: {judges: [j], rubric: correctness, quorum: 1}}\n";

    /// The panel's one judge, its server changed by `edit`.
    fn judge(edit: impl FnOnce(&mut Server)) -> Judge {
        let templates =
            |name: &str, base: &Path| crate::templates::load(name, base).map_err(|e| e.to_string());
        let config = parse(PANEL, &Source::default(), &Environment::of([("KEY", "k")]), &templates).unwrap();
        let mut judge = (**config.judges.values().next().unwrap()).clone();
        let mut server = (*judge.server).clone();
        edit(&mut server);
        judge.server = Arc::new(server);
        judge
    }

    #[test]
    fn a_key_that_no_header_takes_is_a_setup_error() {
        let judge = judge(|server| server.api_key = Some("a\nb".to_owned().into()));
        let error = vendor(&judge, &Client::new(), &ModelFacts::default()).unwrap_err();
        assert!(matches!(error, WiringError::Setup { .. }), "{error}");
    }

    #[test]
    fn an_address_that_is_link_local_is_an_address_error() {
        let judge = judge(|server| server.base_url = String::from("http://169.254.169.254/v1"));
        assert!(matches!(
            vendor(&judge, &Client::new(), &ModelFacts::default()).unwrap_err(),
            WiringError::Address { .. }
        ));
    }

    #[test]
    fn a_judge_without_its_key_is_left_unconnected() {
        let judge = judge(|server| server.api_key = None);
        assert!(vendor(&judge, &Client::new(), &ModelFacts::default()).unwrap().is_none());
    }
}
