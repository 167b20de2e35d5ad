//! Streams that are passed on while they come, on paused time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use providers::chat::{CallerBody, ChatResponse, FinishReason, Forwarding, Route};
use providers::error::ErrorKind;
use providers::{ChatRequest, ProviderError, Recall, Relay, RetrySettings, StackSettings};
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::server::{Server, answer, completion, read_request};

const SECOND: Duration = Duration::from_secs(1);
const HEAD: &str =
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

fn patient() -> StackSettings {
    StackSettings {
        deadline: 60 * SECOND,
        attempt_timeout: 30 * SECOND,
        retry: RetrySettings { attempts: 3, ..RetrySettings::default() },
    }
}

/// A request that goes as it stands, and what comes of its stream.
fn streaming(pieces: usize) -> (ChatRequest, Receiver<Bytes>) {
    let mut fields = Map::new();
    fields.insert("stream".to_owned(), Value::Bool(true));
    let body = Bytes::from_static(br#"{"model":"panel","messages":[],"stream":true}"#);
    let forwarding = Forwarding::Verbatim { route: Route::ChatCompletions, body };
    let (relay, receiver) = Relay::new(pieces);
    let request = ChatRequest::from_caller(CallerBody::new(fields, forwarding));
    (ChatRequest { relay: Some(relay), ..request }, receiver)
}

/// Everything that is passed on, and when the first of it came.
async fn listen(mut receiver: Receiver<Bytes>) -> (String, Option<Instant>) {
    let (mut heard, mut first) = (String::new(), None);
    while let Some(piece) = receiver.recv().await {
        first.get_or_insert_with(Instant::now);
        heard.push_str(&String::from_utf8_lossy(&piece));
    }
    (heard, first)
}

/// Writes the pieces with a pause of a second before each, then closes or stays.
async fn stream(mut connection: TcpStream, pieces: Arc<[String]>, stays: bool) {
    if !read_request(&mut connection).await || connection.write_all(HEAD.as_bytes()).await.is_err() {
        return;
    }
    for piece in &*pieces {
        sleep(SECOND).await;
        if connection.write_all(piece.as_bytes()).await.is_err() {
            return;
        }
    }
    if stays {
        std::future::pending::<()>().await;
    }
}

async fn server(pieces: impl Into<Arc<[String]>>, stays: bool) -> Server {
    let pieces: Arc<[String]> = pieces.into();
    Server::start(move |connection, _| stream(connection, Arc::clone(&pieces), stays)).await
}

async fn ask(server: &Server, request: ChatRequest) -> Result<ChatResponse, ProviderError> {
    server.provider(patient()).oneshot(request).await
}

#[tokio::test(start_paused = true)]
async fn bytes_are_passed_on_as_they_come_and_read_at_the_end() {
    let pieces = [chunk("4"), ": still here\n\n".to_owned(), chunk("2"), "data: [DONE]\n\n".to_owned()];
    let server = server(pieces.clone(), false).await;
    let (request, receiver) = streaming(4);
    let started = Instant::now();
    let (answer, (heard, first)) = tokio::join!(ask(&server, request), listen(receiver));
    let response = answer.unwrap();
    assert_eq!((response.text.as_str(), response.body, response.attempts.len()), ("42", None, 1));
    assert_eq!(heard, pieces.concat());
    assert!(first.unwrap() - started < 2 * SECOND && started.elapsed() >= 4 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_again_once_a_byte_was_passed_on() {
    let check = async |pieces: &[String], stays: bool, expected: &str| {
        let server = server(pieces.to_vec(), stays).await;
        let (request, receiver) = streaming(4);
        let (answer, (heard, _)) = tokio::join!(ask(&server, request), listen(receiver));
        let error = answer.unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert_eq!((error.attempts.len(), server.connections(), heard), (1, 1, pieces.concat()));
    };
    let broken = "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n".to_owned();
    check(&[chunk("4")], false, "connection failed: answer stops in the middle").await;
    check(&[chunk("4"), broken], false, "server failed with status 503: overloaded").await;
    check(&["data: nonsense\n\n".to_owned()], false, "unreadable answer").await;
    check(&[chunk("4")], true, "no answer within 30000 ms").await;
}

#[tokio::test(start_paused = true)]
async fn what_fails_before_the_first_byte_is_asked_again_and_not_heard() {
    let failures = [
        answer(503, "content-type: text/event-stream\r\n", "data: {}\n\n"),
        answer(200, "content-type: application/json\r\n", "{\"choices\": ["),
    ];
    for failure in failures {
        let pieces: Arc<[String]> = [chunk("4"), "data: [DONE]\n\n".to_owned()].into();
        let server = Server::start(move |mut connection, number| {
            let (pieces, failure) = (Arc::clone(&pieces), failure.clone());
            async move {
                if number > 0 {
                    stream(connection, pieces, false).await;
                } else if read_request(&mut connection).await {
                    drop(connection.write_all(&failure).await);
                }
            }
        })
        .await;
        let (request, receiver) = streaming(4);
        let (answer, (heard, _)) = tokio::join!(ask(&server, request), listen(receiver));
        assert_eq!(answer.unwrap().attempts.len(), 2);
        assert_eq!(heard, chunk("4") + "data: [DONE]\n\n");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_stream_is_handed_over_whole() {
    let server = Server::answering(completion("4")).await;
    let (request, receiver) = streaming(4);
    let (answer, (heard, _)) = tokio::join!(ask(&server, request), listen(receiver));
    let response = answer.unwrap();
    assert_eq!((response.text.as_str(), heard.as_str()), ("4", ""));
    assert!(completion("4").ends_with(&response.body.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn who_stops_listening_gets_no_more_and_what_came_is_the_answer() {
    let server = server([chunk("4"), chunk("2")], true).await;
    let (request, mut receiver) = streaming(4);
    let listening = async move {
        let first = receiver.recv().await;
        sleep(5 * SECOND / 2).await;
        first
    };
    let started = Instant::now();
    let (answer, first) = tokio::join!(ask(&server, request), listening);
    let response = answer.unwrap();
    assert_eq!(first.as_deref(), Some(chunk("4").as_bytes()));
    assert_eq!((response.text.as_str(), response.finish), ("42", FinishReason::Other));
    assert_eq!(response.attempts.len(), 1);
    assert!(started.elapsed() < 5 * SECOND, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn who_stops_listening_before_anything_came_takes_the_call_back() {
    let hanging = Server::start(|mut connection, _| async move {
        read_request(&mut connection).await;
        std::future::pending::<()>().await;
    })
    .await;
    let (request, receiver) = streaming(4);
    let leaving = async {
        sleep(SECOND).await;
        drop(receiver);
    };
    let (answer, ()) = tokio::join!(ask(&hanging, request), leaving);
    let error = answer.unwrap_err();
    assert_eq!((error.kind, error.attempts.len()), (ErrorKind::Recalled, 1));

    let (request, receiver) = streaming(4);
    drop(receiver);
    let error = ask(&hanging, request).await.unwrap_err();
    assert_eq!((error.kind, error.attempts.len()), (ErrorKind::Recalled, 0));
    assert_eq!(hanging.connections(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_taken_back_while_it_streams_is_heard_to_its_end() {
    let server = server([chunk("4"), "data: [DONE]\n\n".to_owned()], false).await;
    let (request, receiver) = streaming(4);
    let token = CancellationToken::new();
    let request = ChatRequest { recall: Recall::on(token.clone()), ..request };
    let leaving = async {
        sleep(3 * SECOND / 2).await;
        token.cancel();
    };
    let (answer, (heard, _), ()) = tokio::join!(ask(&server, request), listen(receiver), leaving);
    assert_eq!(answer.unwrap().text, "4");
    assert!(heard.ends_with("[DONE]\n\n"));
}

#[tokio::test(start_paused = true)]
async fn a_server_is_read_no_faster_than_it_is_heard() {
    let pieces: Vec<String> = (0..4).map(|number| chunk(&number.to_string())).collect();
    let server = server([pieces, vec!["data: [DONE]\n\n".to_owned()]].concat(), false).await;
    let (request, mut receiver) = streaming(1);
    let listening = async {
        let mut heard = 0;
        loop {
            sleep(4 * SECOND).await;
            if receiver.recv().await.is_none() {
                return heard;
            }
            heard += 1;
        }
    };
    let started = Instant::now();
    let (answer, heard) = tokio::join!(ask(&server, request), listening);
    assert_eq!(answer.unwrap().text, "0123");
    assert!(heard >= 3 && started.elapsed() >= 16 * SECOND, "{heard} {:?}", started.elapsed());
}
