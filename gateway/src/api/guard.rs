//! What every request passes: request id, Host and Origin, JSON content type, and a metric at the end.

use std::net::IpAddr;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;

use super::drop_in;
use super::error::{ApiError, with_request_id};
use crate::app::App;
use crate::settings::ServerSettings;

pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is echoed; longer or odd ones are replaced.
const MAX_REQUEST_ID_BYTES: usize = 128;

/// Admits or refuses a request, and marks its answer.
pub async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let request_id = request_id(request.headers()).unwrap_or_else(|| app.draw_id());
    let route = request.extensions().get::<MatchedPath>().map_or("unknown", MatchedPath::as_str).to_owned();
    let in_force = app.in_force();
    let admitted = admit(request.method(), request.headers(), &in_force.config.server);
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
fn admit(method: &Method, headers: &HeaderMap, server: &ServerSettings) -> Result<(), ApiError> {
    let host = headers.get(header::HOST).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if !is_ours(host, server) {
        return Err(ApiError::Forbidden(String::from(
            "this gateway does not answer under this host; hint: use 127.0.0.1 or localhost, or name the host in `server.hosts`",
        )));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let authority =
            origin.to_str().ok().and_then(|o| o.split_once("://")).map(|(_, authority)| authority);
        if !authority.is_some_and(|authority| is_ours(authority, server)) {
            return Err(ApiError::Forbidden(String::from("origin is another site")));
        }
    }
    if method == Method::POST && !is_json(headers) {
        return Err(ApiError::NotJson);
    }
    Ok(())
}

/// This machine's own names, those of the settings, and — where other machines may come — any address: what a page of
/// another site makes a browser look up is a name.
fn is_ours(authority: &str, server: &ServerSettings) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_loopback_only = server.bind.ip().is_loopback();
    if let Ok(ip) = host.parse::<IpAddr>() {
        return ip.is_loopback() || !is_loopback_only;
    }
    let host = host.to_ascii_lowercase();
    host == "localhost" || server.hosts.contains(&host)
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
        let server = server("127.0.0.1:4600");
        for good in
            ["localhost", "LOCALHOST:4600", "127.0.0.1:4600", "127.9.9.9", "[::1]:4600", "T.example:80"]
        {
            assert!(is_ours(good, &server), "{good}");
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
            assert!(!is_ours(bad, &server), "{bad}");
        }
    }

    #[test]
    fn where_others_may_come_they_come_by_address_or_by_a_name_of_the_settings() {
        let server = server("0.0.0.0:4600");
        for good in ["10.0.0.1:4600", "[fe80::1]", "t.example", "localhost"] {
            assert!(is_ours(good, &server), "{good}");
        }
        for bad in ["", "evil.example", "t.example.evil", "10.0.0.1.evil"] {
            assert!(!is_ours(bad, &server), "{bad}");
        }
    }

    fn server(bind: &str) -> ServerSettings {
        ServerSettings {
            bind: bind.parse().unwrap(),
            hosts: vec![String::from("t.example")],
            body_limit_bytes: 1,
        }
    }
}
