//! Who asks: what they sent to be let in, what they may ask, and whose rows they see.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;

use super::drop_in;
use super::error::ApiError;
use crate::access::{AccessKey, Role};
use crate::app::App;
use crate::case::Sensitivity;
use crate::engine::{EngineError, Purse, is_unpriced, unpriced};
use crate::in_force::InForce;
use crate::judge::Judge;
use crate::panel::Panel;

/// The project of requests without a key.
pub const DEFAULT_PROJECT: &str = "default";

/// What OpenAI's clients send, and what Anthropic's and LiteLLM's do.
pub(super) const X_API_KEY: &str = "x-api-key";

/// Whoever was let in.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The only project whose rows they see.
    pub project: Arc<str>,
    /// `None`: this gateway has no keys, and everything is open.
    key: Option<Arc<AccessKey>>,
}

/// What a route asks of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Nothing,
    /// A key that judges.
    Judge,
    /// A key that sees how the gateway is doing, for all projects.
    Admin,
}

/// Lets a request in, and notes whose it is.
pub async fn admit(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let need = request.extensions().get::<MatchedPath>().map_or(Need::Judge, |path| need(path.as_str()));
    match caller(&app, request.headers(), need).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => drop_in::in_its_form(request.uri().path(), error),
    }
}

/// What is not named here judges.
fn need(route: &str) -> Need {
    match route {
        "/" | "/docs" | "/openapi.json" | "/health/liveness" | "/health/liveliness" | "/health/readiness" => {
            Need::Nothing
        }
        "/metrics" => Need::Admin,
        _ => Need::Judge,
    }
}

async fn caller(app: &App, headers: &HeaderMap, need: Need) -> Result<Caller, ApiError> {
    let key = match need {
        Need::Nothing => None,
        Need::Judge | Need::Admin => app.key_ring().admit(presented(headers)).await?,
    };
    let Some(key) = key else { return Ok(Caller { project: Arc::from(DEFAULT_PROJECT), key: None }) };
    let is_enough = match key.role {
        Role::Admin => true,
        Role::Judge => need == Need::Judge,
        Role::Annotate => false,
    };
    if !is_enough {
        let needed = if need == Need::Admin { "admin" } else { "judge or admin" };
        let (name, role) = (&key.name, key.role.name());
        return Err(ApiError::Forbidden(format!(
            "key `{name}` has the role {role}, and this route needs {needed}"
        )));
    }
    Ok(Caller { project: Arc::clone(&key.project), key: Some(key) })
}

/// The key that a request carries. A bearer token goes before `x-api-key`.
fn presented(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token)
    });
    bearer.or_else(|| headers.get(X_API_KEY).and_then(|value| value.to_str().ok()))
}

impl Caller {
    /// The least that everything from this caller counts as.
    pub fn least_sensitivity(&self) -> Sensitivity {
        self.key.as_ref().map_or(Sensitivity::Public, |key| key.sensitivity)
    }

    /// The key's id, for work that goes on without the request.
    pub fn key_id(&self) -> Option<String> {
        self.key.as_ref().map(|key| key.id.clone())
    }

    /// The panel of this name, if it may be asked. Without a name `default`, the only one, or the only one of the key.
    pub fn panel(&self, in_force: &InForce, name: Option<&str>) -> Result<Arc<Panel>, ApiError> {
        let panel = in_force.panel(name.or_else(|| self.only_panel()))?;
        self.check_panel(&panel)?;
        Ok(panel)
    }

    /// Where a request without a name goes when the key is for one panel.
    pub fn only_panel(&self) -> Option<&str> {
        match self.key.as_ref()?.may_ask.as_slice() {
            [only] if !only.starts_with("judge/") => Some(only),
            _ => None,
        }
    }

    pub fn may_ask_panel(&self, panel: &str) -> bool {
        self.key.as_ref().is_none_or(|key| key.may_ask_panel(panel))
    }

    pub fn may_ask_judge(&self, judge: &str) -> bool {
        self.key.as_ref().is_none_or(|key| key.may_ask_judge(judge))
    }

