//! `tribunal init`: looks for keys and servers, asks what to judge, writes panel.yaml, probes.

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write as _};
use std::path::Path;
use std::time::Duration;

use providers::{BaseUrl, Client, Dialect, list_models};

use super::exit::{Exit, Failure};
use super::{InitArgs, check, output, setup};
use crate::app::App;
use crate::settings::{Environment, Source};

/// A local server that does not answer within this time is not there.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);
/// A panel's usual size: further judges are listed, commented out.
const USUAL_JUDGES: usize = 5;
const DEFAULT_RUBRIC: &str = "correctness";

/// Where local servers usually listen.
const LOCAL_SERVERS: &[(&str, &str)] = &[
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
    ("llama_cpp", "http://127.0.0.1:8080/v1"),
];

/// Key variables of hosted providers, with a model that judges well for its price.
const HOSTED: &[(&str, &str, &str)] = &[
    ("OPENAI_API_KEY", "openai", "gpt-5-mini"),
    ("ANTHROPIC_API_KEY", "anthropic", "claude-sonnet-4-5"),
    ("GEMINI_API_KEY", "gemini", "gemini-2.5-flash"),
    ("MISTRAL_API_KEY", "mistral", "mistral-medium-latest"),
    ("OPENROUTER_API_KEY", "openrouter", "qwen/qwen3-32b"),
];

/// What was found on this machine.
#[derive(Debug, Default)]
struct Found {
    /// `provider/model`, hosted ones first.
    judges: Vec<String>,
    notes: Vec<String>,
}

pub async fn run(path: &Path, args: InitArgs) -> Result<Exit, Failure> {
    if path.exists() && !args.force {
        return Err(Failure::usage(format!(
            "`{}` exists already; hint: --force overwrites it, `tribunal check` checks it",
            path.display()
        )));
    }
    let found = look().await?;
    for note in &found.notes {
        output::note(note);
    }
    if found.judges.is_empty() {
        return Err(Failure::new(
            Exit::Configuration,
            anyhow::Error::msg(
                "no judge was found; hint: set a key such as OPENAI_API_KEY, or start Ollama (port 11434), vLLM (8000) or llama.cpp (8080), and run `tribunal init` again",
            ),
        ));
    }
    let rubric = match args.rubric {
        Some(rubric) => rubric,
        None if args.yes || !std::io::stdin().is_terminal() => DEFAULT_RUBRIC.to_owned(),
        None => ask_rubric()?,
    };
    let text = file(&found.judges, &rubric);
    std::fs::write(path, &text).map_err(|error| {
        Failure::new(Exit::Usage, anyhow::Error::new(error).context(format!("write `{}`", path.display())))
    })?;
    output::note(&format!("wrote {}", path.display()));
    let source = Source { path: path.to_owned(), ..Source::default() };
    let config = setup::load(&source)?;
    setup::print_warnings(&config);
    if !args.no_probe {
        let app = App::build(config).await.map_err(setup::app_failure)?;
        check::show(&check::probe_all(&app).await);
        app.shut_down(crate::api::SHUTDOWN_GRACE).await;
    }
    output::note("next: tribunal judge --input \"What is the capital of France?\" --output \"Paris.\"");
    Ok(Exit::Pass)
}

async fn look() -> Result<Found, Failure> {
    let mut found = Found::default();
    let environment = Environment::of_process();
    for (variable, provider, model) in HOSTED {
        if environment.value(variable).is_some_and(|value| !value.trim().is_empty()) {
            found.notes.push(format!("found {variable}: {provider}/{model}"));
            found.judges.push(format!("{provider}/{model}"));
        }
    }
    let client = Client::new();
    for (provider, address) in LOCAL_SERVERS {
        let Ok(base) = address.parse::<BaseUrl>() else { continue };
        let Ok(Ok(models)) =
            tokio::time::timeout(LOOK_TIMEOUT, list_models(&client, Dialect::Compatible, &base, None)).await
        else {
            continue;
        };
        for model in models {
            found.notes.push(format!("found {provider} at {address}: {}", model.id));
            found.judges.push(format!("{provider}/{}", model.id));
        }
    }
    Ok(found)
}

fn ask_rubric() -> Result<String, Failure> {
    let mut terminal = std::io::stderr().lock();
    let question = format!(
        "What should be judged? A sentence, or one of {}\n[{DEFAULT_RUBRIC}] > ",
        crate::settings::built_in_names().collect::<Vec<_>>().join(", ")
    );
    let asked = terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush());
    asked.map_err(|error| Failure::new(Exit::Internal, error))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(|error| Failure::new(Exit::Usage, error))?;
    let answer = answer.trim();
    Ok(if answer.is_empty() { DEFAULT_RUBRIC.to_owned() } else { answer.to_owned() })
}

fn file(judges: &[String], rubric: &str) -> String {
    let mut text = String::from(
        "# yaml-language-server: $schema=panel.schema.json   (tribunal schema > panel.schema.json)\n\
         # Judges and what they judge. `tribunal check --print` shows every setting with its default.\n\
         panels:\n  default:\n",
    );
    // Writing to a String cannot fail.
    let _ = writeln!(text, "    rubric: {}", quoted(rubric));
    text.push_str("    judges:\n");
    for (index, judge) in judges.iter().enumerate() {
        let mark = if index < USUAL_JUDGES { "" } else { "# " };
        let _ = writeln!(text, "      {mark}- {}", quoted(judge));
    }
    text
}

/// A YAML string in double quotes: JSON's form is valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sixth_judge_is_commented_out_and_text_is_quoted() {
        let judges: Vec<String> = (1..=6).map(|n| format!("ollama/m{n}:7b")).collect();
        let text = file(&judges, "It's \"right\": yes");
        assert!(text.contains("    rubric: \"It's \\\"right\\\": yes\"\n"), "{text}");
        assert!(text.contains("      - \"ollama/m5:7b\"\n      # - \"ollama/m6:7b\"\n"), "{text}");
    }
}
