//! `panels:` checked and completed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use aggregation::scale::Scale;
use aggregation::verdict::EscalationPolicy;

use super::asking;
use super::file::{DeadlineEntry, EscalateEntry, GateEntry, MethodEntry, PanelEntry};
use super::fingerprint;
use super::judges::{CheckedJudge, Roster};
use super::problem::{KeyPath, Report, suggestion};
use super::quantity::{Period, Switch};
use super::rubrics;
use super::secret::MissingKey;
use crate::judge::{Deadline, Judge, Perimeter};
use crate::panel::{GateThresholds, MethodName, Orders, Panel};
use crate::rubric::Rubric;

const MOST_JUDGES: usize = 9;
const ATTEMPT: Duration = Duration::from_secs(30);
const CASE: Duration = Duration::from_secs(90);
const GRACE: Duration = Duration::from_secs(5);
const DISAGREEMENT: f64 = 0.5;
const NEAR_THRESHOLD: f64 = 0.05;
const RANDOM_REVIEW_SHARE: f64 = 0.05;

/// A panel, and the keys without which it cannot be asked.
#[derive(Debug, Clone)]
pub(super) struct CheckedPanel {
    pub panel: Arc<Panel>,
    pub missing_keys: Vec<MissingKey>,
}

/// `None` for a panel with problems, which are reported.
pub(super) fn check(
    name: &str,
    entry: &PanelEntry,
    roster: &mut Roster<'_>,
    known_rubrics: &BTreeMap<String, Option<Arc<Rubric>>>,
    report: &mut Report<'_>,
) -> Option<CheckedPanel> {
    let path = KeyPath::of(&["panels", name]);
    super::load::check_name(name, &path, report);
    let members = check_members(entry, roster, &path, report);
    let rubric = check_rubric(entry, known_rubrics, &path, report);
    if let Some(rubric) = &rubric {
        members.check_asking(entry, rubric, &path, report);
    }
    let method = check_method(entry.method, rubric.as_deref(), &path.key("method"), report);
    let deadline = check_deadline(&entry.deadline, &path.key("deadline"), report);
    let (escalate, random_review_share) = check_escalate(&entry.escalate, &path.key("escalate"), report);
    let gate = check_gate(&entry.gate, rubric.as_deref(), &path.key("gate"), report);
    if let Some(Switch::On(_)) = entry.adaptive {
        let place = path.key("adaptive");
        report.problem(
            &place,
            "asking judges step by step is not available in this version",
            "use `adaptive: off`",
        );
    }
    let orders = entry.orders.unwrap_or_default();
    let mut warnings = members.warnings(name, &path, report);
    if orders == Orders::AsGiven {
        let message = "orders_as_given: pairs are judged in one order only, so position bias stays unseen";
        report.warning(&path.key("orders"), message, "use `orders: both`");
        warnings.push(message.to_owned());
    }
    let quorum = check_quorum(entry, &members, &path.key("quorum"), report);
    let Members { judges, replacements, missing_keys, .. } = members;
    let inside_only = entry.perimeter == Some(Perimeter::Inside);
    if inside_only {
        check_inside(&judges, quorum, &path, report);
    }
    let mut panel = Panel {
        name: name.to_owned(),
        version: String::new(),
        judges,
        replacements,
        rubric: rubric?,
        method: method?,
        orders,
        quorum,
        deadline,
        escalate,
        random_review_share,
        inside_only,
        retain_texts: entry.retain.texts.map(|p| p.0),
        gate,
        warnings,
    };
    panel.version = fingerprint::panel_version(&panel);
    Some(CheckedPanel { panel: Arc::new(panel), missing_keys })
}

/// The judges of a panel, sorted out.
#[derive(Debug, Default)]
struct Members {
    judges: Vec<Arc<Judge>>,
    replacements: Vec<Arc<Judge>>,
    missing_keys: Vec<MissingKey>,
    /// Judges that the file lists, wrong ones included: so that one mistake is not reported as two.
    declared: usize,
    /// Part of the list could not be read, so that it cannot be counted.
    is_uncountable: bool,
    /// Optional judges without a key, and why.
    left_out: Vec<MissingKey>,
}

