//! `judges:` checked and completed, and the judges that panels name as `provider/model`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use aggregation::vote::JudgeId;

use super::families;
use super::file::{JudgeEntry, PanelFile, ParamsEntry};
use super::load::Surroundings;
use super::prices;
use super::problem::{KeyPath, Report, nearest, or_else, suggestion};
use super::secret::KeyGap;
use super::servers::{self, CheckedServer};
use crate::judge::{Judge, Params, Price, ProviderKind, ScoringMode, Server};
use crate::templates::{BUILT_IN, Template};

pub(super) const MAX_TOKENS: u32 = 512;
const SAMPLES: u32 = 5;
const MOST_TOKENS: u32 = 1_000_000;
const MOST_SAMPLES: u32 = 64;

/// A judge, and what stands in the way of asking it.
#[derive(Debug, Clone)]
pub(super) struct CheckedJudge {
    pub judge: Arc<Judge>,
    pub optional: bool,
    pub gap: Option<KeyGap>,
}

/// All servers and judges of the file, and those that panels imply, made when they are first named.
#[derive(Debug)]
pub(super) struct Roster<'a> {
    surroundings: &'a Surroundings<'a>,
    /// `None`: defined, with problems that are reported.
    pub servers: BTreeMap<String, Option<CheckedServer>>,
    pub judges: BTreeMap<String, Option<CheckedJudge>>,
    /// Names that the file defines, for "did you mean".
    defined_servers: Vec<String>,
    defined_judges: Vec<String>,
}

impl<'a> Roster<'a> {
    pub fn of(file: &PanelFile, surroundings: &'a Surroundings<'a>, report: &mut Report<'_>) -> Self {
        let servers = servers::check_all(&file.servers, surroundings, report);
        let mut roster = Self {
            surroundings,
            servers,
            judges: BTreeMap::new(),
            defined_servers: file.servers.keys().cloned().collect(),
            defined_judges: file.judges.keys().cloned().collect(),
        };
        for (name, entry) in &file.judges {
            let path = KeyPath::of(&["judges", name]);
            super::load::check_judge_name(name, &path, report);
            let judge = roster.check(name, entry, &path, report);
            roster.judges.insert(name.clone(), judge);
        }
        roster
    }

    /// The judge that a panel names at `path`; `None` if there is none or it has problems (reported either way).
    pub fn judge(&mut self, name: &str, path: &KeyPath, report: &mut Report<'_>) -> Option<CheckedJudge> {
        if let Some(known) = self.judges.get(name) {
            return known.clone();
        }
        if report.has(&KeyPath::of(&["judges", name])) {
            return None;
        }
        let Some((server, model)) = name.split_once('/') else {
            let hint = suggestion(name, self.defined_judges.iter().map(String::as_str));
            let hint = or_else(&hint, "write `provider/model`");
            report.problem(path, format!("unknown judge `{name}`"), hint);
            return None;
        };
        if server.is_empty() || model.is_empty() {
            let hint = "write it like `openai/gpt-5-mini` or `ollama/qwen3:32b`";
            report.problem(path, format!("`{name}` is no `provider/model`"), hint);
            return None;
        }
        super::load::check_judge_name(name, path, report);
        let entry = JudgeEntry {
            server: Some(server.to_owned()),
            model: Some(model.to_owned()),
            ..JudgeEntry::default()
        };
        let judge = self.check(name, &entry, path, report);
        self.judges.insert(name.to_owned(), judge.clone());
        judge
    }

    fn check(
        &mut self,
        name: &str,
        entry: &JudgeEntry,
        path: &KeyPath,
        report: &mut Report<'_>,
    ) -> Option<CheckedJudge> {
        let server = self.server(entry, path, report);
        let model = check_model(name, entry, server.as_ref(), path, report);
        let scoring = entry.scoring.unwrap_or_default();
        let params = check_params(&entry.params.unwrap_or_default(), scoring, &path.key("params"), report);
        let template = self.template(entry, model.as_deref().unwrap_or_default(), path, report);
        let price = check_price(entry.price, &path.key("price"), report);
        let CheckedServer { server, gap } = server?;
        let model = model?;
        let price = price.or_else(|| prices::list_price(&server, &model));
        let only = check_only(entry, &server, &model, path, report);
        let family = entry.family.clone().or_else(|| families::family(&model).map(str::to_owned));
        if family.is_none() {
            let message =
                format!("the family of `{model}` is unknown, so kinship with candidates cannot be seen");
            report.warning(path, message, "add `family: …` to the judge");
        }
        let judge = Judge {
            id: JudgeId::new(name),
            server,
            family: family.unwrap_or_else(|| families::UNKNOWN.to_owned()),
            model,
            template: template?,
            scoring,
            price,
            params,
            only,
        };
        Some(CheckedJudge { judge: Arc::new(judge), optional: entry.optional.unwrap_or(false), gap })
    }

    fn server(
        &mut self,
        entry: &JudgeEntry,
        path: &KeyPath,
        report: &mut Report<'_>,
    ) -> Option<CheckedServer> {
        let Some(name) = &entry.server else {
            if !report.is_broken(&path.key("server")) {
                report.problem(
                    path,
                    "`server` is missing",
                    "name one of `servers`, or a provider such as `openai`",
                );
            }
            return None;
        };
        if let Some(known) = self.servers.get(name) {
            return known.clone();
        }
        if report.has(&KeyPath::of(&["servers", name])) {
            return None;
        }
        // A judge of the file says `server:`; one that a panel names has no such key and is pointed at itself.
        let place = path.key("server");
        let place = if report.has(&place) { place } else { path.clone() };
        let Some(provider) = servers::provider_named(name) else {
            let mut known: Vec<&str> = self.defined_servers.iter().map(String::as_str).collect();
            known.extend(servers::provider_words());
            let hint = suggestion(name, known.iter().copied());
            report.problem(&place, format!("unknown server or provider `{name}`"), hint);
            return None;
        };
        let Some(implied) = servers::implied(provider, self.surroundings) else {
            let hint =
                format!("define it under `servers:` with `provider: {name}` and its address, and name that");
            report.problem(&place, format!("`{name}` has no usual address"), hint);
            return None;
        };
        self.servers.insert(name.clone(), Some(implied.clone()));
        Some(implied)
    }

