//! `json_schema`: the answer is JSON of this shape. Nothing is fetched: a schema refers to itself only.

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde::Serialize;
use serde_json::Value as Json;

use super::Finding;

/// Largest compiled `pattern` within a schema.
const LARGEST_PATTERN_BYTES: usize = 1024 * 1024;

#[derive(Debug, Clone, Serialize)]
pub struct Schema {
    pub schema: Json,
    #[serde(skip)]
    validator: Arc<Validator>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no JSON Schema that can be used: {message}")]
pub struct BadSchema {
    message: String,
    /// Where in the schema, as a JSON Pointer; empty for the whole schema.
    pub at: String,
}

impl Schema {
    pub fn new(schema: &Json) -> Result<Self, BadSchema> {
        let patterns =
            PatternOptions::regex().size_limit(LARGEST_PATTERN_BYTES).dfa_size_limit(LARGEST_PATTERN_BYTES);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let validator = options.build(schema).map_err(|error| BadSchema {
            message: shortened(&error.to_string()),
            at: error.instance_path().to_string(),
        })?;
        Ok(Self { schema: schema.clone(), validator: Arc::new(validator) })
    }

    pub(super) fn run(&self, output: &str) -> Finding {
        let answer: Json = match serde_json::from_str(output) {
            Ok(answer) => answer,
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                return Finding::Fail(format!("the answer is not JSON at line {line} column {column}"));
            }
        };
        match self.validator.validate(&answer) {
            Ok(()) => Finding::Pass,
            Err(error) => Finding::Fail(broken_rule(&error)),
        }
    }
}

/// Places and names in the schema are the file's own words; values and keys of the answer are not repeated.
fn broken_rule(error: &ValidationError<'_>) -> String {
    let place = error.schema_path();
    if let ValidationErrorKind::Required { property } = error.kind()
        && let Some(name) = property.as_str()
    {
        return format!("the answer breaks the schema at `{place}`: `{name}` is missing");
    }
    format!("the answer breaks the schema at `{place}`")
}

/// What is compiled follows from the schema.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema
    }
}

fn shortened(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut short: String = one_line.chars().take(200).collect();
    if short.len() < one_line.len() {
        short.push('…');
    }
    short
}
