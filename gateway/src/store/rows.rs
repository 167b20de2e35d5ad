//! What the tables hold, row by row, without behaviour. Ids and times come from the caller; JSON stays text here.

use aggregation::vote::{Abstention, Order};

pub use super::key_rows::{AccessKeyRow, KeySpending, SpendingRow};
use crate::case::{Mode, Sensitivity};

/// One row to append. Equal rows may be appended twice: the first one stands, but spending is added up.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    Version(VersionRow),
    Text(TextRow),
    RunCase(RunCaseRow),
    Judgment(Box<JudgmentRow>),
    Verdict(Box<VerdictRow>),
    Triage(Box<TriageRow>),
    Spending(SpendingRow),
}

/// What a hash stands for: a panel's or a judge's content. Never the text of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRow {
    pub project: String,
    pub kind: VersionKind,
    pub hash: String,
    pub name: String,
    /// JSON.
    pub body: String,
    pub created_us: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VersionKind {
    Panel,
    Judge,
    Rubric,
    Baseline,
}

/// A text that may be erased; numbers name it by case and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow {
    pub project: String,
    pub case_id: String,
    pub kind: TextKind,
    /// Hash of `body`, by which numbers name the text.
    pub hash: String,
    /// The case's `source`.
    pub source: Option<String>,
    pub panel: String,
    pub body: String,
    /// Set when the text is first stored or its retention grows.
    pub recorded_us: i64,
    /// `None`: until it is erased by name.
    pub retained_until_us: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    /// The case as JSON, its metadata included.
    Case,
    Prompt,
    /// A judge's raw reply.
    Reply,
    /// Rationales and quoted evidence of one verdict, as JSON.
    Reasons,
    /// What a person wrote beside a label.
    Note,
    /// A response that has to be repeated byte for byte.
    Response,
}

/// A stored text, or what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredText {
    pub kind: TextKind,
    pub hash: String,
    pub source: Option<String>,
    pub panel: String,
    /// `None`: erased at `erased_us`.
    pub body: Option<String>,
    pub recorded_us: i64,
    pub retained_until_us: Option<i64>,
    /// When it was last erased; a text that came again afterwards has a body and this time.
    pub erased_us: Option<i64>,
}

/// Which texts to erase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextSelection {
    Case(String),
    Source(String),
    RecordedBefore(i64),
}

/// A case as a run met it: what reports need after its texts are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCaseRow {
    pub project: String,
    pub run: String,
    pub case_id: String,
    pub case_hash: String,
    /// Place in the input, from 0.
    pub position: i64,
    /// Part of the run that one gateway works on; 0 when the run is not divided.
    pub shard: i64,
    pub mode: Mode,
    pub source: Option<String>,
    pub sensitivity: Sensitivity,
    /// Probability of the random review in parts per billion, when it was drawn.
    pub inclusion_ppb: Option<i64>,
    /// JSON: candidate models, lengths, values to slice by. No texts.
    pub facts: String,
    /// The text of kind `Case`; `None` where an older version wrote the row.
    pub text_hash: Option<String>,
    pub created_us: i64,
}

