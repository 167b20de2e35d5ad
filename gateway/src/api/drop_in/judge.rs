//! `judge/NAME`: one judge as a plain gateway has it, with its limits, retries and breaker; bytes go as they stand.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, StreamExt, stream};
use providers::chat::{CallerBody, ChatRequest, ChatResponse, Forwarding, Route};
use providers::{Recall, Relay};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::super::caller::Caller;
use super::error::DropInError;
use super::stream::{Answered, Wire, put_headers, send};
use crate::app::App;
use crate::case::Sensitivity;
use crate::dropin::caller::{CallerRequest, for_judges};
use crate::dropin::said::{Called, Envelope, Said};
use crate::engine::{NotPassed, PassOn, Passed};
use crate::in_force::InForce;
use crate::judge::Judge;
use crate::perimeter::{self, Cleared};

/// Pieces of a stream that may wait for a slow reader.
const PIECES_AHEAD: usize = 16;

pub(super) struct Question {
    pub caller: Caller,
    pub in_force: Arc<InForce>,
    pub judge: Arc<Judge>,
    pub request: CallerRequest,
    /// As sent.
    pub bytes: Bytes,
    pub sensitivity: Sensitivity,
    pub wire: Wire,
}

pub(super) async fn respond(app: App, question: Question) -> Result<Response, DropInError> {
    let Question { caller, in_force, judge, request, bytes, sensitivity, wire } = question;
    if wire == Wire::Chat && judge.speaks_openai() {
        let stream = request.stream.is_some();
        let asking = Asking { caller, in_force, judge, fields: request.body, bytes, sensitivity };
        return if stream {
            relay(app, asking).await
        } else {
            pass_on(app, asking, Route::ChatCompletions).await
        };
    }
    // In a form that this server does not speak: asked as a panel asks, answered as the caller reads.
    let stream = request.stream;
    let coming = Box::pin(async move {
        let body = CallerBody::new(for_judges(&request.body), Forwarding::Adapted);
        let cancel = CancellationToken::new();
        let chat = ChatRequest { recall: Recall::on(cancel.clone()), ..request.sampling.asked_with(body) };
        let cleared = clear(chat, sensitivity, &judge)?;
        let asked = pass(&app, &caller, &in_force, &judge, cleared).await?;
        let hang_up = cancel.drop_guard();
        let passed = app.engine().pass_on(asked).await.map_err(|error| failed(&caller, error))?;
        hang_up.disarm();
        Ok(answered(&app, request, passed))
    });
    send(coming, wire, stream).await
}

/// A request whose bytes go as they stand.
pub(super) struct Asking {
    pub caller: Caller,
    pub in_force: Arc<InForce>,
    pub judge: Arc<Judge>,
    /// What the bytes say.
    pub fields: Map<String, Value>,
    pub bytes: Bytes,
    pub sensitivity: Sensitivity,
}

/// On the account of whoever asks.
async fn pass(
    app: &App,
    caller: &Caller,
    in_force: &InForce,
    judge: &Arc<Judge>,
    request: Cleared<ChatRequest>,
) -> Result<PassOn, DropInError> {
    Ok(PassOn {
        askers: Arc::clone(&in_force.askers),
        judge: Arc::clone(judge),
        project: Arc::clone(&caller.project),
        purse: caller.purse_for_judge(app, judge).await?,
        request,
    })
}

fn failed(caller: &Caller, error: NotPassed) -> DropInError {
    match error {
        NotPassed::Engine(error) => DropInError::Api(caller.failed(error)),
        NotPassed::Judge(error) => DropInError::Judge(error),
    }
}

/// The server's own answer, byte for byte.
pub(super) async fn pass_on(app: App, asking: Asking, route: Route) -> Result<Response, DropInError> {
    let Asking { caller, in_force, judge, fields, bytes, sensitivity } = asking;
    let cancel = CancellationToken::new();
    let body = CallerBody::new(fields, Forwarding::Verbatim { route, body: bytes });
    let request = ChatRequest { recall: Recall::on(cancel.clone()), ..ChatRequest::from_caller(body) };
    let cleared = clear(request, sensitivity, &judge)?;
    let asked = pass(&app, &caller, &in_force, &judge, cleared).await?;
    let hang_up = cancel.drop_guard();
    let passed = app.engine().pass_on(asked).await.map_err(|error| failed(&caller, error))?;
    hang_up.disarm();
    Ok(whole(passed, &judge))
}

