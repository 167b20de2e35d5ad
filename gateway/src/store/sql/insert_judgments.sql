INSERT INTO judgments (
    id, project, run, case_id, case_hash, judge, criterion, ord, sample, revision, replaces, source,
    origin_id, call_id, mode, panel_version, judge_fingerprint, template_hash, rubric_hash, model_replied,
    system_fingerprint, outcome, class, rating, reply_hash, prompt_hash, repaired, attempts,
    prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_microusd, latency_us,
    cache_key, created_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
    $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36)
ON CONFLICT DO NOTHING