    fn template(
        &self,
        entry: &JudgeEntry,
        model: &str,
        path: &KeyPath,
        report: &mut Report<'_>,
    ) -> Option<Template> {
        let usual = if model.to_lowercase().contains("prometheus") { "prometheus-2" } else { "g-eval" };
        let name = entry.template.as_deref().unwrap_or(usual);
        let place = path.key("template");
        let folder = self.surroundings.folder;
        if !BUILT_IN.contains(&name) && !folder.join(name).is_dir() {
            let message = format!("`{name}` is neither a built-in template nor a folder");
            let built_in = BUILT_IN.join("`, `");
            let hint = nearest(name, BUILT_IN).map_or_else(
                || format!("built-in are `{built_in}`; folders are looked up beside this file"),
                |near| format!("did you mean `{near}`?"),
            );
            report.problem(&place, message, hint);
            return None;
        }
        match (self.surroundings.templates)(name, folder) {
            Ok(template) => Some(template),
            Err(error) => {
                let (message, hint) = error
                    .split_once("hint: ")
                    .unwrap_or((&error, "correct the file, or use a built-in template"));
                report.problem(&place, message.trim_end_matches(['\n', ' ', ';']), hint);
                None
            }
        }
    }
}

fn check_model(
    name: &str,
    entry: &JudgeEntry,
    server: Option<&CheckedServer>,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<String> {
    if let Some(model) = entry.model.as_deref().map(str::trim).filter(|m| !m.is_empty()) {
        return Some(model.to_owned());
    }
    if server.is_some_and(|s| s.server.provider == ProviderKind::Replay) {
        return Some(name.to_owned());
    }
    // A server that cannot be read may be a `replay` one, whose judges need no model.
    let is_told = server.is_some()
        || entry.server.as_ref().is_none_or(|name| !report.has(&KeyPath::of(&["servers", name])));
    if is_told && !report.is_broken(&path.key("model")) {
        report.problem(path, "`model` is missing", "add `model: …`, the name that its server knows");
    }
    None
}

fn check_only(
    entry: &JudgeEntry,
    server: &Server,
    model: &str,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> BTreeMap<String, String> {
    let is_replay = server.provider == ProviderKind::Replay;
    match &entry.only {
        Some(_) if !is_replay => {
            let message = "only a judge on a `replay` server has this key";
            report.problem(&path.key("only"), message, "remove it, or name a server of `provider: replay`");
            BTreeMap::new()
        }
        Some(only) => only.clone(),
        None if is_replay => BTreeMap::from([("judge".to_owned(), model.to_owned())]),
        None => BTreeMap::new(),
    }
}

fn check_params(
    entry: &ParamsEntry,
    scoring: ScoringMode,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Params {
    let is_sampled = scoring == ScoringMode::Sampled;
    let usual = if is_sampled { 1.0 } else { 0.0 };
    let temperature = entry.temperature.unwrap_or(usual);
    if !(0.0..=2.0).contains(&temperature) {
        report.problem(
            &path.key("temperature"),
            format!("`{temperature}` is not between 0 and 2"),
            "use 0 for judging",
        );
    } else if is_sampled && temperature == 0.0 {
        let message = "sampled answers at temperature 0 are all the same";
        report.warning(&path.key("temperature"), message, "use 1, or `scoring: discrete`");
    }
    if let Some(top_p) = entry.top_p.filter(|p| !(*p > 0.0 && *p <= 1.0)) {
        report.problem(&path.key("top_p"), format!("`{top_p}` is not above 0 and at most 1"), "leave it out");
    }
    let max_tokens = entry.max_tokens.map_or(MAX_TOKENS, NonZeroU32::get);
    if max_tokens > MOST_TOKENS {
        let message = format!("`{max_tokens}` tokens are more than any judge writes");
        report.problem(&path.key("max_tokens"), message, format!("the usual cap is {MAX_TOKENS}"));
    }
    let samples = entry.samples.map_or(if is_sampled { SAMPLES } else { 1 }, NonZeroU32::get);
    if !is_sampled && samples > 1 {
        let message = format!("`{samples}` samples are asked only under `scoring: sampled`");
        report.problem(&path.key("samples"), message, "add `scoring: sampled`, or remove `samples`");
    } else if is_sampled && !(2..=MOST_SAMPLES).contains(&samples) {
        let message = format!("`{samples}` samples are not between 2 and {MOST_SAMPLES}");
        report.problem(&path.key("samples"), message, format!("the usual number is {SAMPLES}"));
    }
    Params { temperature: Some(temperature), top_p: entry.top_p, max_tokens, seed: entry.seed, samples }
}

fn check_price(price: Option<Price>, path: &KeyPath, report: &mut Report<'_>) -> Option<Price> {
    let price = price?;
    let cached_input = price.cached_input.map(|usd| ("cached_input", usd));
    for (key, usd) in [("input", price.input), ("output", price.output)].into_iter().chain(cached_input) {
        if !(usd.is_finite() && usd >= 0.0) {
            report.problem(
                &path.key(key),
                format!("`{usd}` is no price"),
                "write USD per million tokens, 0 or more",
            );
        }
    }
    Some(price)
}
