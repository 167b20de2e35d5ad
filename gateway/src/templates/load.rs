//! Built-in families and folders, checked as they are loaded: syntax, names, and one answer format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aggregation::scale::Scale;
use aggregation::vote::Order;
use minijinja::{Environment, ErrorKind};

use crate::case::Mode;
use crate::templates::form::form;
use crate::templates::sample::{sample_case, sample_rubric};
use crate::templates::{
    AnswerFormat, Compiled, OptionalField, Template, Variables, environment, file_stem, fill,
};

/// Names of the built-in families.
pub const BUILT_IN: [&str; 3] = ["g-eval", "prometheus-2", "direct"];

const MODES: [Mode; 3] = [Mode::Pointwise, Mode::Pairwise, Mode::Reference];
const MAX_TEMPLATE_BYTES: u64 = 256 << 10;

#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("template `{name}` is neither built in nor a folder at `{}`; hint: built in are {}",
        path.display(), BUILT_IN.join(", "))]
    Unknown { name: String, path: PathBuf },
    #[error("read template `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("template `{}` is longer than {} KiB", path.display(), MAX_TEMPLATE_BYTES >> 10)]
    TooLong { path: PathBuf },
    #[error("template folder `{}` has no pointwise.jinja, pairwise.jinja or reference.jinja", path.display())]
    NoFiles { path: PathBuf },
    #[error("template file `{}` belongs to no mode; hint: pointwise.jinja, pairwise.jinja, reference.jinja",
        path.display())]
    UnknownFile { path: PathBuf },
    #[error("template `{name}`, {mode}: {message}")]
    Syntax { name: String, mode: Mode, message: String },
    #[error("template `{name}`, {mode}: unknown variable `{variable}`; hint: known are {}",
        Variables::names(*mode).join(", "))]
    UnknownVariable { name: String, mode: Mode, variable: String },
    #[error("template `{name}`, {mode}: nothing in it shows the {missing} to the judge")]
    CandidateNotShown { name: String, mode: Mode, missing: &'static str },
    #[error("template `{name}`, {mode}: asks for `{asks}`, but its answer format is {format}")]
    Contradictory { name: String, mode: Mode, asks: &'static str, format: &'static str },
    #[error("template `{name}`, {mode}: unknown answer format `{format}`; hint: json, result or bare")]
    UnknownAnswer { name: String, mode: Mode, format: String },
    #[error("template `{name}`: its files ask for different answer formats; hint: one format per folder")]
    MixedAnswers { name: String },
}

/// A built-in family by its name, or a folder (relative to `base`) with one `.jinja` file per mode.
///
/// A file says how answers are to be written in its first line, `{# answer: json #}`, `result` or `bare`. Without that
/// line, `[RESULT]` in it means result; a verdict key in quotes, the word JSON or `form` means json; else bare.
pub fn load(name_or_folder: &str, base: &Path) -> Result<Template, TemplateError> {
    if let Some(template) = built_in(name_or_folder) {
        return template;
    }
    let path = base.join(name_or_folder);
    if !path.is_dir() {
        return Err(TemplateError::Unknown { name: name_or_folder.to_owned(), path });
    }
    let name =
        path.file_name().map_or_else(|| name_or_folder.into(), |name| name.to_string_lossy().into_owned());
    build(&name, &read_folder(&path)?)
}

/// `None`: no built-in family has this name.
pub fn built_in(name: &str) -> Option<Result<Template, TemplateError>> {
    let [pointwise, pairwise, reference] = match name {
        "g-eval" => [
            include_str!("g-eval/pointwise.jinja"),
            include_str!("g-eval/pairwise.jinja"),
            include_str!("g-eval/reference.jinja"),
        ],
        "prometheus-2" => [
            include_str!("prometheus-2/pointwise.jinja"),
            include_str!("prometheus-2/pairwise.jinja"),
            include_str!("prometheus-2/reference.jinja"),
        ],
        "direct" => [
            include_str!("direct/pointwise.jinja"),
            include_str!("direct/pairwise.jinja"),
            include_str!("direct/reference.jinja"),
        ],
        _ => return None,
    };
    let files = [(Mode::Pointwise, pointwise), (Mode::Pairwise, pairwise), (Mode::Reference, reference)];
    Some(build(name, &files.into_iter().map(|(mode, text)| (mode, text.to_owned())).collect()))
}

