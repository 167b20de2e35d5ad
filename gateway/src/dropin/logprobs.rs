//! Synthetic token probabilities: every voted value is one token whose alternatives are the panel's own distribution.

use std::ops::Range;

use providers::chat::{TokenLogprob, TokenLogprobs};
use serde_json::Value;

use crate::engine::reply::{self, Step, part_span};

use super::asked::Reply;
use super::leaf::Leaf;
use super::voters::{Voter, same};

/// What is spread over labels that nobody voted for, so small that no client takes it for a vote.
const SMOOTHING: f64 = 0.005;

/// What every distribution is made of.
pub(super) struct Panel<'p> {
    pub(super) voters: &'p [Voter],
    /// The voters' replies.
    pub(super) replies: &'p [&'p Reply],
    pub(super) leaves: &'p [Leaf],
    /// How many alternatives were asked for.
    pub(super) alternatives: usize,
}

impl Panel<'_> {
    /// Tokens that join to the content. `located`: where each leaf stands in it, and where in the voters' values.
    pub(super) fn tokens(
        &self,
        content: &str,
        located: &[(usize, Vec<Step>, Range<usize>)],
    ) -> Vec<TokenLogprobs> {
        let mut ordered: Vec<&(usize, Vec<Step>, Range<usize>)> = located.iter().collect();
        ordered.sort_by_key(|(_, _, span)| span.start);
        let mut tokens = Vec::new();
        let mut from = 0;
        for (leaf, path, span) in ordered {
            let (Some(before), Some(written)) = (content.get(from..span.start), content.get(span.clone()))
            else {
                continue;
            };
            if written.is_empty() {
                continue;
            }
            tokens.extend(self.plain(before));
            tokens.push(self.verdict(*leaf, path, written));
            from = span.end;
        }
        tokens.extend(self.plain(content.get(from..).unwrap_or_default()));
        tokens
    }

    /// Text that nobody voted on is certain.
    fn plain(&self, text: &str) -> Option<TokenLogprobs> {
        let token = TokenLogprob { bytes: text.as_bytes().to_vec(), logprob: 0.0 };
        let top = if self.alternatives > 0 { vec![token.clone()] } else { Vec::new() };
        (!text.is_empty()).then_some(TokenLogprobs { token, top })
    }

    fn verdict(&self, leaf: usize, path: &[Step], written: &str) -> TokenLogprobs {
        let mut spread =
            self.leaves.get(leaf).map(|leaf| self.spread(leaf, path, written)).unwrap_or_default();
        spread.sort_by(|a, b| b.1.total_cmp(&a.1));
        let own = spread.iter().position(|(label, _)| label == written);
        let own_share = own.and_then(|index| spread.get(index)).map_or(1.0, |(_, share)| *share);
        if let Some(index) = own.filter(|index| *index >= self.alternatives) {
            // The token itself is always among its alternatives.
            let last = self.alternatives.saturating_sub(1).min(index);
            spread.swap(index, last);
        }
        spread.truncate(self.alternatives);
        let token =
            |text: &str, share: f64| TokenLogprob { bytes: text.as_bytes().to_vec(), logprob: share.ln() };
        TokenLogprobs {
            token: token(written, own_share),
            top: spread.iter().map(|(label, share)| token(label, *share)).collect(),
        }
    }

    /// Share of every label: the mean over the voters, each by its own tokens where they tell, else by its vote.
    fn spread(&self, leaf: &Leaf, path: &[Step], written: &str) -> Vec<(String, f64)> {
        let mut labels: Vec<String> = Vec::new();
        let votes = leaf.votes.iter().flatten();
        let known =
            leaf.domain.iter().flatten().filter(|_| leaf.domain.as_ref().is_some_and(|all| all.len() <= 21));
        for label in [written.to_owned()].into_iter().chain(votes.map(text_of)).chain(known.map(text_of)) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        let mut spread: Vec<(String, f64)> = labels.iter().map(|label| (label.clone(), 0.0)).collect();
        let mut total = 0.0;
        for ((voter, reply), vote) in self.voters.iter().zip(self.replies).zip(&leaf.votes) {
            let Some(vote) = vote else { continue };
            let own = measured(voter, reply, path, vote, &labels);
            for (label, share) in &mut spread {
                let is_chosen =
                    if same(vote, &leaf.value) { label == written } else { *label == text_of(vote) };
                let by_vote = if is_chosen { 1.0 } else { 0.0 };
                *share += voter.weight * own.as_ref().map_or(by_vote, |own| share_of(own, label));
            }
            total += voter.weight;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of labels are far below 2^52")]
        let count = labels.len() as f64;
        // What every label has a share of was measured, and stands as it is.
        let smoothing = if spread.iter().all(|(_, share)| *share > 0.0) { 0.0 } else { SMOOTHING };
        for (_, share) in &mut spread {
            let own = if total > 0.0 { *share / total } else { 1.0 / count };
            *share = own * (1.0 - smoothing) + smoothing / count;
        }
        spread
    }
}

fn share_of(shares: &[(String, f64)], label: &str) -> f64 {
    shares.iter().find(|(known, _)| known == label).map_or(0.0, |(_, share)| *share)
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The voter's own probabilities of the labels, where its tokens can be read at the verdict.
fn measured(
    voter: &Voter,
    reply: &Reply,
    path: &[Step],
    vote: &Value,
    labels: &[String],
) -> Option<Vec<(String, f64)>> {
    // What was said of the exchanged candidates has the other labels.
    reply.logprobs.as_ref().filter(|_| !voter.is_reversed)?;
    // In a list the voter's element may stand elsewhere.
    let own = path.iter().try_fold(&voter.value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    });
    own.filter(|own| same(own, vote))?;
    let span = span_in_reply(voter, reply, path)?;
    let written = reply.text.get(span.clone())?;
    let reading = reply::Reading {
        value: aggregation::scale::Value::Pass(true),
        span,
        rationale: None,
        evidence: Vec::new(),
    };
    let reply = reply::Reply {
        text: &reply.text,
        finish: reply.finish,
        refusal: None,
        logprobs: reply.logprobs.as_deref(),
    };
    let tokens = reply::read_distribution(&reply, &reading).ok()?;
    // A label of several tokens: its first one does not tell it from others.
    if tokens.sampled.bytes != written.as_bytes() {
        return None;
    }
    let mut shares: Vec<(String, f64)> = Vec::new();
    for alternative in &tokens.at {
        let text = String::from_utf8_lossy(&alternative.bytes).into_owned();
        if labels.contains(&text) {
            let share = alternative.logprob.exp();
            match shares.iter_mut().find(|(label, _)| *label == text) {
                Some((_, sum)) => *sum += share,
                None => shares.push((text, share)),
            }
        }
    }
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    (total > 0.0 && total.is_finite()).then(|| shares.into_iter().map(|(l, s)| (l, s / total)).collect())
}

fn span_in_reply(voter: &Voter, reply: &Reply, path: &[Step]) -> Option<Range<usize>> {
    if let Some((_, spans)) = voter.places.iter().find(|(own, _)| own == path) {
        return spans.last().cloned();
    }
    let whole = voter.span.clone()?;
    let inner = part_span(reply.text.get(whole.clone())?, path)?;
    Some(whole.start + inner.start..whole.start + inner.end)
}
