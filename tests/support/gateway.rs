//! A gateway of a test's own: its folder, its store, its judges; asked in process or over HTTP.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use gateway::api;
use gateway::app::App;
use gateway::case::Case;
use gateway::clock::Clock;
use gateway::engine::{Askers, EngineError, JudgeRequest, Purse};
use gateway::verdict::CaseVerdict;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::judges::{Asked, Judges};
use super::panel::{Folder, NOWHERE, panel};
use super::stored::Stored;

/// A fixed day: nothing here depends on when it runs.
const NOW_US: i64 = 1_790_000_000_000_000;
/// Longer than any test waits for a call to end.
const GRACE: Duration = Duration::from_secs(20);

/// An `App` with its folder. `close` before reading its store.
#[derive(Debug)]
pub struct Gateway {
    pub app: App,
    folder: Folder,
    asked: Asked,
    now_us: Arc<AtomicI64>,
}

impl Gateway {
    /// The usual panel with these judges.
    pub async fn of(judges: Judges) -> Self {
        Self::scripted(&panel(NOWHERE), judges).await
    }

    /// This panel with judges that answer from a script.
    pub async fn scripted(file: &Value, judges: Judges) -> Self {
        Self::in_folder(Folder::with_panel(file), judges).await
    }

    /// The panel of this folder, and the store that may be there already.
    pub async fn in_folder(folder: Folder, judges: Judges) -> Self {
        let config = folder.config();
        let askers = Askers::with_providers(&config, judges.providers()).await.expect("judges are connected");
        let now_us = Arc::new(AtomicI64::new(NOW_US));
        let clock = Clock::Manual(Arc::clone(&now_us));
        let app = App::build_with(config, clock, Some(askers)).await.expect("the app is built");
        Self { app, folder, asked: judges.asked(), now_us }
    }

    /// This panel, its judges called over HTTP.
    pub async fn connected(file: &Value) -> Self {
        Self::connected_in(Folder::with_panel(file)).await
    }

    /// The panel of this folder, and the store that may be there already.
    pub async fn connected_in(folder: Folder) -> Self {
        let now_us = Arc::new(AtomicI64::new(NOW_US));
        let clock = Clock::Manual(Arc::clone(&now_us));
        let app = App::build_with(folder.config(), clock, None).await.expect("the app is built");
        Self { app, folder, asked: Asked::default(), now_us }
    }

    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Moves the gateway's clock.
    pub fn wait(&self, time: Duration) {
        let us = i64::try_from(time.as_micros()).expect("a time that a test waits");
        self.now_us.fetch_add(us, Ordering::Relaxed);
    }

    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// A request for this case as a single verdict of the default panel.
    pub fn request(&self, case: Value) -> JudgeRequest {
        let case = Case::try_from(case).unwrap_or_else(|problems| panic!("{problems:?}"));
        let in_force = self.app.in_force();
        JudgeRequest {
            case: Arc::new(case),
            panel: in_force.panel(None).expect("a default panel"),
            askers: Arc::clone(&in_force.askers),
            project: Arc::from(api::DEFAULT_PROJECT),
            run: None,
            position: 0,
            use_cache: true,
            cache_since_us: 0,
            resumed: false,
            retry: None,
            seed: 0,
            allow_kin: false,
            purse: Purse::default(),
            cancel: CancellationToken::new(),
        }
    }

    pub async fn judge(&self, case: Value) -> CaseVerdict {
        self.ask(self.request(case)).await.expect("a verdict")
    }

    pub async fn ask(&self, request: JudgeRequest) -> Result<CaseVerdict, EngineError> {
        self.app.engine().judge(request).await
    }

    /// Lets everything end and opens what was stored.
    pub async fn close(self) -> Stored {
        let folder = self.shut_down().await;
        Stored::open(folder).await
    }

    /// Lets everything end; the folder with its store may be used again.
    pub async fn shut_down(self) -> Folder {
        self.app.shut_down(GRACE).await;
        self.folder
    }

    /// Serves the HTTP API on a free port until it is dropped.
    pub async fn serve(self) -> Served {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        self.app.judge_waiting_runs(stop.clone());
        let router = api::router(self.app.clone());
        let stopped = stop.clone().cancelled_owned();
        tasks.spawn(async move { axum::serve(listener, router).with_graceful_shutdown(stopped).await });
        let client = reqwest::Client::builder().no_proxy().timeout(GRACE).build().expect("a client");
        Served { gateway: self, address, client, stop: stop.drop_guard() }
    }
}

/// A gateway behind HTTP.
#[derive(Debug)]
pub struct Served {
    pub gateway: Gateway,
    address: String,
    client: reqwest::Client,
    #[expect(dead_code, reason = "stops the server when it is dropped")]
    stop: tokio_util::sync::DropGuard,
}

impl Served {
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    pub async fn get(&self, path: &str) -> Answer {
        Answer::of(self.client.get(self.url(path))).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::of(self.client.post(self.url(path)).json(body)).await
    }

    /// A request of the caller's own making.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method.parse().expect("a method"), self.url(path))
    }
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.expect("a body") }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A store file in this folder.
pub fn store_path(folder: &Folder) -> PathBuf {
    folder.file("tribunal.db")
}
