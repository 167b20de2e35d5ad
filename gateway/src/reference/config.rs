//! `config.md` from the JSON Schema of `panel.yaml`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::markdown::{anchor, code, heading, paragraph, table};

pub(super) fn page(schema: &Value) -> String {
    let mut writer = Writer {
        schema,
        text: heading("panel.yaml", "`gateway/src/settings/file/mod.rs`"),
        seen: BTreeSet::new(),
    };
    writer.text.push_str(&paragraph(&text_of(schema)));
    writer.text.push_str(
        "The file is valid alone. `tribunal check` names every mistake with its line, `tribunal check --print` shows every value in \
         force, `tribunal schema` prints the JSON Schema for editors. A variable such as `TRIBUNAL__SERVER__BIND` overrides the key \
         `server.bind`, and a flag overrides both. Capital words such as `NAME` stand for names of your own.\n\n",
    );
    writer.keys("", schema);
    writer.text.trim_end().to_owned() + "\n"
}

struct Writer<'a> {
    schema: &'a Value,
    text: String,
    /// Definitions that have their section, under the path of their first use.
    seen: BTreeSet<String>,
}

/// A mapping that needs a section of its own.
struct Section<'a> {
    path: String,
    definition: String,
    schema: &'a Value,
}

impl<'a> Writer<'a> {
    /// The keys of one mapping as a table, then a section for each mapping below it.
    fn keys(&mut self, path: &str, schema: &'a Value) {
        let mut rows = Vec::new();
        let mut below = Vec::new();
        let mut choices = Vec::new();
        for (key, property) in properties(schema) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let sections = self.sections(&path, property);
            let (meaning, default) = split_default(&self.description(property));
            let mut kind = self.kind(property);
            if let Some(section) = sections.first() {
                kind = format!("[{kind}](#{})", anchor(&section.path));
            }
            rows.push(vec![code(key), kind, default, meaning]);
            choices.extend(self.choices(key, property));
            below.extend(sections);
        }
        self.text.push_str(&table(&["key", "type", "default", "meaning"], &rows));
        self.text.push_str(&choices.concat());
        for section in below {
            if !self.seen.insert(section.definition.clone()) {
                continue;
            }
            let marks = if depth(&section.path) > 1 { "###" } else { "##" };
            self.text.push_str(&paragraph(&format!("{marks} `{}`", section.path)));
            self.text.push_str(&paragraph(&text_of(section.schema)));
            self.keys(&section.path, section.schema);
        }
    }

    /// Mappings with keys of their own that a property holds, through lists, names and alternatives.
    fn sections(&self, path: &str, property: &'a Value) -> Vec<Section<'a>> {
        if let Some((name, definition)) = self.definition(property) {
            if definition["properties"].is_object() {
                return vec![Section { path: path.to_owned(), definition: name, schema: definition }];
            }
            return alternatives(definition).flat_map(|part| self.sections(path, part)).collect();
        }
        if property["items"].is_object() {
            return self.sections(&format!("{path}[]"), &property["items"]);
        }
        if property["additionalProperties"].is_object() {
            return self.sections(&format!("{path}.NAME"), &property["additionalProperties"]);
        }
        alternatives(property).flat_map(|part| self.sections(path, part)).collect()
    }

    fn definition(&self, schema: &Value) -> Option<(String, &'a Value)> {
        let name = schema["$ref"].as_str()?.strip_prefix("#/$defs/")?;
        Some((name.to_owned(), self.schema.get("$defs")?.get(name)?))
    }

    /// A property's own words, or those of what it refers to.
    fn description(&self, property: &Value) -> String {
        let own = text_of(property);
        match self.definition(property) {
            Some((_, definition)) if own.is_empty() && !is_quantity(definition) => text_of(definition),
            _ => own,
        }
    }

    fn kind(&self, schema: &Value) -> String {
        if let Some((name, definition)) = self.definition(schema) {
            return match () {
                () if is_quantity(definition) => split_words(&name),
                () if definition["properties"].is_object() => String::from("mapping"),
                () => self.kind(definition),
            };
        }
        if let Some(value) = schema.get("const") {
            return code(&plain(value));
        }
        if let Some(values) = schema["enum"].as_array() {
            return joined(values.iter().filter(|value| !value.is_null()).map(|value| code(&plain(value))));
        }
        let parts: Vec<&Value> = alternatives(schema).filter(|part| part["type"] != "null").collect();
        if !parts.is_empty() {
            return joined(parts.into_iter().map(|part| self.kind(part)));
        }
        if schema["items"].is_object() {
            return format!("list of {}", self.kind(&schema["items"]));
        }
        if schema["additionalProperties"].is_object() {
            return format!("NAME: {}", self.kind(&schema["additionalProperties"]));
        }
        match &schema["type"] {
            Value::String(kind) => word(kind),
            Value::Array(kinds) => {
                joined(kinds.iter().filter_map(Value::as_str).filter(|k| *k != "null").map(word))
            }
            _ => String::from("any"),
        }
    }

    /// What each word of a closed set means, where the code says so.
    fn choices(&self, key: &str, property: &Value) -> Option<String> {
        let parts = alternatives(property)
            .find_map(|part| self.definition(part))
            .or_else(|| self.definition(property));
        let parts: Vec<&Value> = alternatives(parts?.1).filter(|part| part.get("const").is_some()).collect();
        let told = parts.iter().filter(|part| !text_of(part).is_empty());
        let rows: Vec<Vec<String>> =
            told.map(|part| vec![code(&plain(&part["const"])), text_of(part)]).collect();
        let text = table(&[&code(key), "meaning"], &rows);
        (!text.is_empty()).then_some(text)
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten()
}

/// A text with a unit, such as a length of time.
fn is_quantity(definition: &Value) -> bool {
    definition["type"] == "string" && definition["pattern"].is_string()
}

/// The first sentence about the default, apart from the rest: `Default `2MiB`.`, `Default: none.`.
fn split_default(description: &str) -> (String, String) {
    let Some(start) = description.find("Default") else { return (description.to_owned(), String::new()) };
    let (before, rest) = description.split_at(start);
    let rest = rest.trim_start_matches("Default").trim_start_matches(':').trim_start();
    let (default, after) = rest.split_once(". ").unwrap_or((rest.trim_end_matches('.'), ""));
    (format!("{before}{after}").trim().to_owned(), default.to_owned())
}

fn text_of(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn joined(words: impl Iterator<Item = String>) -> String {
    let mut unique: Vec<String> = Vec::new();
    for word in words {
        if !unique.contains(&word) {
            unique.push(word);
        }
    }
    unique.join(" or ")
}

fn word(kind: &str) -> String {
    String::from(match kind {
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "`true` or `false`",
        "array" => "list",
        "object" => "mapping",
        other => other,
    })
}

/// `ByteSize` → `byte size`.
fn split_words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

fn depth(path: &str) -> usize {
    path.split('.').filter(|part| *part != "NAME").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_told_apart_from_meanings() {
        let check = |text: &str, meaning: &str, default: &str| {
            assert_eq!(split_default(text), (meaning.to_owned(), default.to_owned()), "{text}");
        };
        check("Cap. Default 512.", "Cap.", "512");
        check("Address. Default: the provider's own.", "Address.", "the provider's own");
        check(
            "File. Default `t.db`. A password goes elsewhere.",
            "File. A password goes elsewhere.",
            "`t.db`",
        );
        check("At least one.", "At least one.", "");
    }

    #[test]
    fn every_definition_with_keys_has_a_section() {
        let schema = crate::settings::schema();
        let text = page(&schema);
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            for key in definition["properties"].as_object().into_iter().flatten().map(|(key, _)| key) {
                assert!(text.contains(&format!("| `{key}` |")), "{name}.{key}");
            }
        }
    }
}
