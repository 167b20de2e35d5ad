//! `/openapi.json` and its readable form `/docs`: one page, no script, no request to anywhere else.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use minijinja::Environment;
use minijinja::value::{Serde, Value as Shown};
use serde_json::Value;
use utoipa::openapi::OpenApi;

use super::error::problem_kinds;
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
    environment.add_filter("prose", |text: &str| Shown::from_safe_string(prose(text)));
    environment.add_filter("kind", |schema: Serde<Value>| Shown::from_safe_string(kind(&schema.0)));
    environment.add_filter("anchor", |text: &str| anchor(text));
    environment.add_template("docs.html", PAGE)?;
    let document: Value = serde_json::from_str(json).unwrap_or_default();
    let mut problems = problem_kinds();
    problems.sort_by_key(|problem| problem.status);
    environment
        .get_template("docs.html")?
        .render(minijinja::context! { document => Serde(&document), problems => Serde(&problems) })
}

/// Plain words as HTML: what stands in backticks is code.
fn prose(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (index, piece) in text.split('`').enumerate() {
        let escaped = escape(piece);
        // Writing to a String cannot fail.
        let _ =
            if index % 2 == 1 { write!(html, "<code>{escaped}</code>") } else { write!(html, "{escaped}") };
    }
    html
}

/// The type of a schema, with links to the shapes that it names.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        let name = escape(name);
        return format!("<a href=\"#{name}\">{name}</a>");
    }
    let alternatives = schema["oneOf"].as_array().into_iter().flatten().map(kind).collect::<Vec<_>>();
    if !alternatives.is_empty() {
        return alternatives.join(" or ");
    }
    if schema["items"].is_object() {
        return format!("list of {}", kind(&schema["items"]));
    }
    if schema["additionalProperties"].is_object() {
        return format!("name → {}", kind(&schema["additionalProperties"]));
    }
    match &schema["type"] {
        Value::String(kind) => escape(kind),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).map(escape).collect::<Vec<_>>().join(" or ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::from("any JSON"),
    }
}

/// A place to link to: `post /v1/verdicts` → `post-v1-verdicts`.
fn anchor(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_every_route_shape_and_problem() {
        let document = crate::api::openapi();
        let page = page(&document.to_json().unwrap()).unwrap();
        for path in document.paths.paths.keys() {
            assert!(page.contains(&escape(path).replace('/', "&#x2f;")) || page.contains(path), "{path}");
        }
        for name in document.components.unwrap().schemas.keys() {
            assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        }
        for problem in problem_kinds() {
            assert!(page.contains(&problem.kind), "{}", problem.kind);
        }
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere_and_its_links_lead_somewhere() {
        let page = page(&crate::api::openapi().to_json().unwrap()).unwrap();
        for loading in ["<script", " src=", "@import", "url(", "<link"] {
            assert!(!page.contains(loading), "{loading}");
        }
        for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("id=\"{target}\"")), "#{target}");
        }
    }

    #[test]
    fn words_are_escaped_and_code_is_marked() {
        assert_eq!(prose("a `<b>` & c"), "a <code>&lt;b&gt;</code> &amp; c");
        assert_eq!(kind(&serde_json::json!({"type": ["string", "null"]})), "string or null");
        assert_eq!(
            kind(&serde_json::json!({"items": {"$ref": "#/components/schemas/A"}})),
            "list of <a href=\"#A\">A</a>"
        );
        assert_eq!(anchor("get /v1/verdicts/{id}"), "get-v1-verdicts-id");
    }
}
