//! When a panel or a judge is another one.

use super::*;

#[test]
fn panel_version_changes_with_what_changes_answers_and_with_nothing_else() {
    let version = |text: &str| read(text).map_err(|e| e.to_string()).unwrap().panels["p"].version.clone();
    let judges = |rest: &str| {
        format!(
            "servers: {{s: {{provider: vllm, base_url: 'http://10.0.0.1/v1'}}}}\n\
             judges: {{j: {{server: s, model: llama3, {rest}}}}}\n\
             panels: {{p: {{rubric: safety, judges: [j, ollama/qwen3, ollama/phi4]}}}}"
        )
    };
    let base = version(&judges(""));
    assert!(base.starts_with("b3:") && base.len() == 35, "{base}");
    assert_eq!(version(&judges("")), base);
    assert_eq!(version(&judges("price: {input: 1, output: 1}")), base);
    assert_eq!(version(&judges("").replace("vllm,", "vllm, limits: {concurrency: 3},")), base);
    assert_eq!(version(&judges("").replace("judges: [", "deadline: {case: 10s}, judges: [")), base);
    for changed in [
        judges("params: {temperature: 0.1}"),
        judges("params: {max_tokens: 5}"),
        judges("template: direct"),
        judges("scoring: discrete"),
        judges("").replace("llama3", "llama4"),
        judges("").replace("10.0.0.1", "10.0.0.2"),
        judges("").replace("vllm", "llama_cpp"),
        judges("").replace("rubric: safety", "rubric: correctness"),
        judges("").replace("judges: [", "quorum: 3, judges: ["),
        judges("").replace("judges: [", "method: majority, judges: ["),
        judges("").replace("judges: [", "orders: as_given, judges: ["),
        judges("").replace("judges: [", "replacements: [ollama/gemma3], judges: ["),
        judges("").replace("ollama/phi4", "ollama/phi3"),
    ] {
        assert_ne!(version(&changed), base, "{changed}");
    }
}

#[test]
fn judge_fingerprint_depends_on_criterion_and_mode() {
    let config = read(&panel("")).unwrap();
    let panel = &config.panels["p"];
    let (judge, rubric) = (&panel.judges[0], &panel.rubric);
    let criterion = &rubric.criteria[0];
    let base = judge_fingerprint(judge, rubric, criterion, Mode::Pointwise);
    assert_eq!(judge_fingerprint(judge, rubric, criterion, Mode::Pointwise), base);
    assert_ne!(judge_fingerprint(judge, rubric, criterion, Mode::Pairwise), base);
    assert_ne!(judge_fingerprint(&panel.judges[1], rubric, criterion, Mode::Pointwise), base);
    let mut other = criterion.as_ref().clone();
    other.instructions = None;
    assert_ne!(judge_fingerprint(judge, rubric, &other, Mode::Pointwise), base);
}
