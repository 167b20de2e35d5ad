//! `/openapi.json` and its readable form `/docs`: one page, no script, no request to anywhere else.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use minijinja::Environment;
use minijinja::value::Serde;
use utoipa::openapi::OpenApi;

use crate::app::App;

const PAGE: &str = include_str!("../../../dashboards/web/templates/docs.html");

/// No script at all, styles and pictures of this page only.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes of the document.
pub fn router(document: &OpenApi) -> Router<App> {
    // The document and the page never change while the process runs.
    let json: Arc<str> = document.to_pretty_json().unwrap_or_else(|_| String::from("{}")).into();
    let page: Arc<str> =
        page(&json).unwrap_or_else(|error| format!("the page could not be made: {error}")).into();
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/docs") }))
        .route("/openapi.json", get(move || std::future::ready(json_response(&json))))
        .route("/docs", get(move || std::future::ready(page_response(&page))))
}

fn page(json: &str) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    environment.add_template("docs.html", PAGE)?;
    let document: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    environment.get_template("docs.html")?.render(minijinja::context! { document => Serde(&document) })
}

fn json_response(json: &str) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json.to_owned()).into_response()
}

fn page_response(page: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, page.to_owned()).into_response()
}
