//! `Idempotency-Key`: from headers and body to what the engine knows a request by.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;

use super::body::SENSITIVITY;
use super::error::ApiError;
use crate::engine::{BadKey, IdempotencyKey, Keyed};

pub static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// `true` on an answer that was given before.
pub static IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The key of the request, if it has one. Bodies are the same when their bytes are, and the headers that can change
/// the answer.
pub fn keyed(headers: &HeaderMap, body: &[u8]) -> Result<Option<Keyed>, ApiError> {
    let mut keys = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    if keys.next().is_some() {
        return Err(ApiError::BadIdempotencyKey(BadKey));
    }
    let key = IdempotencyKey::try_from(key.as_bytes()).map_err(ApiError::BadIdempotencyKey)?;
    let mut hasher = blake3::Hasher::new();
    for part in [headers.get(SENSITIVITY).map(HeaderValue::as_bytes).unwrap_or_default(), body] {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    Ok(Some(Keyed { key, body_hash: hasher.finalize().to_hex().to_string() }))
}

/// Marks an answer that was given before.
pub fn mark_replayed(mut response: Response) -> Response {
    response.headers_mut().insert(IDEMPOTENCY_REPLAYED.clone(), HeaderValue::from_static("true"));
    response
}
