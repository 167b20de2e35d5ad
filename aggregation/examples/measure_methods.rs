//! Compares the rules of a panel on recorded judgments with labels. Reads what `scripts/measure-methods` writes: one
//! panel a line. Prints a Markdown table.

#![expect(clippy::print_stdout, reason = "the table is the product")]

use std::error::Error;
use std::io::{BufRead, stdin};

use aggregation::health::{effective_judges, errors};
use aggregation::labelled::{LabelledCase, LabelledCases};
use aggregation::panel_vote::AppliedMethod;
use aggregation::recommend::{Settings, measure_recommendation, recommend};
use aggregation::vote::{Distribution, Scoring};
use aggregation::{
    Abstention, Estimated, ExpectedOrders, JudgeId, Order, Pass, Preference, Rating, Scale, Value,
    fold_orders,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Panel {
    name: String,
    scale: Scale,
    both_orders: bool,
    judges: Vec<String>,
    cases: Vec<Case>,
    folds: usize,
    repeats: usize,
    /// What others measured, printed beside ours.
    reference: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    source: Option<u64>,
    label: serde_json::Value,
    /// `(judge, reversed, sample, value)`.
    passes: Vec<(usize, bool, u32, serde_json::Value)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| panel | n | judges | n_eff | unweighted | best single | kappa | log-odds | Dawid–Skene | stacked | mean | \
         recommended on all | recommendation, cross-validated | \
         less unweighted | less best single | chosen in the folds | reference |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for line in stdin().lock().lines() {
        show(&serde_json::from_str(&line?)?)?;
    }
    Ok(())
}

fn show(panel: &Panel) -> Result<(), Box<dyn Error>> {
    let cases =
        LabelledCases::new(panel.scale.clone(), panel.cases.iter().map(|case| read(panel, case)).collect())?;
    let settings = Settings { folds: panel.folds, repeats: panel.repeats, ..Settings::default() };
    let recommendation = recommend(&cases, settings)?;
    let inner = Settings { folds: 10, repeats: 1, ..settings };
    let measured = measure_recommendation(&cases, inner)?;
    let figure = |method: AppliedMethod| {
        let row = recommendation.rows.iter().find(|row| row.method == method);
        row.map_or("–".to_owned(), |row| number(row.agreement.map(|estimate| estimate.value)))
    };
    let unweighted =
        if panel.scale.range().is_some() { AppliedMethod::Median } else { AppliedMethod::Majority };
    let mut chosen: Vec<String> = measured.chosen.iter().map(|method| format!("{method:?}")).collect();
    chosen.sort();
    chosen.dedup();
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:?} | {} | {} | {} | {} | {} |",
        panel.name,
        cases.cases().len(),
        cases.judges().len(),
        effective_judges(&errors(&cases)).map_or("–".to_owned(), |found| format!("{:.2}", found.n_eff)),
        figure(unweighted),
        figure(AppliedMethod::BestSingle),
        figure(AppliedMethod::KappaWeighted),
        figure(AppliedMethod::LogOdds),
        figure(AppliedMethod::DawidSkene),
        figure(AppliedMethod::Stacked),
        figure(AppliedMethod::Mean),
        recommendation.recommended,
        number(measured.agreement.map(|estimate| estimate.value)),
        difference(measured.over_unweighted),
        difference(measured.over_best_single),
        chosen.join(", "),
        panel.reference,
    );
    Ok(())
}

fn number<E>(value: Result<f64, E>) -> String {
    value.map_or_else(|_| "–".to_owned(), |value| format!("{value:.4}"))
}

fn difference(estimated: Estimated) -> String {
    let Ok(estimate) = estimated else { return "–".to_owned() };
    match estimate.interval {
        Some(interval) => format!("{:+.4} [{:+.4}, {:+.4}]", estimate.value, interval.lo, interval.hi),
        None => format!("{:+.4}", estimate.value),
    }
}

fn read(panel: &Panel, case: &Case) -> LabelledCase {
    let passes: Vec<Pass> = case
        .passes
        .iter()
        .filter_map(|(judge, reversed, sample, value)| {
            Some(Pass {
                judge: JudgeId::new(panel.judges.get(*judge)?),
                order: if *reversed { Order::Reversed } else { Order::AsGiven },
                sample: *sample,
                outcome: rating_of(value).ok_or(Abstention::Refused),
            })
        })
        .collect();
    let orders = if panel.both_orders { ExpectedOrders::Both } else { ExpectedOrders::AsGiven };
    LabelledCase {
        votes: fold_orders(&passes, orders, &panel.scale),
        label: value_of(&case.label).unwrap_or(Value::Number(f64::NAN)),
        source: case.source,
    }
}

/// A written value, or `[p_a, p_b]` of a pair.
fn rating_of(json: &serde_json::Value) -> Option<Rating> {
    let written = |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
    let serde_json::Value::Array(probabilities) = json else { return value_of(json).map(written) };
    let &[Some(a), Some(b)] =
        probabilities.iter().map(serde_json::Value::as_f64).collect::<Vec<_>>().as_slice()
    else {
        return None;
    };
    let value = Value::Preference(if a >= b { Preference::A } else { Preference::B });
    let distribution = Distribution { label_mass: 1.0, bounds01: (0.0, 1.0), two_way: Some((a, b, 0.0)) };
    Some(Rating { scoring: Scoring::Expected, distribution: Some(distribution), ..written(value) })
}

fn value_of(json: &serde_json::Value) -> Option<Value> {
    match json {
        serde_json::Value::Bool(passed) => Some(Value::Pass(*passed)),
        serde_json::Value::Number(number) => number.as_f64().map(Value::Number),
        serde_json::Value::String(word) => match word.as_str() {
            "a" => Some(Value::Preference(Preference::A)),
            "b" => Some(Value::Preference(Preference::B)),
            "tie" => Some(Value::Preference(Preference::Tie)),
            _ => None,
        },
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
    }
}
