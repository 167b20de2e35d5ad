//! The program itself: where it may listen, and under which names it answers.

use gateway::access::{AccessKey, Secret};
use gateway::app::{App, AppError};
use gateway::clock::Clock;
use gateway::store::rows::AccessKeyRow;
use serde_json::json;

use super::usual;
use crate::support::binary::{start, tribunal};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{Folder, NOWHERE, panel, with};
use crate::support::stored::Stored;

/// A folder whose store has one key, and the key.
async fn with_key(change: serde_json::Value) -> (Folder, String) {
    let folder = Folder::with_panel(&with(panel(NOWHERE), change));
    let served = Gateway::in_folder(folder, Judges::saying("2", "4", "5")).await.serve().await;
    let key = super::add(&served, |key| key).await;
    (served.gateway.shut_down().await, key.text)
}

/// The port that the program listens on, whatever address it shows.
fn port(folder: &Folder) -> u16 {
    loop {
        let said = folder.read("stderr");
        if let Some((_, after)) = said.split_once("listening on http://")
            && let Some((address, _)) = after.split_once(' ')
        {
            return address.rsplit(':').next().unwrap().parse().unwrap();
        }
        assert!(!said.contains("error:"), "{said}");
        std::thread::yield_now();
    }
}

#[test]
fn other_machines_are_not_served_before_there_is_a_key() {
    let folder = Folder::with_panel(&panel(NOWHERE));
    let refused = tribunal(&folder, &["serve", "--bind", "0.0.0.0:0"]).exits(78);
    assert!(refused.stderr.contains("tribunal keys create"), "{}", refused.stderr);
}

#[tokio::test]
async fn with_a_key_other_machines_are_served_under_addresses_and_names_of_the_settings() {
    let (folder, key) = with_key(json!({"server": {"hosts": ["Tribunal.example.com"]}})).await;
    let _running = start(&folder, &["serve", "--bind", "0.0.0.0:0"]);
    let port = port(&folder);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let status = async |host: &str, key: Option<&str>| {
        let request = client.get(format!("http://127.0.0.1:{port}/v1/panels")).header("host", host);
        let request = match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        request.send().await.unwrap().status().as_u16()
    };
    for host in ["127.0.0.1", "10.1.2.3:4600", "tribunal.example.com", "TRIBUNAL.example.com:443"] {
        assert_eq!((status(host, Some(&key)).await, status(host, None).await), (200, 401), "{host}");
    }
    for host in ["evil.example", "tribunal.example.com.evil.example"] {
        assert_eq!(status(host, Some(&key)).await, 403, "{host}");
    }
}

#[test]
fn a_host_that_is_no_name_is_refused_with_its_place() {
    let folder =
        Folder::with_panel(&with(panel(NOWHERE), json!({"server": {"hosts": ["https://a.example/"]}})));
    let refused = tribunal(&folder, &["check"]).exits(78);
    assert!(
        refused.stderr.contains("server.hosts") && refused.stderr.contains("no host name"),
        "{}",
        refused.stderr
    );
}

/// Fails closed: a key that cannot be read might be the one that was revoked.
#[tokio::test]
async fn a_key_that_cannot_be_read_keeps_the_gateway_from_starting() {
    let stored = Stored::open(usual().await.gateway.shut_down().await).await;
    let key = AccessKey::of(&Secret::draw().unwrap(), "odd", "default");
    stored.add_access_key(&AccessKeyRow { role: String::from("root"), ..key.to_row() }).await;
    let folder = stored.close().await;
    let failed = App::build_with(folder.config(), Clock::manual(0), None).await;
    let Err(AppError::Keys(error)) = failed else { panic!("{failed:?}") };
    assert!(error.to_string().contains(&key.id), "{error}");
}
