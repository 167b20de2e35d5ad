//! How much of a per-minute limit has been used, slice by slice. Pure: every function is told the time.
//!
//! Two rules hold together. **Any sixty seconds** hold at most the limit; only a single amount that is larger than the
//! whole limit goes over it, and then alone. **Any moment** spends at most what ten seconds refill, so a run does not
//! begin with a whole minute's allowance: vendors also enforce their limits over shorter times than they advertise.
//!
//! Amounts are counted by the second, which takes constant memory, and a second more than a minute, because requests do
//! not travel equally fast and the server counts when they arrive. So a minute is 61 to 62 seconds long here, and the
//! rate up to 3.2 % below the limit.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::Instant;

const MINUTE: Duration = Duration::from_mins(1);
/// Sixty-one whole seconds and the one that has begun.
const SLICES: usize = 62;
/// What may be spent at once, as the time that it takes to refill.
const BURST: Duration = Duration::from_secs(10);

/// One limit of one server.
#[derive(Debug)]
pub(crate) struct Window {
    per_minute: u32,
    origin: Instant,
    /// Amounts by second; the slice of second `s` is at `s % SLICES`.
    slices: [u64; SLICES],
    /// The second that was looked at last.
    second: u64,
    /// When everything spent so far is refilled at an even pace.
    paid_until: Instant,
}

/// An amount that was taken, to be corrected once it is known what was used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charge {
    second: u64,
    amount: u32,
}

impl Window {
    pub(crate) fn new(per_minute: NonZeroU32, now: Instant) -> Self {
        Self { per_minute: per_minute.get(), origin: now, slices: [0; SLICES], second: 0, paid_until: now }
    }

    /// How long until this amount may be taken; `None`: now.
    pub(crate) fn wait(&mut self, amount: u32, now: Instant) -> Option<Duration> {
        self.move_to(now);
        let paced = (self.paid_until + self.refill(amount).min(BURST)).saturating_duration_since(now + BURST);
        let wait = paced.max(self.until_it_fits(amount, now));
        (!wait.is_zero()).then_some(wait)
    }

    /// Takes it, whether it fits or not.
    pub(crate) fn take(&mut self, amount: u32, now: Instant) -> Charge {
        self.move_to(now);
        self.add(self.second, u64::from(amount));
        self.paid_until = self.paid_until.max(now) + self.refill(amount);
        Charge { second: self.second, amount }
    }

    /// Corrects a charge by what was really used: the rest is given back to the second from which it was taken, what
    /// was used beyond it is added there.
    pub(crate) fn settle(&mut self, charge: Charge, used: u64, now: Instant) {
        self.move_to(now);
        let amount = u64::from(charge.amount);
        if used <= amount {
            let rest = amount - used;
            if self.is_counted(charge.second)
                && let Some(slice) = self.slice(charge.second)
            {
                *slice = slice.saturating_sub(rest);
            }
            let refill = self.refill(u32::try_from(rest).unwrap_or(u32::MAX));
            self.paid_until = self.paid_until.checked_sub(refill).unwrap_or(now);
        } else {
            // A server that reports absurd usage must not stop the line for hours.
            let excess = u32::try_from(used - amount).unwrap_or(u32::MAX).min(self.per_minute);
            let second = if self.is_counted(charge.second) { charge.second } else { self.second };
            self.add(second, u64::from(excess));
            self.paid_until = self.paid_until.max(now) + self.refill(excess);
        }
    }

    /// Nothing is spent at once after this time: a server that asked for a pause is met at an even pace.
    pub(crate) fn spend_burst(&mut self, until: Instant) {
        self.paid_until = self.paid_until.max(until + BURST);
    }

    /// The time in which so much is refilled.
    fn refill(&self, amount: u32) -> Duration {
        MINUTE.mul_f64(f64::from(amount) / f64::from(self.per_minute))
    }

    /// How long until enough old slices have left the window.
    fn until_it_fits(&self, amount: u32, now: Instant) -> Duration {
        let limit = u64::from(self.per_minute);
        let sum: u64 = self.slices.iter().fold(0, |sum, slice| sum.saturating_add(*slice));
        let mut surplus = sum.saturating_add(u64::from(amount).min(limit)).saturating_sub(limit);
        let oldest = (self.second + 1).saturating_sub(SLICES as u64);
        for second in oldest..=self.second {
            if surplus == 0 {
                break;
            }
            surplus = surplus.saturating_sub(self.amount_at(second));
            if surplus == 0 {
                let leaves = self.origin + Duration::from_secs(second + SLICES as u64);
                return leaves.saturating_duration_since(now);
            }
        }
        Duration::ZERO
    }

    fn move_to(&mut self, now: Instant) {
        let second = now.saturating_duration_since(self.origin).as_secs().max(self.second);
        let passed = (second - self.second).min(SLICES as u64);
        for step in 0..passed {
            if let Some(slice) = self.slice(second - step) {
                *slice = 0;
            }
        }
        self.second = second;
    }

    fn is_counted(&self, second: u64) -> bool {
        self.second - second.min(self.second) < SLICES as u64
    }

    fn add(&mut self, second: u64, amount: u64) {
        if let Some(slice) = self.slice(second) {
            *slice = slice.saturating_add(amount);
        }
    }

