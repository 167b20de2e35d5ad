//! Bytes that are no answer: late, cut, endless, garbage.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use providers::error::ErrorKind;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::server::{Server, answer, completion, read_request};

/// Sends these bytes, one a second.
async fn send_slowly(mut stream: TcpStream, bytes: &[u8]) {
    for byte in bytes {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_byte_a_second_ends_with_the_attempt() {
    let server = Server::start(|mut stream, _| async move {
        assert!(read_request(&mut stream).await);
        send_slowly(stream, &completion("4")).await;
    })
    .await;
    let started = Instant::now();
    let error = server.ask_once().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout { after_ms: 10_000 });
    assert_eq!(started.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_ends_with_the_attempt_too() {
    let server = Server::start(|mut stream, _| async move {
        assert!(read_request(&mut stream).await);
        let whole = completion("4");
        let (head, body) = whole.split_at(whole.len() - 30);
        assert!(stream.write_all(head).await.is_ok());
        send_slowly(stream, body).await;
    })
    .await;
    assert_eq!(server.ask_once().await.unwrap_err().kind, ErrorKind::Timeout { after_ms: 10_000 });
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_ends_with_the_attempt() {
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(server.ask_once().await.unwrap_err().kind, ErrorKind::Timeout { after_ms: 10_000 });
}

/// Closes with an RST instead of a FIN: what was received and never read is thrown away.
async fn reset_after(mut stream: TcpStream, bytes: Vec<u8>) {
    read_request(&mut stream).await;
    assert!(stream.write_all(&bytes).await.is_ok());
    assert!(stream.set_zero_linger().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_reset_is_a_connection_failure_wherever_it_comes() {
    let whole = completion("4");
    let head = whole.len() - 60;
    for cut in [0, 1, 20, head, whole.len() - 1] {
        let sent = whole[..cut].to_vec();
        let server = Server::start(move |stream, _| reset_after(stream, sent.clone())).await;
        let error = server.ask_once().await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Connection { .. }), "cut at {cut}: {error:?}");
        // One more at once only when nothing of the answer had come.
        assert_eq!(error.attempts.len(), if cut == 0 { 2 } else { error.attempts.len() }, "cut at {cut}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_completion_is_no_answer() {
    let ok = String::from_utf8(completion("4")).unwrap();
    let json = ok.split_once("\r\n\r\n").unwrap().1.to_owned();
    let json_headers = "content-type: application/json\r\n";
    for (bytes, is_garbage) in [
        (b"\x16\x03\x01\x00\xff\x00\r\n\r\n".to_vec(), true),
        (answer(200, json_headers, "nonsense"), true),
        (answer(200, json_headers, ""), true),
        (answer(200, json_headers, "<html>sorry</html>"), true),
        (answer(200, json_headers, "[]"), true),
        (answer(200, json_headers, "{}"), true),
        (answer(200, json_headers, "{\"choices\":[]}"), true),
        (answer(200, json_headers, "{\"choices\":\"4\"}"), true),
        (answer(200, json_headers, &json[..json.len() / 2]), false),
        // Shorter than it says, then nothing more.
        (format!("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{json}").into_bytes(), false),
        (format!("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{json}").into_bytes(), true),
        (
            format!("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{json}").into_bytes(),
            true,
        ),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n".to_vec(), false),
    ] {
        let server = Server::answering(bytes.clone()).await;
        let error = server.ask_once().await.unwrap_err();
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(matches!(error.kind, ErrorKind::Garbage { .. }), is_garbage, "{shown}: {error:?}");
        assert!(error.kind.is_outage(), "{shown}: {error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn more_than_is_announced_is_not_read_as_the_next_answer() {
    let mut bytes = completion("4");
    bytes.extend_from_slice(&completion("5"));
    let server = Server::answering(bytes).await;
    let provider = server.provider(crate::server::once());
    for _ in 0..3 {
        let request = providers::ChatRequest::user("hi");
        let answer = tower::ServiceExt::oneshot(provider.clone(), request).await.unwrap();
        assert_eq!(answer.text, "4");
    }
}

/// Sends `bytes` without end and counts how many the other side took.
async fn flood(mut stream: TcpStream, head: &'static str, bytes: &'static [u8], taken: Arc<AtomicUsize>) {
    if !read_request(&mut stream).await || stream.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    while stream.write_all(bytes).await.is_ok() && taken.load(Ordering::Relaxed) < 1 << 30 {
        taken.fetch_add(bytes.len(), Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_of_a_gigabyte_is_cut_at_a_megabyte() {
    static BLOCK: [u8; 1 << 16] = [b' '; 1 << 16];
    for (head, most_taken) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n", 8 << 20),
        ("HTTP/1.1 200 OK\r\n\r\n", 16 << 20),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n40000000\r\n", 16 << 20),
    ] {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let server = Server::start(move |stream, _| flood(stream, head, &BLOCK, Arc::clone(&counted))).await;
        let error = server.ask_once().await.unwrap_err();
        let message = "answer is larger than 1048576 bytes".to_owned();
        assert_eq!(error.kind, ErrorKind::Garbage { message }, "{head}");
        assert_eq!(error.attempts.len(), 1, "it is not paid for twice");
        // The rest stands in the buffers of the two sockets.
        let taken = taken.load(Ordering::Relaxed);
        assert!(taken <= most_taken, "{head}: {taken} bytes were taken");
    }
}

#[tokio::test(start_paused = true)]
async fn headers_without_end_are_garbage() {
    let head = "HTTP/1.1 200 OK\r\n";
    for line in [&b"x-more: and more and more\r\n"[..], &[b'x'; 4096]] {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&taken);
        let server = Server::start(move |stream, _| flood(stream, head, line, Arc::clone(&counted))).await;
        let error = server.ask_once().await.unwrap_err();
        assert!(error.kind.is_outage(), "{error:?}");
        let taken = taken.load(Ordering::Relaxed);
        assert!(taken < 16 << 20, "{taken} bytes were taken");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_inside_a_200_is_an_error() {
    for (body, expected) in [
        (r#"{"error":{"message":"x","code":503}}"#, "server failed with status 503"),
        (r#"{"error":{"message":"x","code":"rate_limit_exceeded"}}"#, "rate limited"),
        (r#"{"error":"x","choices":[{"message":{"content":"4"}}]}"#, "server failed with status 200"),
    ] {
        let server = Server::answering(answer(200, "content-type: application/json\r\n", body)).await;
        let error = server.ask_once().await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{body}: {error}");
    }
}
