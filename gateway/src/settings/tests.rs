//! Whole files in, settings or problems out.

mod checks;
mod identity;
mod shown;
mod wrong;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aggregation::scale::Scale;
use aggregation::vote::JudgeId;
use proptest::prelude::*;
use secrecy::ExposeSecret;

use super::*;
use crate::case::Mode;
use crate::judge::{Judge, Limits, Params, Perimeter, ProviderKind, ReplayField, ScoringMode, Server};
use crate::panel::{MethodName, Orders};
use crate::templates::Template;

const SMALLEST: &str = "\
panels:
  default:
    rubric: The answer is correct and complete.
    judges: [openai/gpt-5-mini, anthropic/claude-sonnet-4-5, ollama/qwen3:32b]
";

const KEYS: [(&str, &str); 2] = [("OPENAI_API_KEY", "sk-secret-1"), ("ANTHROPIC_API_KEY", "sk-secret-2")];

fn template(name: &str, base: &Path) -> Result<Template, String> {
    crate::templates::load(name, base).map_err(|error| error.to_string())
}

fn source() -> Source {
    Source { path: PathBuf::from("panel.yaml"), ..Source::default() }
}

/// The panel at the root of the repository, whose template folder lies there too.
fn shipped_panel() -> (Source, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../panel.yaml");
    (Source { path, ..Source::default() }, include_str!("../../../panel.yaml").to_owned())
}

fn read(text: &str) -> Result<Config, Problems> {
    parse(text, &source(), &Environment::of(KEYS), &template)
}

fn problems(text: &str) -> Vec<String> {
    match read(text) {
        Ok(_) => Vec::new(),
        Err(found) => found.problems.iter().map(first_line).collect(),
    }
}

fn first_line(problem: &Problem) -> String {
    problem.to_string().lines().next().unwrap_or_default().to_owned()
}

fn warnings(config: &Config) -> Vec<String> {
    config.warnings.iter().map(first_line).collect()
}

/// A judge for tests of other modules.
pub(crate) fn judge(model: &str, family: &str) -> Judge {
    let server = Server {
        name: "test".to_owned(),
        provider: ProviderKind::OpenaiCompatible,
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        api_key: None,
        api_key_source: None,
        perimeter: Perimeter::Inside,
        limits: Limits::default(),
        replay: None,
    };
    Judge {
        id: JudgeId::new(model),
        server: Arc::new(server),
        model: model.to_owned(),
        family: family.to_owned(),
        template: template("g-eval", Path::new("")).unwrap(),
        scoring: ScoringMode::Auto,
        price: None,
        params: Params { temperature: Some(0.0), top_p: None, max_tokens: 512, seed: None, samples: 1 },
        only: std::collections::BTreeMap::new(),
    }
}

