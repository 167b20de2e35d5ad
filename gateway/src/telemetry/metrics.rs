//! Every metric, declared once with its help. The registry is passed, never global.

use std::time::Duration;

use aggregation::vote::{Abstention, JudgeId};
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};

use crate::judgment::{Judgment, Source};
use crate::verdict::CaseVerdict;

/// Seconds: from a local cache hit to a slow reasoning judge.
const CALL_BUCKETS: &[f64] = &[0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Seconds: what Tribunal itself adds.
const OVERHEAD_BUCKETS: &[f64] = &[0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1.0];

/// All metrics of one gateway.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Registry,
    verdicts: IntCounterVec,
    escalations: IntCounterVec,
    judgments: IntCounterVec,
    repairs: IntCounterVec,
    retries: IntCounterVec,
    tokens: IntCounterVec,
    cost_microusd: IntCounterVec,
    call_seconds: HistogramVec,
    verdict_seconds: HistogramVec,
    overhead_seconds: Histogram,
    record_seconds: Histogram,
    http_requests: IntCounterVec,
    recorder_waiting_records: IntGauge,
    triage_cases: IntGaugeVec,
}

impl Metrics {
    /// Registers every metric in a new registry.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new_custom(Some(String::from("tribunal")), None)?;
        let counter = |name: &str, help: &str, labels: &[&str]| -> Result<IntCounterVec, prometheus::Error> {
            let metric = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(metric.clone()))?;
            Ok(metric)
        };
        let histograms =
            |name: &str, help: &str, labels: &[&str]| -> Result<HistogramVec, prometheus::Error> {
                let metric =
                    HistogramVec::new(HistogramOpts::new(name, help).buckets(CALL_BUCKETS.to_vec()), labels)?;
                registry.register(Box::new(metric.clone()))?;
                Ok(metric)
            };
        let histogram = |name: &str, help: &str| -> Result<Histogram, prometheus::Error> {
            let metric =
                Histogram::with_opts(HistogramOpts::new(name, help).buckets(OVERHEAD_BUCKETS.to_vec()))?;
            registry.register(Box::new(metric.clone()))?;
            Ok(metric)
        };
        let verdicts = counter(
            "verdicts_total",
            "Verdicts by panel and outcome (decided, undecided).",
            &["panel", "outcome"],
        )?;
        let escalations = counter(
            "escalations_total",
            "Escalated cases by panel and reason; a case may have several.",
            &["panel", "reason"],
        )?;
        let judgments = counter(
            "judgments_total",
            "Judgments by judge and outcome: rated, or the kind of abstention; reused ones apart.",
            &["judge", "outcome"],
        )?;
        let repairs =
            counter("repairs_total", "Repair re-asks of unreadable replies, by judge.", &["judge"])?;
        let retries =
            counter("retries_total", "Requests beyond the first one of a call, by judge.", &["judge"])?;
        let tokens = counter(
            "tokens_total",
            "Tokens as the servers counted them, by judge and direction.",
            &["judge", "direction"],
        )?;
        let cost_microusd =
            counter("cost_microusd_total", "Known cost in millionths of a US dollar, by judge.", &["judge"])?;
        let http_requests = counter(
            "http_requests_total",
            "HTTP requests by route template and status.",
            &["route", "status"],
        )?;
        let call_seconds = histograms(
            "judge_call_duration_seconds",
            "Time of one call to a judge, its waits and retries included.",
            &["judge"],
        )?;
        let verdict_seconds = histograms(
            "verdict_duration_seconds",
            "Time from a case to its durable verdict, by panel.",
            &["panel"],
        )?;
        let overhead_seconds = histogram(
            "overhead_seconds",
            "Time of a verdict less the union of its upstream intervals and the writing.",
        )?;
        let record_seconds = histogram("record_duration_seconds", "Time until a verdict is durable.")?;
        let recorder_waiting_records =
            IntGauge::new("recorder_waiting_records", "Records that are queued or being committed.")?;
        registry.register(Box::new(recorder_waiting_records.clone()))?;
        let triage_cases = IntGaugeVec::new(
            Opts::new("triage_cases", "Cases that wait for a person, read from the store at scrape."),
            &["project"],
        )?;
        registry.register(Box::new(triage_cases.clone()))?;
        Ok(Self {
            registry,
            verdicts,
            escalations,
            judgments,
            repairs,
            retries,
            tokens,
            cost_microusd,
            call_seconds,
            verdict_seconds,
            overhead_seconds,
            record_seconds,
            http_requests,
            recorder_waiting_records,
            triage_cases,
        })
    }

    /// One call's judgments, at the moment they are recorded.
    pub fn observe_call(&self, judge: &JudgeId, judgments: &[Judgment]) {
        let name = judge.as_str();
        for judgment in judgments {
            self.judgments.with_label_values(&[name, outcome_label(judgment)]).inc();
        }
        let Some(call) = judgments.first().map(|judgment| &judgment.call) else { return };
        self.call_seconds
            .with_label_values(&[name])
            .observe(Duration::from_micros(call.latency_us).as_secs_f64());
        let planned = 1 + u64::from(call.repaired);
        self.retries.with_label_values(&[name]).inc_by((call.attempts.len() as u64).saturating_sub(planned));
        self.repairs.with_label_values(&[name]).inc_by(u64::from(call.repaired));
        if let Some(usage) = call.usage {
            self.tokens.with_label_values(&[name, "prompt"]).inc_by(usage.prompt_tokens);
            self.tokens.with_label_values(&[name, "completion"]).inc_by(usage.completion_tokens);
        }
        self.cost_microusd.with_label_values(&[name]).inc_by(call.cost_microusd.unwrap_or(0));
    }

    /// One durable verdict.
    pub fn observe_verdict(&self, verdict: &CaseVerdict) {
        let panel = verdict.panel.as_str();
        let is_decided = verdict.criteria.values().all(|criterion| criterion.value.is_some());
        self.verdicts.with_label_values(&[panel, if is_decided { "decided" } else { "undecided" }]).inc();
        for reason in &verdict.escalation_reasons {
            self.escalations.with_label_values(&[panel, &snake(reason)]).inc();
        }
        self.verdict_seconds.with_label_values(&[panel]).observe(verdict.latency_ms / 1000.0);
        self.overhead_seconds.observe(verdict.overhead_ms / 1000.0);
        self.record_seconds.observe(verdict.record_ms / 1000.0);
    }

    pub fn observe_http(&self, route: &str, status: u16) {
        self.http_requests.with_label_values(&[route, &status.to_string()]).inc();
    }

    /// The text format, with the gauges that are read at scrape.
    pub fn render(
        &self,
        waiting_records: u64,
        triage: &[(String, i64)],
    ) -> Result<String, prometheus::Error> {
        self.recorder_waiting_records.set(i64::try_from(waiting_records).unwrap_or(i64::MAX));
        self.triage_cases.reset();
        for (project, open) in triage {
            self.triage_cases.with_label_values(&[project.as_str()]).set(*open);
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        String::from_utf8(text).map_err(|error| prometheus::Error::Msg(error.to_string()))
    }
}

fn outcome_label(judgment: &Judgment) -> &'static str {
    match (judgment.source, judgment.outcome) {
        (Source::Cached | Source::Resumed | Source::Replayed, _) => "reused",
        (Source::Asked | Source::Rule, Ok(_)) => "rated",
        (Source::Asked | Source::Rule, Err(abstention)) => match abstention {
            Abstention::Refused => "refused",
            Abstention::Unparseable(_) => "unparseable",
            Abstention::Unsupported => "unsupported",
            Abstention::TooLong => "too_long",
            Abstention::TimedOut => "timed_out",
            Abstention::Unavailable => "unavailable",
            Abstention::RateLimited => "rate_limited",
            Abstention::OverBudget => "over_budget",
            Abstention::Excluded(_) => "excluded",
        },
    }
}

/// The name under which serde writes a plain enum variant.
fn snake(reason: &impl serde::Serialize) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(_) | Err(_) => String::from("other"),
    }
}
