//! The only place where parts are wired.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::api::ApiError;
use crate::case::Case;
use crate::clock::Clock;
use crate::engine::ids::Ids;
use crate::engine::plan;
use crate::engine::recorder::{Recorder, RecorderSettings};
use crate::engine::{Askers, Engine, Keys, WiringError, kinship_gap};
use crate::panel::Panel;
use crate::settings::{Alias, AliasTarget, Config};
use crate::store::{SqlStore, Store, StoreError, StoreLocation};
use crate::telemetry::metrics::Metrics;

/// How often texts past their retention are looked for.
const RETENTION_CHECK: Duration = Duration::from_hours(1);

#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error("open the store")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Wiring(#[from] WiringError),
    #[error("register metrics")]
    Metrics(#[source] prometheus::Error),
}

/// Everything a command or a request needs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    config: ArcSwap<Config>,
    engine: Arc<Engine>,
    metrics: Metrics,
    /// Calls and cases under way.
    tasks: TaskTracker,
    /// The writer and the store's own tasks: they end after everything that records.
    background: TaskTracker,
}

impl App {
    /// Opens the store, connects the judges, starts the writer.
    pub async fn build(config: Config) -> Result<Self, AppError> {
        Self::build_with(config, Clock::System, None).await
    }

    /// As `build`, with a clock and judges of the caller's own (tests).
    pub async fn build_with(config: Config, clock: Clock, askers: Option<Askers>) -> Result<Self, AppError> {
        let metrics = Metrics::new().map_err(AppError::Metrics)?;
        let tasks = TaskTracker::new();
        let background = TaskTracker::new();
        let store: Arc<dyn Store> = Arc::new(
            SqlStore::open(&StoreLocation::parse(config.store_url.expose_secret())?, &background).await?,
        );
        let askers = match askers {
            Some(askers) => askers,
            None => Askers::connect(&config).await?,
        };
        let recorder = Recorder::start(Arc::clone(&store), &background, RecorderSettings::default());
        let ids = Ids::from_entropy(clock.clone());
        let engine = Arc::new(Engine {
            keys: Keys::new(ids.draw()),
            askers: ArcSwap::from_pointee(askers),
            store,
            recorder,
            ids,
            clock,
            tasks: tasks.clone(),
            metrics: metrics.clone(),
        });
        Ok(Self {
            parts: Arc::new(Parts {
                config: ArcSwap::from_pointee(config),
                engine,
                metrics,
                tasks,
                background,
            }),
        })
    }

    pub fn config(&self) -> Arc<Config> {
        self.parts.config.load_full()
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.parts.engine
    }

    pub fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    pub fn draw_id(&self) -> String {
        self.parts.engine.ids.draw()
    }

    pub fn body_limit_bytes(&self) -> usize {
        self.config().server.body_limit_bytes
    }

    pub fn bind(&self) -> SocketAddr {
        self.config().server.bind
    }

    /// The panel of this name or alias; without a name `default`, or the only one.
    pub fn panel(&self, name: Option<&str>) -> Result<Arc<Panel>, ApiError> {
        let config = self.config();
        panel_of(&config, name).cloned().ok_or_else(|| ApiError::UnknownPanel {
            name: name.unwrap_or("default").to_owned(),
            known: config.panels.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })
    }

    pub fn aliases(&self) -> BTreeMap<String, String> {
        let target = |alias: &Alias| match &alias.target {
            AliasTarget::Panel(name) => format!("panel/{name}"),
            AliasTarget::Judge(name) => format!("judge/{name}"),
        };
        self.config().aliases.iter().map(|(name, alias)| (name.clone(), target(alias))).collect()
    }

    /// Refuses what can be known before the first call: missing keys, and kinship that leaves no quorum.
    pub fn check_ready(&self, panel: &Panel, case: &Case, allow_kin: bool) -> Result<(), ApiError> {
        if let Some(missing) = self.config().missing_keys(&panel.name).first().cloned() {
            return Err(ApiError::MissingKey {
                judge: missing.judge.to_string(),
                source_name: missing.gap.to_string(),
            });
        }
        if let Some(reason) = plan::unaskable(panel, case) {
            return Err(ApiError::Unaskable { reason });
        }
        if allow_kin {
            return Ok(());
        }
        match kinship_gap(panel, case, &self.config().models) {
            None => Ok(()),
            Some(gap) => Err(ApiError::NoQuorumByKinship {
                panel: panel.name.clone(),
                model: gap.model,
                judges: gap.judges.join(", "),
            }),
        }
    }

    pub async fn render_metrics(&self) -> Result<String, ApiError> {
        let triage = self.parts.engine.open_triage().await?;
        self.parts
            .metrics
            .render(self.parts.engine.recorder.stats().waiting_records, &triage)
            .map_err(|error| ApiError::Internal(error.to_string()))
    }

    /// Erases texts past their retention now and once an hour, until `stop`.
    pub fn keep_retention(&self, stop: CancellationToken) {
        let engine = Arc::clone(&self.parts.engine);
        self.parts.background.spawn(async move {
            let mut every = tokio::time::interval(RETENTION_CHECK);
            // Losing a tick is fine: the next one does its work.
            while stop.run_until_cancelled(every.tick()).await.is_some() {
                engine.erase_expired_texts().await;
            }
        });
    }

    /// Lets what was sent finish and be recorded, up to `grace`; then closes the store.
    pub async fn shut_down(&self, grace: Duration) {
        self.parts.tasks.close();
        let engine = &self.parts.engine;
        if tokio::time::timeout(grace, self.parts.tasks.wait()).await.is_err() {
            tracing::warn!(
                grace_s = grace.as_secs(),
                "calls were still under way at the end of the shutdown grace"
            );
        }
        engine.recorder.close().await;
        engine.store.close().await;
        self.parts.background.close();
        self.parts.background.wait().await;
    }
}

/// The panel of this name, of `panel/NAME`, or of an alias; without a name `default`, or the only one.
pub fn panel_of<'a>(config: &'a Config, name: Option<&str>) -> Option<&'a Arc<Panel>> {
    let Some(name) = name else {
        let only = config.panels.values().next().filter(|_| config.panels.len() == 1);
        return config.panels.get("default").or(only);
    };
    if let Some(panel) = config.panels.get(name.strip_prefix("panel/").unwrap_or(name)) {
        return Some(panel);
    }
    match &config.aliases.get(name)?.target {
        AliasTarget::Panel(panel) => config.panels.get(panel),
        AliasTarget::Judge(_) => None,
    }
}