#[test]
fn smallest_file_works_with_every_default() {
    let config = read(SMALLEST).unwrap();
    let panel = &config.panels["default"];
    assert_eq!(config.server.bind.to_string(), "127.0.0.1:4600");
    assert_eq!(config.server.body_limit_bytes, 2 * 1024 * 1024);
    assert_eq!(config.store_url.expose_secret(), "tribunal.db");
    assert_eq!((panel.quorum, panel.method, panel.orders), (2, None, Orders::Both));
    assert_eq!(panel.deadline.attempt, Duration::from_secs(30));
    assert_eq!(panel.deadline.case, Duration::from_secs(90));
    assert_eq!(panel.deadline.grace, Duration::from_secs(5));
    assert_eq!(panel.escalate.disagreement, Some(0.5));
    let names: Vec<&str> = panel.judges.iter().map(|j| j.id.as_str()).collect();
    assert_eq!(names, ["openai/gpt-5-mini", "anthropic/claude-sonnet-4-5", "ollama/qwen3:32b"]);
    let families: Vec<&str> = panel.judges.iter().map(|j| j.family.as_str()).collect();
    assert_eq!(families, ["openai-gpt", "claude", "qwen"]);
    let [gpt, claude, qwen] = [0, 1, 2].map(|i| panel.judges[i].clone());
    assert_eq!(gpt.server.base_url, "https://api.openai.com/v1");
    assert_eq!(gpt.server.perimeter, Perimeter::Outside);
    assert_eq!(gpt.server.api_key.as_ref().unwrap().expose_secret(), "sk-secret-1");
    assert_eq!(claude.server.provider, ProviderKind::Anthropic);
    assert_eq!(qwen.model, "qwen3:32b");
    assert_eq!((qwen.server.perimeter, qwen.server.api_key.is_none()), (Perimeter::Inside, true));
    assert_eq!((gpt.params.max_tokens, gpt.params.temperature, gpt.params.seed), (512, Some(0.0), None));
    assert_eq!(gpt.template.name, "g-eval");
    let price = gpt.price.unwrap();
    assert_eq!((price.input, price.output, price.cached_input), (0.25, 2.0, Some(0.025)));
    assert_eq!(qwen.price, None);
    let criterion = &panel.rubric.criteria[0];
    assert_eq!(criterion.scale, Scale::PassFail);
    assert_eq!(criterion.instructions.as_deref(), Some("The answer is correct and complete."));
    assert_eq!(config.missing_keys("default"), []);
    assert_eq!(config.warnings, []);
}

#[test]
fn missing_keys_are_told_when_the_panel_is_used() {
    let config = parse(SMALLEST, &source(), &Environment::default(), &template).unwrap();
    let missing: Vec<String> = config
        .missing_keys("default")
        .iter()
        .map(|m| m.to_string().lines().next().unwrap().to_owned())
        .collect();
    assert_eq!(
        missing,
        [
            "judge `openai/gpt-5-mini` on server `openai` has no key: `OPENAI_API_KEY` is not set",
            "judge `anthropic/claude-sonnet-4-5` on server `anthropic` has no key: `ANTHROPIC_API_KEY` is not set",
        ]
    );
    let allowed = Environment::of([("OPENAI_API_KEY", "sk-1"), ("TRIBUNAL_ALLOW_ENV", "OTHER")]);
    let config = parse(SMALLEST, &source(), &allowed, &template).unwrap();
    assert_eq!(config.missing_keys("default")[0].gap, KeyGap::NotAllowed("OPENAI_API_KEY".to_owned()));
    assert!(config.judges["openai/gpt-5-mini"].server.api_key.is_none());
}

#[test]
fn optional_judges_without_a_key_are_left_out_and_named() {
    let text = "
judges:
  hosted: {server: openai, model: gpt-5-mini, optional: true}
panels:
  default: {rubric: safety, judges: [hosted, ollama/qwen3:32b, ollama/gemma3:12b, ollama/phi4]}
  needed: {rubric: safety, quorum: 4, judges: [hosted, ollama/qwen3:32b, ollama/gemma3:12b, ollama/phi4]}
";
    let config = parse(text, &source(), &Environment::default(), &template).unwrap();
    let panel = &config.panels["default"];
    assert_eq!((panel.judges.len(), panel.quorum), (3, 2));
    assert_eq!(
        panel.warnings,
        ["left_out: optional judge `hosted` has no key (`OPENAI_API_KEY` is not set)"]
    );
    assert_eq!(config.missing_keys("default"), []);
    assert_eq!(config.panels["needed"].judges.len(), 4);
    assert_eq!(config.missing_keys("needed").len(), 1);
}

const EVERY_KEY: &str = r#"
server: {bind: "127.0.0.1:4600", body_limit: 2MiB}
store: tribunal.db                     # or postgres://…
servers:
  gpu1: {provider: vllm, base_url: "http://10.0.0.5:8000/v1", api_key: {env: VLLM_KEY}, perimeter: inside,
         limits: {concurrency: 64, requests_per_minute: 600, tokens_per_minute: 2000000}}
  gpu2: {provider: openai_compatible, base_url: "https://judges.example.com/v1/", api_key: {file: key}}
  rec: {provider: replay, path: judgments.jsonl.gz, read: raw}
