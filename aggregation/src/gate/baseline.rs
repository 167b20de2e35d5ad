//! A candidate against pinned outputs: never against the previous run, whose drift would go unseen.

use crate::estimate::Decision;
use crate::numeric::{McNemar, mc_nemar, normal_quantile, sign_test};

use super::cases::{GateCase, GateScore, observed};
use super::comparison::{Kind, Limit, Observation, Range, decide};
use super::threshold::{check_guards, check_share};
use super::{GateError, GateOutcome, GateReason, GateRule, SLACK, SkewGuard};

/// Which outputs are pinned: their name, and the hash of what they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaselineIdentity {
    id: String,
    hash: String,
}

impl BaselineIdentity {
    /// Neither may be empty.
    pub fn new(id: &str, hash: &str) -> Result<Self, BaselineError> {
        if id.is_empty() || hash.is_empty() {
            return Err(BaselineError::NoIdentity);
        }
        Ok(Self { id: id.to_owned(), hash: hash.to_owned() })
    }
}

impl std::fmt::Display for BaselineIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.id, self.hash)
    }
}

/// What a candidate must show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// That it is no more than this much worse: of the win rate's ½, or in score01.
    NonInferior { margin: f64 },
    /// That it is better.
    Superior,
}

/// A claim and how to examine it.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineGate {
    pub baseline: BaselineIdentity,
    pub claim: Claim,
    pub rule: GateRule,
    /// Of each bound by itself, above ½ and below 1.
    pub confidence: f64,
    /// Fewer compared cases are inconclusive under [`GateRule::ThreeState`].
    pub min_n: usize,
    /// A greater share of missing cases is inconclusive under either rule, 0 to 1.
    pub max_missing: f64,
    pub skew: SkewGuard,
}

impl BaselineGate {
    /// Non-inferior by 0.05, three states at 95 %, at least 30 cases, at most 5 % missing, guarded against skew.
    pub fn new(baseline: BaselineIdentity) -> Self {
        Self {
            baseline,
            claim: Claim::NonInferior { margin: 0.05 },
            rule: GateRule::ThreeState,
            confidence: 0.95,
            min_n: 30,
            max_missing: 0.05,
            skew: SkewGuard::OneMore,
        }
    }
}

/// Cases that were compared with a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared<T> {
    pub baseline: BaselineIdentity,
    pub cases: Vec<T>,
}

/// A case of which both outputs were judged by themselves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedCase {
    pub candidate: GateScore,
    pub baseline: GateScore,
    /// Cases of one source are not independent.
    pub source: Option<u64>,
    /// Whether every judge of the panel voted on both.
    pub covered: bool,
}

/// A decision with the tests beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaselineOutcome {
    /// Its estimate is the win rate, or the mean difference in score01.
    pub gate: GateOutcome,
    /// Cases that the candidate wins, ties and loses.
    pub wins: u64,
    pub ties: u64,
    pub losses: u64,
    /// Exact two-sided sign test of wins against losses. It knows nothing of sources.
    pub p_sign: f64,
    /// The least difference that this many cases find at 80 % power, two-sided at 5 %; none without a standard error.
    pub detectable: Option<f64>,
    /// Where every score is 0 or 1: the exact test of the cases that differ. Superiority must pass it as well.
    pub mc_nemar: Option<McNemar>,
}

/// Why a comparison cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BaselineError {
    #[error("a baseline needs an id and a hash")]
    NoIdentity,
    #[error(
        "the cases were compared with `{got}`, the gate asks for `{expected}`\nhint: a new baseline begins a new series"
    )]
    OtherBaseline { expected: BaselineIdentity, got: BaselineIdentity },
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// Power and level of the detectable difference.
const POWER: f64 = 0.8;
const TWO_SIDED_LEVEL: f64 = 0.05;

/// Decides by the win rate, the mean preference for the candidate (1 wins, ½ ties, 0 loses, any value between by pairs in
/// two orders). Source: specification 7.2, `anchor.json`.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn win_rate_gate(
    gate: &BaselineGate,
    compared: &Compared<GateCase>,
) -> Result<BaselineOutcome, BaselineError> {
    check(gate, &compared.baseline)?;
    let observed = observed(&compared.cases, |preference| preference)?;
    let outcome = decide(&limit(gate, 0.5, (0.0, 1.0)), Kind::Mean, &observed);
    let (wins, ties, losses) = sides(&observed, 0.5);
    let n = (wins + ties + losses) as f64;
    // (z.975 + z.8) √((1 - t) / 4n): wins and losses of equal odds beside a share t of ties.
    let detectable = (n > 0.0).then(|| power_quantile() * ((1.0 - ties as f64 / n) / (4.0 * n)).sqrt());
    let p_sign = sign_test(wins, losses);
    Ok(BaselineOutcome { gate: outcome, wins, ties, losses, p_sign, detectable, mc_nemar: None })
}