    fn slice(&mut self, second: u64) -> Option<&mut u64> {
        self.slices.get_mut(place(second))
    }

    fn amount_at(&self, second: u64) -> u64 {
        self.slices.get(place(second)).copied().unwrap_or(0)
    }
}

fn place(second: u64) -> usize {
    usize::try_from(second % SLICES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(per_minute: u32) -> (Window, Instant) {
        let now = Instant::now();
        (Window::new(NonZeroU32::new(per_minute).unwrap(), now), now)
    }

    /// Takes amounts as early as they may be taken; the times, in seconds from the start.
    fn greedy(
        window: &mut Window,
        start: Instant,
        amounts: impl IntoIterator<Item = u32>,
    ) -> Vec<(f64, u32)> {
        let mut now = start;
        let mut taken = Vec::new();
        for amount in amounts {
            while let Some(wait) = window.wait(amount, now) {
                now += wait;
            }
            window.take(amount, now);
            taken.push(((now - start).as_secs_f64(), amount));
        }
        taken
    }

    /// The most that any sixty seconds hold.
    fn most_in_a_minute(taken: &[(f64, u32)]) -> u64 {
        let (mut first, mut sum, mut most) = (0, 0, 0);
        for (at, amount) in taken {
            sum += u64::from(*amount);
            while taken[first].0 < at - 60.0 {
                sum -= u64::from(taken[first].1);
                first += 1;
            }
            most = most.max(sum);
        }
        most
    }

    #[test]
    fn any_sixty_seconds_hold_at_most_the_limit() {
        for per_minute in [1, 2, 3, 7, 60, 61, 600, 1000] {
            let (mut window, start) = window(per_minute);
            let taken = greedy(&mut window, start, std::iter::repeat_n(1, per_minute as usize * 3));
            assert!(most_in_a_minute(&taken) <= u64::from(per_minute), "{per_minute} a minute");
            let (took, _) = *taken.last().unwrap();
            assert!(
                (119.0..=190.0).contains(&took),
                "{per_minute} a minute: three minutes' worth in {took} s"
            );
        }
    }

    #[test]
    fn a_run_begins_with_a_small_burst_and_goes_on_evenly() {
        let (mut window, start) = window(600);
        let taken = greedy(&mut window, start, std::iter::repeat_n(1, 700));
        let by = |second: f64| taken.iter().filter(|(at, _)| *at <= second).count();
        assert_eq!(by(0.0), 100, "ten seconds' worth at once");
        assert!((148..=152).contains(&by(5.0)), "then ten a second: {}", by(5.0));
        assert_eq!(by(59.9), 600);
    }

    #[test]
    fn amounts_of_any_size_are_counted() {
        let (mut window, start) = window(1000);
        let sizes = [10, 400, 90, 1, 250, 1000, 333].into_iter().cycle().take(50);
        let taken = greedy(&mut window, start, sizes);
        assert!(most_in_a_minute(&taken) <= 1000);
    }

    #[test]
    fn more_than_the_whole_limit_goes_alone() {
        let (mut window, start) = window(1000);
        let taken = greedy(&mut window, start, [5, 1500, 5]);
        assert!((60.0..=62.0).contains(&taken[1].0), "after the first has left: {taken:?}");
        assert!(taken[2].0 - taken[1].0 >= 60.0, "{taken:?}");
    }

    #[test]
    fn unused_amounts_are_given_back_and_others_are_added() {
        let check = |used: u64, free: u32, is_free: bool| {
            let (mut window, start) = window(1000);
            let charge = window.take(900, start);
            let later = start + Duration::from_secs(59);
            window.settle(charge, used, later);
            assert_eq!(window.wait(free, later).is_none(), is_free, "{used} used, {free} asked");
        };
        check(900, 100, true);
        check(900, 101, false);
        check(100, 900, true);
        check(100, 901, false);
        check(0, 1000, true);
        check(990, 10, true);
        check(990, 11, false);
    }

    #[test]
    fn late_news_is_counted_when_it_comes() {
        let (mut window, start) = window(1000);
        let charge = window.take(500, start);
        let later = start + Duration::from_secs(200);
        window.settle(charge, 100, later);
        assert!(window.wait(1000, later).is_none(), "a minute that is over gives nothing back");
        window.settle(charge, 900, later);
        assert!(window.wait(601, later).is_some());
    }

    #[test]
    fn absurd_usage_stops_the_line_for_two_minutes_at_most() {
        let (mut window, start) = window(1000);
        let charge = window.take(10, start);
        window.settle(charge, u64::MAX, start);
        let wait = window.wait(1, start).unwrap();
        assert!(wait <= Duration::from_mins(2), "{wait:?}");
    }

    #[test]
    fn after_a_pause_there_is_no_burst() {
        let (mut window, start) = window(60);
        let pause_ends = start + Duration::from_secs(30);
        window.spend_burst(pause_ends);
        let taken = greedy(&mut window, pause_ends, [1, 1, 1]);
        let times: Vec<f64> = taken.iter().map(|(at, _)| at.round()).collect();
        assert_eq!(times, [1.0, 2.0, 3.0]);
    }
}