judges:
  prometheus:
    server: gpu1
    model: prometheus-eval/prometheus-8x7b-v2.0
    family: mistral
    template: prometheus-2
    scoring: auto
    price: {input: 0, output: 0}
    params: {temperature: 0, max_tokens: 512, seed: 7}
    optional: false
  llama: {server: gpu1, model: llama-3.1-8b-instruct, scoring: expected}
  gpt: {server: gpu2, model: gpt-4o, scoring: sampled, params: {top_p: 0.9, samples: 3}}
  claude: {server: anthropic, model: claude-sonnet-4-5, template: g-eval, scoring: discrete}
  gpt4: {server: rec, model: gpt-4, only: {judge: GPT-4, prompt: Vanilla}}
  "GPT-3.5": {server: rec}
models:
  "support-lora-*": {base: llama-3-8b, family: llama}
rubrics:
  faithfulness:
    guidelines: docs/faithfulness.md
    ask: per_criterion
    empty: fail
    criteria:
      - name: faithfulness
        type: ordinal
        scale: [1, 2, 3, 4, 5]
        levels: {1: "observable condition", 5: "…"}
        pass: 4
        evidence: quote
        instructions: "…"
        examples:
          - {input: q, output: o, value: 3, reason: r}
          - {a: one, b: two, value: tie}
      - {name: tone, type: nominal, scale: [plain, warm, 1.10, yes], levels: {yes: it is}, tie: false}
      - {name: share, type: continuous, scale: [0, 1], pass: 0.5}
      - {name: safe, type: pass_fail, levels: {pass: fine, fail: not}, examples: [{output: o, value: true}]}
panels:
  default:
    judges: [prometheus, llama, gpt]
    rubric: faithfulness
    method: kappa_weighted
    orders: both
    quorum: 2
    deadline: {attempt: 30s, case: 90s, grace: 5s}
    escalate: {disagreement: 0.5, near_threshold: off, random_review_share: 0.1}
    adaptive: off
    replacements: [claude]
    gate: {min: {faithfulness: 0.85, share: 0}, pass_rate: {safe: 0.9}}
    retain: {texts: 30d}
  inside: {judges: [prometheus, llama, ollama/qwen3:32b], rubric: correctness, method: median, perimeter: inside}
  recorded: {judges: [gpt4, GPT-3.5, ollama/qwen3:32b], rubric: helpfulness, orders: as_given}
aliases:
  gpt-4o: panel/default
  plain: inside
  one: {to: judge/claude, cache: true}
  "*": {to: panel/default, allow_outside: true, below_quorum: 429, on_tie: refuse, rubric: faithfulness,
        reverse: {a: "<start A>…<end A>", b: "<start B>…<end B>"}}
"#;

fn every_key() -> (tempfile::TempDir, Source, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    std::fs::write(folder.path().join("docs/faithfulness.md"), "Read the context first.").unwrap();
    std::fs::write(folder.path().join("key"), "sk-from-file\n").unwrap();
    let path = folder.path().join("panel.yaml");
    (folder, Source { path, ..Source::default() }, EVERY_KEY.to_owned())
}

