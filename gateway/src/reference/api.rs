//! `api.md` from the OpenAPI document.

use serde_json::Value;

use super::markdown::{anchor, code, heading, paragraph, table};

const INTRODUCTION: &str = "\
The same document is at `/openapi.json`, in `docs/reference/openapi.json`, and as a page at `/docs`.

- Bodies are JSON, and a `POST` without `content-type: application/json` is refused. The largest body is `server.body_limit`.
- Requests are answered under a name of this machine alone: another `Host`, or an `Origin` of another site, is a 403.
- `x-request-id` is echoed, or made when there is none. It stands in the log beside an error.
- `x-tribunal-sensitivity: public | internal | confidential` raises the case's own sensitivity; it never lowers it.
- Verdicts also come with `x-tribunal-verdict-id`, `x-tribunal-escalated`, `x-tribunal-disagreement` (the highest of all criteria) and
  `x-tribunal-cost` (US dollars), so that a log of headers is enough to count them.
- Errors are `application/problem+json`: `type` is stable, `errors` lists every problem with its field and the next step. A 503 comes
  with `retry-after`. A 500 says no cause; the server's log does.
- Beside the statuses listed below, any route may answer 403, 404, 405, 413, 415 or 500, as [Problems](#problems) explains.
- `/` leads to `/docs`, and `/health/liveliness` is another spelling of `/health/liveness`.

The case itself is described in [Cases](../guide/cases.md), the verdict in [Verdicts](verdict.md).

";

pub(super) fn page(document: &Value) -> String {
    let mut text = heading("HTTP API", "`gateway/src/api/mod.rs`");
    text.push_str(INTRODUCTION);
    text.push_str(&table(
        &["route", "what"],
        &operations(document).map(|operation| summary(&operation)).collect::<Vec<_>>(),
    ));
    for operation in operations(document) {
        text.push_str(&section(&operation));
    }
    text.push_str("## Problems\n\n");
    text.push_str(&table(&["status", "`type`", "`title`"], &problems()));
    text.push_str("## Shapes\n\n");
    for (name, schema) in
        document.pointer("/components/schemas").and_then(Value::as_object).into_iter().flatten()
    {
        text.push_str(&shape(name, schema));
    }
    text.trim_end().to_owned() + "\n"
}

struct Operation<'a> {
    route: String,
    about: &'a Value,
}

fn operations(document: &Value) -> impl Iterator<Item = Operation<'_>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(path, methods)| {
        let methods =
            methods.as_object().into_iter().flatten().filter(|(_, about)| about["responses"].is_object());
        methods.map(move |(method, about)| Operation {
            route: format!("{} {path}", method.to_uppercase()),
            about,
        })
    })
}

fn summary(operation: &Operation<'_>) -> Vec<String> {
    let link = format!("[`{}`](#{})", operation.route, anchor(&operation.route));
    vec![link, words(&operation.about["summary"])]
}

fn section(operation: &Operation<'_>) -> String {
    let about = operation.about;
    let mut text = format!("## {}\n\n{}\n\n", operation.route, words(&about["summary"]));
    text.push_str(&paragraph(&words(&about["description"])));
    let parameters = about["parameters"].as_array().into_iter().flatten();
    let rows: Vec<Vec<String>> = parameters
        .map(|p| {
            vec![code(p["name"].as_str().unwrap_or_default()), words(&p["in"]), words(&p["description"])]
        })
        .collect();
    text.push_str(&table(&["parameter", "in", "meaning"], &rows));
    if let Some(content) = about.pointer("/requestBody/content") {
        text.push_str(&paragraph(&format!("Body: {}.", contents(content))));
    }
    let responses = about["responses"].as_object().into_iter().flatten();
    let rows: Vec<Vec<String>> = responses
        .map(|(status, response)| {
            vec![status.clone(), contents(&response["content"]), words(&response["description"])]
        })
        .collect();
    text.push_str(&table(&["status", "answer", "when"], &rows));
    text
}

fn contents(content: &Value) -> String {
    let kinds = content.as_object().into_iter().flatten();
    kinds
        .map(|(kind, media)| format!("{} ({})", kind_of(&media["schema"]), code(kind)))
        .collect::<Vec<_>>()
        .join(" or ")
}

fn shape(name: &str, schema: &Value) -> String {
    let mut text = format!("### {name}\n\n");
    text.push_str(&paragraph(&words(&schema["description"])));
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().filter_map(Value::as_str).map(code).collect();
        text.push_str(&paragraph(&format!("One of {}.", values.join(", "))));
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let rows: Vec<Vec<String>> = properties
        .map(|(field, property)| {
            let presence = if required.contains(&field.as_str()) { "always" } else { "" };
            vec![code(field), kind_of(property), presence.to_owned(), words(&property["description"])]
        })
        .collect();
    text.push_str(&table(&["field", "type", "there", "meaning"], &rows));
    text
}

fn kind_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{})", anchor(name));
    }
    let alternatives: Vec<String> =
        ["oneOf", "anyOf"].iter().filter_map(|key| schema[*key].as_array()).flatten().map(kind_of).collect();
    if !alternatives.is_empty() {
        return alternatives.join(" or ");
    }
    if schema["items"].is_object() {
        return format!("list of {}", kind_of(&schema["items"]));
    }
    if schema["additionalProperties"].is_object() {
        return format!("name → {}", kind_of(&schema["additionalProperties"]));
    }
    match &schema["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => String::from("any JSON"),
    }
}

/// Every `type` that a problem can have.
fn problems() -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = crate::api::problem_kinds()
        .into_iter()
        .map(|problem| vec![problem.status.to_string(), code(&problem.kind), problem.title])
        .collect();
    rows.sort();
    rows.dedup();
    rows
}

fn words(value: &Value) -> String {
    value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler cannot list an enum's variants, so the names are read off the source.
    #[test]
    fn every_kind_of_problem_is_listed() {
        let source = include_str!("../api/error.rs");
        let names =
            source.split("fn kind_and_title").nth(1).and_then(|rest| rest.split("\n    }\n").next()).unwrap();
        let listed = problems();
        let mut count = 0;
        for name in names.split("(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(listed.iter().any(|row| row[1] == format!("`tribunal:{name}`")), "{name}");
            count += 1;
        }
        assert!(count > 10, "only {count} kinds were found");
    }
}
