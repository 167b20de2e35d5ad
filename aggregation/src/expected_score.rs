//! Label log-probabilities at the position of the verdict → expected score and bounds (G-Eval).
//!
//! Knows labels as spelled and lists of token log-probabilities. Finding the position in a reply, and what to do
//! when there is no list, belong to the caller. Source: specification 3, `geval.json`; Liu et al. 2023.

use crate::estimate::UndefinedReason;
use crate::scale::{OrdinalLabels, Scale};
use crate::vote::Distribution;

/// Label mass from which a list is taken as complete.
pub const FULL_MASS: f64 = 0.95;
/// Label mass below which the written label stands instead of the expectation.
pub const LEAST_MASS: f64 = 0.80;
/// Ambiguous mass above which the written label stands.
pub const MOST_AMBIGUOUS: f64 = 0.05;

/// Slack of the comparisons with these limits.
const SLACK: f64 = 1e-12;
/// Log-probabilities at or below this are a vendor's word for "impossible".
const SENTINEL: f64 = -9999.0;

/// The listed tokens at the position where the verdict begins: text and natural log-probability.
///
/// Minus infinity, -9999 and NaN (a `null` of the wire) are probability 0; above 0 counts as 0.
#[derive(Debug, Clone, Copy)]
pub struct ScorePosition<'a> {
    pub top: &'a [(&'a str, f64)],
    /// The position after it, needed where one label begins another ("1" and "10").
    pub next: Option<NextPosition<'a>>,
}

/// The listed tokens one position later.
#[derive(Debug, Clone, Copy)]
pub struct NextPosition<'a> {
    /// The token that was sampled before: what follows is known for this one only.
    pub after: &'a str,
    pub top: &'a [(&'a str, f64)],
}

/// How each label may be spelled, in the order of the labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spellings(Vec<Vec<String>>);

impl Spellings {
    /// Numbers in their shortest decimal form: `1`, `2.5`.
    pub fn ordinal(labels: &OrdinalLabels) -> Self {
        Self::new(labels.values().iter().map(f64::to_string))
    }

    /// The scale's own labels: numbers; nominal labels; `fail`, `pass`; first `A`, second `B` and, where allowed,
    /// `tie`. `None` for an interval, which has no labels.
    pub fn of(scale: &Scale) -> Option<Self> {
        match scale {
            Scale::Ordinal(labels) => Some(Self::ordinal(labels)),
            Scale::Continuous(_) => None,
            Scale::Nominal(labels) => Some(Self::new(labels.values().iter().cloned())),
            Scale::PassFail => Some(Self::new(["fail", "pass"].map(String::from))),
            Scale::Pairwise { tie: true } => Some(Self::new(["A", "B", "tie"].map(String::from))),
            Scale::Pairwise { tie: false } => Some(Self::new(["A", "B"].map(String::from))),
        }
    }

    /// One spelling for each label.
    pub fn new(labels: impl IntoIterator<Item = String>) -> Self {
        Self(labels.into_iter().map(|label| vec![label]).collect())
    }

    /// Adds a spelling to a label; an index that is no label adds nothing.
    #[must_use]
    pub fn with_alias(mut self, label: usize, spelling: &str) -> Self {
        if let Some(spellings) = self.0.get_mut(label) {
            spellings.push(spelling.to_owned());
        }
        self
    }

    fn label(&self, text: &str) -> Option<usize> {
        self.0.iter().position(|spellings| spellings.iter().any(|s| s == text))
    }

    /// Whether the text is the beginning of a label other than the one it is.
    fn begins_another(&self, text: &str, own: Option<usize>) -> bool {
        !text.is_empty() && self.continuations(text, own).next().is_some()
    }

    fn continuations<'a>(&'a self, text: &'a str, own: Option<usize>) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .enumerate()
            .filter(move |(label, _)| Some(*label) != own)
            .flat_map(|(_, spellings)| spellings.iter().map(String::as_str))
            .filter(move |spelling| spelling.len() > text.len() && spelling.starts_with(text))
    }
}

/// The probability of each label, as far as the server listed it.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelDistribution {
    /// Per label, not normalised.
    pub probabilities: Vec<f64>,
    /// Their sum, 0 to 1.
    pub mass: f64,
    /// Sum over all listed tokens.
    pub listed: f64,
    /// The smallest listed probability: an unseen label can have no more.
    pub least_listed: f64,
    /// Mass counted for a label that may be the beginning of another one.
    pub ambiguous: f64,
    /// Everything lies on exactly one token: the list was made after the sampling filters and says nothing about
    /// certainty (or the judge is certain beyond what can be written). Never report it as a confidence of 1.
    pub degenerate: bool,
}

/// How far an expected score can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MassStatus {
    /// Label mass at least 0.95.
    Ok,
    /// At least 0.80: the score is used, flagged.
    LowMass,
    /// Less than 0.80, or more than 0.05 ambiguous: the written label stands, flagged.
    Fallback,
}

