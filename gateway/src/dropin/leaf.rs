//! One voted value: the judges' own values in, the panel's out.

use aggregation::disagreement::one_minus_margin;
use aggregation::panel_vote::tally;
use serde_json::Value;

use super::domain::Domains;
use super::folded::{DecidedBy, LeafKind};
use super::number;
use super::shape::Shape;
use super::voters::same;
use super::words;

/// A leaf as it is voted on. `votes` and `weights` run over the voters.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) kind: LeafKind,
    pub(super) domain: Option<Vec<Value>>,
    pub(super) votes: Vec<Option<Value>>,
    pub(super) value: Value,
    pub(super) decided_by: DecidedBy,
    /// No strict majority, and what stands is the lead's.
    pub(super) is_tied: bool,
    pub(super) disagreement: Option<f64>,
    /// Where numbers may lie.
    pub(super) range: Option<(f64, f64)>,
}

/// What is voted on under this key, if anything.
pub(super) fn kind(
    key: &str,
    shape: &Shape,
    votes: &[Option<&Value>],
    domains: &Domains,
) -> Option<LeafKind> {
    let given = || votes.iter().copied().flatten().filter(|value| !value.is_null());
    given().next()?;
    match shape {
        _ if words::is_element_number(key) => None,
        Shape::Bool => Some(LeafKind::Bool),
        Shape::Category(labels) => (labels.len() > 1).then_some(LeafKind::Category),
        Shape::Integer(_) => Some(LeafKind::Integer),
        Shape::Levels(levels) if levels.iter().all(serde_json::Number::is_i64) => Some(LeafKind::Integer),
        Shape::Number(_) | Shape::Levels(_) => Some(LeafKind::Number),
        Shape::Nullable(inner) => kind(key, inner, votes, domains),
        Shape::Text => {
            let texts: Vec<&str> = given().filter_map(Value::as_str).collect();
            is_label(key, &texts, domains).then_some(LeafKind::Category)
        }
        Shape::Any | Shape::Object(_) | Shape::List(_) => None,
    }
}

/// Short strings that recur across judges or stand in the prompt's domain.
fn is_label(key: &str, texts: &[&str], domains: &Domains) -> bool {
    let is_short = |text: &&str| {
        text.chars().count() <= 40 && text.split_whitespace().count() <= 4 && !text.contains('\n')
    };
    if words::is_reason(key) || !texts.iter().all(is_short) {
        return false;
    }
    let recurs = || {
        let mut seen: Vec<String> = texts.iter().map(|text| text.trim().to_lowercase()).collect();
        seen.sort_unstable();
        seen.windows(2).any(|pair| pair.first() == pair.last())
    };
    let is_offered = || texts.iter().any(|text| domains.spelling(text).is_some());
    words::is_verdict_key(key) || !words::is_element_key(key) && (recurs() || is_offered())
}

/// Votes on one leaf. `lead` is the first voter with a value.
pub(super) fn decide(
    path: String,
    kind: LeafKind,
    shape: &Shape,
    votes: &[Option<&Value>],
    weights: &[f64],
    domains: &Domains,
) -> Leaf {
    let votes: Vec<Option<Value>> =
        votes.iter().map(|vote| vote.filter(|value| !value.is_null()).cloned()).collect();
    match kind {
        LeafKind::Bool => category(path, kind, Some(vec![true.into(), false.into()]), votes, weights),
        LeafKind::Category => {
            let (domain, votes) = spelled(shape, votes, domains);
            category(path, kind, domain, votes, weights)
        }
        LeafKind::Integer | LeafKind::Number | LeafKind::Rank => {
            number::decide(path, kind, shape, votes, weights, domains)
        }
    }
}

/// The labels that may be said, and the votes in their spelling.
fn spelled(
    shape: &Shape,
    votes: Vec<Option<Value>>,
    domains: &Domains,
) -> (Option<Vec<Value>>, Vec<Option<Value>>) {
    match shape {
        Shape::Category(labels) => return (Some(labels.clone()), votes),
        Shape::Nullable(inner) => return spelled(inner, votes, domains),
        _ => {}
    }
    let written: Vec<String> =
        votes.iter().flatten().filter_map(Value::as_str).map(|text| text.trim().to_owned()).collect();
    let votes: Vec<Option<Value>> = votes
        .into_iter()
        .map(|vote| {
            vote.map(|vote| {
                vote.as_str().map_or(vote.clone(), |text| common(text.trim(), &written, domains).into())
            })
        })
        .collect();
    let observed: Vec<&str> = votes.iter().flatten().filter_map(Value::as_str).collect();
    let domain = domains.labels(&observed).map(|labels| {
        let mut all: Vec<Value> = labels.into_iter().map(Value::from).collect();
        for label in observed {
            if !all.iter().any(|known| known == label) {
                all.push(label.into());
            }
        }
        all
    });
    (domain, votes)
}

