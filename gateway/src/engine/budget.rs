//! What may be spent. A call is sent only when its worst case still fits, so the cap holds as far as vendors bill what
//! they report.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::judge::{Judge, ProviderKind};
use crate::panel::Panel;

/// A cap in millionths of a US dollar, shared by all calls of a run or of a key.
#[derive(Debug)]
pub struct Budget {
    cap_microusd: u64,
    /// Whether the first call that does not fit ends it for all: a run stops there.
    ends_at_first_refusal: bool,
    state: Mutex<State>,
    /// Rings when room was given back, or when there will be none.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    spent_microusd: u64,
    /// The worst case of the calls under way.
    reserved_microusd: u64,
    is_exhausted: bool,
}

/// Room for one call. Dropped without being settled, it counts as spent: the outcome is unknown.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: Arc<Budget>,
    most_microusd: u64,
    is_settled: bool,
}

impl Budget {
    /// Of a run; `spent_microusd` was spent before, by the same run.
    pub fn new(cap_microusd: u64, spent_microusd: u64) -> Self {
        let state = State { spent_microusd, reserved_microusd: 0, is_exhausted: false };
        Self { cap_microusd, ends_at_first_refusal: true, state: Mutex::new(state), changed: Notify::new() }
    }

    /// Of a key: a call that does not fit is refused, and a cheaper one may still fit.
    pub fn of_key(cap_microusd: u64, spent_microusd: u64) -> Self {
        Self { ends_at_first_refusal: false, ..Self::new(cap_microusd, spent_microusd) }
    }

    /// Others spend from it too: at least this much is gone.
    pub fn note_spent(&self, spent_microusd: u64) {
        let mut state = self.lock();
        state.spent_microusd = state.spent_microusd.max(spent_microusd);
    }

    /// Whether nothing at all is left.
    pub fn is_spent(&self) -> bool {
        self.lock().spent_microusd >= self.cap_microusd
    }

