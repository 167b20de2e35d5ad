//! `tribunal judge --dry-run`: how many calls a run would make and what they would cost at most. Nothing is sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use providers::chat::{ChatRequest, Usage};
use providers::{pricing, tokens};

use super::table::{Column, render};
use crate::case::Case;
use crate::engine::plan::{self, Call, Settled};
use crate::engine::prompt::{self, Question};
use crate::intake::{CaseFile, IntakeError, IntakeOptions};
use crate::judge::{Judge, ProviderKind};
use crate::panel::{ModelKin, Panel};

/// What one judge would be asked.
#[derive(Debug, Default)]
struct Share {
    calls: u64,
    prompt_tokens: u64,
    /// Every answer as long as the judge's token cap allows.
    completion_tokens: u64,
}

/// Reads the whole file (blocking). Repairs, retries, replacements and the judgment cache are not counted.
pub(super) fn estimate(
    panel: &Panel,
    file: &CaseFile,
    options: &IntakeOptions,
    models: &[ModelKin],
    allow_kin: bool,
) -> Result<String, IntakeError> {
    let mut shares: BTreeMap<String, (Arc<Judge>, Share)> = BTreeMap::new();
    for judge in &panel.judges {
        shares.insert(judge.id.to_string(), (Arc::clone(judge), Share::default()));
    }
    for case in file.read(options)?.flatten() {
        // What checks or an empty answer settle is asked of nobody.
        let findings = plan::findings(panel, &case);
        if plan::settled(panel, &case, &findings) != Settled::No {
            continue;
        }
        for (judge, share) in shares.values_mut() {
            if plan::standing(panel, &case, judge, models, allow_kin).excluded.is_none() {
                for call in plan::calls(panel, &case, judge) {
                    share.add(panel, &case, &call);
                }
            }
        }
    }
    Ok(table(&shares))
}

impl Share {
    fn add(&mut self, panel: &Panel, case: &Case, call: &Call) {
        if call.judge.server.provider == ProviderKind::Replay {
            return;
        }
        self.calls += 1;
        self.completion_tokens += u64::from(call.judge.params.max_tokens);
        let question = Question {
            case,
            rubric: &panel.rubric,
            criteria: &call.criteria,
            template: &call.judge.template,
            order: call.order,
        };
        if let Ok(prompt) = prompt::render(&question) {
            let without_answer = ChatRequest { max_tokens: Some(0), ..ChatRequest::new(prompt.messages) };
            self.prompt_tokens += u64::from(tokens::estimate(&without_answer));
        }
    }

    /// US dollars at most; `None` when the price is unknown.
    fn cost_usd(&self, judge: &Judge) -> Option<f64> {
        let price = judge.price?;
        let price = pricing::Price { input: price.input, output: price.output, cached_input: None };
        let usage = Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            ..Usage::default()
        };
        #[expect(clippy::cast_precision_loss, reason = "exact below 9 billion dollars")]
        pricing::cost_microusd(&usage, &price).map(|micro| micro as f64 / 1e6)
    }
}

fn table(shares: &BTreeMap<String, (Arc<Judge>, Share)>) -> String {
    let columns = [
        Column::left("judge"),
        Column::right("calls"),
        Column::right("prompt tokens"),
        Column::right("cost at most"),
    ];
    let usd = |cost: Option<f64>| cost.map_or_else(|| String::from("unknown"), |usd| format!("{usd:.4} USD"));
    let mut total = Some(0.0);
    let mut calls = 0;
    let mut rows = Vec::new();
    for (name, (judge, share)) in shares {
        let cost = share.cost_usd(judge);
        total = total.zip(cost).map(|(sum, cost)| sum + cost);
        calls += share.calls;
        rows.push(vec![
            name.clone(),
            share.calls.to_string(),
            format!("about {}", share.prompt_tokens),
            usd(cost),
        ]);
    }
    rows.push(vec![String::from("all"), calls.to_string(), String::new(), usd(total)]);
    render(&columns, &rows)
}
