//! A frozen set judged again: the inputs are the same, so any change is the judge's.

use crate::estimate::UndefinedReason;
use crate::numeric::sign_test;

use super::{DriftError, SLACK, finite, share};

/// One case of the set, judged then and now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentinelCase {
    /// Scores in score01; `None` where there was none.
    pub reference: Option<f64>,
    pub now: Option<f64>,
    /// Whether the verdict is another one; `None` where there was none then or now.
    pub has_flipped: Option<bool>,
}

/// When to alarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SentinelSettings {
    /// Alarm below this p-value of the sign test …
    pub level: f64,
    /// … and from this |mean change| in score01.
    pub least_change: f64,
    /// Share of flips above which it alarms: the upper bound of the judge's repeat rate, since a judge that is asked twice
    /// on one day flips as well. `None` where that is not known: flips do not alarm.
    pub most_flips: Option<f64>,
}

impl SentinelSettings {
    /// p below 0.01 and a change of 0.02.
    pub fn new(most_flips: Option<f64>) -> Self {
        Self { level: 0.01, least_change: 0.02, most_flips }
    }
}

/// Why a sentinel alarms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SentinelAlarm {
    ScoresMoved,
    VerdictsFlipped,
}

/// The comparison of now with then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sentinel {
    /// Mean of now less then; `Empty` where no case has both.
    pub mean_change: Result<f64, UndefinedReason>,
    pub up: u64,
    pub down: u64,
    /// Of the exact two-sided sign test of ups against downs.
    pub p: f64,
    /// Cases with both scores.
    pub n: usize,
    /// Cases without.
    pub n_dropped: usize,
    /// Share of verdicts that flipped; `Empty` without verdicts.
    pub flip_rate: Result<f64, UndefinedReason>,
    /// The first reason; scores before verdicts.
    pub alarm: Option<SentinelAlarm>,
}

/// Compares a frozen set with its reference, case by case. Source: specification 8.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn sentinel(cases: &[SentinelCase], settings: SentinelSettings) -> Result<Sentinel, DriftError> {
    let list = |part: fn(&SentinelCase) -> Option<f64>| {
        cases.iter().map(|case| part(case).unwrap_or_default()).collect::<Vec<f64>>()
    };
    finite("the reference", &list(|case| case.reference))?;
    finite("the scores of now", &list(|case| case.now))?;
    if let Some(most) = settings.most_flips {
        share("repeat rate", most)?;
    }
    let changes: Vec<f64> = cases.iter().filter_map(|case| Some(case.now? - case.reference?)).collect();
    let count = |side: fn(f64) -> bool| changes.iter().filter(|change| side(**change)).count() as u64;
    let (up, down) = (count(|change| change > SLACK), count(|change| change < -SLACK));
    let mean =
        |values: f64, n: usize| if n == 0 { Err(UndefinedReason::Empty) } else { Ok(values / n as f64) };
    let mean_change = mean(changes.iter().sum(), changes.len());
    let flips: Vec<bool> = cases.iter().filter_map(|case| case.has_flipped).collect();
    let flip_rate = mean(flips.iter().filter(|flipped| **flipped).count() as f64, flips.len());
    let p = sign_test(up, down);
    let have_moved =
        p < settings.level && mean_change.is_ok_and(|change| change.abs() >= settings.least_change - SLACK);
    let have_flipped =
        settings.most_flips.zip(flip_rate.ok()).is_some_and(|(most, rate)| rate > most + SLACK);
    let alarm = if have_moved {
        Some(SentinelAlarm::ScoresMoved)
    } else {
        have_flipped.then_some(SentinelAlarm::VerdictsFlipped)
    };
    let n = changes.len();
    Ok(Sentinel { mean_change, up, down, p, n, n_dropped: cases.len() - n, flip_rate, alarm })
}

#[cfg(test)]
mod tests {
    use super::{SentinelAlarm, SentinelCase, SentinelSettings, sentinel};
    use crate::drift::DriftError;
    use crate::estimate::UndefinedReason;

    fn case(now: f64, flipped: bool) -> SentinelCase {
        SentinelCase { reference: Some(0.8), now: Some(now), has_flipped: Some(flipped) }
    }

    fn check(cases: &[SentinelCase], alarm: Option<SentinelAlarm>) {
        let own = sentinel(cases, SentinelSettings::new(Some(0.1))).unwrap();
        assert_eq!(own.alarm, alarm, "{own:?}");
    }

    #[test]
    fn moved_scores_and_flipped_verdicts_alarm() {
        check(&[case(0.8, false); 50], None);
        check(&[case(0.75, false); 50], Some(SentinelAlarm::ScoresMoved));
        // Sure, but too little to matter.
        check(&[case(0.79, false); 50], None);
        // Six of six is p = 0.03.
        check(&[case(0.2, false); 6], None);
        let flips = |n: usize| [vec![case(0.8, true); n], vec![case(0.8, false); 50 - n]].concat();
        check(&flips(5), None);
        check(&flips(6), Some(SentinelAlarm::VerdictsFlipped));
    }

    #[test]
    fn missing_scores_are_counted_and_bad_ones_refused() {
        let none = SentinelCase { reference: None, now: Some(0.5), has_flipped: None };
        let own = sentinel(&[none], SentinelSettings::new(None)).unwrap();
        assert_eq!((own.mean_change, own.n_dropped, own.p), (Err(UndefinedReason::Empty), 1, 1.0));
        let error = sentinel(&[none, case(f64::NAN, false)], SentinelSettings::new(None)).unwrap_err();
        assert!(matches!(error, DriftError::NotFinite { list: "the scores of now", index: 1, .. }));
        let error = sentinel(&[], SentinelSettings::new(Some(2.0))).unwrap_err();
        assert!(matches!(error, DriftError::Setting { name: "repeat rate", .. }));
    }
}
