//! Valid settings: everything here may be relied on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use secrecy::SecretString;

use super::aliases::Alias;
use super::file::PanelFile;
use super::problem::Problem;
use super::secret::MissingKey;
use crate::judge::{Judge, Server};
use crate::panel::{ModelKin, Panel};
use crate::rubric::Rubric;

/// One version of the settings, swapped as a whole when the file changes.
#[derive(Debug, Clone)]
pub struct Config {
    pub source_path: PathBuf,
    /// Hash of the file, of every text that it names, and of the keys: equal digests mean equal settings.
    pub digest: String,
    pub server: ServerSettings,
    /// A file name (a relative one is already joined to the settings' folder) or `postgres://…`, password included.
    pub store_url: SecretString,
    /// Of the file, and implied ones under their provider's name.
    pub servers: BTreeMap<String, Arc<Server>>,
    /// Of the file, and implied ones as `provider/model`.
    pub judges: BTreeMap<String, Arc<Judge>>,
    /// Of the file only; a panel holds its own.
    pub rubrics: BTreeMap<String, Arc<Rubric>>,
    /// At least one.
    pub panels: BTreeMap<String, Arc<Panel>>,
    pub models: Vec<ModelKin>,
    pub aliases: BTreeMap<String, Alias>,
    pub warnings: Vec<Problem>,
    pub(super) missing: BTreeMap<String, Vec<MissingKey>>,
    pub(super) file: PanelFile,
}

/// The gateway's own listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    pub bind: SocketAddr,
    /// Names under which clients reach it, besides this machine's own; in lower case.
    pub hosts: Vec<String>,
    pub body_limit_bytes: usize,
}

impl Config {
    /// Keys without which this panel cannot be asked; empty for a panel that does not exist.
    pub fn missing_keys(&self, panel: &str) -> &[MissingKey] {
        self.missing.get(panel).map_or(&[], Vec::as_slice)
    }
}
