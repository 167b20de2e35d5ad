//! Rows to start from; a test sets what it is about.

use aggregation::vote::Order;

use crate::case::{Mode, Sensitivity};
use crate::store::rows::{
    AccessKeyRow, Endpoint, JudgmentRow, JudgmentSource, Record, RequestKey, ReservationRow, RunCaseRow,
    RunKind, RunRow, SpendingRow, TextKind, TextRow, TriageRow, TriageStatus, VerdictRow,
};

pub(crate) const PROJECT: &str = "p";
pub(crate) const RUN: &str = "run-1";

fn s(text: &str) -> String {
    text.to_owned()
}

pub(crate) fn judgment(case_id: &str, judge: &str) -> JudgmentRow {
    JudgmentRow {
        id: format!("j-{case_id}-{judge}"),
        project: s(PROJECT),
        run: s(RUN),
        case_id: s(case_id),
        case_hash: s("b3:case"),
        judge: s(judge),
        criterion: s("faithfulness"),
        order: Order::AsGiven,
        sample: 0,
        revision: 0,
        replaces: None,
        source: JudgmentSource::Asked,
        origin_id: None,
        call_id: format!("c-{case_id}-{judge}"),
        mode: Mode::Pointwise,
        panel_version: s("b3:panel"),
        judge_fingerprint: s("b3:judge"),
        template_hash: s("b3:template"),
        rubric_hash: s("b3:rubric"),
        model_replied: None,
        system_fingerprint: None,
        outcome: Ok(s(r#"{"value":4}"#)),
        reply_hash: Some(s("b3:reply")),
        prompt_hash: None,
        repaired: false,
        attempts: 1,
        prompt_tokens: Some(900),
        completion_tokens: Some(40),
        cached_tokens: None,
        reasoning_tokens: None,
        cost_microusd: Some(17),
        latency_us: 812_000,
        cache_key: None,
        created_us: 1_000,
    }
}

pub(crate) fn verdict(case_id: &str) -> VerdictRow {
    VerdictRow {
        id: format!("v-{case_id}"),
        project: s(PROJECT),
        run: s(RUN),
        case_id: s(case_id),
        case_hash: s("b3:case"),
        revision: 0,
        replaces: None,
        endpoint: Endpoint::Run,
        key_id: None,
        panel: s("default"),
        panel_version: s("b3:panel"),
        mode: Mode::Pointwise,
        decided: true,
        escalated: false,
        degraded: false,
        disagreement_ppm: Some(250_000),
        score_ppm: None,
        reasons_hash: None,
        body: s(r#"{"criteria":{}}"#),
        cost_microusd: Some(410),
        latency_us: 812_000,
        overhead_us: 600,
        created_us: 2_000,
    }
}

pub(crate) fn text(case_id: &str, body: &str) -> TextRow {
    TextRow {
        project: s(PROJECT),
        case_id: s(case_id),
        kind: TextKind::Reply,
        hash: format!("b3:{body}"),
        source: None,
        panel: s("default"),
        body: s(body),
        recorded_us: 1_000,
        retained_until_us: None,
    }
}

pub(crate) fn triage(case_id: &str) -> TriageRow {
    TriageRow {
        id: format!("t-{case_id}"),
        project: s(PROJECT),
        verdict_id: format!("v-{case_id}"),
        run: s(RUN),
        case_id: s(case_id),
        case_hash: s("b3:case"),
        panel: s("default"),
        panel_version: s("b3:panel"),
        rubric_hash: s("b3:rubric"),
        mode: Mode::Pairwise,
        status: TriageStatus::Open,
        severity: 3,
        reasons: s(r#"["disagreement"]"#),
        disagreement_ppm: Some(500_000),
        nearness_ppm: None,
        slots: 2,
        practice: false,
        inclusion_ppb: None,
        created_us: 2_000,
    }
}

pub(crate) fn run_case(case_id: &str, position: i64) -> RunCaseRow {
    RunCaseRow {
        project: s(PROJECT),
        run: s(RUN),
        case_id: s(case_id),
        case_hash: s("b3:case"),
        position,
        shard: 0,
        mode: Mode::Pointwise,
        source: Some(s("doc-12")),
        sensitivity: Sensitivity::Internal,
        inclusion_ppb: None,
        facts: s("{}"),
        text_hash: None,
        created_us: 1_000,
    }
}

pub(crate) fn run(id: &str) -> RunRow {
    RunRow {
        id: s(id),
        project: s(PROJECT),
        kind: RunKind::Gate,
        panel: s("default"),
        panel_version: s("b3:panel"),
        input_hash: Some(s("b3:cases")),
        case_total: Some(3),
        settings: s(r#"{"seed":7}"#),
        created_us: 500,
    }
}

pub(crate) fn access_key(id: &str) -> AccessKeyRow {
    AccessKeyRow {
        id: s(id),
        project: s(PROJECT),
        name: s("nightly"),
        role: s("judge"),
        may_ask: s(r#"["default","judge/a"]"#),
        sensitivity: s("internal"),
        budget_microusd: Some(2_500_000),
        budget_window: s("day"),
        secret_hash: s("00ff"),
        created_us: 1_000,
        expires_us: Some(9_000),
        revoked_us: None,
    }
}

pub(crate) fn spending(key_id: &str, day: i64, microusd: i64) -> SpendingRow {
    SpendingRow { project: s(PROJECT), key_id: s(key_id), day, microusd, calls: 1 }
}

pub(crate) fn reservation(key: &str) -> ReservationRow {
    ReservationRow {
        request: RequestKey { project: s(PROJECT), endpoint: Endpoint::Verdict, key: s(key) },
        body_hash: s("b3:body"),
        verdict_id: s("v-1"),
        lease_owner: s("gateway-1"),
        lease_until_us: 1_100,
        created_us: 1_000,
        expires_us: 9_000,
    }
}

pub(crate) fn judgments(rows: impl IntoIterator<Item = JudgmentRow>) -> Vec<Record> {
    rows.into_iter().map(|row| Record::Judgment(Box::new(row))).collect()
}

pub(crate) fn verdicts(rows: impl IntoIterator<Item = VerdictRow>) -> Vec<Record> {
    rows.into_iter().map(|row| Record::Verdict(Box::new(row))).collect()
}
