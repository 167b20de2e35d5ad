//! Many requests to one host, and streams that nobody asked for.

use providers::error::ErrorKind;
use providers::{Capabilities, ChatRequest, Client, Dialect, VendorConfig, vendors};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tower::ServiceExt;

use crate::server::{Server, answer, completion, once, read_request};

#[tokio::test]
async fn two_hundred_requests_are_under_way_at_once() {
    const AT_ONCE: usize = 200;
    let (arrived, mut arrivals) = mpsc::channel(AT_ONCE);
    let (open, door) = watch::channel(false);
    let server = Server::start(move |mut stream, _| {
        let (arrived, mut door) = (arrived.clone(), door.clone());
        async move {
            while read_request(&mut stream).await {
                assert!(arrived.send(()).await.is_ok() && door.wait_for(|is_open| *is_open).await.is_ok());
                assert!(stream.write_all(&completion("4")).await.is_ok());
            }
        }
    })
    .await;
    let provider = server.provider(once());
    let asking =
        futures::future::join_all((0..AT_ONCE).map(|_| provider.clone().oneshot(ChatRequest::user("hi"))));
    let opening = async {
        for _ in 0..AT_ONCE {
            arrivals.recv().await.unwrap();
        }
        open.send(true).unwrap();
    };
    let (answers, ()) = tokio::join!(asking, opening);
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(server.connections(), AT_ONCE);
}

/// Over HTTP/2 they would share one connection of about a hundred streams, and the others would wait without a word.
#[tokio::test]
async fn a_tls_host_is_not_offered_http_2() {
    let (sent, mut hello) = mpsc::channel(1);
    let server = Server::start(move |mut stream, _| {
        let sent = sent.clone();
        async move {
            let mut buffer = vec![0; 4096];
            if let Ok(length) = stream.read(&mut buffer).await {
                buffer.truncate(length);
                drop(sent.send(buffer).await);
            }
        }
    })
    .await;
    let config = VendorConfig {
        dialect: Dialect::Compatible,
        base_url: format!("https://{}/v1", server.address).parse().unwrap(),
        api_key: None,
        model: "m".to_owned(),
        capabilities: Capabilities::new(Dialect::Compatible),
    };
    let vendor = vendors::connect(&config, &Client::new()).unwrap();
    assert!(vendor.oneshot(providers::Call::new(ChatRequest::user("hi"), None)).await.is_err());
    let hello = hello.recv().await.unwrap();
    assert_eq!(hello[0], 22, "a TLS handshake");
    // Protocol names stand in the first message in plain text, each after its length.
    assert!(!hello.windows(3).any(|bytes| bytes == b"\x02h2"), "HTTP/2 is offered");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_nobody_asked_for_counts_only_when_it_is_whole() {
    let chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"4\"}}]}\n\n";
    let ask = async |body: String| {
        let server = Server::answering(answer(200, "content-type: text/event-stream\r\n", &body)).await;
        server.ask_once().await
    };
    assert_eq!(ask(format!("{chunk}data: [DONE]\n\n")).await.unwrap().text, "4");
    let error =
        ask(format!("{chunk}event: error\ndata: {{\"error\":{{\"message\":\"overloaded\"}}}}\n\n")).await;
    assert!(matches!(error.unwrap_err().kind, ErrorKind::Server { .. }));
    let cut = ask(chunk.to_owned()).await;
    assert!(cut.unwrap_err().is_retryable(), "nothing usable came");
}
