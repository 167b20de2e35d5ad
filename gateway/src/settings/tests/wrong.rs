//! Wrong files, and what is said about them.

use super::*;

/// The file is wrong in these ways and no other; each way has a next step.
fn check(text: &str, expected: &[&str]) {
    let found = problems(text);
    let wanted: Vec<String> = expected.iter().map(|line| format!("panel.yaml:{line}")).collect();
    assert_eq!(found, wanted, "\n{text}");
    for problem in read(text).unwrap_err().problems {
        assert!(!problem.hint.is_empty(), "no next step: {problem}");
    }
}

#[test]
fn all_problems_are_reported_at_once_with_their_places() {
    let text = "\
server: {bind: nowhere, body_limit: 2}
servers:
  gpu1: {provider: vllm, base_url: ftp://x/v1, limits: {concurrency: 0}}
  gpu2: {provider: vlm, base_url: http://10.0.0.1/v1}
judges:
  one: {server: gpu1, model: m1, params: {temprature: 0}}
  two: {server: gpu3, model: m2, scoring: best}
rubrics:
  tone:
    criteria:
      - {name: tone, type: ordinal, scale: [1, 1, 2], pass: x}
panels:
  default:
    judges: [one, tow, gpu2/m3]
    rubric: tne
    method: meridian
    quorum: 9
    deadline: {attempt: 2m, case: 90s}
    escalate: {disagreement: 2}
aliases: {gpt-4o: panel/defalt}
";
    check(
        text,
        &[
            "1:16: server.bind: `nowhere` is no address with a port",
            "1:37: server.body_limit: `2` is no size",
            "3:36: servers.gpu1.base_url: the address starts with `ftp:`",
            "3:70: servers.gpu1.limits.concurrency: expected a whole number above 0, found `0`",
            "4:20: servers.gpu2.provider: unknown value `vlm`",
            "6:43: judges.one.params.temprature: unknown key",
            "7:17: judges.two.server: unknown server or provider `gpu3`",
            "7:43: judges.two.scoring: unknown value `best`",
            "11:37: rubrics.tone.criteria[0].scale: scale values must increase: 1 follows 1",
            "11:61: rubrics.tone.criteria[0].pass: expected a number, found the text `x`",
            "14:19: panels.default.judges[1]: unknown judge `tow`",
            "15:13: panels.default.rubric: unknown rubric `tne`",
            "16:13: panels.default.method: unknown value `meridian`",
            "17:13: panels.default.quorum: 9 votes cannot come from 3 judges",
            "18:25: panels.default.deadline.attempt: `2m` is longer than the whole case, `90s`",
            "19:30: panels.default.escalate.disagreement: `2` is not between 0 and 1",
            "20:19: aliases.gpt-4o: unknown panel `defalt`",
        ],
    );
    let hints: Vec<String> = read(text).unwrap_err().problems.into_iter().map(|p| p.hint).collect();
    assert!(hints.iter().any(|h| h == "did you mean `temperature`?"), "{hints:?}");
    assert!(hints.iter().any(|h| h == "did you mean `two`? Or write `provider/model`"), "{hints:?}");
    assert!(hints.iter().any(|h| h.starts_with("did you mean `tone`?")), "{hints:?}");
    assert!(hints.iter().any(|h| h.starts_with("did you mean `default`?")), "{hints:?}");
    assert!(hints.iter().any(|h| h == "did you mean `vllm`?"), "{hints:?}");
}

#[test]
fn panels_are_checked_across_keys() {
    let one = |rest: &str, expected: &str| {
        let found = problems(&panel(rest));
        let messages: Vec<String> = found
            .iter()
            .map(|line| line.splitn(4, ':').nth(3).unwrap_or_default().trim().to_owned())
            .collect();
        assert_eq!(messages, [expected], "{rest}");
    };
    one("method: median", "panels.p.method: this method does not fit the scale of criterion `safety`");
    one("method: stacked", "panels.p.method: this method is not available in this version");
    one("method: dawid_skene", "panels.p.method: this method is not available in this version");
    one("method: best_single", "panels.p.method: this method is not available in this version");
    one(
        "adaptive: {start_with: 2}",
        "panels.p.adaptive: asking judges step by step is not available in this version",
    );
    one("orders: random_once", "panels.p.orders: unknown value `random_once`");
    one("swap: random-once", "panels.p.swap: unknown key");
    one("quorum: 0", "panels.p.quorum: a value needs at least one vote");
    one("quorum: -1", "panels.p.quorum: expected a whole number, found `-1`");
    one("quorum: '2'", "panels.p.quorum: expected a whole number, found the text `2`");
    one("deadline: {grace: 2h}", "panels.p.deadline.grace: `2h` is longer than the whole case, `90s`");
    one("deadline: {case: 0s}", "panels.p.deadline.case: nobody answers in no time");
    one("deadline: 30s", "panels.p.deadline: expected a mapping of settings, found the text `30s`");
    one(
        "escalate: {near_threshold: -0.1}",
        "panels.p.escalate.near_threshold: `-0.1` is not between 0 and 1",
    );
    one(
        "escalate: {near_threshold: on}",
        "panels.p.escalate.near_threshold: expected a number, found the text `on`",
    );
    one("gate: {min: {safety: 85}}", "panels.p.gate.min.safety: `85` is not between 0 and 1");
    one("gate: {min: {saftey: 0.5}}", "panels.p.gate.min.saftey: rubric `safety` has no criterion `saftey`");
    one("retain: {texts: forever}", "panels.p.retain.texts: `forever` is no length of time");
    one("replacements: [ollama/phi4]", "panels.p.replacements[0]: judge `ollama/phi4` stands twice");
    one("replacements: [ollama/a, ollama/a]", "panels.p.replacements[1]: judge `ollama/a` stands twice");
    one(
        "replacements: [openai_compatible/x]",
        "panels.p.replacements[0]: `openai_compatible` has no usual address",
    );
    one("replacements: ollama/x", "panels.p.replacements: expected a list, found the text `ollama/x`");
    one("perimeter: everywhere", "panels.p.perimeter: unknown value `everywhere`");
    assert_eq!(problems(&panel("deadline: {case: 10s}")), Vec::<String>::new());
    assert_eq!(problems(&panel("deadline: {attempt: 5m}")), Vec::<String>::new());
}

#[test]
fn same_judge_under_two_names_is_refused_and_other_parameters_are_not() {
    let text = "
judges:
  a: {server: ollama, model: m}
  b: {server: ollama, model: m, price: {input: 1, output: 2}}
  c: {server: ollama, model: m, params: {temperature: 1}}
  d: {server: ollama, model: m, template: direct}
panels:
  p: {rubric: safety, judges: [a, b, c, d]}
";
    let expected = "panel.yaml:8:35: panels.p.judges[1]: judges `a` and `b` are the same model with the same prompt and \
                    parameters";
    assert_eq!(problems(text), [expected]);
}

/// What follows a panel that names judge `j`, and what is wrong with it.
const WRONG_JUDGES: [(&str, &[&str]); 21] = [
    ("judges: {j: {}}", &["judges.j: `model` is missing", "judges.j: `server` is missing"]),
    (
        "judges: {j: {server: ollama, model: m, price: {input: -1, output: 0}}}",
        &["judges.j.price.input: `-1` is no price"],
    ),
    ("judges: {j: {server: ollama, model: m, price: {input: 1}}}", &["judges.j.price: `output` is missing"]),
    (
        "judges: {j: {server: ollama, model: m, price: {input: 1, output: 1, cached_input: -1}}}",
        &["judges.j.price.cached_input: `-1` is no price"],
    ),
    (
        "judges: {j: {server: ollama, model: m, params: {temperature: 3}}}",
        &["judges.j.params.temperature: `3` is not between 0 and 2"],
    ),
    (
        "judges: {j: {server: ollama, model: m, params: {top_p: 0}}}",
        &["judges.j.params.top_p: `0` is not above 0 and at most 1"],
    ),
    (
        "judges: {j: {server: ollama, model: m, params: {samples: 3}}}",
        &["judges.j.params.samples: `3` samples are asked only under `scoring: sampled`"],
    ),
    (
        "judges: {j: {server: ollama, model: m, scoring: sampled, params: {samples: 1}}}",
        &["judges.j.params.samples: `1` samples are not between 2 and 64"],
    ),
    (
        "judges: {j: {server: ollama, model: m, params: {max_tokens: 9999999}}}",
        &["judges.j.params.max_tokens: `9999999` tokens are more than any judge writes"],
    ),
    (
        "judges: {j: {server: ollama, model: m, template: g-evl}}",
        &["judges.j.template: `g-evl` is neither a built-in template nor a folder"],
    ),
    (
        "judges: {j: {server: ollama, model: m, only: {judge: x}}}",
        &["judges.j.only: only a judge on a `replay` server has this key"],
    ),
    (
        "judges: {j: {server: s, model: m}}\nservers: {s: {base_url: 'http://h/v1'}}",
        &["servers.s: `provider` is missing"],
    ),
    (
        "judges: {j: {server: s, model: m}}\nservers: {s: {provider: azure_openai}}",
        &["servers.s: `base_url` is missing: `azure_openai` has no usual address"],
    ),
    (
        "judges: {j: {server: s, model: m}}\nservers: {s: {provider: azure_openai, base_url: 'https://x.openai.azure.com/openai/deployments/d'}}",
        &["servers.s.base_url: the address of a deployment lacks the version of the API"],
    ),
    (
        "judges: {j: {server: s, model: m}}\nservers: {s: {provider: vllm, base_url: 'http://169.254.169.254/v1'}}",
        &["servers.s.base_url: link-local addresses are never called"],
    ),
    (
        "judges: {j: {server: s, model: m}}\nservers: {s: {provider: vllm, path: x}}",
        &["servers.s.path: only a server of `provider: replay` has this key"],
    ),
    ("judges: {j: {server: s}}\nservers: {s: {provider: replay}}", &["servers.s: `path` is missing"]),
    (
        "judges: {j: {server: s}}\nservers: {s: {provider: replay, path: x, base_url: 'http://h'}}",
        &["servers.s.base_url: a `replay` server calls nobody"],
    ),
    (
        "judges: {j: {server: ollama, model: m}, 'a b': {server: ollama, model: n}}",
        &["judges.\"a b\": `a b` cannot be a judge's name"],
    ),
    ("judges: {j: [ollama, m]}", &["judges.j: expected a mapping of settings, found a list"]),
    (
        "judges: {j: {server: ollama, model: m}, j: {server: ollama, model: n}}",
        &["judges.j: the key stands twice"],
    ),
];

#[test]
fn judges_and_servers_are_checked() {
    let head = "panels: {p: {rubric: safety, judges: [j, ollama/gemma3, ollama/phi4]}}\n";
    for (rest, expected) in WRONG_JUDGES {
        let found = problems(&format!("{head}{rest}\n"));
        let messages: Vec<&str> =
            found.iter().map(|line| line.splitn(4, ':').nth(3).unwrap_or_default().trim()).collect();
        assert_eq!(messages, expected, "{rest}");
    }
}

#[test]
fn contradictory_templates_are_refused_at_load() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("ours")).unwrap();
    let text = "{# answer: json #}{{ output }} End with [RESULT] and the value.";
    std::fs::write(folder.path().join("ours/pointwise.jinja"), text).unwrap();
    let source = Source { path: folder.path().join("panel.yaml"), ..Source::default() };
    let text = panel("replacements: [j]") + "judges: {j: {server: ollama, model: m, template: ours}}\n";
    let error = parse(&text, &source, &Environment::default(), &template).unwrap_err();
    let [problem] = error.problems.as_slice() else { panic!("{error}") };
    assert_eq!((problem.path.as_str(), problem.line), ("judges.j.template", Some(2)));
    assert!(problem.message.contains("asks for `[RESULT]`, but its answer format is json"), "{problem}");
    assert!(!problem.hint.is_empty());
}

