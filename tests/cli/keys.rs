//! `tribunal keys`: made, shown once, listed, revoked.

use gateway::store::rows::{Record, SpendingRow};
use serde_json::{Value, json};

use crate::support::binary::{Ran, tribunal};
use crate::support::panel::{Folder, NOWHERE, panel, with};
use crate::support::stored::Stored;

fn folder() -> Folder {
    Folder::with_panel(&panel(NOWHERE))
}

fn create(folder: &Folder, more: &[&str]) -> Ran {
    let arguments: Vec<&str> =
        ["keys", "create", "--name", "nightly"].into_iter().chain(more.iter().copied()).collect();
    tribunal(folder, &arguments)
}

/// The id in a key's text.
fn id(key: &str) -> &str {
    key.split('_').nth(1).expect("tribunal_ID_SECRET")
}

fn list(folder: &Folder, more: &[&str]) -> Vec<Value> {
    let arguments: Vec<&str> = ["keys", "list", "--json"].into_iter().chain(more.iter().copied()).collect();
    tribunal(folder, &arguments).exits(0).json_lines()
}

#[test]
fn a_key_stands_alone_on_standard_output_and_is_in_no_file() {
    let folder = folder();
    let ran = create(&folder, &["--panel", "default", "--budget", "2.5/day", "--expires", "90d"]).exits(0);
    let key = ran.stdout.strip_suffix('\n').expect("one line");
    assert!(key.starts_with("tribunal_") && !key.contains(char::is_whitespace), "{key}");
    let secret = key.rsplit('_').next().expect("a secret");
    assert!(!ran.stderr.contains(secret) && ran.stderr.contains(id(key)), "{}", ran.stderr);
    for told in [
        "shown this once",
        "may ask   default",
        "2.50/day USD",
        "OPENAI_API_KEY",
        "Authorization: Bearer",
        "x-api-key",
    ] {
        assert!(ran.stderr.contains(told), "{told} is not in {}", ran.stderr);
    }
    let files = std::fs::read_dir(folder.path()).expect("a folder");
    for file in files.map(|file| file.expect("a file").path()) {
        let bytes = std::fs::read(&file).expect("a file");
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!holds(secret), "{}", file.display());
        assert_eq!(holds(id(key)), file.ends_with("tribunal.db"), "{}", file.display());
    }
    let shown = tribunal(&folder, &["keys", "list"]).exits(0);
    assert!(shown.stdout.contains(id(key)) && shown.stdout.contains("2.50/day"), "{}", shown.stdout);
    assert!(!shown.stdout.contains(secret), "{}", shown.stdout);
}

#[test]
fn the_first_key_locks_the_gateway_and_says_so() {
    let folder = folder();
    let empty = tribunal(&folder, &["keys", "list"]).exits(0);
    assert!(empty.stderr.contains("no keys yet") && empty.stdout.is_empty(), "{empty:?}");
    let locks = "refuse every request without a key";
    let first = create(&folder, &[]).exits(0);
    assert!(first.stderr.contains(locks), "{}", first.stderr);
    assert!(first.stderr.contains("every panel and judge") && first.stderr.contains("when it is revoked"));
    tribunal(&folder, &["keys", "revoke", id(first.stdout.trim())]).exits(0);
    assert!(!create(&folder, &[]).exits(0).stderr.contains(locks));
    let gone = tribunal(&folder, &["keys", "list", "--project", "search"]).exits(0);
    assert!(gone.stderr.contains("--all"), "{}", gone.stderr);
}

#[test]
fn a_key_is_made_with_all_that_was_asked_for() {
    let folder = folder();
    let asked = [
        "--role",
        "annotate",
        "--panel",
        "default",
        "--panel",
        "panel/default",
        "--panel",
        "judge/ann",
        "--budget",
        "100/month",
        "--project",
        "search",
        "--sensitivity",
        "confidential",
        "--json",
    ];
    let ran = create(&folder, &asked).exits(0);
    assert!(ran.stderr.contains("counts as confidential"), "{}", ran.stderr);
    let made = &ran.json_lines()[0];
    assert!(made["key"].as_str().expect("a key").contains(made["id"].as_str().expect("an id")));
    let listed = &list(&folder, &[])[0];
    for (field, value) in [
        ("name", json!("nightly")),
        ("role", json!("annotate")),
        ("project", json!("search")),
        ("may_ask", json!(["default", "judge/ann"])),
        ("budget", json!("100/month")),
        ("sensitivity", json!("confidential")),
        ("expires", Value::Null),
    ] {
        assert_eq!((&made[field], &listed[field]), (&value, &value), "{field}");
    }
    assert_eq!(
        (&listed["spent_usd"], &listed["calls"], &listed["last_used"]),
        (&json!(0.0), &json!(0), &Value::Null)
    );
    assert_eq!((&listed["status"], listed.get("key")), (&json!("in force"), None));
}

#[test]
fn keys_of_one_project_can_be_listed_alone() {
    let folder = folder();
    create(&folder, &[]).exits(0);
    create(&folder, &["--project", "search"]).exits(0);
    assert_eq!(list(&folder, &[]).len(), 2);
    let of_search = list(&folder, &["--project", "search"]);
    assert_eq!((of_search.len(), &of_search[0]["project"]), (1, &json!("search")));
}

