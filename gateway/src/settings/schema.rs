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
    drop_defaults(&mut schema);
    schema
}

/// The structs' defaults are "absent"; what that means stands in the descriptions.
fn drop_defaults(schema: &mut Json) {
    match schema {
        Json::Object(object) => {
            object.remove("default");
            object.values_mut().for_each(drop_defaults);
        }
        Json::Array(list) => list.iter_mut().for_each(drop_defaults),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