#[test]
fn a_template_that_cannot_ask_its_rubric_is_refused_where_the_panel_names_it() {
    let rubric = |rest: &str| {
        format!(
            "rubrics: {{r: {{{rest}, criteria: [{{name: n, type: pass_fail, evidence: quote}}, \
             {{name: m, type: pass_fail}}]}}}}\n\
             judges: {{d: {{server: ollama, model: m, template: direct}}, \
             p: {{server: ollama, model: prometheus}}}}\n\
             panels: {{p: {{rubric: r, judges: [ollama/qwen3, d, ollama/gemma3], replacements: [p]}}}}\n"
        )
    };
    check(
        &rubric("ask: per_criterion"),
        &[
            "3:48: panels.p.judges[1]: template `direct` answers with the bare value, so it cannot give the evidence \
            that `n` asks for",
        ],
    );
    let together = rubric("ask: together");
    check(
        &together,
        &[
            "3:48: panels.p.judges[1]: template `direct` cannot ask for several criteria together",
            "3:82: panels.p.replacements[0]: template `prometheus-2` cannot ask for several criteria together",
        ],
    );
    let hints = read(&together).unwrap_err().problems.into_iter().map(|p| p.hint).collect::<Vec<_>>();
    assert!(hints[0].contains("`ask: per_criterion`"), "{hints:?}");
    let recorded = rubric("ask: together").replace("server: ollama, model", "server: rec, model")
        + "servers: {rec: {provider: replay, path: x.jsonl}}\n";
    assert_eq!(problems(&recorded), Vec::<String>::new());
}