#[test]
fn a_revoked_key_is_listed_with_all_only() {
    let folder = folder();
    let key = create(&folder, &[]).exits(0).stdout;
    let kept = create(&folder, &["--name", "kept"]);
    assert_eq!(kept.code, Some(64), "a flag stands once");
    let other = create(&folder, &[]).exits(0).stdout;
    let revoked = tribunal(&folder, &["keys", "revoke", id(&key)]).exits(0);
    assert!(
        revoked.stderr.contains("`nightly` is revoked") && revoked.stderr.contains("5 seconds"),
        "{revoked:?}"
    );
    let again = tribunal(&folder, &["keys", "revoke", id(&key)]).exits(0);
    assert!(again.stderr.contains("was revoked before since"), "{}", again.stderr);
    let in_force = list(&folder, &[]);
    assert_eq!((in_force.len(), &in_force[0]["id"]), (1, &json!(id(&other))));
    let all = list(&folder, &["--all"]);
    assert_eq!((all.len(), &all[0]["status"]), (2, &json!("revoked")));
    assert!(all[0]["revoked"].is_string() && all[1]["revoked"].is_null());

    // Who finds a key revokes it by its text.
    tribunal(&folder, &["keys", "revoke", other.trim()]).exits(0);
    assert!(list(&folder, &[]).is_empty());
    let unknown = tribunal(&folder, &["keys", "revoke", "0011aabbccdd"]).exits(64);
    assert!(unknown.stderr.contains("keys list --all"), "{}", unknown.stderr);
}

#[test]
fn an_expired_key_is_listed_with_all_only() {
    let folder = folder();
    create(&folder, &["--expires", "1ms"]).exits(0);
    assert!(list(&folder, &[]).is_empty());
    let all = list(&folder, &["--all"]);
    assert_eq!((&all[0]["status"], all[0]["expires"].is_string()), (&json!("expired"), true));
}

#[test]
fn what_cannot_be_made_is_refused_with_the_next_step() {
    let folder = folder();
    for (flags, told) in [
        (&["--panel", "nope"][..], "there are default, judge/ann, judge/bob, judge/cid"),
        (&["--panel", "judge/nope"], "--panel judge/nope: no such panel or judge"),
        (&["--role", "root"], "judge, annotate, admin"),
        (&["--budget", "25/week"], "2.50/day"),
        (&["--project", "Search Team"], "a-z, 0-9"),
        (&["--sensitivity", "secret"], "public, internal, confidential"),
        (&["--expires", "90"], "90d"),
        (&["--expires", "0s"], "90d"),
    ] {
        let ran = create(&folder, flags).exits(64);
        assert!(ran.stderr.contains(told) && ran.stdout.is_empty(), "{flags:?}: {ran:?}");
    }
    for arguments in
        [&["keys"][..], &["keys", "create"], &["keys", "create", "--name", ""], &["keys", "revoke"]]
    {
        tribunal(&folder, arguments).exits(64);
    }
    assert!(list(&folder, &["--all"]).is_empty());
}

#[test]
fn a_budget_needs_the_price_of_all_that_the_key_may_ask() {
    let change = json!({
        "judges": {"cid": {"price": null}},
        "panels": {"priced": {"judges": ["ann", "bob"], "rubric": "quality"}},
    });
    let folder = Folder::with_panel(&with(panel(NOWHERE), change));
    for flags in [
        &[][..],
        &["--panel", "default"],
        &["--panel", "judge/cid"],
        &["--panel", "priced", "--panel", "judge/cid"],
    ] {
        let flags: Vec<&str> = flags.iter().copied().chain(["--budget", "5"]).collect();
        let ran = create(&folder, &flags).exits(64);
        assert!(
            ran.stderr.contains("--budget cannot be kept: the price of `cid` is unknown"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("hint: set `judges.NAME.price"), "{}", ran.stderr);
    }
    create(&folder, &["--panel", "priced", "--panel", "judge/ann", "--budget", "5"]).exits(0);
    create(&folder, &["--panel", "judge/cid"]).exits(0);
}

#[tokio::test]
async fn what_counts_in_the_window_is_listed_as_spent() {
    let folder = folder();
    let daily = create(&folder, &["--budget", "2.50/day"]).exits(0).stdout;
    let unlimited = create(&folder, &[]).exits(0).stdout;
    let stored = Stored::open(folder).await;
    // 4 October 2024.
    let on_an_earlier_day = |key: &str| SpendingRow {
        project: String::from("default"),
        key_id: id(key).to_owned(),
        day: 20_000,
        microusd: 12_300,
        calls: 3,
    };
    stored.append(&[&daily, &unlimited].map(|key| Record::Spending(on_an_earlier_day(key)))).await;
    let folder = stored.close().await;
    let facts =
        |listed: &Value| (listed["spent_usd"].clone(), listed["calls"].clone(), listed["last_used"].clone());
    let listed = list(&folder, &[]);
    assert_eq!(facts(&listed[0]), (json!(0.0), json!(0), json!("2024-10-04")));
    assert_eq!(facts(&listed[1]), (json!(0.0123), json!(3), json!("2024-10-04")));
    let table = tribunal(&folder, &["keys", "list"]).exits(0).stdout;
    assert!(table.contains("0.0123") && table.contains("2024-10-04"), "{table}");
}
