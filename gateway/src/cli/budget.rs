//! `--max-cost` and `--budget`: read, and refused where they could not be kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::exit::{Exit, Failure};
use crate::app::App;
use crate::engine::{Budget, is_unpriced, unpriced};
use crate::panel::Panel;
use crate::settings::Config;

/// A cap in US dollars.
pub(super) fn usd(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 && usd <= 1e9 => Ok(usd),
        Ok(_) | Err(_) => Err(String::from("write US dollars as a number above 0, such as 2.50")),
    }
}

/// A judge without a price could spend without being seen.
pub(super) fn refuse_unknown_prices(panel: &Panel) -> Result<(), Failure> {
    refuse("--max-cost", &unpriced(panel).iter().map(|judge| judge.id.to_string()).collect())
}

/// The same for all that a key may ask; no names: everything.
pub(super) fn refuse_unknown_prices_of_key(config: &Config, may_ask: &[String]) -> Result<(), Failure> {
    let is_open = |name: &str| may_ask.is_empty() || may_ask.iter().any(|allowed| allowed == name);
    let panels = config.panels.values().filter(|panel| is_open(&panel.name));
    let alone = config.judges.iter().filter(|(name, _)| is_open(&format!("judge/{name}")));
    let alone = alone.map(|(_, judge)| &**judge).filter(|judge| is_unpriced(judge));
    let unknown = panels.flat_map(|panel| unpriced(panel)).chain(alone);
    refuse("--budget", &unknown.map(|judge| judge.id.to_string()).collect())
}

fn refuse(flag: &str, unknown: &BTreeSet<String>) -> Result<(), Failure> {
    if unknown.is_empty() {
        return Ok(());
    }
    let unknown: Vec<String> = unknown.iter().map(|judge| format!("`{judge}`")).collect();
    Err(Failure::usage(format!(
        "{flag} cannot be kept: the price of {} is unknown; hint: set `judges.NAME.price: {{input: …, output: …}}` in USD per million tokens (0 for a machine of your own)",
        unknown.join(", ")
    )))
}

/// The cap of this run, with what its earlier sessions have spent.
pub(super) async fn budget(
    app: &App,
    project: &str,
    run: &str,
    max_cost_usd: f64,
) -> Result<Arc<Budget>, Failure> {
    let spent = app.engine().run_cost_microusd(project, run).await;
    let spent = spent.map_err(|error| Failure::new(Exit::Internal, error))?;
    Ok(Arc::new(Budget::of_usd(max_cost_usd, spent)))
}

/// For one case without a run.
pub(super) fn fresh(max_cost_usd: f64) -> Arc<Budget> {
    Arc::new(Budget::of_usd(max_cost_usd, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_positive_dollars() {
        for (text, expected) in
            [("2.50", 2_500_000), ("0.1", 100_000), ("1e3", 1_000_000_000), ("0.000001", 1)]
        {
            assert_eq!(usd(text).map(|cap| Budget::of_usd(cap, 0).cap_microusd()), Ok(expected), "{text}");
        }
        for text in ["0", "-1", "NaN", "inf", "1e12", "$2", ""] {
            assert!(usd(text).is_err(), "{text}");
        }
    }
}