/// One judgment of one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgmentRow {
    pub id: String,
    pub project: String,
    /// The run's id or, for a single verdict, the verdict's own id.
    pub run: String,
    pub case_id: String,
    pub case_hash: String,
    pub judge: String,
    pub criterion: String,
    pub order: Order,
    /// Index of a repeated answer, from 0.
    pub sample: i64,
    /// 0 at first; a correction (such as a retried error) is the next one and names the row it `replaces`.
    pub revision: i64,
    pub replaces: Option<String>,
    pub source: JudgmentSource,
    /// The judgment that a cached one repeats.
    pub origin_id: Option<String>,
    /// The call that gave this judgment. Rows of one call share it and `created_us`.
    pub call_id: String,
    pub mode: Mode,
    pub panel_version: String,
    pub judge_fingerprint: String,
    pub template_hash: String,
    pub rubric_hash: String,
    /// The model that the server said answered.
    pub model_replied: Option<String>,
    pub system_fingerprint: Option<String>,
    /// The rating as JSON, or why there is none.
    pub outcome: Result<String, Abstention>,
    pub reply_hash: Option<String>,
    pub prompt_hash: Option<String>,
    /// Whether the verdict came from the one repair re-ask.
    pub repaired: bool,
    /// Requests on the wire, repairs included; 0 when nothing was sent.
    pub attempts: i64,
    /// Tokens and cost stand on one row of a call only; `None` on its other rows and where unknown.
    pub prompt_tokens: Option<i64>,
    pub completion_tokens: Option<i64>,
    pub cached_tokens: Option<i64>,
    pub reasoning_tokens: Option<i64>,
    pub cost_microusd: Option<i64>,
    pub latency_us: i64,
    /// Set on paid ratings that may be served again; never on errors and cached rows.
    pub cache_key: Option<String>,
    pub created_us: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JudgmentSource {
    Asked,
    Cache,
    Replay,
}

/// The panel's result for one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictRow {
    pub id: String,
    pub project: String,
    /// The run's id or, for a single verdict, `id` again.
    pub run: String,
    pub case_id: String,
    pub case_hash: String,
    /// 0 at first; a correction is the next one and names the row it `replaces`.
    pub revision: i64,
    pub replaces: Option<String>,
    pub endpoint: Endpoint,
    /// The API key that asked.
    pub key_id: Option<String>,
    pub panel: String,
    pub panel_version: String,
    pub mode: Mode,
    /// Whether every criterion has a value.
    pub decided: bool,
    pub escalated: bool,
    pub degraded: bool,
    /// Largest disagreement over the criteria, in parts per million.
    pub disagreement_ppm: Option<i64>,
    /// Least score over the criteria that have one, in parts per million.
    pub score_ppm: Option<i64>,
    /// The text of kind `Reasons`.
    pub reasons_hash: Option<String>,
    /// The verdict as JSON, without rationales and quotes.
    pub body: String,
    pub cost_microusd: Option<i64>,
    pub latency_us: i64,
    pub overhead_us: i64,
    pub created_us: i64,
}

/// Where the verdict was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    Run,
    Verdict,
    DropIn,
}

/// A verdict's place in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriageRow {
    pub id: String,
    pub project: String,
    pub verdict_id: String,
    pub run: String,
    pub case_id: String,
    pub case_hash: String,
    pub panel: String,
    pub panel_version: String,
    pub rubric_hash: String,
    pub mode: Mode,
    pub status: TriageStatus,
    /// Rank of the most severe reason; 0 is the most severe.
    pub severity: i64,
    /// JSON array of reasons, most severe first.
    pub reasons: String,
    pub disagreement_ppm: Option<i64>,
    /// Distance of the score from the pass threshold.
    pub nearness_ppm: Option<i64>,
    /// How many annotators the case needs.
    pub slots: i64,
    pub practice: bool,
    pub inclusion_ppb: Option<i64>,
    pub created_us: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriageStatus {
    Open,
    Adjudication,
    Resolved,
    /// Nobody has to look any more.
    Withdrawn,
}

/// Many cases judged under one panel version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// A UUIDv7: the newest run has the greatest id.
    pub id: String,
    pub project: String,
    pub kind: RunKind,
    pub panel: String,
    pub panel_version: String,
    /// Hash of the input file's cases.
    pub input_hash: Option<String>,
    /// Cases in the input, where that was known before judging them.
    pub case_total: Option<i64>,
    /// JSON: seed, repeats, flags that change results.
    pub settings: String,
    pub created_us: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    Judge,
    Gate,
    /// Fixed cases judged again and again, for drift.
    Sentinel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// Under way, or its process died.
    Running,
    Finished,
    /// Ended early; may be resumed.
    Stopped,
}

