//! Asking a test server as the gateway would: through a vendor alone, or through the whole stack.

use std::time::Duration;

use providers::{
    BaseUrl, Call, Capabilities, ChatRequest, ChatResponse, Client, Dialect, Hint, Provider, ProviderError,
    RetrySettings, ServerHandle, ServerLimits, StackSettings, VendorConfig, stack, vendors,
};
use tower::ServiceExt;

use crate::server::Server;

pub const KEY: &str = "sk-judge-1";

pub fn config(server: &Server, dialect: Dialect) -> VendorConfig {
    VendorConfig {
        dialect,
        base_url: address(server),
        api_key: Some(KEY.to_owned().into()),
        model: "smollm2-135m".to_owned(),
        capabilities: Capabilities::new(dialect),
    }
}

pub fn address(server: &Server) -> BaseUrl {
    server.base_url().parse().unwrap()
}

/// One request, no stack; and whether the vendor says that asking again is of no use.
pub async fn ask_once(
    server: &Server,
    dialect: Dialect,
    request: ChatRequest,
) -> (Result<ChatResponse, ProviderError>, bool) {
    let vendor = vendors::connect(&config(server, dialect), &Client::new()).unwrap();
    let call = Call::new(request, None);
    let outcome = vendor.oneshot(call.clone()).await;
    (outcome, call.take_hints().has(Hint::Final))
}

/// The whole stack with pauses that no test notices.
pub fn stacked(server: &Server, dialect: Dialect, attempt_timeout: Duration) -> Provider {
    let vendor = vendors::connect(&config(server, dialect), &Client::new()).unwrap();
    let settings = StackSettings {
        deadline: Duration::from_secs(20),
        attempt_timeout,
        retry: RetrySettings { attempts: 3, backoff: Duration::from_millis(1), ..RetrySettings::default() },
    };
    stack::build(vendor, "smollm2-135m", &ServerHandle::new(ServerLimits::default()), settings)
}

pub async fn ask(server: &Server, dialect: Dialect) -> Result<ChatResponse, ProviderError> {
    let request = ChatRequest { top_logprobs: Some(20), ..ChatRequest::user("hi") };
    stacked(server, dialect, Duration::from_secs(10)).oneshot(request).await
}
