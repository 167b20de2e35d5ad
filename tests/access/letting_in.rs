//! With the first key a gateway is closed to everybody without one.

use gateway::access::{AccessKey, Refusal, Role};
use serde_json::json;

use super::{CHAT, Owned, add, case, get, post, question, usual};
use crate::support::gateway::{Answer, Served};

fn detail(refused: &Answer) -> String {
    refused.json()["detail"].as_str().expect("a detail").to_owned()
}

async fn status(served: &Served, path: &str, key: &Owned) -> u16 {
    get(served, path, key).await.status
}

#[tokio::test]
async fn without_keys_everybody_is_let_in_whatever_they_send() {
    let served = usual().await;
    assert_eq!(served.get("/v1/panels").await.status, 200);
    for text in ["none", "sk-other"] {
        let request = served.request("GET", "/v1/panels").bearer_auth(text);
        assert_eq!(Answer::of(request).await.status, 200);
    }
}

#[tokio::test]
async fn with_a_key_nobody_is_let_in_without_one() {
    let served = usual().await;
    let key = add(&served, |key| key).await;
    for path in ["/v1/panels", "/v1/runs", "/v1/judges", "/health", "/metrics", "/v1/nothing"] {
        let refused = served.get(path).await;
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")), "{path}");
        assert_eq!(refused.json()["type"], "tribunal:no-access");
        assert_eq!(detail(&refused), Refusal::NoKey.to_string());
    }
    for path in ["/health/liveness", "/health/liveliness", "/health/readiness", "/docs", "/openapi.json"] {
        assert_eq!(served.get(path).await.status, 200, "{path}");
    }
    assert_eq!(served.post("/v1/verdicts", &case()).await.status, 401);
    assert_eq!(served.gateway.asked().count(), 0);
    assert_eq!(post(&served, "/v1/verdicts", &key, &case()).await.status, 200);
}

#[tokio::test]
async fn openais_clients_are_refused_in_openais_form() {
    let served = usual().await;
    let key = add(&served, |key| key).await;
    for path in ["/v1/models", "/models", "/v1/model/info"] {
        let error = served.get(path).await.json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["type"]),
            (&json!("invalid_api_key"), &json!("invalid_request_error"))
        );
    }
    let refused = served.post(CHAT, &question("default")).await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("x-api-key"), "{}", refused.text);
    let by_header = served.request("GET", "/v1/models").header("x-api-key", &key.text);
    assert_eq!(Answer::of(by_header).await.status, 200);
}

#[tokio::test]
async fn other_texts_open_nothing_and_are_not_repeated() {
    let served = usual().await;
    let key = add(&served, |key| key).await;
    let last = if key.text.ends_with('0') { '1' } else { '0' };
    let guessed = format!("{}{last}", &key.text[..key.text.len() - 1]);
    let unknown = format!("tribunal_{}_{}", "0".repeat(12), "a".repeat(64));
    for text in ["none", &guessed, &unknown, &key.text.to_uppercase()] {
        let refused = Answer::of(served.request("GET", "/v1/panels").bearer_auth(text)).await;
        assert_eq!((refused.status, detail(&refused)), (401, Refusal::UnknownKey.to_string()), "{text}");
        assert!(!refused.text.contains(text), "{}", refused.text);
    }
}

#[tokio::test]
async fn a_key_that_was_revoked_or_has_expired_is_refused_by_name_of_the_reason() {
    let served = usual().await;
    let now_us = served.gateway.app.engine().now_us();
    let key = add(&served, |key| key).await;
    assert_eq!(status(&served, "/v1/panels", &key).await, 200);
    let ring = served.gateway.app.key_ring();
    assert!(ring.revoke(&key.id).await.unwrap());
    assert!(!ring.revoke(&key.id).await.unwrap(), "once");
    let refused = get(&served, "/v1/panels", &key).await;
    assert_eq!((refused.status, detail(&refused)), (401, Refusal::Revoked.to_string()));
    let brief = add(&served, |key| AccessKey { expires_us: Some(now_us + 1_000_000), ..key }).await;
    assert_eq!(status(&served, "/v1/panels", &brief).await, 200);
    served.gateway.wait(std::time::Duration::from_secs(1));
    assert_eq!(detail(&get(&served, "/v1/panels", &brief).await), Refusal::Expired.to_string());
    assert_eq!(served.get("/v1/panels").await.status, 401, "the last key's end opens nothing");
}

#[tokio::test]
async fn a_role_opens_what_it_is_for() {
    let served = usual().await;
    let judge = add(&served, |key| key).await;
    let admin = add(&served, |key| AccessKey { role: Role::Admin, ..key }).await;
    let annotate = add(&served, |key| AccessKey { role: Role::Annotate, ..key }).await;
    for (path, by_judge, by_admin, by_annotate) in
        [("/v1/panels", 200, 200, 403), ("/metrics", 403, 200, 403), ("/health", 200, 200, 403)]
    {
        assert_eq!(status(&served, path, &judge).await, by_judge, "{path}");
        assert_eq!(status(&served, path, &admin).await, by_admin, "{path}");
        assert_eq!(status(&served, path, &annotate).await, by_annotate, "{path}");
    }
    let refused = post(&served, CHAT, &annotate, &question("default")).await;
    assert_eq!((refused.status, &refused.json()["error"]["type"]), (403, &json!("permission_error")));
    assert!(refused.text.contains("annotate") && refused.text.contains("judge or admin"), "{}", refused.text);
}
