//! A server on a free port whose connections are handled by a function of the test's own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use providers::{
    Capabilities, ChatRequest, ChatResponse, Client, Dialect, Provider, ProviderError, RetrySettings,
    ServerHandle, ServerLimits, StackSettings, VendorConfig, stack, vendors,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// `handle` gets each connection with its number, from 0.
    pub async fn start<F>(handle: impl Fn(TcpStream, usize) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self { address: listener.local_addr().unwrap(), connections: Arc::default() };
        let connections = Arc::clone(&server.connections);
        let tasks = TaskTracker::new();
        tasks.clone().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tasks.spawn(handle(stream, connections.fetch_add(1, Ordering::SeqCst)));
            }
        });
        server
    }

    /// Reads each request and then sends these bytes; the connection stays open.
    pub async fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into().into();
        Self::start(move |mut stream, _| {
            let bytes = Arc::clone(&bytes);
            async move {
                while read_request(&mut stream).await {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn provider(&self, settings: StackSettings) -> Provider {
        let config = VendorConfig {
            dialect: Dialect::Compatible,
            base_url: format!("http://{}/v1", self.address).parse().unwrap(),
            api_key: None,
            model: "m".to_owned(),
            capabilities: Capabilities::new(Dialect::Compatible),
        };
        let vendor = vendors::connect(&config, &Client::new()).unwrap();
        stack::build(vendor, "m", &ServerHandle::new(ServerLimits::default()), settings)
    }

    /// One request without retries.
    pub async fn ask_once(&self) -> Result<ChatResponse, ProviderError> {
        self.provider(once()).oneshot(ChatRequest::user("hi")).await
    }
}

/// One attempt of ten seconds.
pub fn once() -> StackSettings {
    StackSettings {
        deadline: Duration::from_mins(1),
        attempt_timeout: Duration::from_secs(10),
        retry: RetrySettings { attempts: 1, ..RetrySettings::default() },
    }
}

/// Reads one request with its body; false at the end of the connection.
pub async fn read_request(stream: &mut TcpStream) -> bool {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer).await {
            Ok(length @ 1..) => request.extend_from_slice(&buffer[..length]),
            Ok(0) | Err(_) => return false,
        }
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return true;
        }
    }
}

pub fn answer(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len()).into_bytes()
}

pub fn completion(text: &str) -> Vec<u8> {
    let body = serde_json::json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    });
    answer(200, "content-type: application/json\r\n", &body.to_string())
}
