//! Requests that the tests of several vendors encode.

use std::sync::Arc;

use serde_json::json;

use crate::chat::{ChatRequest, Message, ResponseSchema, Role};

pub(crate) fn asking_for_everything() -> ChatRequest {
    ChatRequest {
        max_tokens: Some(60),
        temperature: Some(0.0),
        top_p: Some(0.5),
        seed: Some(7),
        stop: vec!["\n".to_owned()],
        top_logprobs: Some(50),
        response_schema: Some(Arc::new(ResponseSchema {
            name: "verdict".to_owned(),
            schema: json!({"type": "string", "maxLength": 9}),
        })),
        choices: Some(["A".to_owned(), "tie".to_owned()].into()),
        ..ChatRequest::new([
            Message { role: Role::System, content: "Be brief.".to_owned() },
            Message { role: Role::User, content: "Rate 1-5.".to_owned() },
        ])
    }
}
