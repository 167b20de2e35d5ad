//! An answer on the wire: whole, or as the stream that the caller asked for.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, Stream, StreamExt, stream};
use serde_json::{Value, json};

use super::error::DropInError;
use crate::dropin::caller::Streaming;
use crate::dropin::said::{Envelope, Said, with};
use crate::dropin::{chat, responses};

/// How long the headers of a stream wait for the answer, so that an early failure keeps its status.
const HEADERS_HELD: Duration = Duration::from_secs(5);

/// A comment is sent after this time without an event, so that proxies and clients keep the connection.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Whose form the answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Chat,
    Responses,
}

/// What goes out, in no form yet.
#[derive(Debug)]
pub(super) struct Answered {
    pub said: Said,
    pub envelope: Envelope,
    pub headers: Vec<(&'static str, String)>,
}

/// An answer that is still to come. Dropped with the connection when the client hangs up.
pub(super) type Coming = Pin<Box<dyn Future<Output = Result<Answered, DropInError>> + Send>>;

/// Sends the answer as it was asked for.
pub(super) async fn send(
    mut coming: Coming,
    wire: Wire,
    streaming: Option<Streaming>,
) -> Result<Response, DropInError> {
    let Some(streaming) = streaming else {
        let Answered { said, envelope, headers } = coming.await?;
        let body = match wire {
            Wire::Chat => chat::completion(&said, &envelope),
            Wire::Responses => responses::response(&said, &envelope),
        };
        let mut response = Json(body).into_response();
        put_headers(response.headers_mut(), &headers);
        return Ok(response);
    };
    // Losing the race is fine: the future is polled on by the stream.
    let Ok(early) = tokio::time::timeout(HEADERS_HELD, &mut coming).await else {
        let late = coming
            .into_stream()
            .flat_map(move |answered| stream::iter(late_events(answered, wire, streaming)));
        return Ok(sse(late));
    };
    let answered = early?;
    let mut response = sse(stream::iter(events(&answered, wire, streaming)));
    put_headers(response.headers_mut(), &answered.headers);
    Ok(response)
}

fn sse(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("still there");
    let mut response = Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(keep_alive).into_response();
    // Proxies that collect what they pass on would keep events back.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn events(answered: &Answered, wire: Wire, streaming: Streaming) -> Vec<Event> {
    let Answered { said, envelope, .. } = answered;
    match wire {
        Wire::Chat => {
            let chunks = chat::chunks(said, envelope, streaming.includes_usage);
            chunks.iter().map(data).chain([done()]).collect()
        }
        Wire::Responses => {
            let events = responses::events(said, envelope);
            events.iter().map(|(name, event)| named(name, event)).collect()
        }
    }
}

/// After the headers are out a failure is a frame of its own.
fn late_events(answered: Result<Answered, DropInError>, wire: Wire, streaming: Streaming) -> Vec<Event> {
    match (answered, wire) {
        (Ok(answered), _) => events(&answered, wire, streaming),
        (Err(error), Wire::Chat) => vec![data(&error.body()), done()],
        (Err(error), Wire::Responses) => {
            let body = error.body();
            let body = body.get("error").cloned().unwrap_or_default();
            vec![named("error", &with(body, [("type", json!("error"))]))]
        }
    }
}

fn data(value: &Value) -> Event {
    Event::default().data(value.to_string())
}

fn named(name: &str, value: &Value) -> Event {
    Event::default().event(name).data(value.to_string())
}

fn done() -> Event {
    Event::default().data("[DONE]")
}

pub(super) fn put_headers(headers: &mut HeaderMap, values: &[(&'static str, String)]) {
    for (name, value) in values {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}
