//! A fast stand-in for an OpenAI-compatible model server, for measuring gateways. It listens on loopback only.
//!
//! `mock PORT [THREADS]` answers
//!
//! - `POST …/chat/completions` with a verdict, at once: `winner` when the prompt asks for one, else a `score`
//! - `POST /d/MS/…` the same after MS milliseconds
//! - `POST /e/STATUS/…` an OpenAI-shaped error; 429 and 503 carry `retry-after: 1`
//! - `GET …/models`, `GET /health`, and `GET /count`: calls answered and the most at one time since the last look
//!
//! It reads the prompt only to find the word `winner`, and whether `ALPHA` or `BETA` comes first: the candidate that holds
//! `ALPHA` wins, so that both orders of a pair agree, and the score is 4. Every seventh opinion is another one.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};

static ANSWERED: AtomicU64 = AtomicU64::new(0);
static IN_FLIGHT: AtomicU64 = AtomicU64::new(0);
static MOST_IN_FLIGHT: AtomicU64 = AtomicU64::new(0);

const LONGEST_DELAY_MS: u64 = 10_000;
const REASON: &str =
    "Most of the answer is right and follows from the passage; one detail of the second part is missing.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u16>());
    let (port, threads) = match (arguments.next(), arguments.next()) {
        (Some(Ok(port)), None) => (port, 1),
        (Some(Ok(port)), Some(Ok(threads))) if threads > 0 => (port, usize::from(threads)),
        _ => {
            eprintln!("usage: mock PORT [THREADS]");
            return ExitCode::from(64);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(listen(port))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mock: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until the process ends; `Err` when the port is taken.
async fn listen(port: u16) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        // Without this, a delayed acknowledgement of 40 ms shows up in every percentile.
        stream.set_nodelay(true)?;
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), hyper::service::service_fn(answer));
        #[expect(
            clippy::disallowed_methods,
            reason = "a measuring tool owns nothing that has to be finished"
        )]
        tokio::spawn(connection);
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    if request.method() == Method::GET {
        return Ok(json(StatusCode::OK, information(&path)));
    }
    let body = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return Ok(json(StatusCode::BAD_REQUEST, error_body())),
    };
    let at_once = IN_FLIGHT.fetch_add(1, Ordering::Relaxed) + 1;
    MOST_IN_FLIGHT.fetch_max(at_once, Ordering::Relaxed);
    let response = match Behaviour::of(&path) {
        Behaviour::Fail(status) => json(status, error_body()),
        Behaviour::Delay(delay) => {
            tokio::time::sleep(delay).await;
            verdict(&body)
        }
        Behaviour::AtOnce => verdict(&body),
    };
    IN_FLIGHT.fetch_sub(1, Ordering::Relaxed);
    Ok(response)
}

enum Behaviour {
    AtOnce,
    Delay(Duration),
    Fail(StatusCode),
}

impl Behaviour {
    fn of(path: &str) -> Self {
        let mut parts = path.trim_start_matches('/').split('/');
        match (parts.next(), parts.next()) {
            (Some("d"), Some(delay_ms)) => {
                let delay_ms = delay_ms.parse::<u64>().unwrap_or(0).min(LONGEST_DELAY_MS);
                Self::Delay(Duration::from_millis(delay_ms))
            }
            (Some("e"), Some(status)) => {
                let status = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
                Self::Fail(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
            }
            _ => Self::AtOnce,
        }
    }
}

fn information(path: &str) -> String {
    if path.ends_with("/models") {
        r#"{"object":"list","data":[{"id":"mock-judge","object":"model","created":1750000000,"owned_by":"mock"}]}"#.to_owned()
    } else if path == "/count" {
        let (answered, most) = (ANSWERED.load(Ordering::Relaxed), MOST_IN_FLIGHT.swap(0, Ordering::Relaxed));
        format!(r#"{{"answered":{answered},"most_in_flight":{most}}}"#)
    } else {
        r#"{"status":"ok"}"#.to_owned()
    }
}

fn verdict(prompt: &[u8]) -> Response<Full<Bytes>> {
    let number = ANSWERED.fetch_add(1, Ordering::Relaxed);
    let is_usual = !number.is_multiple_of(7);
    let opinion = if position_of(prompt, b"winner").is_some() {
        let is_alpha_first = position_of(prompt, b"ALPHA") < position_of(prompt, b"BETA");
        format!(r#"\"winner\": \"{}\""#, if is_alpha_first == is_usual { "A" } else { "B" })
    } else {
        format!(r#"\"score\": {}"#, if is_usual { 4 } else { 3 })
    };
    json(
        StatusCode::OK,
        format!(
            r#"{{"id":"chatcmpl-mock{number}","object":"chat.completion","created":1750000000,"model":"mock-judge","choices":[{{"index":0,"message":{{"role":"assistant","content":"{{\"reason\": \"{REASON}\", {opinion}}}"}},"logprobs":null,"finish_reason":"stop"}}],"usage":{{"prompt_tokens":412,"completion_tokens":38,"total_tokens":450}},"system_fingerprint":"fp_mock"}}"#
        ),
    )
}

fn position_of(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

fn error_body() -> String {
    r#"{"error":{"message":"the mock was asked to fail","type":"mock_error","param":null,"code":"mock"}}"#
        .to_owned()
}

fn json(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        headers.insert(RETRY_AFTER, hyper::header::HeaderValue::from_static("1"));
    }
    response
}