#[test]
fn missing_files_of_a_template_are_a_warning_until_none_is_left() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("ours")).unwrap();
    let text = "{# answer: json #}{{ output }} Reply with one JSON object in this form: {{ form }}";
    std::fs::write(folder.path().join("ours/pointwise.jinja"), text).unwrap();
    let source = Source { path: folder.path().join("panel.yaml"), ..Source::default() };
    let text = panel("replacements: [j]") + "judges: {j: {server: ollama, model: llama3, template: ours}}\n";
    let config =
        parse(&text, &source, &Environment::default(), &template).map_err(|e| e.to_string()).unwrap();
    let found: Vec<String> = config.warnings.iter().map(|w| format!("{}: {}", w.path, w.message)).collect();
    assert_eq!(
        found,
        ["panels.p.replacements[0]: template `ours` has no file for pairwise and reference cases"]
    );
    let empty = |name: &str, base: &Path| {
        let mut template = template(name, base)?;
        (template.pointwise, template.pairwise, template.reference) = (None, None, None);
        Ok(template)
    };
    let error = parse(&panel(""), &source, &Environment::default(), &empty).unwrap_err();
    assert_eq!(error.problems.len(), 3, "{error}");
    assert!(error.problems[0].message.contains("has no file for any kind of case"), "{error}");
}

