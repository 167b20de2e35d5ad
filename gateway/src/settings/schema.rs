//! The JSON Schema of `panel.yaml`, for editors.

use serde_json::{Value as Json, json};

use super::file::PanelFile;

/// Generated from the same structs that read the file, so that it cannot disagree with them.
pub fn schema() -> Json {
    let mut schema = schemars::schema_for!(PanelFile).to_value();
    if let Some(object) = schema.as_object_mut() {
        // Editors are stricter than the reader here: a file without a panel is refused.
        object.insert("required".to_owned(), json!(["panels"]));
    }
    schema
}
