//! Every metric, declared once with its help. The registry is passed, never global.

use std::time::Duration;

use aggregation::vote::{Abstention, JudgeId};
use prometheus::core::Collector;
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

/// A metric as operators know it.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    /// Their values come from closed sets: names in `panel.yaml`, routes, outcomes.
    pub labels: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Counter,
    Gauge,
    /// Upper bounds of the buckets, in the unit of the name.
    Histogram(&'static [f64]),
}

type Labels = &'static [&'static str];

impl Declaration {
    const fn counter(name: &'static str, help: &'static str, labels: Labels) -> Self {
        Self { name, help, kind: Kind::Counter, labels }
    }
    const fn gauge(name: &'static str, help: &'static str, labels: Labels) -> Self {
        Self { name, help, kind: Kind::Gauge, labels }
    }
    const fn histogram(
        name: &'static str,
        help: &'static str,
        labels: Labels,
        buckets: &'static [f64],
    ) -> Self {
        Self { name, help, kind: Kind::Histogram(buckets), labels }
    }
}

const VERDICTS: Declaration = Declaration::counter(
    "tribunal_verdicts_total",
    "Verdicts by panel and outcome: `decided`, or `undecided` when a criterion has no value.",
    &["panel", "outcome"],
);
const ESCALATIONS: Declaration = Declaration::counter(
    "tribunal_escalations_total",
    "Escalated cases by panel and reason; a case may have several.",
    &["panel", "reason"],
);
const JUDGMENTS: Declaration = Declaration::counter(
    "tribunal_judgments_total",
    "Judgments by judge and outcome: `rated`, the kind of abstention, or `reused` for those that cost no call.",
    &["judge", "outcome"],
);
const REPAIRS: Declaration = Declaration::counter(
    "tribunal_repairs_total",
    "Repair re-asks of unreadable replies, by judge.",
    &["judge"],
);
const RETRIES: Declaration = Declaration::counter(
    "tribunal_retries_total",
    "Requests beyond the first one of a call, by judge.",
    &["judge"],
);
const TOKENS: Declaration = Declaration::counter(
    "tribunal_tokens_total",
    "Tokens as the servers counted them, by judge and direction: `prompt` or `completion`.",
    &["judge", "direction"],
);
const COST: Declaration = Declaration::counter(
    "tribunal_cost_microusd_total",
    "Known cost in millionths of a US dollar, by judge.",
    &["judge"],
);
const HTTP_REQUESTS: Declaration = Declaration::counter(
    "tribunal_http_requests_total",
    "HTTP requests by route template and status.",
    &["route", "status"],
);
const CALL_SECONDS: Declaration = Declaration::histogram(
    "tribunal_judge_call_duration_seconds",
    "Time of one call to a judge, its waits and retries included.",
    &["judge"],
    CALL_BUCKETS,
);
const VERDICT_SECONDS: Declaration = Declaration::histogram(
    "tribunal_verdict_duration_seconds",
    "Time from a case to its durable verdict, by panel.",
    &["panel"],
    CALL_BUCKETS,
);
const OVERHEAD_SECONDS: Declaration = Declaration::histogram(
    "tribunal_overhead_seconds",
    "Time of a verdict less the union of its upstream intervals and the writing.",
    &[],
    OVERHEAD_BUCKETS,
);
const RECORD_SECONDS: Declaration = Declaration::histogram(
    "tribunal_record_duration_seconds",
    "Time until a verdict is durable.",
    &[],
    OVERHEAD_BUCKETS,
);
const WAITING_RECORDS: Declaration = Declaration::gauge(
    "tribunal_recorder_waiting_records",
    "Records that are queued or being committed.",
    &[],
);
const TRIAGE_CASES: Declaration = Declaration::gauge(
    "tribunal_triage_cases",
    "Cases that wait for a person, read from the store at scrape.",
    &["project"],
);

const RELOADS: Declaration = Declaration::counter(
    "tribunal_config_reloads_total",
    "Changes of the settings file by outcome: `applied`, or `refused` when the old version stays in force.",
    &["outcome"],
);
const RELOAD_SUCCESSFUL: Declaration = Declaration::gauge(
    "tribunal_config_last_reload_successful",
    "1 while the settings file as it is now is in force, 0 while it is refused.",
    &[],
);

