//! Refusals of one schema: they say something about the caller's schema and nothing about the server.

use super::adapted::{AnswerForm, tools};
use super::refusal::Refusal;
use crate::chat::ChatRequest;

/// Whether a caller's schema was refused, so that this one call can be asked with the schema in the prompt.
pub(super) fn is_refused(refusal: &Refusal, request: &ChatRequest) -> bool {
    const CODES: [&str; 2] = ["invalid_function_parameters", "invalid_json_schema"];
    const PHRASES: [&str; 12] = [
        // OpenAI, llama.cpp, Anthropic.
        "invalid schema",
        "schema error",
        "schema is invalid",
        "input_schema",
        "format.schema",
        // Gemini.
        "schema produces",
        "schema is too",
        "'tools[",
        ".parameters",
        // vLLM, and llama.cpp's older words.
        "grammar error",
        "invalid grammar",
        "failed to parse grammar",
    ];
    let text = refusal.text().to_lowercase();
    has_schema(request)
        && (CODES.contains(&refusal.code.as_str()) || PHRASES.iter().any(|phrase| text.contains(phrase)))
}

fn has_schema(request: &ChatRequest) -> bool {
    request.caller.as_ref().is_some_and(|caller| {
        let form = AnswerForm::of(caller.response_format.as_ref());
        tools(caller).is_some() || form.is_some_and(|form| form != AnswerForm::JsonObject)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::vendors::samples::{caller, verdict_tool};

    #[test]
    fn only_a_callers_schema_can_be_refused() {
        let schema = json!({"type": "json_schema", "json_schema": {"schema": {"type": "string"}}});
        let with = |tools: Value, response_format: Value| {
            ChatRequest::from_caller(caller(json!({"tools": tools, "response_format": response_format})))
        };
        let check = |request: &ChatRequest, message: &str, expected: bool| {
            let refusal = Refusal::of(400, &json!({"error": {"message": message}}));
            assert_eq!(is_refused(&refusal, request), expected, "{message}");
        };
        let (of_tool, of_format) = (with(json!([verdict_tool()]), Value::Null), with(Value::Null, schema));
        for request in [&of_tool, &of_format] {
            check(request, "Invalid schema for function 'verdict': 'maximum' is not permitted.", true);
            check(
                request,
                "Automatic parser generation failed: JSON schema error at #: unrecognized type x",
                true,
            );
            check(request, "tools.0.custom.input_schema: JSON schema is invalid", true);
            check(
                request,
                "Unknown name \"x\" at 'tools[0].function_declarations[0]': Cannot find field.",
                true,
            );
            check(request, "Grammar error: Invalid type: nonsense", true);
            check(request, "tools are not supported", false);
            check(request, "response_format of type 'json_schema' is not supported with this model", false);
        }
        check(&with(json!([]), json!({"type": "json_object"})), "invalid schema", false);
        check(&ChatRequest::user("hi"), "invalid schema", false);
        let coded = json!({"error": {"message": "x", "code": "invalid_function_parameters"}});
        assert!(is_refused(&Refusal::of(400, &coded), &of_tool));
    }
}
