//! A server of a hundred lines that answers with exactly the bytes it is told to.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to one request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// These bytes; the connection stays open.
    Bytes(Vec<u8>),
    /// These bytes, then the connection is closed; none at all: closed before the answer.
    BytesThenClose(Vec<u8>),
    Hang,
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// Request line and headers, names in lower case.
    pub head: Vec<String>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Debug, Clone)]
pub struct Server {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// One reply per request, over all connections; the last one again when they are used up.
    pub fn start(replies: impl Into<VecDeque<Reply>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server =
            Self { address: listener.local_addr().unwrap(), received: Arc::new(Mutex::new(Vec::new())) };
        let replies = Arc::new(Mutex::new(replies.into()));
        let received = Arc::clone(&server.received);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (replies, received) = (Arc::clone(&replies), Arc::clone(&received));
                std::thread::spawn(move || serve(&stream, &replies, &received));
            }
        });
        server
    }

    /// Says this as soon as somebody connects, whatever they say.
    pub fn greeting(bytes: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let _ = stream.write_all(bytes);
                // Why: closing with unread bytes would reset the connection, and the greeting with it.
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            }
        });
        Self { address, received: Arc::default() }
    }

    /// An address where nobody listens.
    pub fn closed() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Self { address, received: Arc::default() }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, replies: &Mutex<VecDeque<Reply>>, received: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read_request(&mut reader) {
        received.lock().unwrap().push(request);
        let reply = {
            let mut replies = replies.lock().unwrap();
            if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }
        };
        let mut writer = stream;
        match reply.unwrap() {
            Reply::Bytes(bytes) => writer.write_all(&bytes).unwrap(),
            Reply::BytesThenClose(bytes) => {
                // The client may have hung up already, having read enough.
                let _ = writer.write_all(&bytes);
                return;
            }
            // Longer than any test waits.
            Reply::Hang => std::thread::park_timeout(Duration::from_mins(1)),
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Received> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        head.push(
            line.split_once(": ")
                .map_or_else(|| line.to_owned(), |(name, value)| format!("{}: {value}", name.to_lowercase())),
        );
    }
    let mut request = Received { head, body: Vec::new() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// A whole answer with the headers that frame it.
pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
    format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len()).into_bytes()
}

/// A chat completion of this text.
pub fn completion(text: &str) -> Vec<u8> {
    let body = serde_json::json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    });
    answer(200, &[("content-type", "application/json")], &body.to_string())
}