    /// A cap in US dollars, rounded down to millionths; negative and undefined amounts are no money at all.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and caps are rounded down so that they are not exceeded"
    )]
    pub fn of_usd(cap_usd: f64, spent_microusd: u64) -> Self {
        // Why the half millionth: 0.1 USD is 100000 millionths, not 99999.
        Self::new((cap_usd * 1e6 + 0.5) as u64, spent_microusd)
    }

    /// What to say when the cap ended a run; `name` is what the user calls it.
    pub fn explain(&self, name: &str) -> String {
        format!(
            "stopped by {name} {}: {} USD are spent, and the next call may cost more than is left",
            dollars(self.cap_microusd),
            dollars(self.spent_microusd()),
        )
    }

    pub fn cap_microusd(&self) -> u64 {
        self.cap_microusd
    }

    pub fn spent_microusd(&self) -> u64 {
        self.lock().spent_microusd
    }

    /// Whether a call was refused.
    pub fn is_exhausted(&self) -> bool {
        self.lock().is_exhausted
    }

    /// Room for a call that costs at most this much; waits while calls under way may give some back. `None`: there will
    /// be no room; in a run's budget, for no further call either.
    pub(super) async fn reserve(self: &Arc<Self>, most_microusd: u64) -> Option<Reservation> {
        loop {
            // Made before the look, so that a change between look and wait is not missed.
            let changed = self.changed.notified();
            {
                let mut state = self.lock();
                let spent = state.spent_microusd.saturating_add(most_microusd);
                if state.is_exhausted || spent > self.cap_microusd {
                    state.is_exhausted = self.ends_at_first_refusal;
                    drop(state);
                    self.changed.notify_waiters();
                    return None;
                }
                if spent.saturating_add(state.reserved_microusd) <= self.cap_microusd {
                    state.reserved_microusd = state.reserved_microusd.saturating_add(most_microusd);
                    let budget = Arc::clone(self);
                    return Some(Reservation { budget, most_microusd, is_settled: false });
                }
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Judges that could spend without being seen: no cap can be kept with them.
pub fn unpriced(panel: &Panel) -> Vec<&Judge> {
    let judges = panel.judges.iter().chain(&panel.replacements).map(|judge| &**judge);
    judges.filter(|judge| judge.price.is_none() && judge.server.provider != ProviderKind::Replay).collect()
}

fn dollars(microusd: u64) -> String {
    format!("{}.{:06}", microusd / 1_000_000, microusd % 1_000_000)
}

impl Reservation {
    /// What the call cost; `None`: unknown, so its worst case. Returns what was taken.
    pub(super) fn settle(mut self, cost_microusd: Option<u64>) -> u64 {
        let taken = cost_microusd.unwrap_or(self.most_microusd);
        self.give_back(taken);
        taken
    }

    fn give_back(&mut self, cost_microusd: u64) {
        self.is_settled = true;
        let mut state = self.budget.lock();
        state.reserved_microusd = state.reserved_microusd.saturating_sub(self.most_microusd);
        state.spent_microusd = state.spent_microusd.saturating_add(cost_microusd);
        drop(state);
        self.budget.changed.notify_waiters();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.is_settled {
            self.give_back(self.most_microusd);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use proptest::prelude::*;

    use super::*;

    fn budget(cap: u64) -> Arc<Budget> {
        Arc::new(Budget::new(cap, 0))
    }

    #[tokio::test]
    async fn a_call_waits_for_room_that_others_may_give_back() {
        let budget = budget(10);
        let first = budget.reserve(8).await.unwrap();
        let mut second = Box::pin(budget.reserve(8));
        assert!((&mut second).now_or_never().is_none());
        first.settle(Some(2));
        second.await.unwrap().settle(Some(8));
        assert_eq!((budget.spent_microusd(), budget.is_exhausted()), (10, false));
    }

    #[tokio::test]
    async fn the_first_refusal_ends_it_for_all_who_wait() {
        let budget = budget(10);
        let first = budget.reserve(6).await.unwrap();
        let waiting = budget.reserve(6);
        let (refused, _) = tokio::join!(waiting, async { first.settle(Some(6)) });
        assert!(refused.is_none());
        assert!(budget.reserve(1).await.is_none(), "what comes later is refused as well");
        assert!(budget.is_exhausted());
    }

    #[tokio::test]
    async fn a_keys_budget_refuses_what_does_not_fit_and_takes_what_does() {
        let budget = Arc::new(Budget::of_key(10, 4));
        assert!(budget.reserve(7).await.is_none());
        assert_eq!(budget.reserve(5).await.unwrap().settle(Some(5)), 5);
        assert!(!budget.is_exhausted() && !budget.is_spent());
        budget.note_spent(3);
        assert_eq!(budget.spent_microusd(), 9, "what is known to be gone stays gone");
        budget.note_spent(10);
        assert!(budget.is_spent() && budget.reserve(1).await.is_none());
    }

    #[tokio::test]
    async fn an_unknown_outcome_counts_as_the_worst_case() {
        let budget = budget(10);
        assert_eq!(budget.reserve(3).await.unwrap().settle(None), 3);
        drop(budget.reserve(4).await.unwrap());
        assert_eq!(budget.spent_microusd(), 7);
    }

    #[tokio::test]
    async fn what_the_run_spent_before_counts() {
        let budget = Arc::new(Budget::new(10, 8));
        assert!(budget.reserve(3).await.is_none());
    }

    #[test]
    fn dollars_keep_their_millionths() {
        assert_eq!(dollars(2_500_001), "2.500001");
        assert_eq!(Budget::of_usd(0.1, 0).cap_microusd(), 100_000);
    }

    proptest! {
        /// Calls that cost no more than their worst case never spend more than the cap.
        #[test]
        fn the_cap_holds(cap in 0u64..1000, calls in prop::collection::vec((0u64..100, 0u64..100), 0..50)) {
            let budget = budget(cap);
            let mut under_way = Vec::new();
            for (most, cost) in calls {
                if let Some(Some(reservation)) = budget.reserve(most).now_or_never() {
                    under_way.push((reservation, cost.min(most)));
                }
                if under_way.len() == 3 {
                    let (reservation, cost) = under_way.remove(0);
                    reservation.settle(Some(cost));
                }
            }
            for (reservation, cost) in under_way {
                reservation.settle(Some(cost));
            }
            prop_assert!(budget.spent_microusd() <= cap);
        }
    }
}