/// Probability-weighted score.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedScore {
    /// On the scale of the labels' values.
    pub score: f64,
    /// 0 to 1.
    pub score01: f64,
    /// Share of probability on labels, 0 to 1.
    pub mass: f64,
    /// Per label, normalised to 1.
    pub probabilities: Vec<f64>,
    /// Over the labels, divided by `ln K`; 0 to 1.
    pub entropy: f64,
    /// In squared units of the score.
    pub variance: f64,
    /// Index of the most probable label, the first among equals.
    pub most_probable: usize,
    /// The score if the mass that was not listed lay on the lowest and on the highest unseen label.
    pub bounds: (f64, f64),
    /// `bounds`, 0 to 1.
    pub bounds01: (f64, f64),
    pub status: MassStatus,
    /// As on [`LabelDistribution`].
    pub degenerate: bool,
}

/// Expected score over ordinal labels. `NoScoreToken` if no listed token is a label.
pub fn expected_score(
    position: &ScorePosition<'_>,
    labels: &OrdinalLabels,
    spellings: &Spellings,
) -> Result<ExpectedScore, UndefinedReason> {
    label_distribution(position, spellings).expected(labels.values())
}

/// Adds up the listed probabilities per label.
///
/// A token is a label if it is spelled exactly like one, apart from white space and the tokenisers' marks for it
/// around it: `" 5"`, `"5"` and `"Ġ5"` add up; `"5."` and `"five"` count for nothing, unless declared as aliases.
/// Where a token also begins a longer label, and that label is not itself listed as one token, its probability
/// is split by what follows, if that is known; otherwise it counts for its own label and as ambiguous.
pub fn label_distribution(position: &ScorePosition<'_>, spellings: &Spellings) -> LabelDistribution {
    let mut adder = Adder { spellings, probabilities: vec![0.0; spellings.0.len()], ambiguous: 0.0 };
    let (mut listed, mut least_listed) = (0.0, 1.0_f64);
    let mut possible = 0_usize;
    let mut certain = false;
    for &(token, logprob) in position.top {
        let p = probability(logprob);
        listed += p;
        least_listed = least_listed.min(p);
        possible += usize::from(p > 0.0);
        certain |= logprob >= 0.0;
        adder.add_token(position, bare(token), p);
    }
    let mass = adder.probabilities.iter().sum::<f64>().min(1.0);
    LabelDistribution {
        probabilities: adder.probabilities,
        mass,
        listed,
        least_listed,
        ambiguous: adder.ambiguous,
        degenerate: possible == 1 && certain,
    }
}

struct Adder<'a> {
    spellings: &'a Spellings,
    probabilities: Vec<f64>,
    ambiguous: f64,
}

impl Adder<'_> {
    fn add_token(&mut self, position: &ScorePosition<'_>, text: &str, p: f64) {
        let own = self.spellings.label(text);
        let single_token = |label: &str| position.top.iter().any(|(token, _)| bare(token) == label);
        let mut longer = self.spellings.continuations(text, own);
        let splits = !text.is_empty() && longer.any(|label| !single_token(label));
        match position.next {
            Some(next) if splits && bare(next.after) == text => self.split(text, own, p, next.top),
            Some(_) | None => self.add(own, p, splits),
        }
    }

    /// Splits the probability of a sampled token over the label that ends there and those that go on.
    fn split(&mut self, text: &str, own: Option<usize>, p: f64, next: &[(&str, f64)]) {
        for &(token, logprob) in next {
            let p = p * probability(logprob);
            let joined = format!("{text}{}", spelled_out(token));
            let joined = joined.trim_end();
            let label = self.spellings.label(joined);
            if label.is_some() && joined != text {
                self.add(label, p, self.spellings.begins_another(joined, label));
            } else if ends_label(token) {
                self.add(own, p, false);
            }
        }
    }

    fn add(&mut self, label: Option<usize>, p: f64, ambiguous: bool) {
        if let Some(sum) = label.and_then(|label| self.probabilities.get_mut(label)) {
            *sum += p;
            if ambiguous {
                self.ambiguous += p;
            }
        }
    }
}

impl LabelDistribution {
    /// Whether the probabilities may be used. `NoScoreToken` if no label was listed.
    pub fn status(&self) -> Result<MassStatus, UndefinedReason> {
        if self.mass <= 0.0 {
            Err(UndefinedReason::NoScoreToken)
        } else if self.mass < LEAST_MASS - SLACK || self.ambiguous > MOST_AMBIGUOUS + SLACK {
            Ok(MassStatus::Fallback)
        } else if self.mass < FULL_MASS - SLACK {
            Ok(MassStatus::LowMass)
        } else {
            Ok(MassStatus::Ok)
        }
    }