/// The server's own stream, piece by piece as it comes.
async fn relay(app: App, asking: Asking) -> Result<Response, DropInError> {
    let Asking { caller, in_force, judge, fields, bytes, sensitivity } = asking;
    let cancel = CancellationToken::new();
    let (relay, mut pieces) = Relay::new(PIECES_AHEAD);
    let body = CallerBody::new(fields, Forwarding::Verbatim { route: Route::ChatCompletions, body: bytes });
    let request = ChatRequest {
        recall: Recall::on(cancel.clone()),
        relay: Some(relay),
        ..ChatRequest::from_caller(body)
    };
    let cleared = clear(request, sensitivity, &judge)?;
    let engine = Arc::clone(app.engine());
    let asked = pass(&app, &caller, &in_force, &judge, cleared).await?;
    let mut call =
        Box::pin(async move { engine.pass_on(asked).await.map_err(|error| failed(&caller, error)) });
    let hang_up = cancel.drop_guard();
    let mut ended = None;
    // Losing the receive is fine: a piece is taken only when it completes.
    let first = tokio::select! {
        first = pieces.recv() => first,
        passed = &mut call => {
            ended = Some(passed);
            // Pieces may have come in the same moment.
            pieces.recv().await
        }
    };
    let Some(first) = first else {
        let passed = match ended {
            Some(ended) => ended,
            None => call.await,
        };
        hang_up.disarm();
        // It answered without a stream.
        return Ok(whole(passed?, &judge));
    };
    let rest =
        stream::unfold(pieces, |mut pieces| async move { pieces.recv().await.map(|piece| (piece, pieces)) });
    let end = async move {
        let ended = match ended {
            Some(ended) => ended,
            None => call.await,
        };
        hang_up.disarm();
        stream::iter(failure(ended.err()))
    };
    let all = stream::iter([first]).chain(rest).chain(end.flatten_stream());
    Ok(event_stream(Body::from_stream(all.map(Ok::<_, Infallible>)), &judge))
}

/// After the headers are out a failure is a frame of its own.
fn failure(error: Option<DropInError>) -> Vec<Bytes> {
    let frame = |error: DropInError| format!("data: {}\n\ndata: [DONE]\n\n", error.body());
    error.map(|error| Bytes::from(frame(error))).into_iter().collect()
}

fn event_stream(body: Body, judge: &Judge) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    put_headers(headers, &[("x-litellm-model-group", format!("judge/{}", judge.id))]);
    response
}

fn whole(passed: Passed, judge: &Judge) -> Response {
    let Passed { id, response, cost_usd, overhead_ms } = passed;
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let mut answer = (StatusCode::OK, json, response.body.unwrap_or_default()).into_response();
    put_headers(answer.headers_mut(), &headers(id, format!("judge/{}", judge.id), cost_usd, overhead_ms));
    answer
}

fn clear(
    request: ChatRequest,
    sensitivity: Sensitivity,
    judge: &Judge,
) -> Result<Cleared<ChatRequest>, DropInError> {
    perimeter::clear_for_judge(request, sensitivity, judge)
        .map_err(|_| DropInError::Perimeter { judge: judge.id.to_string() })
}

fn answered(app: &App, request: CallerRequest, passed: Passed) -> Answered {
    let Passed { id, response, cost_usd, overhead_ms } = passed;
    let ChatResponse { text, refusal, tool_calls, finish, logprobs, usage, model, .. } = response;
    let tool_calls: Vec<Called> = tool_calls
        .into_iter()
        .enumerate()
        .map(|(index, call)| Called {
            id: call.id.unwrap_or_else(|| format!("call_{id}_{index}")),
            name: call.name,
            arguments: call.arguments,
        })
        .collect();
    let is_silent = refusal.is_some() || (!tool_calls.is_empty() && text.is_empty());
    let name = request.model.unwrap_or_default();
    let headers = headers(id.clone(), name.clone(), cost_usd, overhead_ms);
    Answered {
        said: Said {
            content: (!is_silent).then_some(text),
            refusal,
            tool_calls,
            finish,
            logprobs: logprobs.filter(|_| request.sampling.wants_logprobs),
        },
        envelope: Envelope {
            id,
            created_s: app.engine().now_us() / 1_000_000,
            model: name,
            usage: usage.unwrap_or_default(),
            choices: 1,
            repeated: request.repeated,
            tribunal: json!({"model": model, "cost_usd": cost_usd}),
        },
        headers,
    }
}

/// What LiteLLM tells beside an answer.
fn headers(
    id: String,
    model: String,
    cost_usd: Option<f64>,
    overhead_ms: f64,
) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("x-litellm-call-id", id),
        ("x-litellm-model-group", model),
        ("x-litellm-overhead-duration-ms", format!("{overhead_ms:.1}")),
    ];
    headers.extend(cost_usd.map(|cost| ("x-litellm-response-cost", format!("{cost:.6}"))));
    headers
}
