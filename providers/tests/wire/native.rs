//! What we send to the vendors with formats of their own is what their documented exchanges send.

use providers::chat::{ChatRequest, Message, ResponseSchema, Role};
use providers::error::ErrorKind;
use providers::{BaseUrl, Call, Client, Dialect, VendorConfig, list_models, probe_health, vendors};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::exchange::{KEY, config, stacked};
use crate::recordings::{Recording, recordings};
use crate::requests::normal;
use crate::server::{Received, Reply, Server, answer};

fn reply(body: &Value) -> Reply {
    Reply::Bytes(answer(200, &[("content-type", "application/json")], &body.to_string()))
}

/// An answer of the dialect's format.
fn ok(dialect: Dialect) -> Reply {
    reply(&match dialect {
        Dialect::Anthropic => json!({"content": [{"type": "text", "text": "4"}], "stop_reason": "end_turn"}),
        Dialect::Gemini => {
            json!({"candidates": [{"content": {"parts": [{"text": "4"}]}, "finishReason": "STOP"}]})
        }
        _ => json!({"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}),
    })
}

/// Asks at this path for this model.
async fn sent(server: &Server, dialect: Dialect, path: &str, model: &str, request: ChatRequest) -> Received {
    let base_url: BaseUrl = server.base_url().replace("/v1", path).parse().unwrap();
    let config = VendorConfig { base_url, model: model.to_owned(), ..config(server, dialect) };
    vendors::connect(&config, &Client::new()).unwrap().oneshot(Call::new(request, None)).await.unwrap();
    server.received().pop().unwrap()
}

fn schema(schema: &Value) -> Option<std::sync::Arc<ResponseSchema>> {
    (!schema.is_null()).then(|| ResponseSchema { name: "verdict".to_owned(), schema: schema.clone() }.into())
}

fn whole(value: &Value) -> Option<u32> {
    value.as_u64().map(|number| number.try_into().unwrap())
}

fn anthropic(body: &Value) -> ChatRequest {
    ChatRequest {
        max_tokens: whole(&body["max_tokens"]),
        temperature: body["temperature"].as_f64(),
        response_schema: schema(&body["output_config"]["format"]["schema"]),
        ..ChatRequest::new(
            body["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| Message {
                    role: Role::User,
                    content: message["content"].as_str().unwrap().to_owned(),
                })
                .collect::<Vec<_>>(),
        )
    }
}

fn gemini(body: &Value) -> ChatRequest {
    let settings = &body["generationConfig"];
    let text = |content: &Value| content["parts"][0]["text"].as_str().unwrap().to_owned();
    ChatRequest {
        max_tokens: whole(&settings["maxOutputTokens"]),
        temperature: settings["temperature"].as_f64(),
        top_logprobs: whole(&settings["logprobs"]).map(|number| number.try_into().unwrap()),
        response_schema: schema(&settings["responseJsonSchema"]),
        ..ChatRequest::new(
            body["contents"]
                .as_array()
                .unwrap()
                .iter()
                .map(|content| Message { role: Role::User, content: text(content) })
                .collect::<Vec<_>>(),
        )
    }
}

/// The documented request: path, headers and body.
async fn check(recording: &Recording) {
    let documented = &recording.json["request"];
    let (body, path) = (&documented["body_json"], documented["path"].as_str().unwrap());
    let (request, base, model) = match recording.dialect {
        Dialect::Anthropic => (anthropic(body), "/v1", body["model"].as_str().unwrap()),
        _ => (gemini(body), "/v1beta", path.rsplit('/').next().unwrap().split(':').next().unwrap()),
    };
    let server = Server::start([ok(recording.dialect)]);
    let received = sent(&server, recording.dialect, base, model, request).await;
    assert_eq!(received.head[0], format!("POST {path} HTTP/1.1"), "{}", recording.name);
    assert_eq!(normal(&received.json()), normal(body), "{}", recording.name);
    for (name, value) in documented["headers"].as_object().unwrap() {
        let expected = value.as_str().unwrap().replace("KEY", KEY);
        assert_eq!(received.header(name), Some(expected.as_str()), "{}", recording.name);
    }
    assert_eq!(received.header("authorization"), None, "{}", recording.name);
}

#[tokio::test]
async fn requests_are_as_documented() {
    let mut compared = 0;
    for recording in recordings() {
        let is_native = matches!(recording.dialect, Dialect::Anthropic | Dialect::Gemini);
        if is_native && recording.json.get("request").is_some() {
            check(&recording).await;
            compared += 1;
        }
    }
    assert!(compared >= 4, "only {compared} requests are documented");
}

#[tokio::test]
async fn azure_takes_its_version_and_its_header() {
    let server = Server::start([ok(Dialect::AzureOpenAi)]);
    let check = async |path: &str, expected: &str| {
        let received = sent(&server, Dialect::AzureOpenAi, path, "d", ChatRequest::user("hi")).await;
        assert_eq!(received.head[0], format!("POST {expected} HTTP/1.1"));
        assert_eq!((received.header("api-key"), received.header("authorization")), (Some(KEY), None));
    };
    check("/openai/v1", "/openai/v1/chat/completions").await;
    check(
        "/openai/deployments/d?api-version=2024-10-21",
        "/openai/deployments/d/chat/completions?api-version=2024-10-21",
    )
    .await;
}

#[tokio::test]
async fn openrouters_errors_hide_in_answers() {
    let check = async |body: Value, expected: ErrorKind| {
        let server = Server::start([reply(&body)]);
        let vendor = vendors::connect(&config(&server, Dialect::OpenRouter), &Client::new()).unwrap();
        let error = vendor.oneshot(Call::new(ChatRequest::user("hi"), None)).await.unwrap_err();
        assert_eq!(error.kind, expected, "{body}");
    };
    let message = || "Provider returned error: upstream is down".to_owned();
    let error = json!({
        "code": 502, "message": "Provider returned error", "metadata": {"raw": "upstream is down", "provider_name": "X"},
    });
    let expected = || ErrorKind::Server { status: 502, message: message() };
    check(json!({"error": error, "user_id": "u"}), expected()).await;
    let choice = json!({"message": {"content": ""}, "finish_reason": "error", "error": error});
    check(json!({"choices": [choice]}), expected()).await;
    let credits = json!({"error": {"code": 402, "message": "Insufficient credits"}});
    check(credits, ErrorKind::Unauthorized { status: 402, message: "Insufficient credits".to_owned() }).await;
}

#[tokio::test]
async fn page_of_the_edge_about_size_is_a_prompt_that_is_too_long() {
    let server =
        Server::start([Reply::Bytes(answer(413, &[("content-type", "text/html")], "<html></html>"))]);
    let provider = stacked(&server, Dialect::Anthropic, std::time::Duration::from_secs(10));
    let error = provider.oneshot(ChatRequest::user("hi")).await.unwrap_err();
    assert_eq!(
        (error.kind, server.received().len()),
        (ErrorKind::TooLong { message: "no JSON body".to_owned() }, 1)
    );
}

#[tokio::test]
async fn every_attempt_is_paid_for_once() {
    let usage = json!({"prompt_tokens": 61, "completion_tokens": 5});
    let failed = json!({"choices": [{"finish_reason": "error"}], "usage": usage});
    let done = json!({"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}], "usage": usage});
    let paid = |prompt: u64, completion: u64| Some((prompt, completion));
    let check = async |replies: Vec<Reply>, expected| {
        let server = Server::start(replies);
        let provider = stacked(&server, Dialect::Mistral, std::time::Duration::from_secs(10));
        let usage = match provider.oneshot(ChatRequest::user("hi")).await {
            Ok(response) => response.usage,
            Err(error) => error.usage,
        };
        assert_eq!(usage.map(|usage| (usage.prompt_tokens, usage.completion_tokens)), expected);
    };
    check(vec![reply(&done)], paid(61, 5)).await;
    check(vec![reply(&failed), reply(&done)], paid(122, 10)).await;
    check(vec![reply(&failed)], paid(183, 15)).await;
    let down = || Reply::Bytes(answer(500, &[], "{}"));
    check(vec![reply(&failed), down(), down()], paid(61, 5)).await;
    check(vec![down()], None).await;
}

#[tokio::test]
async fn refused_parameters_are_learned_from_every_vendor() {
    let refused = |message: &str| {
        let error = json!({"error": {"code": 400, "type": "invalid_request_error", "message": message}});
        Reply::Bytes(answer(400, &[], &error.to_string()))
    };
    let check = async |dialect, message: &str, expected: &[&str]| {
        let server = Server::start([refused(message), ok(dialect)]);
        let provider = stacked(&server, dialect, std::time::Duration::from_secs(10));
        let request =
            ChatRequest { top_logprobs: Some(5), temperature: Some(0.0), ..ChatRequest::user("hi") };
        let response = provider.oneshot(request).await.unwrap();
        assert_eq!((response.attempts.len(), response.dropped.as_slice()), (2, expected), "{dialect:?}");
    };
    check(Dialect::Gemini, "Logprobs is not enabled for models/x", &["logprobs"]).await;
    check(Dialect::Anthropic, "`temperature` is deprecated for this model.", &["logprobs", "temperature"])
        .await;
    check(Dialect::Mistral, "logprobs are not supported for this model", &["logprobs"]).await;
    check(Dialect::AzureOpenAi, "Unsupported value: 'temperature' does not support 0", &["temperature"])
        .await;
    check(Dialect::OpenRouter, "temperature is not supported", &["temperature"]).await;
}

#[tokio::test]
async fn models_of_every_vendor_are_listed() {
    let check = async |dialect, list: Value, header: &str, ids: &[&str]| {
        let server = Server::start([reply(&list)]);
        let (client, key) = (Client::new(), KEY.to_owned().into());
        let base: BaseUrl = server.base_url().parse().unwrap();
        let models = list_models(&client, dialect, &base, Some(&key)).await.unwrap();
        let listed: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(listed, ids, "{dialect:?}");
        assert!(probe_health(&client, dialect, &base, Some(&key)).await.is_ok());
        assert!(server.received().iter().all(|request| request.header(header) == Some(KEY)));
    };
    let anthropic =
        json!({"data": [{"type": "model", "id": "claude-x", "display_name": "X"}], "has_more": false});
    check(Dialect::Anthropic, anthropic, "x-api-key", &["claude-x"]).await;
    let gemini = json!({"models": [
        {"name": "models/gemini-x", "version": "001", "inputTokenLimit": 1_048_576,
         "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"name": "models/embedding-x", "supportedGenerationMethods": ["embedContent"]},
    ]});
    check(Dialect::Gemini, gemini, "x-goog-api-key", &["gemini-x"]).await;
}