    /// `panel/NAME` or `judge/NAME`, as aliases and lists of models have it.
    pub fn may_ask_target(&self, target: &str) -> bool {
        match target.split_once('/') {
            Some(("judge", judge)) => self.may_ask_judge(judge),
            Some((_, panel)) => self.may_ask_panel(panel),
            None => false,
        }
    }

    pub fn check_panel(&self, panel: &Panel) -> Result<(), ApiError> {
        if self.may_ask_panel(&panel.name) { Ok(()) } else { Err(self.not_allowed(&panel.name)) }
    }

    pub fn check_judge(&self, judge: &Judge) -> Result<(), ApiError> {
        let name = format!("judge/{}", judge.id);
        if self.may_ask_judge(judge.id.as_str()) { Ok(()) } else { Err(self.not_allowed(&name)) }
    }

    fn not_allowed(&self, name: &str) -> ApiError {
        let (key, allowed) =
            self.key.as_ref().map_or_else(Default::default, |key| (key.name.clone(), key.may_ask.join(", ")));
        ApiError::Forbidden(format!("key `{key}` may not ask `{name}`; it may ask: {allowed}"))
    }

    /// Where the money for a panel's calls comes from; an error where there is none left, or where it could not be seen.
    pub async fn purse_for(&self, app: &App, panel: &Panel) -> Result<Purse, ApiError> {
        self.purse(app, &unpriced(panel)).await
    }

    /// The same for a judge by itself.
    pub async fn purse_for_judge(&self, app: &App, judge: &Judge) -> Result<Purse, ApiError> {
        let unpriced: &[&Judge] = if is_unpriced(judge) { &[judge] } else { &[] };
        self.purse(app, unpriced).await
    }

    async fn purse(&self, app: &App, unpriced: &[&Judge]) -> Result<Purse, ApiError> {
        let Some(key) = &self.key else { return Ok(Purse::default()) };
        let purse = app.key_ring().purse(key).await?;
        let Some(budget) = purse.key.as_ref().and_then(|key| key.budget.as_ref()) else { return Ok(purse) };
        if let Some(judge) = unpriced.first() {
            return Err(ApiError::Unpriced { key: key.name.clone(), judge: judge.id.to_string() });
        }
        if budget.is_spent() {
            return Err(self.over_budget());
        }
        Ok(purse)
    }

    /// What the engine failed with, in the words of the caller's key.
    pub fn failed(&self, error: EngineError) -> ApiError {
        if matches!(error, EngineError::OverBudget) { self.over_budget() } else { ApiError::Engine(error) }
    }

    /// Nothing is left for the next call.
    pub fn over_budget(&self) -> ApiError {
        let told = self.key.as_ref().and_then(|key| Some((key.name.clone(), key.allowance?)));
        told.map_or_else(
            || ApiError::Internal(String::from("a budget without a key")),
            |(key, allowance)| ApiError::OverBudget { key, allowance: allowance.to_string() },
        )
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| ApiError::Internal(String::from("a route without a caller")))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn keys_come_as_bearer_or_in_a_header_of_their_own() {
        let check = |fields: &[(&'static str, &'static str)], expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            assert_eq!(presented(&headers), expected);
        };
        check(&[], None);
        check(&[("authorization", "Bearer abc")], Some("abc"));
        check(&[("authorization", "bearer abc")], Some("abc"));
        check(&[("authorization", "Basic abc")], None);
        check(&[("x-api-key", "abc")], Some("abc"));
        check(&[("authorization", "Bearer abc"), ("x-api-key", "def")], Some("abc"));
        check(&[("authorization", "Basic abc"), ("x-api-key", "def")], Some("def"));
    }

    #[test]
    fn a_route_that_nobody_thought_of_needs_a_key() {
        assert_eq!(need("/v1/something"), Need::Judge);
        assert_eq!(need("/docsx"), Need::Judge);
        assert_eq!(need("/metrics"), Need::Admin);
        assert_eq!(need("/health"), Need::Judge);
        assert_eq!(need("/health/readiness"), Need::Nothing);
    }
}