#[test]
fn every_key_of_the_contract_is_read() {
    let (_folder, source, text) = every_key();
    std::fs::write(&source.path, &text).unwrap();
    let environment = Environment::of([("VLLM_KEY", "v"), ("ANTHROPIC_API_KEY", "a")]);
    let config = load(&source, &environment, &template).map_err(|e| e.to_string()).unwrap();
    let panel = &config.panels["default"];
    assert_eq!(panel.method, Some(MethodName::KappaWeighted));
    assert_eq!((panel.escalate.near_threshold, panel.random_review_share), (None, 0.1));
    assert_eq!(panel.retain_texts, Some(Duration::from_hours(30 * 24)));
    assert_eq!((panel.gate.min["faithfulness"], panel.gate.min["share"]), (0.85, 0.0));
    assert_eq!(panel.replacements[0].id.as_str(), "claude");
    assert_eq!(panel.rubric.guidelines.as_deref(), Some("Read the context first."));
    let labels = |i: usize| panel.rubric.criteria[i].levels.keys().cloned().collect::<Vec<_>>();
    assert_eq!((labels(0), labels(1)), (vec!["1".to_owned(), "5".to_owned()], vec!["yes".to_owned()]));
    let Scale::Nominal(tones) = &panel.rubric.criteria[1].scale else { panic!("nominal") };
    assert_eq!(tones.values(), ["plain", "warm", "1.10", "yes"]);
    let vllm = &config.servers["gpu1"];
    assert_eq!((vllm.limits.concurrency, vllm.limits.tokens_per_minute), (Some(64), Some(2_000_000)));
    let gpu2 = &config.servers["gpu2"];
    assert_eq!(gpu2.base_url, "https://judges.example.com/v1");
    assert_eq!(gpu2.api_key.as_ref().unwrap().expose_secret(), "sk-from-file");
    assert_eq!(config.judges["gpt"].params.samples, 3);
    assert_eq!(config.judges["gpt"].params.temperature, Some(1.0));
    let replay = config.servers["rec"].replay.as_ref().unwrap();
    assert_eq!(
        (replay.path.clone(), replay.read),
        (source.path.with_file_name("judgments.jsonl.gz"), ReplayField::Raw)
    );
    let only = |judge: &str| format!("{:?}", config.judges[judge].only);
    assert_eq!(only("gpt4"), r#"{"judge": "GPT-4", "prompt": "Vanilla"}"#);
    assert_eq!(only("GPT-3.5"), r#"{"judge": "GPT-3.5"}"#);
    assert!(config.panels["inside"].inside_only);
    assert_eq!(config.models[0].pattern, "support-lora-*");
    assert_eq!(config.aliases["plain"].target, AliasTarget::Panel("inside".to_owned()));
    assert_eq!(config.aliases["one"].target, AliasTarget::Judge("claude".to_owned()));
    assert_eq!(config.aliases[CATCH_ALL].below_quorum, BelowQuorum::TooManyRequests);
    assert_eq!(config.missing_keys("default"), []);
}

/// `{}` around the usual judges and rubric.
fn panel(rest: &str) -> String {
    format!("panels: {{p: {{rubric: safety, judges: [ollama/qwen3, ollama/gemma3, ollama/phi4], {rest}}}}}\n")
}

#[test]
fn standing_warnings_name_size_family_and_order() {
    let of = |text: &str| {
        let config = read(text).unwrap();
        (config.panels["p"].warnings.clone(), warnings(&config).len())
    };
    let (two, _) = of("panels: {p: {rubric: safety, judges: [ollama/qwen3, ollama/qwen2]}}");
    assert_eq!(
        two,
        ["panel_size: panel `p` has 2 judges", "single_family: all judges of panel `p` are of family `qwen`"]
    );
    let (ordered, _) = of(&panel("orders: as_given"));
    assert!(ordered[0].starts_with("orders_as_given: "), "{ordered:?}");
    let (none, count) = of("panels: {p: {rubric: safety, judges: [ollama/qwen3, ollama/odd, ollama/phi4]}}");
    assert_eq!((none, count), (vec![], 1), "an unknown family is a warning of the judge alone");
    let many: Vec<String> = (0..10).map(|i| format!("ollama/m{i}")).collect();
    let text = format!("panels: {{p: {{rubric: safety, judges: [{}]}}}}", many.join(", "));
    assert!(problems(&text)[0].contains("10 judges are more than 9"));
    assert!(problems("panels: {p: {rubric: safety}}")[0].contains("a panel needs at least one judge"));
}

#[test]
fn multi_token_labels_and_open_addresses_are_warned_about() {
    let text = format!(
        "rubrics: {{r: {{criteria: [{{name: n, type: ordinal, scale: [1, 5, 10]}}]}}}}\n\
         servers: {{s: {{provider: vllm, base_url: 'http://gpu.example.com'}}}}\n{}",
        panel("replacements: [s/llama3]")
    );
    let config = read(&text).unwrap();
    assert_eq!(
        warnings(&config),
        [
            "panel.yaml:1:51: rubrics.r.criteria[0].scale: label `10` may take several tokens, which blurs expected scores",
            "panel.yaml:2:41: servers.s.base_url: cases and keys travel unencrypted to an outside address",
            "panel.yaml:2:41: servers.s.base_url: the address has no path",
        ]
    );
}

#[test]
fn gemini_is_called_below_its_own_version() {
    let check = |path: &str, expected: &[&str]| {
        let address = format!("https://generativelanguage.googleapis.com{path}");
        let text = format!(
            "servers: {{s: {{provider: gemini, base_url: '{address}', api_key: {{env: OPENAI_API_KEY}}}}}}\n{}",
            panel("replacements: [s/gemini-x]")
        );
        assert_eq!(warnings(&read(&text).unwrap()), expected, "{path}");
    };
    check("/v1beta", &[]);
    check("", &["panel.yaml:1:43: servers.s.base_url: the address has no path"]);
    let compatible = "panel.yaml:1:43: servers.s.base_url: this is Gemini's OpenAI-compatible address";
    check("/v1beta/openai", &[compatible]);
}

#[test]
fn usual_keys_go_to_the_provider_alone() {
    let text = format!(
        "servers: {{s: {{provider: openai, base_url: 'https://proxy.example.com/v1'}}}}\n{}",
        panel("replacements: [s/gpt-5-mini, openai/gpt-5-mini]")
    );
    let config = read(&text).unwrap();
    assert!(config.servers["s"].api_key.is_none());
    assert!(config.servers["openai"].api_key.is_some());
    assert!(warnings(&config)[0].contains("no key is sent"), "{:?}", warnings(&config));
}

#[test]
fn inside_panels_need_a_quorum_of_inside_judges() {
    let text = "panels: {p: {rubric: safety, judges: [openai/gpt-5, anthropic/claude-4, ollama/phi4], perimeter: inside}}";
    assert!(problems(text)[0].contains("no quorum is left"), "{:?}", problems(text));
    let text =
        "panels: {p: {rubric: safety, judges: [openai/gpt-5, ollama/qwen3, ollama/phi4], perimeter: inside}}";
    assert!(warnings(&read(text).unwrap())[0].contains("outside judges are never asked: `openai/gpt-5`"));
}

#[test]
fn environment_wins_over_file_and_flags_over_environment() {
    let environment = Environment::of([
        ("TRIBUNAL__SERVER__BIND", "127.0.0.1:1"),
        ("TRIBUNAL__STORE", "postgres://u:hunter2@db/t"),
        ("TRIBUNAL__PANELS__DEFAULT__QUORUM", "3"),
        ("TRIBUNAL__PANELS__DEFAULT__JUDGES__0", "ollama/phi4"),
        ("TRIBUNAL_ALLOW_ENV", "NONE"),
    ]);
    let mut source = source();
    source.overrides.push(Override::of_flag("--bind", "server.bind", "127.0.0.1:0"));
    let config = parse(SMALLEST, &source, &environment, &template).unwrap();
    assert_eq!(config.server.bind.to_string(), "127.0.0.1:0");
    assert_eq!(config.store_url.expose_secret(), "postgres://u:hunter2@db/t");
    assert_eq!(config.panels["default"].quorum, 3);
    assert_eq!(config.panels["default"].judges[0].id.as_str(), "ollama/phi4");
    assert_eq!(config.warnings, []);
}

#[test]
fn wrong_overrides_name_their_variable() {
    let wrong = |name: &str, value: &str| {
        let environment = Environment::of([(name, value)]);
        let error = parse(SMALLEST, &source(), &environment, &template).unwrap_err();
        error.problems.iter().map(first_line).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(wrong("TRIBUNAL__SERVER__BNID", "x"), "TRIBUNAL__SERVER__BNID: server.bnid: unknown key");
    assert_eq!(
        wrong("TRIBUNAL__PANELS__DEFAULT__QUORUM", "many"),
        "TRIBUNAL__PANELS__DEFAULT__QUORUM: panels.default.quorum: expected a whole number, found the text `many`"
    );
    assert_eq!(
        wrong("TRIBUNAL__PANELS__DEFAULT__JUDGES__7", "x"),
        "TRIBUNAL__PANELS__DEFAULT__JUDGES__7: panels.default.judges: there is nothing below this key to set"
    );
    let file =
        "panels: {default: {rubric: safety, quorum: 9, judges: [ollama/qwen3, ollama/phi4, ollama/gemma3]}}";
    let rescue = Environment::of([("TRIBUNAL__PANELS__DEFAULT__QUORUM", "2")]);
    let error = parse(file, &source(), &rescue, &template).unwrap_err();
    assert_eq!(error.problems.len(), 1, "the file has to be valid alone: {error}");
}

#[test]
fn unreadable_files_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("panel.yaml");
    let source = Source { path: path.clone(), ..Source::default() };
    let error = || load(&source, &Environment::default(), &template).unwrap_err().problems[0].clone();
    assert!(error().hint.contains("tribunal init"), "{}", error());
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    assert!(error().message.contains("no UTF-8"), "{}", error());
    std::fs::write(&path, "# nothing yet\n").unwrap();
    assert_eq!(error().message, "there is no panel");
    std::fs::write(&path, "panels: [a\n").unwrap();
    assert!(error().message.starts_with("this is no YAML: "), "{}", error());
    assert!(error().line.is_some());
    std::fs::write(&path, "- a\n- b\n").unwrap();
    assert_eq!(error().message, "expected a mapping of settings, found a list");
    std::fs::write(&path, "x".repeat(5 * 1024 * 1024)).unwrap();
    assert!(error().message.contains("is larger than"), "{}", error());
}

#[test]
fn many_problems_end_somewhere() {
    let keys = (0..5_000).map(|i| format!("unknown{i}: 1")).collect::<Vec<_>>().join("\n");
    let found = problems(&keys);
    assert!((1..=101).contains(&found.len()), "{}", found.len());
}

#[test]
fn shipped_panel_needs_no_key_and_warns_of_one_family_only() {
    let (source, text) = shipped_panel();
    let config =
        parse(&text, &source, &Environment::default(), &template).map_err(|e| e.to_string()).unwrap();
    let panel = &config.panels["default"];
    assert_eq!(panel.judges.len(), 3);
    assert_eq!(panel.warnings, ["single_family: all judges of panel `default` are of family `smollm`"]);
    assert_eq!(config.missing_keys("default"), []);
    assert_eq!(config.warnings.len(), 1);
    assert!(panel.judges.iter().all(|j| j.server.perimeter == Perimeter::Inside));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn no_damaged_file_panics(at in 0usize..6_000, cut in 0usize..40, put in "[\\PC\n]{0,5}") {
        let text = EVERY_KEY;
        let start = text.char_indices().map(|(i, _)| i).take_while(|i| *i <= at).last().unwrap_or(0);
        let end = text.char_indices().map(|(i, _)| i).find(|i| *i >= start + cut).unwrap_or(text.len());
        let damaged = format!("{}{put}{}", &text[..start], &text[end..]);
        let found = parse(&damaged, &source(), &Environment::of(KEYS), &template);
        if let Err(found) = found {
            prop_assert!(!found.problems.is_empty());
            prop_assert!(found.problems.iter().all(|p| !p.hint.is_empty()), "{found}");
        }
    }
}