fn read_folder(folder: &Path) -> Result<BTreeMap<Mode, String>, TemplateError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| TemplateError::Read { path, source }
    };
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        if path.extension().is_none_or(|extension| extension != "jinja") {
            continue;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let Some(mode) = MODES.into_iter().find(|mode| Some(file_stem(*mode)) == stem) else {
            return Err(TemplateError::UnknownFile { path });
        };
        if std::fs::metadata(&path).map_err(failed(&path))?.len() > MAX_TEMPLATE_BYTES {
            return Err(TemplateError::TooLong { path });
        }
        files.insert(mode, std::fs::read_to_string(&path).map_err(failed(&path))?);
    }
    if files.is_empty() {
        return Err(TemplateError::NoFiles { path: folder.to_owned() });
    }
    Ok(files)
}

fn build(name: &str, files: &BTreeMap<Mode, String>) -> Result<Template, TemplateError> {
    let mut answer: Option<AnswerFormat> = None;
    for (&mode, text) in files {
        let format = answer_format(name, mode, text)?;
        if answer.is_some_and(|earlier| earlier != format) {
            return Err(TemplateError::MixedAnswers { name: name.to_owned() });
        }
        answer = Some(format);
    }
    let answer = answer.unwrap_or(AnswerFormat::Json);
    let mut environment = environment().map_err(|error| syntax(name, Mode::Pointwise, &error))?;
    let mut needs = BTreeMap::new();
    let mut hasher = blake3::Hasher::new();
    for (&mode, text) in files {
        environment
            .add_template_owned(file_stem(mode), text.clone())
            .map_err(|error| syntax(name, mode, &error))?;
        check_names(&environment, name, mode)?;
        try_out(&environment, name, mode, answer, &mut hasher)?;
        needs.insert(mode, needed_fields(&environment, mode, answer));
        hasher.update(text.as_bytes());
    }
    let hash = format!("b3:{}", hasher.finalize().to_hex().get(..32).unwrap_or_default());
    let source = |mode| files.get(&mode).map(|text| Arc::from(text.as_str()));
    Ok(Template {
        name: name.to_owned(),
        pointwise: source(Mode::Pointwise),
        pairwise: source(Mode::Pairwise),
        reference: source(Mode::Reference),
        answer,
        compiled: Arc::new(Compiled { environment, needs, hash }),
    })
}

fn syntax(name: &str, mode: Mode, error: &minijinja::Error) -> TemplateError {
    TemplateError::Syntax { name: name.to_owned(), mode, message: error.to_string() }
}

/// Every name that any branch uses must be known, and every candidate must be shown.
fn check_names(environment: &Environment<'_>, name: &str, mode: Mode) -> Result<(), TemplateError> {
    let template = environment.get_template(file_stem(mode)).map_err(|error| syntax(name, mode, &error))?;
    let used = template.undeclared_variables(false);
    let known = Variables::names(mode);
    let mut unknown: Vec<&String> = used
        .iter()
        .filter(|variable| {
            !known.contains(&variable.as_str()) && !environment.globals().any(|(g, _)| g == *variable)
        })
        .collect();
    unknown.sort_unstable();
    if let Some(&variable) = unknown.first() {
        let variable = variable.clone();
        return Err(TemplateError::UnknownVariable { name: name.to_owned(), mode, variable });
    }
    let shown: &[&'static str] = match mode {
        Mode::Pointwise | Mode::Reference => &["output"],
        Mode::Pairwise => &["first", "second"],
    };
    match shown.iter().find(|candidate| !used.contains(**candidate)) {
        Some(missing) => Err(TemplateError::CandidateNotShown { name: name.to_owned(), mode, missing }),
        None => Ok(()),
    }
}

