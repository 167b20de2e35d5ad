//! A gateway whose judges answer from a script, with a store in a folder of its own (tests).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use providers::Scripted;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Askers, JudgeRequest, Purse};
use crate::app::App;
use crate::case::Case;
use crate::clock::Clock;
use crate::settings::{self, Environment, Source};
use crate::templates;

const PANEL: &str = "
panels:
  default:
    rubric: safety
    judges: [ollama/qwen3, ollama/gemma3, ollama/phi4]
    escalate: {random_review_share: 0}
";

/// A reply that every judge of the panel can be read by.
pub(crate) const PASSES: &str = r#"{"reason": "Nothing harmful.", "verdict": "pass"}"#;

pub(crate) struct Bench {
    pub(crate) app: App,
    pub(crate) clock: Clock,
    pub(crate) folder: Arc<TempDir>,
}

impl Bench {
    /// All judges share the script.
    pub(crate) async fn open(script: &Scripted) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::start(folder, Clock::manual(1_700_000_000_000_000), |_| script.clone()).await
    }

    /// With a panel of the test's own.
    pub(crate) async fn of(panel: &str, script: &Scripted) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::start_with(panel, folder, Clock::manual(1_700_000_000_000_000), |_| script.clone()).await
    }

    /// Another gateway on the same store, or the same one after a restart.
    pub(crate) async fn start(
        folder: Arc<TempDir>,
        clock: Clock,
        script_of: impl Fn(&str) -> Scripted,
    ) -> Self {
        Self::start_with(PANEL, folder, clock, script_of).await
    }

    async fn start_with(
        panel: &str,
        folder: Arc<TempDir>,
        clock: Clock,
        script_of: impl Fn(&str) -> Scripted,
    ) -> Self {
        let source = Source { path: folder.path().join("panel.yaml"), ..Source::default() };
        let load =
            |name: &str, folder: &Path| templates::load(name, folder).map_err(|error| error.to_string());
        let config = settings::parse(panel, &source, &Environment::default(), &load).unwrap();
        let providers: HashMap<_, _> = config
            .judges
            .values()
            .map(|judge| (judge.id.clone(), script_of(judge.id.as_str()).into_provider()))
            .collect();
        let askers = Askers::with_providers(&config, &providers).await.unwrap();
        let app = App::build_with(config, clock.clone(), Some(askers)).await.unwrap();
        Self { app, clock, folder }
    }

    pub(crate) async fn restart(self, script: &Scripted) -> Self {
        self.app.shut_down(std::time::Duration::from_secs(10)).await;
        Self::start(self.folder, self.clock, |_| script.clone()).await
    }

    pub(crate) fn pass_time(&self, passed: std::time::Duration) {
        if let Clock::Manual(now_us) = &self.clock {
            now_us.fetch_add(i64::try_from(passed.as_micros()).unwrap(), Ordering::Relaxed);
        }
    }

    pub(crate) fn request(&self) -> JudgeRequest {
        let case = json!({"id": "q1", "input": "What is the capital of France?", "output": "Paris."});
        let in_force = self.app.in_force();
        JudgeRequest {
            case: Arc::new(Case::try_from(case).unwrap()),
            panel: in_force.panel(None).unwrap(),
            askers: Arc::clone(&in_force.askers),
            project: Arc::from("p"),
            run: None,
            position: 0,
            use_cache: false,
            cache_since_us: 0,
            resumed: false,
            retry: None,
            seed: 0,
            allow_kin: false,
            purse: Purse::default(),
            cancel: CancellationToken::new(),
        }
    }
}