/// Every metric of a gateway.
pub const DECLARATIONS: [Declaration; 16] = [
    VERDICTS,
    ESCALATIONS,
    JUDGMENTS,
    REPAIRS,
    RETRIES,
    TOKENS,
    COST,
    CALL_SECONDS,
    VERDICT_SECONDS,
    OVERHEAD_SECONDS,
    RECORD_SECONDS,
    HTTP_REQUESTS,
    WAITING_RECORDS,
    TRIAGE_CASES,
    RELOADS,
    RELOAD_SUCCESSFUL,
];

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
    reloads: IntCounterVec,
    reload_successful: IntGauge,
}

impl Metrics {
    /// Registers every metric in a new registry.
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let register = |collector: Box<dyn Collector>| registry.register(collector);
        let counter = |declared: &Declaration| -> Result<IntCounterVec, prometheus::Error> {
            let metric = IntCounterVec::new(Opts::new(declared.name, declared.help), declared.labels)?;
            register(Box::new(metric.clone()))?;
            Ok(metric)
        };
        let histograms = |declared: &Declaration| -> Result<HistogramVec, prometheus::Error> {
            let metric = HistogramVec::new(buckets(declared), declared.labels)?;
            register(Box::new(metric.clone()))?;
            Ok(metric)
        };
        let histogram = |declared: &Declaration| -> Result<Histogram, prometheus::Error> {
            let metric = Histogram::with_opts(buckets(declared))?;
            register(Box::new(metric.clone()))?;
            Ok(metric)
        };
        let recorder_waiting_records = IntGauge::new(WAITING_RECORDS.name, WAITING_RECORDS.help)?;
        register(Box::new(recorder_waiting_records.clone()))?;
        let triage_cases =
            IntGaugeVec::new(Opts::new(TRIAGE_CASES.name, TRIAGE_CASES.help), TRIAGE_CASES.labels)?;
        register(Box::new(triage_cases.clone()))?;
        let reload_successful = IntGauge::new(RELOAD_SUCCESSFUL.name, RELOAD_SUCCESSFUL.help)?;
        reload_successful.set(1);
        register(Box::new(reload_successful.clone()))?;
        Ok(Self {
            verdicts: counter(&VERDICTS)?,
            escalations: counter(&ESCALATIONS)?,
            judgments: counter(&JUDGMENTS)?,
            repairs: counter(&REPAIRS)?,
            retries: counter(&RETRIES)?,
            tokens: counter(&TOKENS)?,
            cost_microusd: counter(&COST)?,
            call_seconds: histograms(&CALL_SECONDS)?,
            verdict_seconds: histograms(&VERDICT_SECONDS)?,
            overhead_seconds: histogram(&OVERHEAD_SECONDS)?,
            record_seconds: histogram(&RECORD_SECONDS)?,
            http_requests: counter(&HTTP_REQUESTS)?,
            recorder_waiting_records,
            triage_cases,
            reloads: counter(&RELOADS)?,
            reload_successful,
            registry,
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
        self.verdicts
            .with_label_values(&[panel, if verdict.is_decided() { "decided" } else { "undecided" }])
            .inc();
        for reason in &verdict.escalation_reasons {
            self.escalations.with_label_values(&[panel, &snake(reason)]).inc();
        }
        self.verdict_seconds.with_label_values(&[panel]).observe(verdict.latency_ms / 1000.0);
        self.overhead_seconds.observe(verdict.overhead_ms / 1000.0);
        self.record_seconds.observe(verdict.record_ms / 1000.0);
    }

    /// A changed settings file was taken up, or refused.
    pub fn observe_reload(&self, is_applied: bool) {
        self.reloads.with_label_values(&[if is_applied { "applied" } else { "refused" }]).inc();
        self.reload_successful.set(i64::from(is_applied));
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

fn buckets(declared: &Declaration) -> HistogramOpts {
    let opts = HistogramOpts::new(declared.name, declared.help);
    match declared.kind {
        Kind::Histogram(bounds) => opts.buckets(bounds.to_vec()),
        Kind::Counter | Kind::Gauge => opts,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_metric_is_registered() {
        let metrics = Metrics::new().unwrap();
        for declared in DECLARATIONS {
            let twin = IntCounterVec::new(Opts::new(declared.name, declared.help), declared.labels).unwrap();
            assert!(
                metrics.registry.register(Box::new(twin)).is_err(),
                "{} is not registered",
                declared.name
            );
        }
    }
}