/// Decides by the mean of the paired differences, candidate less baseline, in score01. A case without either score is
/// missing. Source: specification 7.2.
pub fn difference_gate(
    gate: &BaselineGate,
    compared: &Compared<PairedCase>,
) -> Result<BaselineOutcome, BaselineError> {
    check(gate, &compared.baseline)?;
    let observed = differences(&compared.cases)?;
    let mut outcome = decide(&limit(gate, 0.0, (-1.0, 1.0)), Kind::Mean, &observed);
    let (wins, ties, losses) = sides(&observed, 0.0);
    let mc_nemar = are_binary(&compared.cases).then(|| mc_nemar(wins, losses));
    let p_sign = sign_test(wins, losses);
    // One-sided: half of the two-sided test, where the wins are more.
    let is_shown = wins > losses && p_sign / 2.0 <= 1.0 - gate.confidence + SLACK;
    let is_claimed = gate.claim == Claim::Superior && gate.rule == GateRule::ThreeState;
    if mc_nemar.is_some() && is_claimed && outcome.decision == Decision::Pass && !is_shown {
        outcome.decision = Decision::Inconclusive;
        outcome.reason = GateReason::ExactTestDisagrees;
    }
    let detectable = outcome.bounds.ok().map(|own| power_quantile() * own.error);
    Ok(BaselineOutcome { gate: outcome, wins, ties, losses, p_sign, detectable, mc_nemar })
}

fn check(gate: &BaselineGate, got: &BaselineIdentity) -> Result<(), BaselineError> {
    if gate.baseline != *got {
        return Err(BaselineError::OtherBaseline { expected: gate.baseline.clone(), got: got.clone() });
    }
    if let Claim::NonInferior { margin } = gate.claim {
        check_share("margin", margin)?;
    }
    Ok(check_guards(gate.confidence, gate.max_missing)?)
}

fn limit(gate: &BaselineGate, equal: f64, ends: (f64, f64)) -> Limit {
    let (threshold, is_strict) = match gate.claim {
        Claim::NonInferior { margin } => (equal - margin, false),
        Claim::Superior => (equal, true),
    };
    Limit {
        threshold,
        ends,
        is_strict,
        rule: gate.rule,
        confidence: gate.confidence,
        min_n: gate.min_n,
        max_missing: gate.max_missing,
        skew: gate.skew,
    }
}

fn power_quantile() -> f64 {
    normal_quantile(1.0 - TWO_SIDED_LEVEL / 2.0) + normal_quantile(POWER)
}

/// Cases above, at and below what equal outputs would have.
fn sides(observed: &[Observation], equal: f64) -> (u64, u64, u64) {
    let (mut wins, mut ties, mut losses) = (0, 0, 0);
    for range in observed.iter().filter_map(|one| one.range) {
        if range.value > equal + SLACK {
            wins += 1;
        } else if range.value < equal - SLACK {
            losses += 1;
        } else {
            ties += 1;
        }
    }
    (wins, ties, losses)
}

fn differences(cases: &[PairedCase]) -> Result<Vec<Observation>, GateError> {
    let one = |(place, case): (usize, &PairedCase)| {
        let pair = case.candidate.checked(place)?.zip(case.baseline.checked(place)?);
        let range = pair.map(|(candidate, baseline)| Range {
            value: candidate.value - baseline.value,
            lowest: candidate.lowest - baseline.highest,
            highest: candidate.highest - baseline.lowest,
            is_pending: candidate.is_pending || baseline.is_pending,
        });
        Ok(Observation { range, source: case.source, covered: case.covered })
    };
    cases.iter().enumerate().map(one).collect()
}

/// Whether every pair of scores is of 0 and 1, and there is one.
fn are_binary(cases: &[PairedCase]) -> bool {
    let mut pairs = cases
        .iter()
        .filter_map(|case| case.candidate.range().zip(case.baseline.range()))
        .flat_map(|(candidate, baseline)| [candidate.value, baseline.value])
        .peekable();
    pairs.peek().is_some() && pairs.all(|value| value <= 0.0 || value >= 1.0)
}

#[cfg(test)]
mod tests;
