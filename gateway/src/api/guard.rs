//! What every request passes: request id, Host and Origin, JSON content type, and a metric at the end.

use std::net::IpAddr;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;

use super::drop_in;
use super::error::{ApiError, with_request_id};
use crate::app::App;

pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is echoed; longer or odd ones are replaced.
const MAX_REQUEST_ID_BYTES: usize = 128;

/// Admits or refuses a request, and marks its answer.
pub async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let request_id = request_id(request.headers()).unwrap_or_else(|| app.draw_id());
    let route = request.extensions().get::<MatchedPath>().map_or("unknown", MatchedPath::as_str).to_owned();
    let admitted = admit(request.method(), request.headers());
    let path = request.uri().path().to_owned();
    let mut response = match admitted {
        Ok(()) => next.run(request).await,
        Err(error) => drop_in::in_its_form(&path, error),
    };
    response = with_request_id(response, &request_id);
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID.clone(), value);
    }
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    app.metrics().observe_http(&route, response.status().as_u16());
    response
}

/// A page of another site must not reach a gateway on this machine: neither through a name that resolves here (Host)
/// nor by a cross-site request (Origin, content type).
fn admit(method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
    let host = headers.get(header::HOST).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if !is_loopback_authority(host) {
        return Err(ApiError::Forbidden(String::from(
            "host is not this machine; use 127.0.0.1 or localhost",
        )));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let authority =
            origin.to_str().ok().and_then(|o| o.split_once("://")).map(|(_, authority)| authority);
        if !authority.is_some_and(is_loopback_authority) {
            return Err(ApiError::Forbidden(String::from("origin is another site")));
        }
    }
    if method == Method::POST && !is_json(headers) {
        return Err(ApiError::NotJson);
    }
    Ok(())
}

fn is_loopback_authority(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()) else { return false };
    value.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(&REQUEST_ID)?.to_str().ok()?;
    let is_plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    (!id.is_empty() && id.len() <= MAX_REQUEST_ID_BYTES && is_plain).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_this_machine() {
        for good in ["localhost", "LOCALHOST:4600", "127.0.0.1:4600", "127.9.9.9", "[::1]:4600"] {
            assert!(is_loopback_authority(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "[fe80::1]",
            "0.0.0.0:4600",
            "127.0.0.1.evil",
        ] {
            assert!(!is_loopback_authority(bad), "{bad}");
        }
    }
}
