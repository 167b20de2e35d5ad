//! The one HTTP client: no proxy from the environment, no redirects, capped bodies. Knows no wire format.

use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;

use crate::address::{BaseUrl, is_link_local};
use crate::call::Hint;
use crate::error::ErrorKind;
use crate::relay::Relay;

const USER_AGENT: &str = concat!("tribunal/", env!("CARGO_PKG_VERSION"));
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Shorter than the five seconds after which uvicorn, node and cpp-httplib close an idle connection.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Cap on an answer without token alternatives.
pub(crate) const BODY_CAP: usize = 1 << 20;

/// Why a client or a vendor could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("make an HTTP client")]
    Client(#[source] reqwest::Error),
    #[error("the key holds characters that no HTTP header can carry; hint: check it for line breaks")]
    Key,
}

/// Connections to all servers; clones share them. Plain and TLS clients are made when first needed.
#[derive(Debug, Clone, Default)]
pub struct Client(Arc<Clients>);

#[derive(Debug, Default)]
struct Clients {
    plain: OnceLock<reqwest::Client>,
    tls: OnceLock<reqwest::Client>,
}

impl Client {
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn of(&self, address: &BaseUrl) -> Result<reqwest::Client, SetupError> {
        let is_https = address.is_https();
        let kept = if is_https { &self.0.tls } else { &self.0.plain };
        if let Some(client) = kept.get() {
            return Ok(client.clone());
        }
        let client = build(is_https).map_err(SetupError::Client)?;
        Ok(kept.get_or_init(|| client).clone())
    }
}

fn build(is_https: bool) -> Result<reqwest::Client, reqwest::Error> {
    let builder = reqwest::Client::builder()
        // Why: over HTTP/2 all requests to a host share one connection, on which the 101st waits for a stream without a
        // word; over HTTP/1.1 each request that is under way has its own.
        .http1_only()
        .no_proxy()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .user_agent(USER_AGENT)
        .dns_resolver(NoLinkLocal);
    // A plain client needs no certificates, whose loading costs start-up time.
    if is_https { builder.build() } else { builder.tls_certs_only([]).build() }
}

/// Resolves names as the system does, minus link-local results: a name must not lead where an address may not.
#[derive(Debug, Clone, Copy)]
struct NoLinkLocal;

impl Resolve for NoLinkLocal {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|address| !is_link_local(address.ip())).collect();
            if allowed.is_empty() {
                return Err(
                    io::Error::new(io::ErrorKind::PermissionDenied, "only link-local addresses").into()
                );
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// An answer, whatever its status.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Nobody listened to its end: there may have been more.
    pub is_abandoned: bool,
}

/// No whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    pub kind: ErrorKind,
    pub hint: Option<Hint>,
}

impl NoAnswer {
    fn connection(message: &str, hint: Option<Hint>) -> Self {
        Self { kind: ErrorKind::Connection { message: message.to_owned() }, hint }
    }

    fn abandoned() -> Self {
        Self { kind: ErrorKind::Recalled, hint: Some(Hint::Final) }
    }
}

