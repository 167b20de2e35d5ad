use super::*;

fn from_files(files: &[(Mode, &str)]) -> Result<Template, TemplateError> {
    build("mine", &files.iter().map(|(mode, text)| (*mode, (*text).to_owned())).collect())
}

fn pointwise(text: &str) -> Result<Template, TemplateError> {
    from_files(&[(Mode::Pointwise, text)])
}

#[test]
fn built_in_families_load_in_every_mode() {
    for (name, answer) in [
        ("g-eval", AnswerFormat::Json),
        ("prometheus-2", AnswerFormat::Result),
        ("direct", AnswerFormat::Bare),
    ] {
        let template = load(name, Path::new("/nowhere")).unwrap();
        assert_eq!((template.name.as_str(), template.answer), (name, answer));
        for mode in MODES {
            assert!(template.source(mode).is_some());
            assert!(template.needs(mode).is_empty(), "{name} {mode}");
        }
    }
    assert!(BUILT_IN.into_iter().all(|name| built_in(name).is_some()));
}

#[test]
fn a_folder_is_loaded_relative_to_the_base() {
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("prompts/ours");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("README.md"), "notes").unwrap();
    std::fs::write(folder.join("pointwise.jinja"), "{# answer: bare #}\n{{ output }}: {{ form }}").unwrap();
    let template = load("prompts/ours", base.path()).unwrap();
    assert_eq!((template.name.as_str(), template.answer), ("ours", AnswerFormat::Bare));
    assert!(template.source(Mode::Pairwise).is_none());

    std::fs::write(folder.join("pairwize.jinja"), "x").unwrap();
    assert!(matches!(load("prompts/ours", base.path()), Err(TemplateError::UnknownFile { .. })));
    std::fs::remove_file(folder.join("pairwize.jinja")).unwrap();
    std::fs::write(folder.join("pairwise.jinja"), b"\xff").unwrap();
    assert!(matches!(load("prompts/ours", base.path()), Err(TemplateError::Read { .. })));
    std::fs::write(folder.join("pairwise.jinja"), "x".repeat(300 << 10)).unwrap();
    assert!(matches!(load("prompts/ours", base.path()), Err(TemplateError::TooLong { .. })));
}

#[test]
fn what_is_no_template_is_refused() {
    let base = tempfile::tempdir().unwrap();
    let unknown = load("geval", base.path()).unwrap_err().to_string();
    assert!(unknown.contains("g-eval, prometheus-2, direct"), "{unknown}");
    std::fs::create_dir(base.path().join("empty")).unwrap();
    assert!(matches!(load("empty", base.path()), Err(TemplateError::NoFiles { .. })));
}

#[test]
fn the_answer_format_is_declared_or_told_by_the_text() {
    for (text, answer) in [
        ("{# answer: json #}\n{{ output }}", AnswerFormat::Json),
        ("{#- answer: result -#}\n{{ output }}", AnswerFormat::Result),
        ("{# answer: bare #}\n{{ output }} may be JSON", AnswerFormat::Bare),
        ("{{ output }} End with [RESULT] and the value.", AnswerFormat::Result),
        ("{{ output }} Reply {\"score\": n}.", AnswerFormat::Json),
        ("{{ output }} Reply as JSON.", AnswerFormat::Json),
        ("{{ output }} Reply: {{ form }}", AnswerFormat::Json),
        ("{{ output }} Reply with one number.", AnswerFormat::Bare),
        ("{{ output }} One number. {# not [RESULT] or JSON #}", AnswerFormat::Bare),
    ] {
        assert_eq!(pointwise(text).unwrap().answer, answer, "{text}");
    }
}

#[test]
fn two_answer_formats_in_one_template_are_refused() {
    for text in [
        "{# answer: json #}\n{{ output }} answer as [RESULT] n",
        "{# answer: bare #}\n{{ output }} answer as [RESULT] n",
        "{# answer: result #}\n{{ output }} answer as {\"score\": n}",
        "{# answer: bare #}\n{{ output }} answer as {\"winner\": n}",
        "{{ output }} answer as JSON, then [RESULT] n",
    ] {
        assert!(matches!(pointwise(text), Err(TemplateError::Contradictory { .. })), "{text}");
    }
    let error = pointwise("{# answer: json #}\n{{ output }} answer as [RESULT] n").unwrap_err();
    assert!(error.to_string().ends_with("asks for `[RESULT]`, but its answer format is json"), "{error}");
    let mixed = from_files(&[
        (Mode::Pointwise, "{# answer: json #}\n{{ output }}"),
        (Mode::Reference, "{# answer: bare #}\n{{ output }}"),
    ]);
    assert!(matches!(mixed, Err(TemplateError::MixedAnswers { .. })));
    let unknown = pointwise("{# answer: xml #}\n{{ output }}");
    assert!(matches!(unknown, Err(TemplateError::UnknownAnswer { format, .. }) if format == "xml"));
}

#[test]
fn an_unknown_name_is_found_at_load_in_any_branch() {
    for (text, variable) in [
        ("{{ output }} {{ reference }}", "reference"),
        ("{{ output }} {{ answer }}", "answer"),
        ("{{ output }} {% if false %}{{ nope }}{% endif %}", "nope"),
        ("{{ output }} {% if second %}x{% endif %}", "second"),
    ] {
        let found = pointwise(text);
        assert!(
            matches!(&found, Err(TemplateError::UnknownVariable { variable: v, .. }) if v == variable),
            "{text}: {found:?}"
        );
    }
    for text in
        ["{{ output", "{{ output }} {{ criterion.nmae }}", "{{ output | nofilter }}", "{% for %}{{ output }}"]
    {
        assert!(matches!(pointwise(text), Err(TemplateError::Syntax { .. })), "{text}");
    }
    assert!(
        pointwise("{% for c in range(2) %}{{ c }}{% endfor %}{{ output }}").is_ok(),
        "built-in functions"
    );
}

#[test]
fn a_template_that_hides_a_candidate_is_refused() {
    assert!(matches!(
        pointwise("{{ input }}"),
        Err(TemplateError::CandidateNotShown { missing: "output", .. })
    ));
    let half = from_files(&[(Mode::Pairwise, "{{ first }}")]);
    assert!(matches!(half, Err(TemplateError::CandidateNotShown { missing: "second", .. })));
}

#[test]
fn needed_fields_are_known_before_the_first_call() {
    let template = from_files(&[
        (Mode::Pointwise, "{{ input }} {{ output }}"),
        (Mode::Pairwise, "{% if input %}{{ input }}{% endif %}{{ first }}{{ second }}{{ reference }}"),
    ])
    .unwrap();
    assert_eq!(template.needs(Mode::Pointwise), [OptionalField::Input]);
    assert_eq!(template.needs(Mode::Pairwise), [OptionalField::Reference]);
    assert!(template.needs(Mode::Reference).is_empty());
}

#[test]
fn the_hash_follows_the_texts() {
    let hash = |text: &str| pointwise(text).unwrap().hash().to_owned();
    let one = hash("{{ output }} one");
    assert_eq!(one, hash("{{ output }} one"));
    assert_ne!(one, hash("{{ output }} two"));
    assert_ne!(one, hash("{# answer: json #}{{ output }} one"));
    assert!(one.starts_with("b3:") && one.len() == 35);
    assert_eq!(pointwise("{{ output }}").unwrap(), pointwise("{{ output }}").unwrap());
}
