//! Which family a model belongs to, by its name. Families share training data and taste, so their members
//! are not asked to judge each other's answers.

/// The family of a model that no entry matches.
pub const UNKNOWN: &str = "unknown";

/// A start of a word in the model's name and its family. The first match decides, so makers whose models carry
/// another maker's name (a Prometheus on Mistral weights, a distilled Qwen) come before the general names.
const FAMILIES: [(&str, &str); 43] = [
    ("prometheus-13b", "llama"),
    ("prometheus-7b-v1", "llama"),
    ("prometheus", "mistral"),
    ("gpt", "openai-gpt"),
    ("chatgpt", "openai-gpt"),
    ("davinci", "openai-gpt"),
    ("o1", "openai-gpt"),
    ("o3", "openai-gpt"),
    ("o4", "openai-gpt"),
    ("claude", "claude"),
    ("gemini", "gemini"),
    ("bard", "gemini"),
    ("palm", "palm"),
    ("gemma", "gemma"),
    ("qwq", "qwen"),
    ("qwen", "qwen"),
    ("llama", "llama"),
    ("vicuna", "llama"),
    ("alpaca", "llama"),
    ("wizardlm", "llama"),
    ("tulu", "llama"),
    ("deepseek", "deepseek"),
    ("mixtral", "mistral"),
    ("ministral", "mistral"),
    ("magistral", "mistral"),
    ("codestral", "mistral"),
    ("devstral", "mistral"),
    ("pixtral", "mistral"),
    ("mistral", "mistral"),
    ("zephyr", "mistral"),
    ("phi", "phi"),
    ("command", "cohere"),
    ("aya", "cohere"),
    ("grok", "grok"),
    ("smollm", "smollm"),
    ("falcon", "falcon"),
    ("olmo", "olmo"),
    ("granite", "granite"),
    ("nova", "nova"),
    ("glm", "glm"),
    ("kimi", "kimi"),
    ("yi", "yi"),
    ("jamba", "jamba"),
];

/// The family by name; `None` when the table does not know it.
///
/// Words are split at everything but letters and digits, and an entry has to start a word: `phi-4` is a Phi,
/// `dolphin` is not. An entry may span words (`prometheus-13b`).
pub fn family(model: &str) -> Option<&'static str> {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    FAMILIES.iter().find(|(start, _)| starts_a_word(&name, start)).map(|(_, family)| *family)
}

fn starts_a_word(name: &str, start: &str) -> bool {
    name.match_indices(start).any(|(at, _)| {
        let before = name.get(..at).and_then(|s| s.chars().next_back());
        let after = name.get(at + start.len()..).and_then(|s| s.chars().next());
        // Short names such as `yi` or `phi` are whole words, perhaps with a number (`phi3`); `o1` is not `o100`.
        let ends = match after {
            Some(c) if c.is_ascii_digit() => !start.ends_with(|c: char| c.is_ascii_digit()),
            Some(c) if c.is_alphabetic() => start.len() > 3,
            _ => true,
        };
        !before.is_some_and(char::is_alphanumeric) && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_field_have_their_family() {
        let check = |model: &str, expected: Option<&str>| assert_eq!(family(model), expected, "{model}");
        check("gpt-4", Some("openai-gpt"));
        check("GPT-4", Some("openai-gpt"));
        check("gpt-5-mini", Some("openai-gpt"));
        check("chatgpt-4o-latest", Some("openai-gpt"));
        check("o3-mini", Some("openai-gpt"));
        check("claude-sonnet-4-5", Some("claude"));
        check("anthropic/claude-3-haiku-20240307", Some("claude"));
        check("gemini-1.5-pro", Some("gemini"));
        check("google/gemma-2-27b-it", Some("gemma"));
        check("meta-llama/Llama-3.1-8B-Instruct", Some("llama"));
        check("llama3:8b", Some("llama"));
        check("prometheus-eval/prometheus-8x7b-v2.0", Some("mistral"));
        check("prometheus-eval/prometheus-13b-v1.0", Some("llama"));
        check("mistralai/Mixtral-8x7B-Instruct-v0.1", Some("mistral"));
        check("qwen3:32b", Some("qwen"));
        check("QwQ-32B", Some("qwen"));
        check("DeepSeek-R1-Distill-Qwen-7B", Some("qwen"));
        check("deepseek-r1", Some("deepseek"));
        check("microsoft/phi-4", Some("phi"));
        check("c4ai-command-r-plus", Some("cohere"));
        check("grok-4", Some("grok"));
        check("smollm2-135m", Some("smollm"));
        check("palm-2", Some("palm"));
        check("Yi-34B-Chat", Some("yi"));
        check("dolphin-2.6", None);
        check("o1000", None);
        check("my-finetune", None);
        check("", None);
    }
}