fn check_members(
    entry: &PanelEntry,
    roster: &mut Roster<'_>,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Members {
    let place = path.key("judges");
    let mut members = Members { declared: entry.judges.len(), ..Members::default() };
    members.is_uncountable = report.is_broken(&place);
    if members.is_uncountable {
        // An unreadable entry is no reason to also call the panel too small.
        members.declared = members.declared.max(3);
    } else if entry.judges.is_empty() {
        report.problem(
            path,
            "a panel needs at least one judge",
            "add `judges: [openai/gpt-5-mini, …]`, best three to five",
        );
    } else if entry.judges.len() > MOST_JUDGES {
        let message = format!("{} judges are more than {MOST_JUDGES}", entry.judges.len());
        report.problem(&place, message, "three to five independent judges say as much; remove the others");
    }
    let quorum = entry.quorum.map_or(0, |q| usize::try_from(q).unwrap_or(usize::MAX));
    let mut seen: Vec<(String, String)> = Vec::new();
    for (key, list) in [("judges", &entry.judges), ("replacements", &entry.replacements)] {
        for (i, name) in list.iter().enumerate() {
            let place = path.key(key).index(i);
            let Some(checked) = roster.judge(name, &place, report) else { continue };
            let identity = fingerprint::judge_identity(&checked.judge);
            if let Some((other, _)) = seen.iter().find(|(_, known)| *known == identity) {
                let message = if other == name {
                    format!("judge `{name}` stands twice")
                } else {
                    format!(
                        "judges `{other}` and `{name}` are the same model with the same prompt and parameters"
                    )
                };
                report.problem(
                    &place,
                    message,
                    "a judge votes once: remove one, or change model, template or params",
                );
                continue;
            }
            seen.push((name.clone(), identity));
            members.add(checked, key == "replacements", quorum);
        }
    }
    members
}

impl Members {
    fn add(&mut self, checked: CheckedJudge, is_replacement: bool, quorum: usize) {
        let CheckedJudge { judge, optional, gap } = checked;
        if let Some(gap) = gap {
            let missing = MissingKey { judge: judge.id.clone(), server: judge.server.name.clone(), gap };
            // A judge that the quorum counts on cannot be left out.
            let remaining = self.declared.saturating_sub(self.left_out.len() + 1);
            if optional && (is_replacement || remaining >= quorum.max(1)) {
                if !is_replacement {
                    self.left_out.push(missing);
                }
                return;
            }
            self.missing_keys.push(missing);
        }
        let list = if is_replacement { &mut self.replacements } else { &mut self.judges };
        list.push(judge);
    }

    fn check_asking(&self, entry: &PanelEntry, rubric: &Rubric, path: &KeyPath, report: &mut Report<'_>) {
        let lists = [
            ("judges", &entry.judges, &self.judges),
            ("replacements", &entry.replacements, &self.replacements),
        ];
        for (key, names, judges) in lists {
            for judge in judges {
                let index = names.iter().position(|name| name == judge.id.as_str());
                let place = index.map_or_else(|| path.key(key), |index| path.key(key).index(index));
                asking::check(judge, rubric, &place, report);
            }
        }
    }

    /// Standing warnings, which each verdict repeats.
    fn warnings(&self, panel: &str, path: &KeyPath, report: &mut Report<'_>) -> Vec<String> {
        let mut standing = Vec::new();
        let place = path.key("judges");
        let size = self.declared.saturating_sub(self.left_out.len());
        for missing in &self.left_out {
            let message =
                format!("left_out: optional judge `{}` has no key ({})", missing.judge, missing.gap);
            report.warning(&place, message.clone(), "set the key to have its vote");
            standing.push(message);
        }
        if (1..3).contains(&size) || (6..=MOST_JUDGES).contains(&size) {
            let message =
                format!("panel_size: panel `{panel}` has {size} judge{}", if size == 1 { "" } else { "s" });
            report.warning(&place, message.clone(), "three to five judges of different families serve best");
            standing.push(message);
        }
        // A judge of unknown family counts as its model's own.
        let families: BTreeSet<&str> = self
            .judges
            .iter()
            .map(|j| if j.family == super::families::UNKNOWN { j.model.as_str() } else { j.family.as_str() })
            .collect();
        if self.judges.len() == size
            && size > 1
            && let (1, Some(family)) = (families.len(), families.first())
        {
            let message = format!("single_family: all judges of panel `{panel}` are of family `{family}`");
            report.warning(
                &place,
                message.clone(),
                "add a judge of another family: relatives share their errors",
            );
            standing.push(message);
        }
        standing
    }
}

