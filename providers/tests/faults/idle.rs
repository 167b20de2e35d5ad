//! Kept connections that the server closes.

use std::time::Duration;

use providers::ChatRequest;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use crate::server::{Server, completion, once, read_request};

/// Answers, and closes after so much idleness.
async fn impatient(mut stream: TcpStream, patience: Duration) {
    while timeout(patience, read_request(&mut stream)).await == Ok(true) {
        if stream.write_all(&completion("4")).await.is_err() {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_closed_after_any_idle_time_costs_no_answer() {
    for patience_ms in [0, 1, 500, 1_000, 2_000, 3_000, 4_000, 4_999, 5_000] {
        let patience = Duration::from_millis(patience_ms.max(1));
        let server = Server::start(move |stream, _| impatient(stream, patience)).await;
        let provider = server.provider(once());
        for pause_ms in [0, patience_ms.saturating_sub(1), patience_ms, patience_ms + 1, 6_000] {
            sleep(Duration::from_millis(pause_ms)).await;
            let answer = provider.clone().oneshot(ChatRequest::user("hi")).await;
            assert_eq!(answer.unwrap().text, "4", "closed after {patience_ms} ms, asked after {pause_ms} ms");
        }
    }
}