/// Sends a request and reads the answer up to `cap` bytes. An event stream of success also goes to the relay as it comes;
/// once nobody listens there, the answer ends with what has come.
pub(crate) async fn exchange(
    client: &reqwest::Client,
    request: reqwest::Request,
    cap: usize,
    relay: Option<&Relay>,
) -> Result<Answer, NoAnswer> {
    let executed = unless_abandoned(relay, client.execute(request)).await.ok_or_else(NoAnswer::abandoned)?;
    let mut response = executed.map_err(|error| before_answer(&error))?;
    let too_large = || NoAnswer {
        kind: ErrorKind::Garbage { message: format!("answer is larger than {cap} bytes") },
        // Asking again would be paid for and end the same way.
        hint: Some(Hint::Final),
    };
    let announced =
        response.content_length().map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
    if announced > cap {
        return Err(too_large());
    }
    let headers = std::mem::take(response.headers_mut());
    let is_stream = response.status().is_success() && is_event_stream(&headers);
    let status = response.status().as_u16();
    let mut body = BytesMut::with_capacity(announced);
    let is_abandoned = loop {
        let Some(read) = unless_abandoned(relay, response.chunk()).await else { break true };
        let Some(chunk) = read.map_err(|error| within_answer(&error))? else { break false };
        if body.len().saturating_add(chunk.len()) > cap {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
        if let Some(relay) = relay.filter(|_| is_stream)
            && !relay.pass_on(chunk).await
        {
            break true;
        }
    };
    Ok(Answer { status, headers, body: body.freeze(), is_abandoned })
}

/// `None`: nobody listens any more. What has come by then is dropped, with the connection.
async fn unless_abandoned<T>(relay: Option<&Relay>, work: impl Future<Output = T>) -> Option<T> {
    let Some(relay) = relay else { return Some(work.await) };
    tokio::select! {
        // The work first, so that what has come is counted.
        biased;
        done = work => Some(done),
        () = relay.abandoned() => None,
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

fn before_answer(error: &reqwest::Error) -> NoAnswer {
    if error.is_connect() {
        return no_connection(error);
    }
    if io_cause(error).is_some() || closes_early(error) {
        return NoAnswer::connection("closed before the answer", Some(Hint::DiedBeforeAnswer));
    }
    NoAnswer { kind: ErrorKind::Garbage { message: "answer is not HTTP".to_owned() }, hint: None }
}

fn no_connection(error: &reqwest::Error) -> NoAnswer {
    let message = match io_cause(error) {
        Some(io::ErrorKind::PermissionDenied) => {
            return NoAnswer::connection("name leads to a link-local address", Some(Hint::Final));
        }
        Some(io::ErrorKind::ConnectionRefused) => "refused",
        Some(io::ErrorKind::TimedOut) => "no connection in time",
        Some(_) | None if error.is_timeout() => "no connection in time",
        Some(io::ErrorKind::InvalidData) if says(error, &["certificate"]) => "certificate is not accepted",
        Some(io::ErrorKind::InvalidData) => "server does not speak TLS",
        Some(_) | None if says(error, &["dns error"]) => "name is unknown",
        Some(_) | None => "no connection",
    };
    NoAnswer::connection(message, None)
}

fn within_answer(error: &reqwest::Error) -> NoAnswer {
    if io_cause(error).is_some() || closes_early(error) {
        return NoAnswer::connection("closed within the answer", None);
    }
    NoAnswer { kind: ErrorKind::Garbage { message: "answer's body is malformed".to_owned() }, hint: None }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&(dyn std::error::Error + 'static)| (*cause).source())
}

fn io_cause(error: &reqwest::Error) -> Option<io::ErrorKind> {
    let mut found = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>())?;
    // Why: an I/O error that wraps another one passes over it when it is asked for its cause.
    while let Some(inner) = found.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>()) {
        found = inner;
    }
    Some(found.kind())
}

fn closes_early(error: &reqwest::Error) -> bool {
    says(
        error,
        &["connection closed", "end of file", "unexpected EOF", "channel closed", "operation was canceled"],
    )
}

/// hyper's types are not ours to name, so their text has to do; the wire tests hold it in place.
fn says(error: &reqwest::Error, phrases: &[&str]) -> bool {
    causes(error).any(|cause| {
        let text = cause.to_string();
        phrases.iter().any(|phrase| text.contains(phrase))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_made_once() {
        let client = Client::new();
        for address in ["http://127.0.0.1:8080/v1", "https://127.0.0.1:8080/v1"] {
            assert!(client.clone().of(&address.parse().unwrap()).is_ok());
        }
        assert!(client.0.plain.get().is_some() && client.0.tls.get().is_some());
    }

    #[test]
    fn setup_failure_keeps_its_cause() {
        let cause = reqwest::Client::builder().user_agent("\n").build().unwrap_err();
        let error = SetupError::Client(cause);
        assert_eq!(error.to_string(), "make an HTTP client");
        assert!(std::error::Error::source(&error).is_some());
    }

    #[tokio::test]
    async fn name_that_leads_to_a_link_local_address_is_refused() {
        // An address is its own name to the resolver.
        let resolve = |name: &str| NoLinkLocal.resolve(name.parse().unwrap());
        assert!(resolve("169.254.169.254").await.is_err());
        assert_eq!(resolve("127.0.0.1").await.unwrap().count(), 1);
    }
}