fn check_rubric(
    entry: &PanelEntry,
    known: &BTreeMap<String, Option<Arc<Rubric>>>,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> Option<Arc<Rubric>> {
    let place = path.key("rubric");
    if let Some(text) = entry.rubric.as_deref().filter(|r| !r.trim().is_empty()) {
        return rubrics::named(text, known, &place, report);
    }
    if !report.is_broken(&place) {
        let names: Vec<&str> = rubrics::built_in_names().collect();
        let names = names.join("`, `");
        let hint = format!("add `rubric:` with a sentence, a name from `rubrics`, or one of `{names}`");
        report.problem(path, "`rubric` is missing", hint);
    }
    None
}

/// `None`: wrong; `Some(None)`: by scale.
#[expect(clippy::option_option, reason = "wrong, absent and given are three things")]
fn check_method(
    entry: Option<MethodEntry>,
    rubric: Option<&Rubric>,
    place: &KeyPath,
    report: &mut Report<'_>,
) -> Option<Option<MethodName>> {
    let method = match entry {
        None => return Some(None),
        Some(MethodEntry::Median) => MethodName::Median,
        Some(MethodEntry::Majority) => MethodName::Majority,
        Some(MethodEntry::Mean) => MethodName::Mean,
        Some(MethodEntry::KappaWeighted) => MethodName::KappaWeighted,
        Some(MethodEntry::LogOdds) => MethodName::LogOdds,
        Some(MethodEntry::Stacked | MethodEntry::BestSingle | MethodEntry::DawidSkene) => {
            let hint = "use `median`, `majority`, `mean`, `kappa_weighted` or `log_odds`";
            report.problem(place, "this method is not available in this version", hint);
            return None;
        }
    };
    for criterion in rubric.iter().flat_map(|r| &r.criteria) {
        let (fits, hint) = match (method, &criterion.scale) {
            (MethodName::Median | MethodName::Mean, Scale::Nominal(_) | Scale::PassFail) => {
                (false, "labels have no middle: use `majority`, `kappa_weighted` or `log_odds`")
            }
            (MethodName::Majority, Scale::Continuous(_)) => {
                (false, "numbers seldom agree exactly: use `median`, `mean` or `kappa_weighted`")
            }
            (
                MethodName::Median
                | MethodName::Mean
                | MethodName::Majority
                | MethodName::KappaWeighted
                | MethodName::LogOdds,
                _,
            ) => (true, ""),
        };
        if !fits {
            let message = format!("this method does not fit the scale of criterion `{}`", criterion.name);
            report.problem(place, message, hint);
            return None;
        }
    }
    Some(Some(method))
}

fn check_deadline(entry: &DeadlineEntry, path: &KeyPath, report: &mut Report<'_>) -> Deadline {
    let given = |period: Option<Period>| period.map(|p| p.0);
    let case = given(entry.case).unwrap_or_else(|| given(entry.attempt).unwrap_or_default().max(CASE));
    let attempt = given(entry.attempt).unwrap_or_else(|| ATTEMPT.min(case));
    let grace = given(entry.grace).unwrap_or_else(|| GRACE.min(case));
    for (key, duration) in [("case", given(entry.case)), ("attempt", given(entry.attempt))] {
        if duration.is_some_and(|d| d.is_zero()) {
            report.problem(&path.key(key), "nobody answers in no time", "write a time such as `30s`");
        }
    }
    for (key, duration) in [("attempt", attempt), ("grace", grace)] {
        if duration > case {
            let message = format!("`{}` is longer than the whole case, `{}`", Period(duration), Period(case));
            report.problem(&path.key(key), message, "shorten it, or lengthen `case`");
        }
    }
    Deadline { attempt, case, grace }
}

fn check_escalate(entry: &EscalateEntry, path: &KeyPath, report: &mut Report<'_>) -> (EscalationPolicy, f64) {
    let mut share = |key: &str, value: Option<Switch<f64>>, usual: f64| {
        let value = value.map_or(Some(usual), Switch::on);
        if let Some(v) = value.filter(|v| !(0.0..=1.0).contains(v)) {
            let hint = format!("write a number from 0 to 1 (usual: {usual}), or `off`");
            report.problem(&path.key(key), format!("`{v}` is not between 0 and 1"), hint);
        }
        value
    };
    let policy = EscalationPolicy {
        disagreement: share("disagreement", entry.disagreement, DISAGREEMENT),
        near_threshold: share("near_threshold", entry.near_threshold, NEAR_THRESHOLD),
    };
    let random = share("random_review_share", entry.random_review_share, RANDOM_REVIEW_SHARE);
    (policy, random.unwrap_or(0.0))
}

fn check_gate(
    entry: &GateEntry,
    rubric: Option<&Rubric>,
    path: &KeyPath,
    report: &mut Report<'_>,
) -> GateThresholds {
    for (key, thresholds) in [("min", &entry.min), ("pass_rate", &entry.pass_rate)] {
        for (name, threshold) in thresholds {
            let place = path.key(key).key(name);
            if !(0.0..=1.0).contains(threshold) {
                let message = format!("`{threshold}` is not between 0 and 1");
                report.problem(
                    &place,
                    message,
                    "thresholds are on 0 to 1: (value - lowest) / (highest - lowest)",
                );
            }
            let Some(rubric) = rubric else { continue };
            if rubric.checks.iter().any(|check| check.name == *name) {
                if key == "min" {
                    let message = format!("`{name}` is a check, which passes or fails, so it has no mean");
                    report.problem(&place, message, format!("write `pass_rate: {{{name}: {threshold}}}`"));
                }
                continue;
            }
            let Some(criterion) = rubric.criteria.iter().find(|c| c.name == *name) else {
                let checks = rubric.checks.iter().map(|check| check.name.as_str());
                let criteria = rubric.criteria.iter().map(|c| c.name.as_str());
                let hint = suggestion(name, criteria.chain(checks));
                report.problem(&place, format!("rubric `{}` has no criterion `{name}`", rubric.name), hint);
                continue;
            };
            if matches!(criterion.scale, Scale::Nominal(_)) {
                report.problem(
                    &place,
                    "labels without an order have no score",
                    "use a criterion with an order",
                );
            } else if key == "pass_rate" && criterion.pass.is_none() && criterion.scale != Scale::PassFail {
                let hint = format!("add `pass: …` to criterion `{name}` of rubric `{}`", rubric.name);
                report.problem(&place, "a pass rate needs a value from which a case passes", hint);
            }
        }
    }
    GateThresholds { min: entry.min.clone(), pass_rate: entry.pass_rate.clone() }
}

fn check_quorum(entry: &PanelEntry, members: &Members, place: &KeyPath, report: &mut Report<'_>) -> usize {
    let declared = members.declared;
    let Some(quorum) = entry.quorum else {
        let asked = declared.saturating_sub(members.left_out.len());
        return asked.min(asked.div_ceil(2).max(2));
    };
    let quorum = usize::try_from(quorum).unwrap_or(usize::MAX);
    if quorum == 0 {
        report.problem(place, "a value needs at least one vote", "write 1 or more, or leave `quorum` out");
    } else if quorum > declared && declared > 0 && !members.is_uncountable {
        let message = format!("{quorum} votes cannot come from {declared} judges");
        report.problem(place, message, format!("write at most {declared}, or add judges"));
    }
    quorum
}

fn check_inside(judges: &[Arc<Judge>], quorum: usize, path: &KeyPath, report: &mut Report<'_>) {
    let outside: Vec<&str> =
        judges.iter().filter(|j| j.server.perimeter == Perimeter::Outside).map(|j| j.id.as_str()).collect();
    if outside.is_empty() {
        return;
    }
    let place = path.key("perimeter");
    let names = outside.join("`, `");
    if judges.len() - outside.len() < quorum {
        let message = format!("without the outside judges `{names}` no quorum is left");
        report.problem(&place, message, "name judges on inside servers, or remove `perimeter: inside`");
    } else {
        let message = format!("outside judges are never asked: `{names}`");
        report.warning(&place, message, "remove them from the panel");
    }
}
