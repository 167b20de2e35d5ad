//! The only place where parts are wired.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::{KeyError, KeyRing, LOOKED_AT_EVERY};
use crate::api::{ApiError, DEFAULT_PROJECT};
use crate::clock::Clock;
use crate::engine::ids::Ids;
use crate::engine::recorder::{Recorder, RecorderSettings};
use crate::engine::{Askers, Engine, Keys, ModelFacts, WiringError};
use crate::in_force::InForce;
use crate::run::desk::{self, Desk};
use crate::settings::Config;
use crate::store::{SqlStore, Store, StoreError, StoreLocation};
use crate::telemetry::metrics::Metrics;

/// How often texts past their retention are looked for.
const RETENTION_CHECK: Duration = Duration::from_hours(1);

#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error("open the store")]
    Store(#[from] StoreError),
    #[error("read the keys")]
    Keys(#[from] KeyError),
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
    in_force: ArcSwap<InForce>,
    /// Why the file as it is now is not in force.
    reload_failure: Mutex<Option<Arc<str>>>,
    engine: Arc<Engine>,
    desk: Arc<Desk>,
    key_ring: Arc<KeyRing>,
    metrics: Metrics,
    /// Calls, cases and runs under way.
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
        let askers = if let Some(askers) = askers {
            askers
        } else {
            let rows = store.model_facts(DEFAULT_PROJECT).await?;
            Askers::connect(&config, ModelFacts::restored(rows, clock.now_us())).await?
        };
        let key_ring = KeyRing::open(Arc::clone(&store), clock.clone()).await?;
        let recorder = Recorder::start(Arc::clone(&store), &background, RecorderSettings::default());
        let ids = Ids::from_entropy(clock.clone());
        let owner = ids.draw();
        let engine = Arc::new(Engine {
            keys: Keys::new(owner.clone()),
            store,
            recorder,
            ids,
            clock,
            tasks: tasks.clone(),
            metrics: metrics.clone(),
        });
        Ok(Self {
            parts: Arc::new(Parts {
                in_force: ArcSwap::from_pointee(InForce::new(config, askers)),
                reload_failure: Mutex::default(),
                engine,
                desk: Arc::new(Desk::new(owner)),
                key_ring: Arc::new(key_ring),
                metrics,
                tasks,
                background,
            }),
        })
    }

    /// The version of the settings that a request which begins now is served by.
    pub fn in_force(&self) -> Arc<InForce> {
        self.parts.in_force.load_full()
    }

    /// From the next request on; requests under way go on with their own version.
    pub fn put_in_force(&self, next: InForce) {
        self.parts.in_force.store(Arc::new(next));
    }

    /// Why the settings file as it is now is not in force; `None`: it is.
    pub fn reload_failure(&self) -> Option<Arc<str>> {
        self.parts.reload_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the last look at the settings file ended.
    pub fn note_reload(&self, failure: Option<Arc<str>>) {
        self.parts.metrics.observe_reload(failure.is_none());
        *self.parts.reload_failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Work of the gateway itself, which the shutdown waits for.
    pub fn spawn_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.parts.background.spawn(work);
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.parts.engine
    }

    /// The runs that this gateway judges by itself.
    pub fn desk(&self) -> &Arc<Desk> {
        &self.parts.desk
    }

    /// Who may use this gateway.
    pub fn key_ring(&self) -> &Arc<KeyRing> {
        &self.parts.key_ring
    }

    /// Looks every few seconds at keys that were made, revoked or spent from elsewhere, until `stop`.
    pub fn keep_keys(&self, stop: CancellationToken) {
        let ring = Arc::clone(&self.parts.key_ring);
        self.spawn_background(async move {
            let mut every = tokio::time::interval(LOOKED_AT_EVERY);
            // Losing a tick is fine: the next one does its work.
            while stop.run_until_cancelled(every.tick()).await.is_some() {
                if let Err(error) = ring.look().await {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "keys are as they were: they could not be read"
                    );
                }
            }
        });
    }

    /// Judges runs that were begun over HTTP, those that an earlier gateway left included, until `stop`.
    pub fn judge_waiting_runs(&self, stop: CancellationToken) {
        // Before the writer and the store: what it takes at the last moment it lets go of again.
        self.parts.tasks.spawn(desk::judge_waiting(self.clone(), stop));
    }

    pub fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    pub fn draw_id(&self) -> String {
        self.parts.engine.ids.draw()
    }

    pub fn body_limit_bytes(&self) -> usize {
        self.in_force().config.server.body_limit_bytes
    }

    pub fn bind(&self) -> SocketAddr {
        self.in_force().config.server.bind
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
        self.spawn_background(async move {
            let mut every = tokio::time::interval(RETENTION_CHECK);
            // Losing a tick is fine: the next one does its work.
            while stop.run_until_cancelled(every.tick()).await.is_some() {
                engine.erase_expired_texts().await;
            }
        });
    }

    /// Lets what was sent finish and be recorded, up to `grace`; then closes the store.
    pub async fn shut_down(&self, grace: Duration) {
        self.parts.desk.stop();
        self.parts.tasks.close();
        let engine = &self.parts.engine;
        if tokio::time::timeout(grace, self.parts.tasks.wait()).await.is_err() {
            tracing::warn!(
                grace_s = grace.as_secs(),
                "calls were still under way at the end of the shutdown grace"
            );
        }
        engine.recorder.close().await;
        engine.keep_model_facts(DEFAULT_PROJECT, &self.in_force().askers).await;
        engine.store.close().await;
        self.parts.background.close();
        self.parts.background.wait().await;
    }
}
