//! The perimeter, proven in bytes: an outside server that counts everything it receives, while confidential cases take
//! every path that there is.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::binary::tribunal_with;
use crate::support::gateway::{Answer, Gateway, Served};
use crate::support::panel::{Folder, panel, with, with_replacement};
use crate::support::upstream::{Reply, Upstream};

/// A judge outside. It answers as a judge would, so that a case that gets there is not even noticed by failing.
struct Outside {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl Outside {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (connections, bytes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let outside = Self { address, connections: Arc::clone(&connections), bytes: Arc::clone(&bytes) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Ordering::SeqCst);
                let bytes = Arc::clone(&bytes);
                std::thread::spawn(move || serve(stream, &bytes));
            }
        });
        outside
    }

    #[track_caller]
    fn received_nothing(&self) {
        let received = (self.connections.load(Ordering::SeqCst), self.bytes.load(Ordering::SeqCst));
        assert_eq!(received, (0, 0), "connections and bytes that got outside");
    }

    #[track_caller]
    fn received_something(&self) {
        assert!(self.bytes.load(Ordering::SeqCst) > 0, "the control did not reach the outside either");
    }
}

fn serve(mut stream: TcpStream, bytes: &AtomicUsize) {
    let mut buffer = [0; 4096];
    let mut request = Vec::new();
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        bytes.fetch_add(length, Ordering::SeqCst);
        request.extend_from_slice(&buffer[..length]);
        if is_whole(&request) {
            request.clear();
            let body = Reply::text("1").body;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
            if write!(stream, "{head} {}\r\n\r\n{body}", body.len()).is_err() {
                return;
            }
        }
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

/// `ann` and the replacement `dan` are outside, `dan` by name; `bob` and `cid` are inside.
fn file(outside: &Outside, inside: &Upstream) -> Value {
    let change = json!({"servers": {
        "s-ann": {"base_url": format!("http://{}/v1", outside.address), "perimeter": "outside"},
        "s-dan": {"base_url": format!("http://localhost:{}/v1", outside.address.port()), "perimeter": "outside"},
    }});
    with(with_replacement(panel(inside.base_url())), change)
}

/// `bob` cannot be read, so that a repair is asked for; `cid` refuses, so that a replacement is wanted.
fn inside() -> Upstream {
    Upstream::start(|question| match question.body["model"].as_str() {
        Some("birch-one") => Reply::text("Well."),
        _ => Reply::error(400, "not today"),
    })
}

fn confidential() -> Vec<Value> {
    vec![
        json!({"id": "c1", "input": "Who?", "output": "Nobody.", "sensitivity": "confidential"}),
        json!({"id": "c2", "input": "Who?", "a": "Nobody.", "b": "All.", "sensitivity": "confidential"}),
        json!({"id": "c3", "input": "Who?", "output": "Some.", "metadata": {"sensitivity": "confidential"}}),
        json!({"id": "c4", "input": "Who?", "output": "Few.", "reference": "Some.", "sensitivity": "confidential"}),
    ]
}

fn public() -> Value {
    json!({"id": "p1", "input": "Who?", "output": "Everybody.", "sensitivity": "public"})
}

/// Both outside judges are named, with the reason.
#[track_caller]
fn names_who_was_left_out(verdict: &Value) {
    let abstentions = verdict["criteria"]["quality"]["abstentions"].as_array().expect("abstentions");
    let ann = abstentions.iter().find(|missing| missing["judge"] == "ann").expect("ann is named");
    assert_eq!((&ann["kind"], &ann["reason"]), (&json!("excluded"), &json!("perimeter")), "{verdict:#}");
    let votes = verdict["criteria"]["quality"]["votes"].as_array().expect("votes");
    assert!(votes.iter().all(|vote| vote["judge"] != "ann" && vote["judge"] != "dan"), "{verdict:#}");
}

fn lines(cases: &[Value]) -> String {
    cases.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// A proxy that the environment names is outside too.
fn proxies(outside: &Outside) -> Vec<(&'static str, String)> {
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    names.into_iter().map(|name| (name, format!("http://{}", outside.address))).collect()
}

#[test]
fn no_byte_of_a_batch_gets_outside() {
    let (outside, inside) = (Outside::start(), inside());
    let folder = Folder::with_panel(&file(&outside, &inside));
    folder.write("cases.jsonl", &lines(&confidential()));
    let proxies = proxies(&outside);
    let environment: Vec<(&str, &str)> = proxies.iter().map(|(name, at)| (*name, at.as_str())).collect();
    let arguments = ["judge", "cases.jsonl", "--json", "--by-mode"];
    let ran = tribunal_with(&folder, &arguments, &environment, "").exits(2);
    let verdicts = ran.json_lines();
    assert_eq!(verdicts.len(), 4);
    verdicts.iter().for_each(names_who_was_left_out);
    assert!(inside.count() > 8, "repairs were asked for: {}", inside.count());
    let single = ["judge", "--output", "x", "--sensitivity", "confidential", "--json"];
    names_who_was_left_out(&tribunal_with(&folder, &single, &environment, "").json_lines()[0]);
    outside.received_nothing();

    folder.write("public.jsonl", &lines(&[public()]));
    tribunal_with(&folder, &["judge", "public.jsonl", "--quiet"], &environment, "").exits(0);
    outside.received_something();
}

#[test]
fn no_byte_of_a_panel_that_stays_inside_gets_outside() {
    let (outside, inside) = (Outside::start(), inside());
    let change = json!({"panels": {"default": {"perimeter": "inside"}}});
    let folder = Folder::with_panel(&with(file(&outside, &inside), change));
    folder.write("cases.jsonl", &lines(&[public()]));
    let ran = tribunal_with(&folder, &["judge", "cases.jsonl", "--json"], &[], "");
    names_who_was_left_out(&ran.json_lines()[0]);
    outside.received_nothing();
}

#[test]
fn no_redirect_leads_outside() {
    for status in [301, 302, 303, 307, 308] {
        let outside = Outside::start();
        let elsewhere = format!("http://{}/v1/chat/completions", outside.address);
        let inside = Upstream::start(move |_| {
            let mut reply = Reply::error(status, "over there");
            reply.headers.insert("location", elsewhere.clone());
            reply
        });
        let folder = Folder::with_panel(&panel(inside.base_url()));
        folder.write("cases.jsonl", &lines(&confidential()[..1]));
        tribunal_with(&folder, &["judge", "cases.jsonl", "--quiet"], &[], "").exits(69);
        assert_eq!(inside.count(), 3);
        outside.received_nothing();
    }
}

async fn served(outside: &Outside, inside: &Upstream) -> Served {
    Gateway::connected(&file(outside, inside)).await.serve().await
}

#[tokio::test]
async fn no_byte_of_a_request_gets_outside() {
    let (outside, inside) = (Outside::start(), inside());
    let served = served(&outside, &inside).await;
    for case in confidential() {
        let answer = served.post("/v1/verdicts", &json!({"case": case})).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        names_who_was_left_out(&answer.json());
    }
    // The header makes any case confidential, and cannot make a confidential one public.
    for (level, case) in [("confidential", public()), ("public", confidential().remove(0))] {
        for key in [None, Some(format!("key-{level}"))] {
            let body = json!({"case": case, "cache": false});
            let mut request = served.request("POST", "/v1/verdicts").json(&body);
            request = request.header("x-tribunal-sensitivity", level);
            if let Some(key) = key {
                request = request.header("idempotency-key", key);
            }
            let answer = Answer::of(request).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            names_who_was_left_out(&answer.json());
        }
    }
    outside.received_nothing();

    served.post("/v1/verdicts", &json!({"case": public()})).await;
    outside.received_something();
}

#[tokio::test]
async fn no_byte_of_a_clients_own_request_gets_outside() {
    let (outside, inside) = (Outside::start(), inside());
    let served = served(&outside, &inside).await;
    let messages = json!([{"role": "user", "content": "Is it right? Answer yes or no."}]);
    let secret = json!({"messages": messages, "input": "text", "metadata": {"sensitivity": "confidential"}});
    let chat = "/v1/chat/completions";
    for (path, more) in [
        (chat, json!({"model": "default"})),
        (chat, json!({"model": "default", "stream": true})),
        ("/v1/responses", json!({"model": "default"})),
        (chat, json!({"model": "default", "tribunal": {"case": public()}})),
        (chat, json!({"model": "judge/ann"})),
        (chat, json!({"model": "judge/dan", "stream": true})),
        ("/v1/responses", json!({"model": "judge/ann"})),
        ("/v1/embeddings", json!({"model": "judge/dan"})),
    ] {
        let body = with(secret.clone(), more);
        let by_body = served.post(path, &body).await;
        assert!(
            by_body.status >= 400,
            "without outside judges there is no quorum: {} {}",
            path,
            by_body.text
        );
        let open = with(body, json!({"metadata": null}));
        let by_header =
            served.request("POST", path).header("x-tribunal-sensitivity", "confidential").json(&open);
        assert!(Answer::of(by_header).await.status >= 400);
    }
    outside.received_nothing();

    served.post(chat, &json!({"model": "judge/ann", "messages": messages})).await;
    outside.received_something();
}