#[test]
fn pasted_keys_are_refused_and_never_repeated() {
    let head = panel("replacements: [s/m]");
    for (rest, path) in [
        ("servers: {s: {provider: openai, api_key: sk-live-123456}}", "servers.s.api_key"),
        ("servers: {s: {provider: openai, api_key: {env: sk-live-123456}}}", "servers.s.api_key.env"),
        ("servers: {s: {provider: openai, api_key: {key: sk-live-123456}}}", "servers.s.api_key"),
        ("servers: {s: {provider: openai, api_key: {env: A, file: sk-live-123456}}}", "servers.s.api_key"),
        ("servers: {s: {provider: vllm, base_url: 'http://u:sk-live-123456@h/v1'}}", "servers.s.base_url"),
    ] {
        let error = read(&format!("{head}{rest}\n")).unwrap_err();
        assert_eq!(error.problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), [path], "{error}");
        assert!(!error.to_string().contains("sk-live"), "{error}");
    }
}

#[test]
fn rubrics_are_checked() {
    let one = |criterion: &str, expected: &[&str]| {
        let text = format!("rubrics: {{r: {{criteria: [{criterion}]}}}}\n{}", panel(""));
        let found = problems(&text);
        let messages: Vec<String> = found
            .iter()
            .map(|line| {
                line.splitn(4, ':').nth(3).unwrap_or_default().trim().replace("rubrics.r.criteria[0]", "c")
            })
            .collect();
        assert_eq!(messages, expected, "{criterion}");
    };
    one("", &["rubrics.r: a rubric needs at least one criterion"]);
    one("{}", &["c: `name` is missing", "c: `type` is missing"]);
    one("{name: n}", &["c: `type` is missing"]);
    one("{name: 'a b', type: pass_fail}", &["c.name: `a b` cannot be a name"]);
    one("{name: n, type: ordinal}", &["c.scale: a scale needs at least two values, got 0"]);
    one("{name: n, type: ordinal, scale: [1, two]}", &["c.scale[1]: `two` is no number"]);
    one("{name: n, type: ordinal, scale: [2, 1]}", &["c.scale: scale values must increase: 1 follows 2"]);
    one("{name: n, type: ordinal, scale: [1, .inf]}", &["c.scale[1]: `.inf` is no number"]);
    one(
        "{name: n, type: continuous, scale: [0, 1, 2]}",
        &["c.scale: a continuous scale has two bounds, got 3 values"],
    );
    one("{name: n, type: nominal, scale: [a, a]}", &["c.scale: scale label `a` stands twice"]);
    one("{name: n, type: pass_fail, scale: [0, 1]}", &["c.scale: `pass_fail` has its own scale"]);
    one("{name: n, type: ordinal, scale: [1, 2], pass: 3}", &["c.pass: `3` is not on the scale"]);
    one(
        "{name: n, type: nominal, scale: [a, b], pass: 1}",
        &["c.pass: only numeric scales have a pass value"],
    );
    one("{name: n, type: ordinal, scale: [1, 2], levels: {3: x}}", &["c.levels.3: `3` is not on the scale"]);
    one(
        "{name: n, type: ordinal, scale: [1, 2], levels: {1: x, 1.0: y}}",
        &["c.levels.\"1.0\": `1.0` is described twice"],
    );
    one("{name: n, type: nominal, scale: [a, b], levels: {c: x}}", &["c.levels.c: `c` is not on the scale"]);
    one(
        "{name: n, type: ordinal, scale: [1, 2], examples: [{output: o, value: 1.5}]}",
        &["c.examples[0].value: `1.5` is not on the scale"],
    );
    one(
        "{name: n, type: pass_fail, examples: [{output: o, value: maybe}]}",
        &["c.examples[0].value: `maybe` is not on the scale"],
    );
    one(
        "{name: n, type: pass_fail, tie: false, examples: [{a: x, b: y, value: tie}]}",
        &["c.examples[0].value: `tie` is not on the scale"],
    );
    one(
        "{name: n, type: pass_fail, examples: [{a: x, value: a}]}",
        &["c.examples[0]: an example shows one answer or a pair"],
    );
    one("{name: n, type: pass_fail, examples: [{output: x}]}", &["c.examples[0]: `value` is missing"]);
    one(
        "{name: n, type: pass_fail}, {name: n, type: pass_fail}",
        &["rubrics.r.criteria[1].name: criterion `n` stands twice"],
    );
    let missing = format!(
        "rubrics: {{r: {{guidelines: no.md, criteria: [{{name: n, type: pass_fail}}]}}}}\n{}",
        panel("")
    );
    assert_eq!(problems(&missing).len(), 1);
    assert!(problems(&missing)[0].contains("`no.md` cannot be read"));
}

#[test]
fn aliases_are_checked() {
    let with = |aliases: &str| format!("{}aliases: {aliases}\n", panel("replacements: [openai/gpt-5-mini]"));
    let one = |aliases: &str, expected: &str| {
        let found = problems(&with(aliases));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(expected), "{found:?}");
    };
    one("{x: pannel/p}", "unknown panel `pannel/p`");
    one("{x: judge/nobody}", "unknown judge `nobody`");
    one("{x: {cache: true}}", "`to` is missing");
    one("{x: [p]}", "expected `panel/NAME`, or a mapping with `to: panel/NAME`, found a list");
    one("{x: {to: p, cach: true}}", "aliases.x.cach: unknown key");
    one("{x: {to: p, below_quorum: 500}}", "unknown value `500`");
    one("{x: {to: p, rubric: r}}", "unknown rubric `r`");
    one("{x: {to: p, reverse: {a: '<A>', b: 'x…y'}}}", "the candidate's place is not marked");
    one("{'*': panel/p}", "any client's text would reach outside judges: `openai/gpt-5-mini`");
    assert_eq!(problems(&with("{'*': {to: p, allow_outside: true}}")), Vec::<String>::new());
    assert_eq!(problems(&with("{x: p}")), Vec::<String>::new());
}
