//! Where the parts of a picture stand, in percent of its width: a page of any width draws them without a script.

use serde::Serialize;

use crate::gate::report::{CriterionReport, PairAgreement, RequirementReport};

/// Least width of an axis, so that noise does not fill the picture.
const NARROWEST: f64 = 0.1;
/// Room beside the outermost mark, as a share of the axis.
const MARGIN: f64 = 0.15;
/// Height of the tallest bar, and where bars stand.
const TALLEST_PX: f64 = 64.0;
const GROUND_PX: f64 = 84.0;

/// A requirement's estimate and bounds beside its threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct IntervalPlot {
    pub threshold: f64,
    pub estimate: Option<f64>,
    pub bounds: Option<Band>,
    /// What cases that wait for a person could make of the estimate.
    pub pending: Option<(f64, f64)>,
    pub ticks: Vec<Tick>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Band {
    pub from: f64,
    pub width: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Tick {
    pub at: f64,
    pub text: String,
}

impl IntervalPlot {
    pub(super) fn of(own: &RequirementReport) -> Self {
        let marks = [Some(own.threshold), own.estimate, own.lower, own.upper]
            .into_iter()
            .flatten()
            .chain(own.pending_range.into_iter().flat_map(|(low, high)| [low, high]));
        let (low, high) =
            marks.fold((1.0_f64, -1.0_f64), |(low, high), mark| (low.min(mark), high.max(mark)));
        let axis = Axis::around(low, high);
        Self {
            threshold: axis.place(own.threshold),
            estimate: own.estimate.map(|mark| axis.place(mark)),
            bounds: own.lower.zip(own.upper).map(|(lower, upper)| axis.band(lower, upper)),
            pending: own.pending_range.map(|(low, high)| (axis.place(low), axis.place(high))),
            ticks: axis.ticks(),
        }
    }
}

/// A piece of the line from -1 to 1 that begins and ends at round figures.
#[derive(Debug, Clone, Copy)]
struct Axis {
    from: f64,
    to: f64,
    step: f64,
}

impl Axis {
    fn around(low: f64, high: f64) -> Self {
        // Differences begin at -1.
        let least = if low < 0.0 { -1.0 } else { 0.0 };
        let width = (high - low).max(NARROWEST);
        let middle = f64::midpoint(low, high);
        let room = width * (0.5 + MARGIN);
        let step = [0.02, 0.05, 0.1, 0.2].into_iter().find(|step| 2.0 * room / step <= 7.0).unwrap_or(0.5);
        let from = (((middle - room) / step).floor() * step).max(least);
        let to = (((middle + room) / step).ceil() * step).min(1.0);
        Self { from, to, step }
    }

    fn place(self, mark: f64) -> f64 {
        round((mark - self.from) / (self.to - self.from) * 100.0)
    }

    fn band(self, lower: f64, upper: f64) -> Band {
        let from = self.place(lower);
        Band { from, width: round(self.place(upper) - from) }
    }

    fn ticks(self) -> Vec<Tick> {
        let mut ticks = Vec::new();
        let mut mark = self.from;
        // Half a step: sums of tenths end a little beside their end.
        while mark <= self.to + self.step / 2.0 && mark <= 1.0 + self.step / 2.0 {
            ticks.push(Tick { at: self.place(mark.min(1.0)), text: format!("{:.2}", mark.min(1.0)) });
            mark += self.step;
        }
        ticks
    }
}

/// One of ten bars; pixels from the top of the picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Bar {
    pub at: f64,
    pub top: f64,
    pub height: f64,
    pub count: u64,
    pub from: String,
    pub to: String,
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases, far below 2^53")]
pub(super) fn histogram(own: &CriterionReport) -> Vec<Bar> {
    let most = own.histogram.iter().copied().max().unwrap_or(0);
    let width = 1.0 / own.histogram.len().max(1) as f64;
    let bar = |(index, count): (usize, &u64)| {
        let height = if most == 0 { 0.0 } else { *count as f64 / most as f64 * TALLEST_PX };
        let from = index as f64 * width;
        // What is there is seen.
        let height = if *count > 0 { round(height).max(2.0) } else { 0.0 };
        Bar {
            at: round(from * 100.0),
            top: round(GROUND_PX - height),
            height,
            count: *count,
            from: format!("{from:.1}"),
            to: format!("{:.1}", from + width),
        }
    };
    own.histogram.iter().enumerate().map(bar).collect()
}

/// Kappas of all pairs of judges: a row a judge, with those before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct KappaMatrix {
    pub judges: Vec<String>,
    pub rows: Vec<Vec<Option<KappaCell>>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct KappaCell {
    pub first: String,
    pub second: String,
    pub n: u64,
    pub kappa: Option<f64>,
    /// Why there is none; empty where there is one.
    pub undefined: String,
    /// How dark it is, 0 to 4.
    pub shade: u8,
}

impl KappaMatrix {
    pub(super) fn of(pairs: &[PairAgreement]) -> Self {
        let mut judges: Vec<String> =
            pairs.iter().flat_map(|pair| [pair.first.clone(), pair.second.clone()]).collect();
        judges.sort();
        judges.dedup();
        let cell = |row: &String, column: &String| {
            let is_this = |pair: &&PairAgreement| {
                (&pair.first, &pair.second) == (row, column) || (&pair.first, &pair.second) == (column, row)
            };
            pairs.iter().find(is_this).map(|pair| KappaCell {
                first: pair.first.clone(),
                second: pair.second.clone(),
                n: pair.n,
                kappa: pair.kappa,
                undefined: pair.undefined.clone().unwrap_or_default(),
                shade: shade(pair.kappa),
            })
        };
        let row = |(index, row)| judges.iter().take(index).map(|column| cell(row, column)).collect();
        Self { rows: judges.iter().enumerate().map(row).collect(), judges }
    }
}

/// In steps of a fifth; below zero like none.
fn shade(kappa: Option<f64>) -> u8 {
    match kappa {
        Some(kappa) if kappa >= 0.8 => 4,
        Some(kappa) if kappa >= 0.6 => 3,
        Some(kappa) if kappa >= 0.4 => 2,
        Some(kappa) if kappa >= 0.2 => 1,
        Some(_) | None => 0,
    }
}

/// Two decimals of a percent: less than a pixel.
fn round(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::Axis;

    #[test]
    fn an_axis_holds_its_marks_and_stays_on_the_scale() {
        let check = |low: f64, high: f64| {
            let axis = Axis::around(low, high);
            assert!((-1.0..=1.0).contains(&axis.from) && axis.to <= 1.0, "{axis:?}");
            assert!(low < 0.0 || axis.from >= 0.0, "{axis:?}");
            assert!(axis.from <= low && high <= axis.to, "{axis:?} does not hold {low} to {high}");
            let ticks = axis.ticks();
            assert!((3..=12).contains(&ticks.len()), "{axis:?}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (0.0..=100.0).contains(&tick.at)), "{ticks:?}");
        };
        check(0.0, 0.0);
        check(1.0, 1.0);
        check(0.0, 1.0);
        check(0.85, 0.85);
        check(0.849, 0.851);
        check(0.81, 0.99);
        check(0.3, 0.7);
        check(0.02, 0.55);
        check(-0.12, 0.04);
        check(-1.0, 1.0);
    }
}
