//! Whether a judge's template can ask what its panel's rubric wants to know, found before anything is spent.

use super::problem::{KeyPath, Report};
use crate::case::Mode;
use crate::engine::prompt::{self, PromptError};
use crate::judge::{Judge, ProviderKind};
use crate::rubric::Rubric;

const MODES: [Mode; 3] = [Mode::Pointwise, Mode::Pairwise, Mode::Reference];

/// `place` is where the panel names the judge: alone, template and rubric are both right.
pub(super) fn check(judge: &Judge, rubric: &Rubric, place: &KeyPath, report: &mut Report<'_>) {
    if judge.server.provider == ProviderKind::Replay {
        return;
    }
    let mut without_file = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for mode in MODES {
        let Err(error) = prompt::check(&judge.template, rubric, mode) else { continue };
        let hint = match &error {
            PromptError::NoFile { .. } => {
                without_file.push(mode);
                continue;
            }
            PromptError::EvidenceNeedsText { .. } => {
                "use a template that gives reasons, such as `g-eval`, or `evidence: none`"
            }
            PromptError::TogetherNeedsJson { .. } => {
                "use `ask: per_criterion`, or a template that answers in JSON, such as `g-eval`"
            }
            PromptError::Missing { .. } | PromptError::Template { .. } => {
                "correct the template, or use a built-in one"
            }
        };
        let text = error.to_string();
        let message = text.split_once("; hint: ").map_or(text.as_str(), |(message, _)| message).to_owned();
        if !told.contains(&message) {
            report.problem(place, message.clone(), hint);
            told.push(message);
        }
    }
    let name = &judge.template.name;
    let modes: Vec<String> = without_file.iter().map(Mode::to_string).collect();
    if without_file.len() == MODES.len() {
        let message = format!("template `{name}` has no file for any kind of case");
        report.problem(place, message, "add `pointwise.jinja`, `pairwise.jinja` or `reference.jinja`");
    } else if !without_file.is_empty() {
        let message = format!("template `{name}` has no file for {} cases", modes.join(" and "));
        report.warning(place, message, "such cases get no vote of this judge; add the file to have it");
    }
}
