//! `tribunal serve`: the HTTP API until a signal.

use axum::serve::ListenerExt;

use super::exit::{Exit, Failure};
use super::{ServeArgs, output, setup};
use crate::api;
use crate::app::App;
use crate::reload;
use crate::settings::{Override, Source};
use crate::shutdown::Signals;

pub async fn run(source: &Source, args: ServeArgs) -> Result<Exit, Failure> {
    let mut source = source.clone();
    if let Some(bind) = args.bind {
        source.overrides.push(Override::of_flag("--bind", "server.bind", &bind));
    }
    let config = setup::load(&source)?;
    setup::print_warnings(&config);
    for panel in config.panels.values() {
        for missing in config.missing_keys(&panel.name) {
            output::note(&format!("warning: panel {}: {missing}", panel.name));
        }
    }
    let app = App::build(config).await.map_err(setup::app_failure)?;
    let signals = Signals::listen();
    let address = app.bind();
    if !address.ip().is_loopback() && !app.key_ring().is_locked() {
        return Err(Failure::new(
            Exit::Configuration,
            anyhow::Error::msg(format!(
                "server.bind: {address} is reachable from other machines, and there are no keys; hint: `tribunal keys create --name NAME` makes the first, or bind 127.0.0.1"
            )),
        ));
    }
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
        Failure::new(
            Exit::Configuration,
            anyhow::Error::new(error)
                .context(format!("listen on {address}; hint: --bind 127.0.0.1:0 takes a free port")),
        )
    })?;
    let address = listener.local_addr().map_err(|error| Failure::new(Exit::Internal, error))?;
    output::note(&format!("listening on http://{address}  (docs: http://{address}/docs)"));
    app.keep_retention(signals.soft.clone());
    app.keep_keys(signals.soft.clone());
    reload::follow(&app, source, signals.soft.clone());
    app.judge_waiting_runs(signals.soft.clone());
    let router = api::router(app.clone());
    // Small answers must not wait for the peer's delayed acknowledgement.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let soft = signals.soft.clone();
    let served = axum::serve(listener, router).with_graceful_shutdown(async move { soft.cancelled().await });
    let result = tokio::select! {
        served = served => served,
        // A second signal drops the connections; what was sent to judges is still recorded below.
        () = signals.hard.cancelled() => Ok(()),
    };
    output::note("stopping; calls that were sent are finished and recorded (a second signal stops at once)");
    tokio::select! {
        () = app.shut_down(api::SHUTDOWN_GRACE) => {}
        () = signals.hard.cancelled() => {}
    }
    result.map_err(|error| Failure::new(Exit::Internal, error))?;
    Ok(Exit::Pass)
}