impl RunStatus {
    /// As it is stored and shown.
    pub fn name(self) -> &'static str {
        super::columns::Word::word(self)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub status: RunStatus,
    pub finished_us: i64,
    /// JSON: the decision of its gate or what else it came to.
    pub outcome: Option<String>,
}

/// A run and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    pub run: RunRow,
    pub status: RunStatus,
    pub finished_us: Option<i64>,
    pub outcome: Option<String>,
    pub totals: RunTotals,
    /// `None`: a command judges it, not the gateways.
    pub work: Option<WorkState>,
}

/// How far the gateways are with a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkState {
    pub status: WorkStatus,
    /// Whether some gateway has taken it.
    pub is_begun: bool,
    /// Why it was stopped.
    pub reason: Option<String>,
    /// JSON.
    pub options: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkStatus {
    /// Under way, or nobody has taken it yet.
    Waiting,
    Ended,
}

/// A run under the lease of the gateway that took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenRun {
    pub project: String,
    pub run: String,
    /// JSON.
    pub options: String,
    /// Grows with each gateway that takes it: 1 for the first one.
    pub fencing_token: i64,
    pub lease: Lease,
}

/// A lease that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    pub is_asked_to_stop: bool,
}

/// A case as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputCase {
    pub position: i64,
    pub case_id: String,
    /// JSON; `None`: erased.
    pub body: Option<String>,
}

/// The judgments of a run that one judge gave from one source under one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredCalls {
    pub judge: String,
    /// Asked by this run; otherwise known before.
    pub is_asked: bool,
    /// As the server names it.
    pub model_replied: Option<String>,
    pub calls: i64,
    /// Those of known cost.
    pub priced_calls: i64,
    pub cost_microusd: i64,
    /// The sum over all calls.
    pub latency_us: i64,
    pub max_latency_us: i64,
}

/// Sums over the newest verdict of each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunTotals {
    pub finished_cases: i64,
    pub decided_cases: i64,
    pub escalated_cases: i64,
    /// `None` when the cost of any case is unknown.
    pub cost_microusd: Option<i64>,
}

/// A case that has its verdict; judged again when its content differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FinishedCase {
    pub case_id: String,
    pub case_hash: String,
}

/// A request that is answered once, however often it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestKey {
    pub project: String,
    pub endpoint: Endpoint,
    /// As the client wrote it.
    pub key: String,
}

/// A wish to answer a request, or the one that was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationRow {
    pub request: RequestKey,
    /// The same key with another hash is another request's.
    pub body_hash: String,
    /// The id that the verdict will have: whoever takes the reservation over goes on with it.
    pub verdict_id: String,
    /// The gateway that works on it.
    pub lease_owner: String,
    /// From then on another one may take it over.
    pub lease_until_us: i64,
    pub created_us: i64,
    /// From then on the key is free again.
    pub expires_us: i64,
}

/// A key that is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRow {
    pub reservation: ReservationRow,
    /// Grows with each owner; a former one cannot write any more.
    pub fencing_token: i64,
    /// `None` while the request is worked on.
    pub end: Option<IdempotencyEnd>,
}

/// What a model at an address turned out to refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFactsRow {
    pub project: String,
    pub base_url: String,
    pub dialect: String,
    /// The name it is asked under.
    pub model: String,
    /// The name under which it answers.
    pub model_replied: Option<String>,
    /// JSON.
    pub learned: String,
    pub updated_us: i64,
}

/// How a request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyEnd {
    pub http_status: i64,
    /// The text of kind `Response`, if one was kept.
    pub response_hash: Option<String>,
}

/// Whose a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reservation {
    /// The caller's, who has to complete it. Another `verdict_id` than was wished for: taken over, with all that the
    /// former owner stored under that id.
    Ours(IdempotencyRow),
    Theirs(IdempotencyRow),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdempotencyStatus {
    Reserved,
    Finished,
}