    /// Index of the most probable label, the first among equals; `None` if no label was listed.
    pub fn most_probable(&self) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (label, &p) in self.probabilities.iter().enumerate() {
            if p > best.map_or(0.0, |(_, most)| most) {
                best = Some((label, p));
            }
        }
        best.map(|(label, _)| label)
    }

    /// The expectation of the labels' values, given in the order of the labels.
    pub fn expected(&self, values: &[f64]) -> Result<ExpectedScore, UndefinedReason> {
        let status = self.status()?;
        let most_probable = self.most_probable().ok_or(UndefinedReason::NoScoreToken)?;
        let total: f64 = self.probabilities.iter().sum();
        let probabilities: Vec<f64> = self.probabilities.iter().map(|p| p / total).collect();
        let weighted = || probabilities.iter().zip(values);
        let score: f64 = weighted().map(|(q, value)| q * value).sum();
        let variance = weighted().map(|(q, value)| q * (value - score) * (value - score)).sum();
        let bounds = self.bounds(score, values);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let unit = |score: f64| ((score - least) / (most - least)).clamp(0.0, 1.0);
        Ok(ExpectedScore {
            score,
            score01: unit(score),
            mass: self.mass,
            entropy: normalised_entropy(&probabilities),
            probabilities,
            variance,
            most_probable,
            bounds,
            bounds01: (unit(bounds.0), unit(bounds.1)),
            status,
            degenerate: self.degenerate,
        })
    }

    /// What a vote keeps of the distribution; `None` if no label was listed.
    ///
    /// Spellings must be in the order of [`Spellings::of`]. On pairs `bounds01` bounds
    /// `(p_first + p_tie / 2) / total` as displayed; on nominal scales, which have no score, it is `(0, 1)`.
    pub fn for_vote(&self, scale: &Scale) -> Option<Distribution> {
        let p = |label: usize| self.probabilities.get(label).copied().unwrap_or_default();
        let bounds01 = |values: &[f64]| self.expected(values).ok().map(|expected| expected.bounds01);
        let (bounds01, two_way) = match scale {
            Scale::Ordinal(labels) => (bounds01(labels.values())?, None),
            Scale::Continuous(_) => return None,
            Scale::Nominal(_) => (self.most_probable().map(|_| (0.0, 1.0))?, None),
            Scale::PassFail => (bounds01(&[0.0, 1.0])?, Some((p(1), p(0), 0.0))),
            Scale::Pairwise { tie: false } => (bounds01(&[1.0, 0.0])?, Some((p(0), p(1), 0.0))),
            Scale::Pairwise { tie: true } => (bounds01(&[1.0, 0.0, 0.5])?, Some((p(0), p(1), p(2)))),
        };
        Some(Distribution { label_mass: self.mass, bounds01, two_way })
    }

    /// Unseen labels can each have at most the smallest listed probability, and together at most what is not listed.
    fn bounds(&self, score: f64, values: &[f64]) -> (f64, f64) {
        let unseen = || self.probabilities.iter().zip(values).filter(|(p, _)| **p <= 0.0).map(|(_, v)| *v);
        let most_unseen = unseen().map(|_| self.least_listed).sum::<f64>();
        let mass = (1.0 - self.listed).max(0.0).min(most_unseen);
        let seen: f64 = self.probabilities.iter().sum();
        let with = |value: f64| (score * seen + value * mass) / (seen + mass);
        let lowest = unseen().reduce(f64::min).map_or(score, with);
        let highest = unseen().reduce(f64::max).map_or(score, with);
        (lowest.min(score), highest.max(score))
    }
}

fn normalised_entropy(probabilities: &[f64]) -> f64 {
    if probabilities.len() < 2 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "scales have few labels")]
    let most = (probabilities.len() as f64).ln();
    let entropy: f64 = probabilities.iter().filter(|q| **q > 0.0).map(|q| -q * q.ln()).sum();
    (entropy / most).clamp(0.0, 1.0)
}

fn probability(logprob: f64) -> f64 {
    if logprob.is_nan() || logprob <= SENTINEL { 0.0 } else { logprob.min(0.0).exp() }
}

fn is_mark(c: char) -> bool {
    // Byte-pair tokenisers write a blank as U+0120, a line feed as U+010A; sentencepiece writes a blank as U+2581.
    matches!(c, '\u{120}' | '\u{10A}' | '\u{2581}')
}

fn bare(token: &str) -> &str {
    token.trim_matches(|c: char| c.is_whitespace() || is_mark(c))
}

fn spelled_out(token: &str) -> String {
    token.chars().map(|c| if is_mark(c) { ' ' } else { c }).collect()
}

/// Whether a label is complete when this token follows it: not if it goes on as a word or as a decimal number.
fn ends_label(token: &str) -> bool {
    token.chars().next().is_none_or(|c| is_mark(c) || !(c.is_alphanumeric() || matches!(c, '.' | ',')))
}

#[cfg(test)]
mod tests;
