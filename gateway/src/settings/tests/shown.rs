//! What `check --print` and `schema` show.

use super::*;

#[test]
fn effective_settings_mean_the_same_and_hold_no_secret() {
    let (_folder, every_key_source, text) = every_key();
    let environment = Environment::of([("VLLM_KEY", "v-secret"), ("ANTHROPIC_API_KEY", "a-secret")]);
    for (source, text) in [(every_key_source, text), (source(), SMALLEST.to_owned()), shipped_panel()] {
        let config = parse(&text, &source, &environment, &template).map_err(|e| e.to_string()).unwrap();
        let printed = config.effective_yaml();
        assert!(!printed.contains("secret") && !printed.contains("sk-from-file"), "{printed}");
        let again =
            parse(&printed, &source, &environment, &template).map_err(|e| format!("{e}\n{printed}")).unwrap();
        assert_eq!(again.effective_yaml(), printed);
        let versions = |c: &Config| c.panels.values().map(|p| p.version.clone()).collect::<Vec<_>>();
        assert_eq!(versions(&again), versions(&config));
    }
}

#[test]
fn effective_settings_show_defaults_and_mask_passwords() {
    let text = format!("store: postgres://judge:hunter2@db/tribunal?password=hunter2\n{SMALLEST}");
    let config = read(&text).unwrap();
    let printed = config.effective_yaml();
    assert!(!printed.contains("hunter2"), "{printed}");
    for line in [
        "store: \"postgres://judge:***@db/tribunal?password=***\"",
        "  bind: \"127.0.0.1:4600\"",
        "  body_limit: \"2MiB\"",
        "    api_key:\n      env: OPENAI_API_KEY",
        "    perimeter: outside",
        "      attempt: \"30s\"",
        "    quorum: 2",
        "      max_tokens: 512",
        "    adaptive: off",
    ] {
        assert!(printed.contains(line), "{line}\n---\n{printed}");
    }
    assert_eq!(warnings(&config), ["panel.yaml:1:8: store: the database password stands in the file"]);
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn effective_settings_tell_where_prices_come_from() {
    let priced = "{server: openai, model: gpt-5, price: {input: 1, output: 2, cached_input: 0.5}}";
    let text = format!("judges: {{own: {priced}}}\n{}", panel("replacements: [own, openai/gpt-5-mini]"));
    let printed = read(&text).unwrap().effective_yaml();
    for line in [
        "    price: {input: 1.0, output: 2.0, cached_input: 0.5}  # USD per million tokens, from the file",
        "    price: {input: 0.25, output: 2.0, cached_input: 0.025}  # USD per million tokens, as in the built-in table of ",
        "    price: null  # unknown: costs are null",
        "    method: null  # by scale: median for numbers, majority for labels",
    ] {
        assert!(printed.contains(line), "{line}\n---\n{printed}");
    }
    assert_eq!(read(&printed).map_err(|e| e.to_string()).unwrap().effective_yaml(), printed);
}

#[test]
fn schema_of_the_reference_pages_is_the_programs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/panel.schema.json");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let is_current = written.trim_end() == format!("{:#}", schema());
    assert!(is_current, "run `tribunal schema > docs/reference/panel.schema.json`");
}

#[test]
fn schema_describes_every_key() {
    let schema = schema();
    assert_eq!(schema["title"], "Tribunal panel.yaml");
    let mut undescribed = Vec::new();
    let mut look = |owner: &str, object: &serde_json::Value| {
        for (key, property) in object["properties"].as_object().into_iter().flatten() {
            if property["description"].is_null() {
                undescribed.push(format!("{owner}.{key}"));
            }
        }
    };
    look("", &schema);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        look(name, definition);
    }
    assert_eq!(undescribed, Vec::<String>::new());
}
