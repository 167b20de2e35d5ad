//! `--max-cost`: a run that stops before it spends more.

use super::{cases, folder};
use crate::support::binary::tribunal;
use crate::support::panel::{Folder, panel, with};
use crate::support::upstream::Upstream;

const CASES: usize = 100;
/// 100 tokens in at 1 USD a million, 10 out at 2 USD.
const CALL_MICROUSD: usize = 120;

fn costs(folder: &Folder, file: &str) -> (usize, u64) {
    let verdicts = folder.read(file);
    let verdicts = verdicts.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let costs: Vec<f64> = verdicts.map(|verdict| verdict["cost_usd"].as_f64().unwrap()).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few cents")]
    let microusd = (costs.iter().sum::<f64>() * 1e6).round() as u64;
    (costs.len(), microusd)
}

#[test]
fn a_capped_run_stops_before_the_cap_and_goes_on_under_a_higher_one() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    folder.write("cases.jsonl", &cases(CASES));
    let capped = ["judge", "cases.jsonl", "-j", "4", "-o", "out.jsonl", "--max-cost", "0.012"];
    let ran = tribunal(&folder, &capped).exits(2);
    let asked = upstream.count();
    assert!(asked * CALL_MICROUSD <= 12_000, "{asked} calls");
    let (judged, _) = costs(&folder, "out.jsonl");
    assert!(judged > 10 && judged < CASES, "{judged} verdicts");
    assert!(ran.stderr.contains("stopped by --max-cost 0.012000"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("{judged} of {CASES} cases are judged")), "{}", ran.stderr);
    assert!(ran.stderr.contains("--resume") && ran.stderr.contains("--max-cost MORE"), "{}", ran.stderr);
    let runs = tribunal(&folder, &["runs", "--json"]).exits(0).json_lines();
    assert_eq!(runs[0]["status"], "stopped");

    // What the run has spent counts when it goes on.
    let again = ["judge", "cases.jsonl", "-j", "4", "--quiet", "--resume", "last", "--max-cost", "0.012"];
    tribunal(&folder, &again).exits(2);
    assert!(upstream.count() * CALL_MICROUSD <= 12_000, "{} calls", upstream.count());

    let on = ["judge", "cases.jsonl", "-o", "out.jsonl", "--quiet", "--resume", "last", "--max-cost", "1"];
    tribunal(&folder, &on).exits(0);
    assert_eq!(upstream.count(), 3 * CASES, "each judge was asked once about each case");
    let whole = u64::try_from(3 * CASES * CALL_MICROUSD).unwrap();
    assert_eq!(
        costs(&folder, "out.jsonl"),
        (CASES, whole),
        "what was paid before the stop is in the verdicts"
    );
}

#[test]
fn a_cap_that_no_call_fits_under_spends_nothing() {
    let upstream = Upstream::saying("4");
    let folder = folder(&upstream);
    tribunal(&folder, &["judge", "cases.jsonl", "--max-cost", "0.000001"]).exits(2);
    let one = ["judge", "--input", "Capital of France?", "--output", "Paris.", "--max-cost", "0.000001"];
    let ran = tribunal(&folder, &one).exits(2);
    assert!(ran.stderr.contains("--max-cost"), "{}", ran.stderr);
    assert_eq!(upstream.count(), 0);
}

#[test]
fn a_cap_is_refused_where_a_price_is_unknown() {
    let upstream = Upstream::saying("4");
    let unpriced = with(panel(upstream.base_url()), serde_json::json!({"judges": {"bob": {"price": null}}}));
    let folder = Folder::with_panel(&unpriced);
    folder.write("cases.jsonl", &cases(3));
    let ran = tribunal(&folder, &["judge", "cases.jsonl", "--max-cost", "1"]).exits(64);
    assert!(
        ran.stderr.contains("the price of `bob` is unknown; hint: set `judges.NAME.price"),
        "{}",
        ran.stderr
    );
    for bad in ["0", "-1", "much", "NaN"] {
        tribunal(&folder, &["judge", "cases.jsonl", &format!("--max-cost={bad}")]).exits(64);
    }
    assert_eq!(upstream.count(), 0);
}
