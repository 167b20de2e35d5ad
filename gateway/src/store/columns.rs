//! How the domain's enums stand in `TEXT` columns. Words are append-only, as rows are.

use aggregation::vote::{Abstention, Exclusion, Order, UnparseableClass};

use super::rows::{
    Endpoint, IdempotencyStatus, JudgmentSource, RunKind, RunStatus, TextKind, TriageStatus, VersionKind,
    WorkStatus,
};
use crate::case::{Mode, Sensitivity};

/// An enum that is stored as a word.
pub(super) trait Word: Copy + 'static {
    const ALL: &'static [Self];
    fn word(self) -> &'static str;
    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// One list gives both directions; a variant without a word does not compile.
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),+ }) => {
        impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
            fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

words!(Mode { Pointwise = "pointwise", Pairwise = "pairwise", Reference = "reference" });
words!(Sensitivity { Public = "public", Internal = "internal", Confidential = "confidential" });
words!(Order { AsGiven = "as_given", Reversed = "reversed" });
words!(JudgmentSource { Asked = "asked", Cache = "cache", Replay = "replay" });
words!(Endpoint { Run = "run", Verdict = "verdict", DropIn = "drop_in" });
words!(VersionKind { Panel = "panel", Judge = "judge", Rubric = "rubric", Baseline = "baseline" });
words!(TextKind { Case = "case", Prompt = "prompt", Reply = "reply", Reasons = "reasons", Note = "note", Response = "response" });
words!(TriageStatus { Open = "open", Adjudication = "adjudication", Resolved = "resolved", Withdrawn = "withdrawn" });
words!(IdempotencyStatus { Reserved = "reserved", Finished = "finished" });
words!(RunKind { Judge = "judge", Gate = "gate", Sentinel = "sentinel" });
words!(RunStatus { Running = "running", Finished = "finished", Stopped = "stopped" });
words!(WorkStatus { Waiting = "waiting", Ended = "ended" });
words!(UnparseableClass { NoVerdict = "no_verdict", Ambiguous = "ambiguous", OutOfRange = "out_of_range", Truncated = "truncated" });
words!(Exclusion { Perimeter = "perimeter", SameModel = "same_model", SameFamily = "same_family", EmptyCandidate = "empty_candidate", FailedCheck = "failed_check" });

/// The `outcome` of a judgment that has a rating.
pub(super) const RATING: &str = "rating";

/// `outcome` and `class` of an abstention.
pub(super) fn abstention_words(abstention: Abstention) -> (&'static str, Option<&'static str>) {
    match abstention {
        Abstention::Refused => ("refused", None),
        Abstention::Unparseable(class) => ("unparseable", Some(class.word())),
        Abstention::Unsupported => ("unsupported", None),
        Abstention::TooLong => ("too_long", None),
        Abstention::TimedOut => ("timed_out", None),
        Abstention::Unavailable => ("unavailable", None),
        Abstention::RateLimited => ("rate_limited", None),
        Abstention::OverBudget => ("over_budget", None),
        Abstention::Excluded(exclusion) => ("excluded", Some(exclusion.word())),
    }
}

/// `None` for words that this program does not know.
pub(super) fn abstention_of_words(outcome: &str, class: Option<&str>) -> Option<Abstention> {
    match (outcome, class) {
        ("refused", None) => Some(Abstention::Refused),
        ("unparseable", Some(class)) => UnparseableClass::of_word(class).map(Abstention::Unparseable),
        ("unsupported", None) => Some(Abstention::Unsupported),
        ("too_long", None) => Some(Abstention::TooLong),
        ("timed_out", None) => Some(Abstention::TimedOut),
        ("unavailable", None) => Some(Abstention::Unavailable),
        ("rate_limited", None) => Some(Abstention::RateLimited),
        ("over_budget", None) => Some(Abstention::OverBudget),
        ("excluded", Some(class)) => Exclusion::of_word(class).map(Abstention::Excluded),
        _ => None,
    }
}

/// `retained_until_us` of a text that no clock erases. Not null, so that times compare in one way on both databases.
const KEPT_UNTIL_ERASED_US: i64 = i64::MAX;

pub(super) fn retained_until_column(retained_until_us: Option<i64>) -> i64 {
    retained_until_us.unwrap_or(KEPT_UNTIL_ERASED_US)
}

pub(super) fn retained_until_of_column(column: i64) -> Option<i64> {
    (column != KEPT_UNTIL_ERASED_US).then_some(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_abstention_returns_from_its_words() {
        let with_class = UnparseableClass::ALL
            .iter()
            .map(|class| Abstention::Unparseable(*class))
            .chain(Exclusion::ALL.iter().map(|exclusion| Abstention::Excluded(*exclusion)));
        let plain = [
            Abstention::Refused,
            Abstention::Unsupported,
            Abstention::TooLong,
            Abstention::TimedOut,
            Abstention::Unavailable,
            Abstention::RateLimited,
            Abstention::OverBudget,
        ];
        for abstention in with_class.chain(plain) {
            let (outcome, class) = abstention_words(abstention);
            assert_eq!(abstention_of_words(outcome, class), Some(abstention));
        }
    }

    #[test]
    fn an_unknown_word_is_nobody() {
        assert_eq!(abstention_of_words("refused", Some("class")), None);
        assert_eq!(abstention_of_words("unparseable", None), None);
        assert_eq!(abstention_of_words("bored", None), None);
        assert_eq!(Mode::of_word("listwise"), None);
    }
}
