//! The HTTP API: routes, each resource in a file of its own, documented by the same line that registers it.

mod begun;
mod body;
mod caller;
mod docs;
mod drop_in;
mod error;
mod events;
mod gate;
mod guard;
mod idempotency;
mod judges;
mod operations;
mod panels;
mod runs;
mod verdicts;

use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware;
use axum::routing::get;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::caller::DEFAULT_PROJECT;
pub use self::error::{ApiError, ProblemBody, ProblemDetail, problem_kinds};
use crate::app::App;

/// Requests worked on at once; further ones wait for a place.
const REQUESTS_IN_FLIGHT: usize = 1024;

/// How long a shutdown waits for requests and calls that were sent.
pub const SHUTDOWN_GRACE: Duration = Duration::from_mins(2);

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tribunal",
        description = "A panel of LLM judges: cases in, one verdict with its evidence out. Where the gateway has keys, every route but liveness, readiness and this page needs one: 401 without, 403 for what the key may not do, 402 when its budget is spent.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    modifiers(&KeySchemes),
    security((), ("bearer" = []), ("x-api-key" = [])),
    tags(
        (name = "drop-in", description = "A panel where one model stood: OpenAI's API"),
        (name = "verdicts", description = "Judge one case"),
        (name = "runs", description = "Judge many cases, and what was judged"),
        (name = "panels", description = "What is configured"),
        (name = "operations", description = "Health and metrics"),
    )
)]
#[derive(Debug)]
struct ApiDocument;

/// How a key is sent, for programs that read the document.
struct KeySchemes;

impl Modify for KeySchemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        let header = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(caller::X_API_KEY)));
        components.add_security_scheme("bearer", bearer);
        components.add_security_scheme("x-api-key", header);
    }
}

/// Every route with its document.
fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(ApiDocument::openapi())
        .merge(drop_in::documented())
        .routes(routes!(verdicts::create))
        .routes(routes!(verdicts::show))
        .routes(routes!(runs::list, begun::begin))
        .routes(routes!(runs::show))
        .routes(routes!(runs::verdicts))
        .routes(routes!(events::events))
        .routes(routes!(begun::resume))
        .routes(routes!(begun::stop))
        .routes(routes!(gate::show))
        .routes(routes!(gate::report))
        .routes(routes!(panels::list))
        .routes(routes!(judges::list))
        .routes(routes!(operations::health))
        .routes(routes!(operations::liveness))
        .routes(routes!(operations::readiness))
        .routes(routes!(operations::metrics))
}

/// The OpenAPI document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    routes().into_openapi()
}

/// The whole service.
pub fn router(app: App) -> Router {
    let body_limit = app.body_limit_bytes();
    let (router, document) = routes().split_for_parts();
    let router = router
        .route("/health/liveliness", get(operations::liveness))
        .merge(drop_in::further())
        .merge(docs::router(&document))
        .fallback(|request: Request| async move { ApiError::NoRoute(request.uri().path().to_owned()) })
        .method_not_allowed_fallback(|request: Request| async move {
            drop_in::in_its_form(request.uri().path(), ApiError::MethodNotAllowed)
        })
        .layer(DefaultBodyLimit::max(body_limit))
        .layer(middleware::from_fn_with_state(app.clone(), caller::admit))
        .layer(CatchPanicLayer::new())
        .layer(middleware::from_fn_with_state(app.clone(), guard::guard));
    router.layer(GlobalConcurrencyLimitLayer::new(REQUESTS_IN_FLIGHT)).with_state(app)
}