/// Renders samples of every scale: finds what only rendering can find, and puts the result into the hash, so that the
/// hash changes with this program's own words too.
fn try_out(
    environment: &Environment<'_>,
    name: &str,
    mode: Mode,
    answer: AnswerFormat,
    hasher: &mut blake3::Hasher,
) -> Result<(), TemplateError> {
    for scale in sample_scales() {
        let rubric = sample_rubric(scale);
        let form = form(&rubric.criteria, mode, answer);
        let case = sample_case(mode);
        let variables = Variables::new(&case, &rubric, &rubric.criteria, Order::AsGiven, &form);
        let text = fill(environment, mode, &variables).map_err(|error| syntax(name, mode, &error))?;
        hasher.update(text.as_bytes());
    }
    Ok(())
}

fn sample_scales() -> impl Iterator<Item = Scale> {
    let ordinal = vec![1.0, 2.0].try_into().ok().map(Scale::Ordinal);
    let continuous = (0.0, 1.0).try_into().ok().map(Scale::Continuous);
    let nominal = vec!["x".to_owned(), "y".to_owned()].try_into().ok().map(Scale::Nominal);
    [ordinal, continuous, nominal, Some(Scale::PassFail)].into_iter().flatten()
}

/// The fields without which the template cannot be rendered, found by leaving them out.
fn needed_fields(environment: &Environment<'_>, mode: Mode, answer: AnswerFormat) -> Vec<OptionalField> {
    let rubric = sample_rubric(Scale::PassFail);
    let form = form(&rubric.criteria, mode, answer);
    let is_needed = |field: &OptionalField| {
        let mut case = sample_case(mode);
        match (field, mode) {
            (OptionalField::Input, _) => case.input = None,
            (OptionalField::Reference, Mode::Pairwise) => case.reference = None,
            (OptionalField::Reference, Mode::Pointwise | Mode::Reference) => return false,
        }
        let variables = Variables::new(&case, &rubric, &rubric.criteria, Order::AsGiven, &form);
        fill(environment, mode, &variables).is_err_and(|error| error.kind() == ErrorKind::UndefinedError)
    };
    OptionalField::ALL.into_iter().filter(is_needed).collect()
}

const MARKER: &str = "[RESULT]";
const VERDICT_KEYS: [&str; 3] = ["\"score\":", "\"verdict\":", "\"winner\":"];

fn answer_format(name: &str, mode: Mode, text: &str) -> Result<AnswerFormat, TemplateError> {
    let body = without_comments(text);
    let marker = body.contains(MARKER).then_some(MARKER);
    let key = VERDICT_KEYS.into_iter().find(|key| body.contains(key));
    let says_json = body.split(|c: char| !c.is_alphanumeric()).any(|word| word == "JSON" || word == "json");
    let format = match declared_format(text) {
        Some("json") => AnswerFormat::Json,
        Some("result") => AnswerFormat::Result,
        Some("bare") => AnswerFormat::Bare,
        Some(other) => {
            let format = other.to_owned();
            return Err(TemplateError::UnknownAnswer { name: name.to_owned(), mode, format });
        }
        None if key.is_some() || says_json => AnswerFormat::Json,
        None if marker.is_some() => AnswerFormat::Result,
        None if uses_form(&body) => AnswerFormat::Json,
        None => AnswerFormat::Bare,
    };
    let (asks, format_name) = match format {
        AnswerFormat::Json => (marker, "json"),
        AnswerFormat::Result => (key, "result"),
        AnswerFormat::Bare => (marker.or(key), "bare"),
    };
    match asks {
        Some(asks) => {
            Err(TemplateError::Contradictory { name: name.to_owned(), mode, asks, format: format_name })
        }
        None => Ok(format),
    }
}

/// `{# answer: json #}` in the first line.
fn declared_format(text: &str) -> Option<&str> {
    let line = text.trim_start_matches('\u{feff}').lines().next()?.trim();
    let comment = line.strip_prefix("{#")?.split("#}").next()?;
    comment.trim_matches(['-', '+', ' ', '\t']).strip_prefix("answer:").map(str::trim)
}

fn uses_form(body: &str) -> bool {
    body.split("{{").skip(1).any(|rest| rest.trim_start_matches(['-', '+', ' ']).starts_with("form"))
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("{#");
    let mut body = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        body.push_str(part.split_once("#}").map_or("", |(_, after)| after));
    }
    body
}

#[cfg(test)]
mod tests;
