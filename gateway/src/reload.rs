//! Changes of `panel.yaml` taken up while the gateway serves: whole or not at all.
//!
//! The file, every text that it names and the keys are read again every two seconds and compared by content, so that an
//! editor's rename, a mounted config map and a rotated key file are all noticed. A version that has problems, or that
//! cannot be connected, leaves the old one in force and says so in the log, in a metric and at readiness.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::engine::WiringError;
use crate::settings::{self, Config, Environment, Problems, ServerSettings, Source};
use crate::templates;

const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Why a changed file is not in force.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    #[error("{0}")]
    Problems(#[from] Problems),
    #[error("connect its judges")]
    Wiring(#[from] WiringError),
    #[error("the reading of the settings stopped")]
    Stopped,
}

/// What a look at the file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    Unchanged,
    /// The next request is served by the new version.
    InForce,
}

/// Follows the file until `stop`.
pub fn follow(app: &App, source: Source, stop: CancellationToken) {
    let follower = app.clone();
    app.spawn_background(async move {
        let environment = Environment::of_process();
        let mut every = tokio::time::interval(LOOK_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // Losing a tick is fine: the next one does its work.
        while stop.run_until_cancelled(every.tick()).await.is_some() {
            look(&follower, &source, &environment).await;
        }
    });
}

/// One look at the file; tells what changed, and a failure once.
pub async fn look(app: &App, source: &Source, environment: &Environment) {
    let failed_before = app.reload_failure();
    match reload(app, source, environment).await {
        Ok(Reload::Unchanged) if failed_before.is_none() => {}
        Ok(Reload::Unchanged) => {
            tracing::info!("the settings in force are those of the file again");
            app.note_reload(None);
        }
        Ok(Reload::InForce) => {
            tracing::info!("changed settings are in force");
            app.note_reload(None);
        }
        Err(error) => {
            let reason = chain(&error);
            if failed_before.as_deref() != Some(&*reason) {
                tracing::error!(
                    reason = &*reason,
                    "changed settings are refused, the old ones stay in force; hint: `tribunal check` names each problem"
                );
                app.note_reload(Some(reason));
            }
        }
    }
}

/// Takes up the file if its content is not what is in force.
pub async fn reload(app: &App, source: &Source, environment: &Environment) -> Result<Reload, ReloadError> {
    let (source, environment) = (source.clone(), environment.clone());
    let read = tokio::task::spawn_blocking(move || {
        let load =
            |name: &str, folder: &Path| templates::load(name, folder).map_err(|error| error.to_string());
        settings::load(&source, &environment, &load)
    });
    let config = read.await.map_err(|_| ReloadError::Stopped)??;
    let before = app.in_force();
    if config.digest == before.config.digest {
        return Ok(Reload::Unchanged);
    }
    let config = with_listener_and_store_of(&before.config, config);
    app.put_in_force(before.followed_by(config).await?);
    Ok(Reload::InForce)
}

/// Listener and store are opened once: what the file says of them now holds from the next start.
fn with_listener_and_store_of(before: &Config, mut config: Config) -> Config {
    // Host names are looked at with every request.
    let server = ServerSettings { hosts: config.server.hosts.clone(), ..before.server.clone() };
    if config.server != server {
        tracing::warn!("`server` changed: that holds from the next start of the gateway");
    }
    if config.store_url.expose_secret() != before.store_url.expose_secret() {
        tracing::warn!("`store` changed: that holds from the next start of the gateway");
    }
    config.server = server;
    config.store_url = before.store_url.clone();
    config
}

/// The error with its causes, in one text.
fn chain(error: &ReloadError) -> Arc<str> {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let mut text = error.to_string();
    for cause in causes {
        let cause = cause.to_string();
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text.into()
}
