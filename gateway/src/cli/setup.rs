//! What most commands begin with: settings, panel, run.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio_util::task::TaskTracker;

use super::exit::{Exit, Failure};
use super::output;
use crate::app::{App, AppError};
use crate::engine::dialect;
use crate::in_force::panel_of;
use crate::judge::ProviderKind;
use crate::panel::Panel;
use crate::settings::{Config, Environment, Source};
use crate::shutdown::Signals;
use crate::store::rows::RunSummary;
use crate::store::{SqlStore, Store, StoreError, StoreLocation};
use crate::templates;

/// The settings, or everything that is wrong with them.
pub(super) fn load(source: &Source) -> Result<Config, Failure> {
    if !source.path.exists() {
        return Err(Failure::new(
            Exit::Configuration,
            anyhow::Error::msg(format!(
                "there is no `{}`; hint: `tribunal init` writes one, -c names another",
                source.path.display()
            )),
        ));
    }
    let templates =
        |name: &str, folder: &Path| templates::load(name, folder).map_err(|error| error.to_string());
    crate::settings::load(source, &Environment::of_process(), &templates)
        .map_err(|problems| Failure::new(Exit::Configuration, anyhow::Error::msg(problems.to_string())))
}

/// What the settings make a user think twice about.
pub(super) fn print_warnings(config: &Config) {
    for warning in &config.warnings {
        output::note(&format!("warning: {warning}"));
    }
}

/// The panel of this name or alias; without a name `default`, or the only one.
pub(super) fn panel(config: &Config, name: Option<&str>) -> Result<Arc<Panel>, Failure> {
    panel_of(config, name).cloned().ok_or_else(|| {
        let known = config.panels.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        Failure::usage(match name {
            Some(name) => format!("no panel `{name}`; hint: there are {known}"),
            None => format!("several panels and none is called `default`; hint: -p names one of {known}"),
        })
    })
}

/// Refuses a panel that cannot be asked as configured, before anything is spent.
pub(super) fn refuse_unconnected(config: &Config, panel: &Panel) -> Result<(), Failure> {
    let mut problems: Vec<String> =
        config.missing_keys(&panel.name).iter().map(ToString::to_string).collect();
    for judge in panel.judges.iter().chain(&panel.replacements) {
        let provider = judge.server.provider;
        if provider != ProviderKind::Replay && dialect(provider).is_none() {
            problems.push(format!(
                "judge `{}`: this version cannot call its provider\n  hint: use `openai_compatible` with the address of a proxy",
                judge.id
            ));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::Configuration, anyhow::Error::msg(problems.join("\n"))))
}

/// A run by its id; `last` is the newest.
pub(super) async fn find_run(app: &App, project: &str, id: &str) -> Result<RunSummary, Failure> {
    let found = app.engine().find_run(project, id).await.map_err(|e| Failure::new(Exit::Internal, e))?;
    found.ok_or_else(|| {
        Failure::new(
            Exit::BadData,
            anyhow::Error::msg(format!("no run `{id}`; hint: `tribunal runs` lists them")),
        )
    })
}

/// Sent calls finish and are recorded, unless a second signal wants the end at once.
pub(super) async fn shut_down(app: &App, signals: &Signals) {
    tokio::select! {
        () = app.shut_down(crate::api::SHUTDOWN_GRACE) => {}
        () = signals.hard.cancelled() => app.shut_down(Duration::ZERO).await,
    }
}

/// The store alone, for commands that ask no judge.
#[derive(Debug)]
pub(super) struct OpenStore {
    pub store: Arc<dyn Store>,
    tasks: TaskTracker,
}

impl OpenStore {
    pub(super) async fn open(config: &Config) -> Result<Self, Failure> {
        let location = StoreLocation::parse(config.store_url.expose_secret()).map_err(store_failure)?;
        let tasks = TaskTracker::new();
        let store = SqlStore::open(&location, &tasks).await.map_err(store_failure)?;
        Ok(Self { store: Arc::new(store), tasks })
    }

    pub(super) async fn close(self) {
        self.store.close().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}

pub(super) fn store_failure(error: StoreError) -> Failure {
    app_failure(AppError::Store(error))
}

/// What failed while the parts were put together, and whose fault it is.
pub(super) fn app_failure(error: AppError) -> Failure {
    let exit = match &error {
        AppError::Store(StoreError::NewerSchema { .. } | StoreError::UnsupportedLocation { .. })
        | AppError::Wiring(_) => Exit::Configuration,
        AppError::Store(_) | AppError::Keys(_) | AppError::Metrics(_) => Exit::Internal,
    };
    Failure::new(exit, error)
}