/// One spelling for labels that differ in case only: as written where all agree, else the prompt's, else the most
/// frequent one. One letter's case may be all that it says.
fn common(text: &str, written: &[String], domains: &Domains) -> String {
    let is_alike = |other: &&String| other.to_lowercase() == text.to_lowercase();
    let alike: Vec<&String> = written.iter().filter(is_alike).collect();
    if alike.iter().all(|other| *other == text) {
        return text.to_owned();
    }
    let count = |spelling: &str| alike.iter().filter(|other| other.as_str() == spelling).count();
    let is_letter = text.chars().count() < 2;
    let most = alike.iter().map(|other| count(other)).max().unwrap_or(0);
    let mut leading = alike.iter().filter(|other| count(other) == most);
    let first = leading.next();
    let is_clear = most > 1 && leading.all(|other| Some(other) == first);
    match (domains.spelling(text), first) {
        (Some(spelling), _) if is_letter || !is_clear => spelling.to_owned(),
        (_, Some(first)) if !is_letter => (*first).clone(),
        (_, _) => text.to_owned(),
    }
}

fn category(
    path: String,
    kind: LeafKind,
    domain: Option<Vec<Value>>,
    votes: Vec<Option<Value>>,
    weights: &[f64],
) -> Leaf {
    // Labels by the place of their first vote: what is counted has to be small.
    let first_of = |value: &Value| votes.iter().position(|vote| vote.as_ref() == Some(value)).unwrap_or(0);
    let labels: Vec<(usize, f64)> = votes
        .iter()
        .zip(weights)
        .filter_map(|(vote, weight)| vote.as_ref().map(|value| (first_of(value), *weight)))
        .collect();
    let winner = tally(labels.iter().copied()).ok().and_then(|tally| tally.winner);
    let lead = labels.first().map_or(0, |(label, _)| *label);
    let value_of = |label: usize| votes.get(label).cloned().flatten().unwrap_or(Value::Null);
    Leaf {
        path,
        kind,
        domain,
        value: value_of(winner.unwrap_or(lead)),
        decided_by: if winner.is_some() { DecidedBy::Majority } else { DecidedBy::Lead },
        is_tied: winner.is_none(),
        disagreement: one_minus_margin(labels.iter().map(|(label, _)| *label)).ok(),
        votes,
        range: None,
    }
}

impl Leaf {
    /// The label of its own domain that says that nothing prevails.
    pub(super) fn tie_label(&self) -> Option<Value> {
        let domain = self.domain.as_ref()?;
        let named = domain.iter().find(|label| label.as_str().is_some_and(words::is_tie));
        // "[[C]]" is the tie of "[[A]]" and "[[B]]".
        let letters = || {
            (self.path == DOUBLE_BRACKET && *domain == ["A", "B", "C"].map(Value::from)).then(|| "C".into())
        };
        named.cloned().or_else(letters)
    }

    pub(super) fn settle_by_tie_label(&mut self) -> bool {
        let Some(label) = self.tie_label().filter(|_| self.is_tied) else { return false };
        self.value = label;
        self.decided_by = DecidedBy::TieLabel;
        self.is_tied = false;
        true
    }

    /// Whether this voter says here what the panel says.
    pub(super) fn agrees(&self, voter: usize) -> bool {
        self.votes.get(voter).and_then(Option::as_ref).is_some_and(|vote| same(vote, &self.value))
    }

    /// How far the voter's number is from the panel's, in widths of the range. 0 for labels.
    pub(super) fn distance(&self, voter: usize) -> f64 {
        let vote = self.votes.get(voter).and_then(Option::as_ref).and_then(Value::as_f64);
        let width = self.range.map_or(1.0, |(min, max)| max - min);
        vote.zip(self.value.as_f64()).map_or(0.0, |(vote, value)| ((vote - value) / width).abs())
    }
}

/// Path of the verdict in `[[v]]`.
pub(super) const DOUBLE_BRACKET: &str = "[[verdict]]";
