//! A decision in one sentence, with enough digits for it to make sense.

use aggregation::Decision;
use aggregation::gate::{Claim, GateOutcome, GateReason, GateRule, SLACK};

use super::render::{counted, plural};
use super::report::Measure;
use super::terms::{GateTerms, Requirement};

/// Fewest and most decimals of a figure.
const DECIMALS: std::ops::RangeInclusive<usize> = 3..=12;

/// What to do about a share of 1, which cases can only speak against.
const NO_PROOF: &str = "; no number of cases shows that none ever fails: ask for less than 1, or compare the figure alone (rule `point`)";

/// A figure beside the threshold it is held against: as many decimals as tell them apart.
pub fn apart(figure: f64, threshold: f64) -> String {
    let same = (figure - threshold).abs() <= SLACK;
    let written = |decimals: &usize| (format!("{figure:.decimals$}"), format!("{threshold:.decimals$}"));
    let told_apart = DECIMALS.map(|decimals| written(&decimals)).find(|(own, other)| same || own != other);
    let (own, _) = told_apart.unwrap_or_else(|| written(DECIMALS.end()));
    own
}

pub(super) fn explain(requirement: &Requirement, terms: &GateTerms, outcome: &GateOutcome) -> String {
    let (name, threshold) = (requirement.measure.name(), requirement.threshold);
    let Ok(estimate) = outcome.estimate else { return String::from("no case has a score") };
    let figure = format!("{name} {}", apart(estimate, threshold));
    let bounds = outcome.bounds.ok().map(|own| (apart(own.lower, threshold), apart(own.upper, threshold)));
    let needed = match outcome.needed_more {
        Some(more) => format!("; about {} like these would decide", counted(more, "more case")),
        None if is_beyond_proof(requirement, outcome) => String::from(NO_PROOF),
        None => String::new(),
    };
    let (reached, missed) = match (requirement.measure, terms.claim) {
        (Measure::WinRate | Measure::Difference, Claim::Superior) => (">", "<="),
        (Measure::WinRate | Measure::Difference, Claim::NonInferior { .. })
        | (Measure::Mean | Measure::PassRate, _) => (">=", "<"),
    };
    let all = counted((outcome.n + outcome.n_missing) as u64, "case");
    let scored = format!("{} of {all} have a score", outcome.n);
    match (outcome.decision, outcome.reason, terms.rule, bounds) {
        (Decision::Pass, _, GateRule::ThreeState, Some((lower, _))) => {
            format!("{figure}, at least {lower} ({reached} {threshold}) with 95 % confidence")
        }
        (Decision::Fail, _, GateRule::ThreeState, Some((_, upper))) => {
            format!("{figure}, at most {upper} ({missed} {threshold}) with 95 % confidence")
        }
        (Decision::Pass, ..) => format!("{figure} ({reached} {threshold})"),
        (Decision::Fail, ..) => format!("{figure} ({missed} {threshold})"),
        (Decision::Inconclusive, GateReason::BoundsHoldThreshold, _, Some((lower, upper))) => {
            format!("{figure}, between {lower} and {upper}: {threshold} may or may not be reached{needed}")
        }
        (Decision::Inconclusive, GateReason::TooFewCases, ..) => {
            format!("{figure}, but {scored} and at least {} are needed", terms.min_cases)
        }
        (Decision::Inconclusive, GateReason::TooManyMissing, ..) => {
            format!("{figure}, but only {scored}: more than 5 % are missing")
        }
        (Decision::Inconclusive, GateReason::PendingCouldChange, ..) => {
            let (low, high) = outcome.pending_range.unwrap_or((estimate, estimate));
            format!(
                "{figure}, but {} for a person and could make it {} to {}",
                waiting(outcome.n_pending),
                apart(low, threshold),
                apart(high, threshold)
            )
        }
        (Decision::Inconclusive, reason, ..) => format!("{figure}, but {reason}"),
    }
}

/// Whether the figure is all that it can be, and its lower bound below the threshold however many cases there are.
fn is_beyond_proof(requirement: &Requirement, outcome: &GateOutcome) -> bool {
    requirement.measure == Measure::PassRate
        && requirement.threshold >= 1.0 - SLACK
        && outcome.share.is_some_and(|share| share.failed == 0)
}

fn waiting(cases: usize) -> String {
    let cases = cases as u64;
    format!("{} {}", counted(cases, "case"), plural(cases, "waits", "wait"))
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn a_rounded_figure_never_hides_the_outcome() {
        let check =
            |figure: f64, threshold: f64, written: &str| assert_eq!(apart(figure, threshold), written);
        check(0.8496, 0.85, "0.8496");
        check(0.849_999_9, 0.85, "0.8499999");
        check(0.85, 0.85, "0.850");
        check((0.7 + 0.8 + 0.9 + 1.0) / 4.0, 0.85, "0.850");
        check(0.5, 0.85, "0.500");
    }
}
