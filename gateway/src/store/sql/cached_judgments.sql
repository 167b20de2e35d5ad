SELECT
    j.id, j.project, j.run, j.case_id, j.case_hash, j.judge, j.criterion, j.ord, j.sample, j.revision,
    j.replaces, j.source, j.origin_id, j.call_id, j.mode, j.panel_version, j.judge_fingerprint,
    j.template_hash, j.rubric_hash, j.model_replied, j.system_fingerprint, j.outcome, j.class, j.rating,
    j.reply_hash, j.prompt_hash, j.repaired, j.attempts, j.prompt_tokens, j.completion_tokens,
    j.cached_tokens, j.reasoning_tokens, j.cost_microusd, j.latency_us, j.cache_key, j.created_us
FROM judgments j
WHERE j.project = $1 AND j.created_us >= $2 AND j.cache_key IN ($3)
    AND NOT EXISTS (
        SELECT 1 FROM judgments newer
        WHERE newer.project = j.project AND newer.cache_key = j.cache_key AND newer.created_us > j.created_us
    )
ORDER BY j.cache_key, j.call_id DESC, j.criterion, j.id
LIMIT 10000
