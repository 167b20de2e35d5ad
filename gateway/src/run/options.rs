//! How a run is to be judged, as it is kept for whichever gateway takes it.

use serde::{Deserialize, Serialize};

use super::report::RunSettings;

/// What the user chose when the run was begun or resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// Of the draw for random reviews.
    pub seed: u64,
    pub use_cache: bool,
    /// How often each case is judged; its cases are kept as often.
    #[serde(default = "once")]
    pub repeat: u32,
    pub allow_kin: bool,
    /// Cases in flight at once; `None`: as many as the panel's servers take.
    pub concurrency: Option<u16>,
    /// Over all sessions of the run.
    pub max_cost_usd: Option<f64>,
    /// Whether votes that are missing through failures are asked again.
    pub retry_errors: bool,
    /// The id of the key that pays for it; `None`: nobody's.
    #[serde(default)]
    pub key: Option<String>,
}

impl RunOptions {
    /// Those that change results, as they stand in the run's row.
    pub fn settings(&self) -> String {
        let settings = RunSettings {
            seed: self.seed,
            allow_kin: self.allow_kin,
            cache: self.use_cache,
            repeat: self.repeat,
            ..RunSettings::default()
        };
        serde_json::to_string(&settings).unwrap_or_default()
    }

    pub fn to_json(&self) -> String {
        // Numbers and flags always serialise; an empty text would be refused when it is read.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn once() -> u32 {
    1
}
